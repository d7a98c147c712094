/** Tests what the demo model refuses, as a strict provider would, and that no body whatever makes it fail otherwise. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { askDemo } from './testing/ask-demo.ts';

const hello = [{ role: 'user', content: 'Hello' }];
const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
const tool = { type: 'function', function: { name: 'f', parameters: {} } };

/** What is wrong, the body's members over a good body, and the refused member. */
const CHAT: readonly [string, object, string | null][] = [
  ['no model', { model: undefined }, 'model'],
  ['no messages', { messages: [] }, 'messages'],
  ['messages that are no array', { messages: 'hi' }, 'messages'],
  ['an unknown role', { messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role'],
  ['a user without content', { messages: [{ role: 'user' }] }, 'messages[0].content'],
  ['an unknown part', { messages: [{ role: 'user', content: [{ type: 'video' }] }] }, 'messages[0].content[0].type'],
  [
    'an image in a system message',
    { messages: [{ role: 'system', content: [{ type: 'image_url' }] }] },
    'messages[0].content[0].type',
  ],
  [
    'broken base64',
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,A' } }] }] },
    'messages[0].content[0].image_url.url',
  ],
  [
    'a tool message without a call',
    { messages: [...hello, { role: 'tool', tool_call_id: 'c', content: '' }] },
    'messages[1].tool_call_id',
  ],
  [
    'a call without a tool message',
    { messages: [{ role: 'assistant', tool_calls: [call('c')] }, ...hello] },
    'messages[1]',
  ],
  [
    'a last call without a tool message',
    { messages: [...hello, { role: 'assistant', tool_calls: [call('c')] }] },
    'messages[1]',
  ],
  ['an assistant that says nothing', { messages: [{ role: 'assistant' }] }, 'messages[0].content'],
  ['a temperature above 2', { temperature: 2.1 }, 'temperature'],
  ['a top_p above 1', { top_p: 1.5 }, 'top_p'],
  ['more than eight choices', { n: 9 }, 'n'],
  ['a limit of 0 tokens', { max_completion_tokens: 0 }, 'max_completion_tokens'],
  ['both limits', { max_tokens: 5, max_completion_tokens: 5 }, 'max_tokens'],
  ['five stops', { stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop'],
  ['an empty stop', { stop: [''] }, 'stop[0]'],
  ['stream options without a stream', { stream_options: { include_usage: true } }, 'stream_options'],
  ['a stream that is no boolean', { stream: 'yes' }, 'stream'],
  ['an unknown effort', { reasoning_effort: 'huge' }, 'reasoning_effort'],
  ['an unknown format', { response_format: { type: 'xml' } }, 'response_format.type'],
  [
    'a format without a name',
    { response_format: { type: 'json_schema', json_schema: { schema: {} } } },
    'response_format.json_schema.name',
  ],
  ['a tool without a name', { tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
  ['a choice without tools', { tool_choice: 'auto' }, 'tool_choice'],
  [
    'a choice of no offered tool',
    { tools: [tool], tool_choice: { type: 'function', function: { name: 'g' } } },
    'tool_choice.function.name',
  ],
  ['deprecated functions', { functions: [] }, 'functions'],
  ['log probabilities', { logprobs: true }, 'logprobs'],
  ['sound', { modalities: ['text', 'audio'] }, 'modalities[1]'],
];

const MESSAGES: readonly [string, object, string][] = [
  ['no model', { model: '' }, 'model'],
  ['no max_tokens', { max_tokens: undefined }, 'max_tokens'],
  ['a negative max_tokens', { max_tokens: -1 }, 'max_tokens'],
  ['no messages', { messages: [] }, 'messages'],
  ['an unknown role', { messages: [{ role: 'tool', content: 'x' }] }, 'messages.0.role'],
  ['an assistant first', { messages: [{ role: 'assistant', content: 'x' }] }, 'messages.0.role'],
  ['an unknown block', { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }, 'messages.0.content.0.type'],
  ['a tool use of the user', { messages: [{ role: 'user', content: [use('a')] }] }, 'messages.0.content.0.type'],
  [
    'a result without a use',
    { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] }] },
    'messages.0.content.0',
  ],
  ['a use without a result', { messages: [...hello, { role: 'assistant', content: [use('a')] }] }, 'messages.1'],
  [
    'a use whose result comes too late',
    { messages: [...hello, { role: 'assistant', content: [use('a')] }, ...hello, { role: 'assistant', content: 'x' }] },
    'messages.3',
  ],
  [
    'an image type that is none',
    {
      messages: [
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: 'AAAA' } }],
        },
      ],
    },
    'messages.0.content.0.source.media_type',
  ],
  [
    'thinking without a signature',
    { messages: [...hello, { role: 'assistant', content: [{ type: 'thinking', thinking: '' }] }] },
    'messages.1.content.0.signature',
  ],
  ['a temperature above 1', { temperature: 1.1 }, 'temperature'],
  ['a budget below 1024', { thinking: { type: 'enabled', budget_tokens: 10 } }, 'thinking.budget_tokens'],
  ['a budget above max_tokens', { thinking: { type: 'enabled', budget_tokens: 2_000 } }, 'thinking.budget_tokens'],
  ['no budget', { thinking: { type: 'enabled' } }, 'thinking.budget_tokens'],
  ['a tool without a schema', { tools: [{ name: 'f' }] }, 'tools.0.input_schema'],
  [
    'two tools of one name',
    { tools: [1, 2].map(() => ({ name: 'f', input_schema: { type: 'object' } })) },
    'tools.1.name',
  ],
  [
    'a forced tool that is not offered',
    { tools: [{ name: 'f', input_schema: { type: 'object' } }], tool_choice: { type: 'tool', name: 'g' } },
    'tool_choice.name',
  ],
  [
    'a forced choice where only server tools are offered',
    { tools: [{ type: 'web_search_20250305', name: 'web_search' }], tool_choice: { type: 'any' } },
    'tool_choice.type',
  ],
  [
    'both names of the format',
    {
      output_config: { format: { type: 'json_schema', schema: {} } },
      output_format: { type: 'json_schema', schema: {} },
    },
    'output_format',
  ],
  ['a system prompt that is a number', { system: 5 }, 'system'],
];

describe('chat completions refuses', () => {
  test.each(CHAT)('%s', (_, wrong, param) => {
    const { status, text } = askDemo('chat', JSON.parse(JSON.stringify({ model: 'demo', messages: hello, ...wrong })));
    expect([status, JSON.parse(text)]).toEqual([
      400,
      {
        error: {
          message: expect.stringContaining(`'${param}'`),
          type: 'invalid_request_error',
          param,
          code: 'invalid_value',
        },
      },
    ]);
  });

  test('a body that is no object, naming none of its members', () => {
    expect(JSON.parse(askDemo('chat', [1]).text).error).toMatchObject({
      param: null,
      message: expect.stringContaining('an array of 1'),
    });
  });
});

describe('messages refuses', () => {
  test.each(MESSAGES)('%s', (_, wrong, path) => {
    const body = JSON.parse(JSON.stringify({ model: 'demo', max_tokens: 1_500, messages: hello, ...wrong }));
    const { status, text } = askDemo('messages', body, 'req_7');
    expect([status, JSON.parse(text)]).toEqual([
      400,
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: expect.stringMatching(new RegExp(`^${path.replaceAll('.', '\\.')}: `)),
        },
        request_id: 'req_7',
      },
    ]);
  });

  const late: readonly [string, object, string][] = [
    ['sampling', { temperature: 1 }, 'temperature'],
    [
      'a document in an assistant turn',
      {
        messages: [
          ...hello,
          {
            role: 'assistant',
            content: [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } }],
          },
        ],
      },
      'messages.1.content.0',
    ],
    [
      'citations on user text',
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'x', citations: [{}] }] }] },
      'messages.0.content.0.citations',
    ],
  ];
  test.each(late)('%s only from the version 2026-10-21 on', (_, members, path) => {
    const body = { model: 'demo', max_tokens: 5, messages: hello, ...members };
    expect(askDemo('messages', body, 'r', '2023-06-01').status).toBe(200);
    expect(JSON.parse(askDemo('messages', body, 'r', '2026-10-21').text).error.message).toStartWith(`${path}: `);
  });
});

test('explicit nulls are as good as absent members', () => {
  const nulls = {
    tools: null,
    tool_choice: null,
    stop: null,
    n: null,
    stream: null,
    stream_options: null,
    response_format: null,
    reasoning_effort: null,
    max_tokens: null,
  };
  expect(askDemo('chat', { model: 'demo', messages: hello, ...nulls }).status).toBe(200);
});

test('members that it does not know, and names such as __proto__, pass', () => {
  const body = JSON.parse(
    '{"__proto__":{"stream":true},"constructor":1,"top_k":5,"model":"demo","messages":[{"role":"user","content":"x","__proto__":[]}]}',
  );
  expect(askDemo('chat', body).status).toBe(200);
  expect(askDemo('chat', body).records).toEqual([]);
});

test('any body gives 200 or a 400 in the shape of its protocol, and nothing is thrown', () => {
  const type = fc.constantFrom(
    'text',
    'image',
    'tool_use',
    'tool_result',
    'image_url',
    'function',
    'custom',
    'json_schema',
    'enabled',
  );
  const wild = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.jsonValue(),
      type,
      fc.array(tie('value'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc.dictionary(
      fc.constantFrom(
        'type',
        'role',
        'content',
        'id',
        'name',
        'text',
        'source',
        'function',
        'input_schema',
        'parameters',
        'tool_calls',
        '$ref',
        'anyOf',
        '__proto__',
      ),
      tie('value'),
      { maxKeys: 5 },
    ),
  })).value;
  const member = fc.constantFrom(
    'messages',
    'tools',
    'tool_choice',
    'system',
    'thinking',
    'response_format',
    'output_config',
    'stop',
    'n',
  );
  const good = { model: 'demo', max_tokens: 100, messages: hello };
  fc.assert(
    fc.property(
      fc.constantFrom('chat', 'messages'),
      fc.dictionary(member, wild, { maxKeys: 3 }),
      (protocol, members) => {
        const { status, text } = askDemo(protocol, { ...good, ...members });
        expect([200, 400]).toContain(status);
        const body = JSON.parse(text);
        if (status === 400) expect(body.error.type).toBe('invalid_request_error');
      },
    ),
    { numRuns: 600 },
  );
});
