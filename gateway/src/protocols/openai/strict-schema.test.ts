/** Tests which schemas are sent as strict. */
import { expect, test } from 'bun:test';
import { isStrictSchema } from './strict-schema.ts';

const object = (properties: object, more: object = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const nested = (levels: number): object => (levels === 1 ? object({}) : object({ a: nested(levels - 1) }));
const text = { type: 'string' };

test.each([
  ['a closed object', object({ a: text })],
  ['no members', object({})],
  ['null or text', object({ a: { type: ['string', 'null'] }, b: { anyOf: [text, { type: 'null' }] } })],
  ['a list', object({ a: { type: 'array', items: object({ b: text }) } })],
  [
    'recursion by $defs',
    object({ a: { $ref: '#/$defs/n' } }, { $defs: { n: object({ next: { $ref: '#/$defs/n' } }) } }),
  ],
  ['a known format', object({ a: { type: 'string', format: 'date' } })],
  ['ten levels', nested(10)],
])('%s is strict', (_case, schema) => {
  expect(isStrictSchema(JSON.stringify(schema))).toBe(true);
});

test.each([
  ['an open object', { type: 'object', properties: { a: text }, required: ['a'] }],
  ['an optional member', object({ a: text, b: text }, { required: ['a'] })],
  ['a required name that is not a member', object({ a: text }, { required: ['a', 'b'] })],
  ['an open object below', object({ a: { type: 'object', properties: {}, required: [] } })],
  ['an open object in a list', object({ a: { type: 'array', items: { type: 'object' } } })],
  ['an open object among choices', object({ a: { anyOf: [text, { type: 'object' }] } })],
  ['an open object in $defs', object({}, { $defs: { n: { type: 'object' } } })],
  ['a list of anything', object({ a: { type: 'array' } })],
  ['a member of any type', object({ a: {} })],
  ['a keyword that is not known', object({ a: { allOf: [text] } })],
  ['a format that is not known', object({ a: { type: 'string', format: 'uri' } })],
  ['a reference with company', object({ a: { $ref: '#', description: 'x' } })],
  ['a root that is no object', { type: 'string' }],
  ['a root of choices', object({}, { anyOf: [] })],
  ['eleven levels', nested(11)],
  ['too many members', object(Object.fromEntries(Array.from({ length: 5001 }, (_, index) => [index, text])))],
  ['too many choices', object({ a: { type: 'string', enum: Array.from({ length: 1001 }, (_, index) => `${index}`) } })],
  ['a list as schema', []],
  ['true as schema', object({ a: true })],
])('%s is not strict', (_case, schema) => {
  expect(isStrictSchema(JSON.stringify(schema))).toBe(false);
});
