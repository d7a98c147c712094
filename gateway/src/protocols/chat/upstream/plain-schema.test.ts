/** Tests how schemas are fitted to hosts with Moonshot's rules. */
import { expect, test } from 'bun:test';
import type { Tool } from '../../../generation/request.ts';
import { requestOf } from '../../../generation/testing/request-of.ts';
import { completeSchema } from '../../openai/function-schema.ts';
import { withChatTraits } from '../../testing/capable-upstream.ts';
import { refusalOf, render } from '../testing/chat-request.ts';

const PLAIN = withChatTraits({ plainSchemas: true, strictSchemas: false });

function fit(parameters: string, traits = PLAIN) {
  const tool: Tool = { kind: 'function', name: 'f', description: null, parameters, strict: null, cache_mark: null };
  const { json, dropped } = render(requestOf({ tools: [tool] }), traits);
  const [, written] = /"parameters":(.*?)\}\}\]/.exec(json) ?? [];
  return [written, dropped] as const;
}

const A = '{"type":"string"}';

test.each([
  ['{"type":"object", "properties":{"n":{"const":9007199254740993}}}', null, []],
  ['{}', '{"type":"object"}', []],
  ['{"properties":{}}', '{"type":"object","properties":{}}', []],
  [
    `{"type":"object","anyOf":[{"required":["a"]},{"type":"object"},{"$ref":"#/$defs/a"}],"properties":{"a":${A}}}`,
    `{"anyOf":[{"type":"object","required":["a"]},{"type":"object"},{"$ref":"#/$defs/a"}],"properties":{"a":${A}}}`,
    [],
  ],
  [
    `{"type":"object","properties":{"a":{"type":"string","anyOf":[${A},{"type":"null"}]}}}`,
    `{"type":"object","properties":{"a":{"anyOf":[${A},{"type":"null"}]}}}`,
    ['tools.0.parameters.type'],
  ],
  [
    `{"type":"object","properties":{"a":{"type":"array","items":[${A},{"type":"number"},${A}]}}}`,
    `{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[${A},{"type":"number"}]}}}}`,
    ['tools.0.parameters.items'],
  ],
  [
    `{"type":"object","$defs":{"a":{"type":"array","prefixItems":[${A}],"items":false}}}`,
    `{"type":"object","$defs":{"a":{"type":"array","items":${A}}}}`,
    ['tools.0.parameters.prefixItems'],
  ],
  ['{"type":"object","properties":{"anyOf":{"type":"string"},"items":[]}}', null, []],
])('%s', (written, fitted, dropped) => {
  expect(fit(written)).toEqual([fitted ?? written, dropped]);
  // Other hosts get it as it was written, with what it lacks for OpenAI.
  expect(fit(written, withChatTraits({ openaiMembers: false }))).toEqual([completeSchema(written), []]);
});

test('a schema of an answer is fitted, too', () => {
  const schema = `{"anyOf":[${A}],"type":"object"}`;
  const request = requestOf({
    output_format: { kind: 'json_schema', name: 'n', description: null, schema, strict: false },
  });
  const { body } = render(request, PLAIN);
  expect(body.response_format.json_schema.schema).toEqual({ anyOf: [{ type: 'string' }] });
});

test.each(['{"type":"array"}', '{"type":["object","null"]}', '[]', 'true'])('%s is refused by its name', (written) => {
  expect(refusalOf(() => fit(written))).toEqual({
    param: 'tools.0.parameters',
    message: `tools.0.parameters: the model "m" takes only schemas of an object; wrap it in an object's property`,
  });
});
