/** Tests that a tool whose arguments are a choice reaches each provider in a form that it takes. */
import { expect, test } from 'bun:test';
import type { GenerationUpstreamName } from '../../../src/protocols/names.ts';
import { CAPABLE, withChatTraits } from '../../../src/protocols/testing/capable-upstream.ts';
import type { UpstreamTraits } from '../../../src/protocols/upstream-traits.ts';
import { readRequest, writeRequest } from './rig.ts';

const argument = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] });
const CHOICE = { anyOf: [argument('id'), argument('path')] };

/** The schema that a provider gets. */
function written(upstream: GenerationUpstreamName, traits: UpstreamTraits, strict?: true): string {
  const tools = [{ type: 'function', function: { name: 'open', parameters: CHOICE, strict } }];
  const body = { model: 'm', messages: [{ role: 'user', content: 'Open it.' }], tools };
  const { request } = readRequest('chat', JSON.stringify(body));
  return JSON.stringify(JSON.parse(writeRequest(upstream, request, traits).json).tools ?? null);
}

const FLAT = { id: { type: 'string' }, path: { type: 'string' } };
const HOSTS: ReadonlyArray<readonly [name: string, GenerationUpstreamName, UpstreamTraits]> = [
  ['Anthropic', 'messages', CAPABLE],
  ['OpenAI', 'chat', CAPABLE],
  ['OpenAI over Responses', 'responses', CAPABLE],
];

test.each(HOSTS)('%s gets the properties of all alternatives at the root', (_name, upstream, traits) => {
  for (const strict of [undefined, true] as const) {
    const [tool] = JSON.parse(written(upstream, traits, strict));
    const { input_schema, function: called = {}, parameters = called.parameters } = tool;
    const { description, ...schema } = input_schema ?? parameters;
    expect(schema).toMatchObject({ type: 'object', properties: FLAT });
    expect(Object.keys(schema)).not.toContain('anyOf');
    expect(description).toBe(`{anyOf: ${JSON.stringify(CHOICE.anyOf)}}`);
  }
});

test('Bedrock gets them too', () => {
  const traits = { ...CAPABLE, model: 'anthropic.claude-sonnet-4-6' };
  const tools = [{ name: 'open', input_schema: { type: 'object', ...CHOICE } }];
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Open it.' }], tools };
  const { request } = readRequest('messages', JSON.stringify(body));
  const { toolConfig } = JSON.parse(writeRequest('converse', request, traits).json);
  const { json } = toolConfig.tools[0].toolSpec.inputSchema;
  expect(json).toEqual({ type: 'object', properties: FLAT, description: `{anyOf: ${JSON.stringify(CHOICE.anyOf)}}` });
});

test('other hosts of the chat format get it as it is', () => {
  const [tool] = JSON.parse(written('chat', withChatTraits({ openaiMembers: false })));
  expect(tool.function.parameters).toMatchObject(CHOICE);
});
