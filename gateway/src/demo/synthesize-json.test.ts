/**
 * Tests that synthesized values fit their schemas, that they derive from the message, and that hostile schemas are
 * refused.
 */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { startCpuClock } from '../../test/harness/cpu-clock.ts';
import { CallFailure } from '../errors/call-failure.ts';
import { Material } from './read-prompt.ts';
import { synthesizeJson } from './synthesize-json.ts';
import { findMisfit } from './testing/fits-schema.ts';

const answer = (schema: object | boolean, text = 'Say "hello" to Ada') =>
  synthesizeJson(schema, { material: new Material(text), mustFit: true, member: 'response_format' });

describe('a value', () => {
  test('is the constant, or the first of an enum', () => {
    expect(answer({ const: { a: 1 } })).toEqual({ a: 1 });
    expect(answer({ enum: ['celsius', 'kelvin'] })).toBe('celsius');
  });

  test('takes its strings from quotes, then names, then the message, and numbers from the message', () => {
    const string = { type: 'string' };
    const properties = { a: string, b: string, c: string, d: string, e: { type: 'integer' }, f: { type: 'number' } };
    const made = answer(
      { type: 'object', properties, required: Object.keys(properties) },
      'Tell Bob Smith "hi" 3 times in 2.5 hours',
    );
    const message = 'Tell Bob Smith "hi" 3 times in 2.5 hours';
    expect(made).toEqual({ a: 'hi', b: 'Bob Smith', c: message, d: 'd 1', e: 3, f: 2.5 });
  });

  test('has the required members only, or all where an answer requires none', () => {
    const schema = { type: 'object', properties: { a: { const: 1 }, b: { const: 2 } } };
    expect(answer({ ...schema, required: ['b'] })).toEqual({ b: 2 });
    expect(answer(schema)).toEqual({ a: 1, b: 2 });
    expect(synthesizeJson(schema, { material: new Material(''), mustFit: false, member: 'tools' })).toEqual({});
  });

  test('may have members named like those of every object', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"const":1},"constructor":{"const":2}},"required":["__proto__","constructor","toString"]}',
    );
    expect(JSON.stringify(answer(schema))).toBe('{"__proto__":1,"constructor":2,"toString":"hello"}');
  });

  test('ends for a recursive schema', () => {
    const node = {
      type: 'object',
      properties: { name: { type: 'string' }, next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
      required: ['name', 'next'],
    };
    const schema = { $ref: '#/$defs/node', $defs: { node } };
    expect(findMisfit(answer(schema), schema)).toBeNull();
    const tree = {
      type: 'object',
      properties: { children: { type: 'array', items: { $ref: '#' } } },
      required: ['children'],
    };
    expect(findMisfit(answer(tree), tree)).toBeNull();
  });

  test('follows pointers with escaped names', () => {
    expect(answer({ $ref: '#/$defs/a~1b%20c', $defs: { 'a/b c': { const: 7 } } })).toBe(7);
  });

  test('joins the parts of allOf, with the tighter of two bounds', () => {
    const schema = { allOf: [{ type: 'integer', minimum: 3 }, { minimum: 9 }, { minimum: 5, maximum: 20 }] };
    expect(findMisfit(answer(schema), schema)).toBeNull();
  });

  test('has the requested format', () => {
    expect(answer({ type: 'string', format: 'date' })).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(answer({ type: 'string', format: 'email' })).toBe('person01@example.com');
  });

  test('fits any schema of the kept keywords', () => {
    const bounds = fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: 0, max: 60 }));
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        tie('leaf'),
        tie('array'),
        tie('object'),
        tie('anyOf'),
      ),
      leaf: fc.oneof(
        fc.constantFrom(
          { type: 'boolean' },
          { type: 'null' },
          { type: ['null', 'string'] },
          { enum: [3, 'x'] },
          { const: [] },
        ),
        bounds.map(([low, span]) => ({ type: 'integer', minimum: low, maximum: low + span })),
        bounds.map(([low, span]) => ({ type: 'number', exclusiveMinimum: low, exclusiveMaximum: low + span + 1 })),
        fc.integer({ min: 1, max: 9 }).map((unit) => ({ type: 'integer', minimum: 10, multipleOf: unit })),
        bounds.map(([low, span]) => ({ type: 'string', minLength: Math.abs(low), maxLength: Math.abs(low) + span })),
        fc
          .constantFrom('^[A-Z]{3}-\\d{4}$', '^(red|green)\\.?$', '^[^a-z]+x*$')
          .map((pattern) => ({ type: 'string', pattern })),
      ),
      array: fc.record({ type: fc.constant('array'), items: tie('schema'), minItems: fc.nat(3) }),
      object: fc.dictionary(fc.string({ maxLength: 4 }), tie('schema'), { maxKeys: 4 }).map((properties) => ({
        type: 'object',
        properties,
        required: Object.keys(properties),
        additionalProperties: false,
      })),
      anyOf: fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    }));
    fc.assert(
      fc.property(schema, fc.string(), (made, text) => {
        expect(findMisfit(answer(made as object, text), made as Record<string, unknown>)).toBeNull();
      }),
      { numRuns: 400 },
    );
  });
});

describe('a schema is refused', () => {
  const refused: readonly [string, object | boolean][] = [
    ['that nothing fits', false],
    ['whose reference leads nowhere', { $ref: '#/$defs/none' }],
    ['whose reference leaves the document', { $ref: 'https://example.com/schema' }],
    ['whose reference leads to an inherited member', { $ref: '#/constructor' }],
    ['that refers to itself', { $ref: '#' }],
    ['that never ends', { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }],
    [
      'of endless alternatives',
      {
        anyOf: [
          { type: 'array', items: { $ref: '#' }, minItems: 2 },
          { type: 'array', items: { $ref: '#' }, minItems: 3 },
        ],
      },
    ],
    ['of a thousand million items', { type: 'array', minItems: 1e9 }],
    ['of a string without end', { type: 'string', minLength: 1e9 }],
    ['of bounds that exclude each other', { type: 'integer', minimum: 5, maximum: 4 }],
    ['of a pattern that looks around', { type: 'string', pattern: '^(?=a)b' }],
    ['of a rule that the demo model does not know', { type: 'string', not: { const: 'x' } }],
    [
      'of unique items that it cannot make',
      { type: 'array', items: { type: 'boolean' }, minItems: 3, uniqueItems: true },
    ],
    ['of an unknown type', { type: 'text' }],
  ];
  test.each(refused)('%s', (_, schema) => {
    const cpuMs = startCpuClock();
    expect(() => answer(schema)).toThrow(CallFailure);
    expect(cpuMs()).toBeLessThan(5_000);
  });
});
