/** Tests the outline of a schema. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { describeSchema } from './measure-request.ts';

/** The declaration of a property of unknown type. */
const UNTYPED = 'any';

test('properties are declared with their comments, types, options and defaults', () => {
  const schema = JSON.stringify({
    type: 'object',
    properties: {
      city: { type: 'string', title: 'City', description: 'Which one.' },
      unit: { enum: ['C', 'F'], default: 'C' },
      days: {
        type: 'array',
        items: { type: 'object', properties: { at: { type: ['string', 'null'] } }, required: ['at'] },
      },
      place: { anyOf: [{ $ref: '#/$defs/Place' }, { const: 7 }] },
      anything: true,
    },
    required: ['city'],
  });
  expect(describeSchema(schema)).toEqual({
    properties: 6,
    declaration: [
      '{',
      '// City',
      '// Which one.',
      'city: string,',
      'unit?: "C" | "F", // default: "C"',
      'days?: {',
      'at: string | null,',
      '}[],',
      'place?: Place | 7,',
      `anything?: ${UNTYPED},`,
      '}',
    ].join('\n'),
  });
});

test.each([[null], [''], ['[]'], ['null'], ['7'], ['{'], ['{"type":"object"}'], ['{"properties":[]}']])(
  'a schema without properties declares nothing: %j',
  (schema) => {
    expect(describeSchema(schema)).toEqual({ properties: 0, declaration: '' });
  },
);

test('a schema deeper than any vendor takes is cut', () => {
  let schema: unknown = { type: 'string' };
  for (let depth = 0; depth < 2_000; depth += 1) schema = { properties: { in: schema } };
  const { properties, declaration } = describeSchema(JSON.stringify(schema));
  expect(properties).toBe(24);
  expect(declaration).toContain(`in?: ${UNTYPED},`);
});

test('any JSON is described without a throw', () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      expect(describeSchema(json).properties).toBeGreaterThanOrEqual(0);
    }),
  );
});
