/** Tests how the alternatives at the root of a schema of arguments become its properties. */
import { expect, test } from 'bun:test';
import { flattenRoot, REFUSED_BY_ANTHROPIC, REFUSED_BY_OPENAI } from './flat-schema.ts';

const flat = (schema: object, refused = REFUSED_BY_OPENAI) => JSON.parse(flattenRoot(JSON.stringify(schema), refused));
const told = (keywords: object) =>
  `{${Object.entries(keywords)
    .map(([keyword, value]) => `${keyword}: ${JSON.stringify(value)}`)
    .join(', ')}}`;

const TEXT = { type: 'string' };
const NUMBER = { type: 'integer' };
const object = (properties: object, ...required: readonly string[]) => ({ type: 'object', properties, required });

test('the properties of alternatives become those of the root, required where all require them', () => {
  const anyOf = [object({ id: TEXT, place: TEXT }, 'id', 'place'), object({ id: NUMBER, path: TEXT }, 'id')];
  expect(flat({ type: 'object', anyOf })).toEqual({
    type: 'object',
    properties: { id: { anyOf: [TEXT, NUMBER] }, place: TEXT, path: TEXT },
    required: ['id'],
    description: told({ anyOf }),
  });
});

test('schemas that all hold require all that each of them requires', () => {
  const allOf = [object({ a: TEXT }, 'a'), { $ref: '#/$defs/b~1c' }];
  const $defs = { 'b/c': object({ b: NUMBER }, 'b') };
  expect(flat({ type: 'object', properties: { c: TEXT }, allOf, $defs })).toEqual({
    type: 'object',
    properties: { c: TEXT, a: TEXT, b: NUMBER },
    required: ['a', 'b'],
    $defs,
    description: told({ allOf }),
  });
});

test('a property of the root keeps its schema there, and the description stays', () => {
  const oneOf = [{ properties: { a: NUMBER }, required: ['a'] }, { required: ['b'] }];
  expect(flat({ ...object({ a: TEXT, b: TEXT }), description: 'Sets one.', oneOf })).toEqual({
    ...object({ a: TEXT, b: TEXT }),
    description: `Sets one.\n\n${told({ oneOf })}`,
  });
});

test('alternatives may have alternatives, and refer to themselves', () => {
  const $defs = { node: { anyOf: [object({ leaf: TEXT }), object({ tree: TEXT }), { $ref: '#/$defs/node' }] } };
  const { properties } = flat({ type: 'object', oneOf: [{ $ref: '#/$defs/node' }], $defs });
  expect(properties).toEqual({ leaf: TEXT, tree: TEXT });
});

test('only OpenAI refuses enum and not', () => {
  const schema = { ...object({ a: TEXT, b: TEXT }), not: { required: ['a', 'b'] } };
  expect(flat(schema, REFUSED_BY_ANTHROPIC)).toEqual(schema);
  expect(flat(schema)).toEqual({ ...object({ a: TEXT, b: TEXT }), description: told({ not: schema.not }) });
});

test('a schema without them stays as it was written', () => {
  for (const schema of ['{ "type": "object", "properties": {"a": {"anyOf": [ {} ]}} }', '{"a":1,"a":2}', '[]']) {
    expect(flattenRoot(schema, REFUSED_BY_OPENAI)).toBe(schema);
  }
});
