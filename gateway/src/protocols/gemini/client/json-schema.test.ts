/** Tests json-schema.ts: Google's schemas as JSON Schema, and that no text of a client becomes JSON of ours. */
import { describe, expect, test } from 'bun:test';
import { CallFailure } from '../../../errors/call-failure.ts';
import { outlineOf } from '../../testing/outline-of.ts';
import { toJsonSchema } from './json-schema.ts';

const convert = (schema: object) => toJsonSchema(outlineOf(schema).root, 'schema');

test('types lose their capitals, counts their quotes, and null is a type', () => {
  const schema = {
    type: 'OBJECT',
    properties: { list: { type: 'ARRAY', items: { type: 'STRING' }, minItems: '1', max_items: 9 } },
    propertyOrdering: ['list'],
    nullable: true,
  };
  expect(JSON.parse(convert(schema))).toEqual({
    type: ['object', 'null'],
    properties: { list: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 9 } },
  });
});

describe('a count', () => {
  test.each(['0', '1', '9223372036854775807'])('may be the text %s', (text) => {
    expect(convert({ minLength: text })).toBe(`{"minLength":${text}}`);
  });

  test.each(['1}},"model":"another"', '{"$ref":"#"}', '-1', '007', '1.5', '1e3', ' 1', '', '10000000000000000000'])(
    'may not be the text %p',
    (text) => {
      let refused: unknown = null;
      try {
        convert({ properties: { a: { maxItems: text } } });
      } catch (error) {
        refused = error;
      }
      expect(refused).toBeInstanceOf(CallFailure);
      expect((refused as CallFailure).details.param).toBe('schema.properties.a.maxItems');
    },
  );
});
