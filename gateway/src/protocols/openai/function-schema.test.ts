/** Tests which keywords the schema of a function gets, and that everything else stays as written. */
import { expect, test } from 'bun:test';
import { completeSchema } from './function-schema.ts';

test.each([
  ['a tool without arguments', '{"type":"object"}', '{"type":"object","properties":{}}'],
  ['an empty schema', '{}', '{"type":"object","properties":{}}'],
  [
    'an open object',
    '{"type": "object", "additionalProperties": true}',
    '{"type":"object","additionalProperties":true,"properties":{}}',
  ],
  [
    'a list of anything',
    '{"type":"object","properties":{"a":{"type":"array","maxItems":90071992547409931}}}',
    '{"type":"object","properties":{"a":{"type":"array","maxItems":90071992547409931,"items":{}}}}',
  ],
  [
    'lists of anything below',
    '{"type":"object","properties":{"a":{"anyOf":[{"type":["array","null"]},{"prefixItems":[{"type":"array"}]}]}},"$defs":{"b":{"additionalProperties":{"type":"array"}}}}',
    '{"type":"object","properties":{"a":{"anyOf":[{"type":["array","null"],"items":{}},{"prefixItems":[{"type":"array","items":{}}]}]}},"$defs":{"b":{"additionalProperties":{"type":"array","items":{}}}}}',
  ],
  ['members left out', '{"type":"object","properties":null,"required":null}', '{"type":"object","properties":{}}'],
  [
    'a tuple of an older draft',
    '{"type":"object","properties":{"a":{"type":"array","items":[{"type":"number"}]}}}',
    '{"type":"object","properties":{"a":{"type":"array","prefixItems":[{"type":"number"}],"items":{}}}}',
  ],
])('%s gets what OpenAI requires', (_case, schema, completed) => {
  expect(completeSchema(schema)).toBe(completed);
});

test.each([
  ['a complete schema', '{ "type": "object", "properties": { "a": { "type": "array", "items": {} } } }'],
  ['properties of these names', '{"type":"object","properties":{"type":{"const":"array"},"items":{}}}'],
  ['values that are no schemas', '{"type":"object","properties":{"a":{"default":{"type":"array"}}}}'],
  ['another root', '{"type":"string"}'],
  ['a duplicate member', '{"type":"object","type":"object"}'],
])('%s stays as it was written', (_case, schema) => {
  expect(completeSchema(schema)).toBe(schema);
});
