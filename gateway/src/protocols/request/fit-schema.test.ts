/** Tests that schemas are reduced to what Anthropic accepts, and that losses are reported. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { runsOf } from '../../../test/harness/exhaustive.ts';
import { fitSchema } from './fit-schema.ts';

function fit(schema: object) {
  const fitted = fitSchema(JSON.stringify(schema));
  return [JSON.parse(fitted.schema), fitted.unenforced];
}

const closed = (properties: object, more: object = {}) => ({
  type: 'object',
  properties,
  ...more,
  additionalProperties: false,
});
const text = { type: 'string' };

test('a schema that fits stays as it was written', () => {
  const written =
    '{ "type": "object", "properties": {"n": {"const": 9007199254740993, "title": "N"}}, "required": ["n"], "additionalProperties": false }';
  expect(fitSchema(written)).toEqual({
    schema: written,
    unenforced: [],
    losesMembers: false,
    isBare: false,
    isRefused: false,
  });
});

test.each([
  ['itself', { properties: { me: { $ref: '#' } } }],
  [
    'a definition that does',
    { properties: { n: { $ref: '#/$defs/n' } }, $defs: { n: { items: { $ref: '#/$defs/n' } } } },
  ],
  [
    'a circle of definitions',
    {
      items: { $ref: '#/definitions/a~1b' },
      definitions: {
        'a/b': { anyOf: [{ $ref: '#/definitions/c' }] },
        c: { properties: { default: { $ref: '#/definitions/a~1b' } } },
      },
    },
  ],
])('a schema that refers to %s is refused', (_what, schema) => {
  expect(fitSchema(JSON.stringify(schema)).isRefused).toBe(true);
});

test.each([
  [
    'a definition is used twice',
    { properties: { a: { $ref: '#/$defs/n' }, b: { $ref: '#/$defs/n' } }, $defs: { n: text } },
  ],
  [
    'definitions refer to others',
    {
      items: { $ref: '#/$defs/a' },
      $defs: { a: { $ref: '#/$defs/b' }, b: { properties: { c: { $ref: '#/$defs/c' } } }, c: text },
    },
  ],
  ['a property has the name of a reference', { properties: { $ref: text, a: { properties: { $ref: text } } } }],
])('a schema is not refused where %s', (_what, schema) => {
  expect(fitSchema(JSON.stringify(schema)).isRefused).toBe(false);
});

test('references that allOf joins are refused, and a single one is not', () => {
  const joined = (...names: readonly string[]) => ({
    allOf: names.map((name) => ({ $ref: `#/$defs/${name}` })),
    $defs: { a: text, b: text },
  });
  expect(fitSchema(JSON.stringify(joined('a', 'b'))).isRefused).toBe(true);
  expect(fitSchema(JSON.stringify(joined('a'))).isRefused).toBe(false);
});

test('a long chain of definitions is followed in one pass', () => {
  const chain = Array.from({ length: 20_000 }, (_, index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }]);
  const schema = { $ref: '#/$defs/d0', $defs: Object.fromEntries(chain) };
  expect(fitSchema(JSON.stringify(schema)).isRefused).toBe(false);
});

test('objects are closed at every depth, without a word where their properties are named', () => {
  const open = { type: 'object', properties: { a: text } };
  const schema = {
    type: 'object',
    properties: { one: open, many: { type: 'array', items: open }, some: { anyOf: [open, { type: 'null' }] } },
    required: ['one'],
    $defs: { d: open },
    definitions: { e: open },
  };
  const shut = closed({ a: text });
  expect(fit(schema)).toEqual([
    {
      type: 'object',
      properties: { one: shut, many: { type: 'array', items: shut }, some: { anyOf: [shut, { type: 'null' }] } },
      required: ['one'],
      $defs: { d: shut },
      definitions: { e: shut },
      additionalProperties: false,
    },
    [],
  ]);
  expect(fit({ properties: { a: text } })).toEqual([closed({ a: text }), []]);
  expect(fit({ type: ['object', 'null'], properties: { a: text } })[0]).toMatchObject({ additionalProperties: false });
});

test('reports objects that were open on purpose or can now only be empty', () => {
  const map = { type: 'object', additionalProperties: { type: 'number' } };
  expect(fit(map)).toEqual([closed({}), ['additionalProperties']]);
  expect(fit({ type: 'object', properties: { a: text }, additionalProperties: true })[1]).toEqual([
    'additionalProperties',
  ]);
  expect(fit({ type: 'object' })[1]).toEqual(['additionalProperties']);
});

test.each([
  ['a map', { type: 'object', additionalProperties: text }, [true, false]],
  ['a map below', { type: 'object', properties: { a: { type: 'object', additionalProperties: text } } }, [true, false]],
  ['a map with names', { type: 'object', properties: { a: text }, additionalProperties: text }, [true, false]],
  ['any object below', { type: 'object', properties: { a: { type: ['object', 'null'] } } }, [true, false]],
  ['anything but a name', { type: 'object', properties: {}, additionalProperties: true }, [true, false]],
  ['any object', { type: 'object' }, [false, true]],
  ['no members', { type: 'object', properties: {} }, [false, false]],
  ['more than its names', { type: 'object', properties: { a: text }, additionalProperties: true }, [false, false]],
])('tells whether %s keeps its members when it is closed', (_case, schema, [losesMembers, isBare]) => {
  expect(fitSchema(JSON.stringify(schema))).toMatchObject({ losesMembers, isBare });
});

test('refused keywords become words after the existing description', () => {
  const age = { type: 'integer', minimum: 0, maximum: 12345678901234567890n };
  const written = `{"type":"object","properties":{"name":{"type":"string","description":"A name","minLength":1,"pattern":"^a"},"age":{"type":"integer","minimum":0,"maximum":${age.maximum}}},"additionalProperties":false}`;
  const { schema, unenforced } = fitSchema(written);
  expect(JSON.parse(schema).properties).toEqual({
    name: { type: 'string', description: 'A name\n\n{minLength: 1, pattern: "^a"}' },
    age: { type: 'integer', description: '{minimum: 0, maximum: 12345678901234567890}' },
  });
  expect(unenforced).toEqual(['minLength', 'pattern', 'minimum', 'maximum']);
});

test('ignores keywords that do not restrict values', () => {
  const schema = { ...text, default: 'x', examples: ['y'], $schema: 'https://json-schema.org/draft/2020-12/schema' };
  expect(fit(schema)).toEqual([{ ...text, default: 'x', description: '{examples: ["y"]}' }, []]);
});

test.each([
  [{ ...text, format: 'date' }, { ...text, format: 'date' }, []],
  [{ ...text, format: 'color' }, { ...text, description: '{format: "color"}' }, ['format']],
  [{ type: 'array', items: text, minItems: 1 }, { type: 'array', items: text, minItems: 1 }, []],
  [
    { type: 'array', items: text, minItems: 2 },
    { type: 'array', items: text, description: '{minItems: 2}' },
    ['minItems'],
  ],
  [{ type: 'array', items: [text] }, { type: 'array', description: '{items: [{"type":"string"}]}' }, ['items']],
  [{ type: ['string', 'null'], enum: ['a', null] }, { enum: ['a', null] }, []],
  [{ enum: [{ a: 1 }] }, { description: '{enum: [{"a":1}]}' }, ['enum']],
  [{ ...text, nullable: true }, { ...text, description: '{nullable: true}' }, ['nullable']],
] as const)('%j becomes %j', (schema, expected, unenforced) => {
  expect(fit(schema)).toEqual([expected, [...unenforced]]);
});

describe('choices', () => {
  test('renders oneOf as anyOf, and reports it', () => {
    expect(fit({ oneOf: [text, { type: 'null' }] })).toEqual([{ anyOf: [text, { type: 'null' }] }, ['oneOf']]);
  });

  test('conditions that are no schemas of their own become words', () => {
    const schema = closed({ a: text, b: text }, { anyOf: [{ required: ['a'] }, { required: ['b'] }] });
    const [fitted, unenforced] = fit(schema);
    expect(fitted).toEqual({
      ...closed({ a: text, b: text }),
      description: '{anyOf: [{"required":["a"]},{"required":["b"]}]}',
    });
    expect(unenforced).toEqual(['anyOf']);
  });

  test('allOf of plain objects is one object: closed each for itself they would contradict each other', () => {
    const one = { type: 'object', properties: { a: text }, required: ['a'] };
    const two = { properties: { b: text }, required: ['b'] };
    expect(fit({ description: 'Both', allOf: [one, two] })).toEqual([
      { description: 'Both', ...closed({ a: text, b: text }, { required: ['a', 'b'] }) },
      [],
    ]);
  });

  test('allOf of one reference is the reference', () => {
    const schema = {
      $defs: { d: closed({}) },
      properties: { x: { allOf: [{ $ref: '#/$defs/d' }], description: 'X' } },
    };
    expect(fit(schema)[0].properties).toEqual({ x: { $ref: '#/$defs/d' } });
  });
});

test('only definitions stay next to a reference, and losses are reported', () => {
  const schema = { $ref: '#/$defs/d', $defs: { d: { type: 'object', properties: {} } }, title: 'D', minProperties: 1 };
  expect(fit(schema)).toEqual([{ $ref: '#/$defs/d', $defs: { d: closed({}) } }, ['minProperties']]);
});

test('whatever a schema is, it is fitted: no keyword that is refused, and closed', () => {
  const schema = fc.letrec((tie) => ({
    any: fc.oneof({ depthSize: 'small' }, fc.jsonValue({ maxDepth: 2 }), tie('object')),
    object: fc.dictionary(
      fc.constantFrom(
        'type',
        'properties',
        'items',
        'anyOf',
        'allOf',
        'oneOf',
        '$ref',
        'enum',
        'required',
        '$defs',
        'x',
      ),
      fc.oneof(
        fc.constantFrom<unknown>('object', 'array', ['object']),
        fc.array(tie('any'), { maxLength: 3 }),
        tie('any'),
      ),
    ),
  })).object;
  fc.assert(
    fc.property(schema, (value) => {
      const { schema: fitted } = fitSchema(JSON.stringify(value));
      const sent = JSON.parse(fitted);
      expect(Object.keys(sent).filter((keyword) => ['x', 'oneOf'].includes(keyword))).toEqual([]);
      if (sent.type === 'object' && !('$ref' in sent)) expect(sent.additionalProperties).toBe(false);
    }),
    { numRuns: runsOf(300) },
  );
});
