/** Tests the requests that the playground builds in each protocol. */
import { describe, expect, test } from 'bun:test';
import { type BaseRequest, callBody, EMPTY_PROMPT, type Prompt, promptErrors, readTools } from './call-body.ts';

const prompt = (given: Partial<Prompt> = {}): Prompt => ({
  ...EMPTY_PROMPT,
  user: 'Hi',
  maxTokens: '64',
  ...given,
});
const TOOLS = '[{"name":"look","description":"Looks.","input_schema":{"type":"object"}}]';
const IMAGE = { name: 'a.png', url: 'data:image/png;base64,AAAA' };

describe('callBody', () => {
  test('chat: system as a turn, tools as functions, usage asked for', () => {
    expect(callBody('chat', 'm', prompt({ system: 'Be brief.', tools: TOOLS, temperature: '0.7' }))).toEqual({
      model: 'm',
      max_completion_tokens: 64,
      temperature: 0.7,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
      tools: [{ type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } } }],
      stream: true,
      stream_options: { include_usage: true },
    });
  });
  test('messages: system as a member, tools as they are', () => {
    expect(callBody('messages', 'm', prompt({ system: 'Be brief.', tools: TOOLS }))).toEqual({
      model: 'm',
      max_tokens: 64,
      system: 'Be brief.',
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ name: 'look', description: 'Looks.', input_schema: { type: 'object' } }],
      stream: true,
    });
  });
  test('responses: system as instructions, flat tools that stay as they are, nothing stored', () => {
    expect(callBody('responses', 'm', prompt({ system: 'Be brief.', tools: TOOLS }))).toEqual({
      model: 'm',
      max_output_tokens: 64,
      instructions: 'Be brief.',
      input: 'Hi',
      tools: [{ type: 'function', name: 'look', description: 'Looks.', parameters: { type: 'object' }, strict: false }],
      store: false,
      stream: true,
    });
  });
  test('images in each protocol’s form, before the text', () => {
    expect(callBody('responses', 'm', prompt({ images: [IMAGE] })).input).toEqual([
      {
        role: 'user',
        content: [
          { type: 'input_image', image_url: IMAGE.url },
          { type: 'input_text', text: 'Hi' },
        ],
      },
    ]);
    const contentOf = (body: unknown) => (body as { messages: { content: unknown }[] }).messages.at(-1)?.content;
    expect(contentOf(callBody('chat', 'm', prompt({ images: [IMAGE] })))).toEqual([
      { type: 'image_url', image_url: { url: IMAGE.url } },
      { type: 'text', text: 'Hi' },
    ]);
    expect(contentOf(callBody('messages', 'm', prompt({ images: [IMAGE], user: '' })))).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    ]);
  });
});

test('accepts tools in the chat format and reports invalid ones', () => {
  expect(readTools('[{"name":"a","parameters":{}}]')).toEqual([{ name: 'a', input_schema: {} }]);
  expect(readTools('{}')).toContain('array');
  expect(readTools('[{"name":"a","input_schema":{}},{"name":"b"}]')).toStartWith('Tool 2');
  expect(readTools('[')).toStartWith('Invalid JSON');
});

test('reports errors by member', () => {
  expect(promptErrors(prompt())).toEqual({});
  expect(Object.keys(promptErrors(prompt({ user: ' ', tools: 'x', maxTokens: '0', temperature: 'hot' })))).toEqual([
    'user',
    'tools',
    'maxTokens',
    'temperature',
  ]);
  expect(promptErrors(prompt({ user: '', images: [IMAGE] }))).toEqual({});
});

const EXCHANGE = { user: 'Hi', images: [], answer: 'Hello.', model: 'm' };

describe('a conversation', () => {
  test.each([
    ['chat', 'messages'],
    ['messages', 'messages'],
    ['responses', 'input'],
  ] as const)('%s: earlier messages and answers come before the next one', (protocol, list) => {
    expect(callBody(protocol, 'm', prompt({ exchanges: [EXCHANGE], user: 'And now?' }))[list]).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'And now?' },
    ]);
  });
});

describe('a stored request', () => {
  const base = (protocol: BaseRequest['protocol'], body: object): BaseRequest => ({
    requestId: 'req_1',
    protocol,
    text: JSON.stringify(body),
  });
  const BODY = {
    model: 'old',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Long', cache_control: { type: 'ephemeral' } }] }],
    max_tokens: 7,
    thinking: { type: 'enabled', budget_tokens: 1024 },
    vendor_member: [1],
    stream: false,
  };

  test('keeps every member but the model and the stream, whatever the form says', () => {
    const stored = base('messages', BODY);
    const given = prompt({ base: stored, user: '', maxTokens: 'wrong', system: 'Ignored' });
    expect(promptErrors(given)).toEqual({});
    expect(callBody('chat', 'new', given)).toEqual({ ...BODY, model: 'new', stream: true });
  });
  test('in chat it asks for the usage, and keeps other options of the stream', () => {
    const stored = base('chat', { messages: [], stream_options: { include_obfuscation: false } });
    expect(callBody('chat', 'new', prompt({ base: stored, user: '' }))).toEqual({
      messages: [],
      model: 'new',
      stream: true,
      stream_options: { include_obfuscation: false, include_usage: true },
    });
  });
  test('goes on with its answer and the next message', () => {
    const first = { ...EXCHANGE, user: '' };
    const stored = base('responses', { input: 'Long', store: false });
    expect(callBody('chat', 'new', prompt({ base: stored, exchanges: [first], user: 'More' }))).toMatchObject({
      store: false,
      input: [
        { role: 'user', content: 'Long' },
        { role: 'assistant', content: 'Hello.' },
        { role: 'user', content: 'More' },
      ],
    });
    expect(promptErrors(prompt({ base: stored, exchanges: [first], user: ' ' })).user).toBeDefined();
  });
  test.each(['{', '[]', '{"messages":"x"}', '{}'])('%s as its body is an error', (text) => {
    expect(promptErrors(prompt({ base: { ...base('chat', {}), text } })).base).toBeDefined();
  });
});
