/**
 * Tests that the demo model refuses unsupported requests, naming the member, and that no body makes it fail otherwise.
 */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { askDemo } from './testing/ask-demo.ts';

const hello = [{ role: 'user', content: 'Hello' }];
const chatTool = { type: 'function', function: { name: 'f', parameters: {} } };
const messagesTool = { name: 'f', input_schema: { type: 'object' } };
const schema = { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] };

describe('a refusal names', () => {
  const refused: readonly [string, 'chat' | 'messages', object, string][] = [
    ['more than eight answers', 'chat', { n: 9 }, 'n'],
    ['log probabilities', 'chat', { logprobs: true }, 'logprobs'],
    ['sound', 'chat', { modalities: ['text', 'audio'] }, 'modalities'],
    ['a forced call without tools', 'chat', { tool_choice: 'required' }, 'tool_choice'],
    [
      'a forced tool that is not offered',
      'chat',
      { tools: [chatTool], tool_choice: { type: 'function', function: { name: 'g' } } },
      'tool_choice',
    ],
    [
      'a schema without end',
      'chat',
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } },
      'response_format',
    ],
    [
      'a forced call where only server tools are offered',
      'messages',
      { tools: [{ type: 'web_search_20250305', name: 'web_search' }], tool_choice: { type: 'any' } },
      'tool_choice',
    ],
    [
      'a forced tool that is not offered',
      'messages',
      { tools: [messagesTool], tool_choice: { type: 'tool', name: 'g' } },
      'tool_choice',
    ],
    ['a thread', 'messages', { thread: { type: 'create' } }, 'thread'],
  ];
  test.each(refused)('%s (%s)', (_, protocol, members, name) => {
    const { status, text } = askDemo(protocol, { model: 'demo', max_tokens: 500, messages: hello, ...members });
    expect(status).toBe(400);
    expect(JSON.parse(text).error.message).toStartWith(`${name}: `);
  });
});

test('any body gives 200 or a 400 in the shape of its protocol, and nothing is thrown', () => {
  const type = fc.constantFrom(
    'text',
    'image',
    'tool_use',
    'tool_result',
    'image_url',
    'function',
    'json_schema',
    'enabled',
  );
  const name = fc.constantFrom(
    ...['type', 'role', 'content', 'id', 'name', 'text', 'source', 'function', 'input_schema', 'parameters'],
    ...['tool_calls', '$ref', 'anyOf', 'pattern', 'required', '__proto__'],
  );
  const wild = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.jsonValue(),
      type,
      fc.array(tie('value'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc.dictionary(name, tie('value'), { maxKeys: 5 }),
  })).value;
  const member = fc.constantFrom(
    ...['messages', 'tools', 'tool_choice', 'system', 'thinking', 'response_format', 'output_config', 'stop', 'n'],
  );
  const forced = fc.constantFrom({}, { tool_choice: 'required' }, { tool_choice: { type: 'any' } });
  const tools = wild.map((parameters) => [
    { name: 'f', input_schema: parameters, function: { name: 'f', parameters } },
  ]);
  const offered = fc.oneof(fc.constant({}), fc.record({ tools }));
  const members = fc.dictionary(member, wild, { maxKeys: 3 });
  fc.assert(
    fc.property(fc.constantFrom('chat', 'messages'), members, forced, offered, (protocol, wilds, choice, offer) => {
      const body = { model: 'demo', max_tokens: 100, messages: hello, ...offer, ...choice, ...wilds };
      const { status, text } = askDemo(protocol, body);
      expect([200, 400]).toContain(status);
      const answer = JSON.parse(text);
      if (status === 400) expect(answer.error.type).toBe('invalid_request_error');
    }),
    { numRuns: 600 },
  );
});
