/** Tests how messages become turns: roles, calls and results, returned reasoning, cache marks. */
import { describe, expect, test } from 'bun:test';
import { textPart } from '../../../generation/part.ts';
import { parse, refusalOf } from '../testing/chat-request.ts';

const turnsOf = (...messages: unknown[]) => parse({ messages }).request.turns;
const partsOf = (message: unknown) => turnsOf(message)[0]?.parts;
const USER = { role: 'user', content: 'hello' };

test('each message is one turn, in its place', () => {
  const turns = turnsOf(
    { role: 'system', content: 'a' },
    { role: 'developer', content: [{ type: 'text', text: 'b' }], name: 'ops' },
    USER,
    { role: 'system', content: 'later' },
  );
  expect(turns).toEqual([
    { role: 'system', name: null, parts: [textPart('a')], path: 'messages.0' },
    { role: 'developer', name: 'ops', parts: [textPart('b')], path: 'messages.1' },
    { role: 'user', name: null, parts: [textPart('hello')], path: 'messages.2' },
    { role: 'system', name: null, parts: [textPart('later')], path: 'messages.3' },
  ]);
});

test('vector 40: a system message in the middle stays in the middle', () => {
  const roles = turnsOf(USER, { role: 'assistant', content: 'a' }, { role: 'system', content: 's' }, USER);
  expect(roles.map(({ role }) => role)).toEqual(['user', 'assistant', 'system', 'user']);
});

test('vector 49: integers above 2^53 in arguments keep their digits', () => {
  const text = String.raw`{"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"b\":1,\"a\":9007199254740993,\"a\":2}"}}]}]}`;
  const [call] = parse(text).request.turns[1]?.parts ?? [];
  expect(call).toMatchObject({ kind: 'tool_call', arguments: '{"b":1,"a":9007199254740993,"a":2}' });
});

describe('an assistant’s message', () => {
  test('is reasoning, text, refusal and calls', () => {
    const message = {
      role: 'assistant',
      content: [
        { type: 'text', text: 'a' },
        { type: 'refusal', refusal: 'no' },
      ],
      refusal: 'never',
      reasoning_content: 'hm',
      tool_calls: [
        { id: 'c1', type: 'function', index: 0, function: { name: 'f', arguments: '' } },
        { id: 'c2', function: { name: 'g', arguments: '{"x"' } },
        { id: 'c3', type: 'custom', custom: { name: 'h', input: 'free' } },
      ],
      audio: null,
      function_call: null,
      annotations: [],
    };
    expect(parse({ messages: [USER, message] }, true).request.turns[1]?.parts).toEqual([
      { kind: 'reasoning', text: 'hm', signature: null, redacted: false, issuer: null },
      textPart('a'),
      { kind: 'refusal', text: 'no' },
      { kind: 'refusal', text: 'never' },
      { kind: 'tool_call', id: 'c1', name: 'f', tool: 'function', arguments: '', cache_mark: null },
      { kind: 'tool_call', id: 'c2', name: 'g', tool: 'function', arguments: '{"x"', cache_mark: null },
      { kind: 'tool_call', id: 'c3', name: 'h', tool: 'custom', arguments: 'free', cache_mark: null },
    ]);
  });

  test('a turn without content, or with empty content, has no parts', () => {
    for (const content of [null, '', undefined]) expect(partsOf({ role: 'assistant', content })).toEqual([]);
  });

  test('a turn that refers to earlier audio is refused', () => {
    const refusal = refusalOf(() => turnsOf(USER, { role: 'assistant', audio: { id: 'a1' } }));
    expect(refusal.param).toBe('messages.1.audio');
  });

  test('a call without an id or a name is refused with its path', () => {
    const call = (written: object) => () => turnsOf(USER, { role: 'assistant', tool_calls: [written] });
    expect(refusalOf(call({ function: { name: 'f' } })).param).toBe('messages.1.tool_calls.0.id');
    expect(refusalOf(call({ id: 'c', function: {} })).param).toBe('messages.1.tool_calls.0.function.name');
    expect(refusalOf(call({ id: 'c', function: { name: 'f', arguments: {} } })).param).toBe(
      'messages.1.tool_calls.0.function.arguments',
    );
  });
});

describe('reasoning that comes back', () => {
  const reasoningOf = (members: object) => partsOf({ role: 'assistant', ...members });
  const signed = { kind: 'reasoning', text: 'hm', signature: 'EvAB', redacted: false, issuer: 'messages' } as const;

  test('keeps its signature in reasoning_details, and the plain copy adds nothing', () => {
    const reasoning_details = [
      { type: 'reasoning.text', format: 'anthropic-claude-v1', text: 'hm', signature: 'EvAB', id: 'r', index: 0 },
    ];
    expect(reasoningOf({ reasoning: 'hm', reasoning_details })).toEqual([signed]);
  });

  test('keeps its signature in thinking_blocks', () => {
    const thinking_blocks = [
      { type: 'thinking', thinking: 'hm', signature: 'EvAB' },
      { type: 'redacted_thinking', data: 'XYZ' },
    ];
    expect(reasoningOf({ reasoning_content: 'hm', thinking_blocks })).toEqual([
      signed,
      { kind: 'reasoning', text: '', signature: 'XYZ', redacted: true, issuer: 'messages' },
    ]);
  });

  test('reasoning of another issuer is not taken for Anthropic’s', () => {
    const reasoning_details = [
      { type: 'reasoning.summary', format: 'openai-responses-v1', summary: 'sum' },
      { type: 'reasoning.encrypted', format: 'openai-responses-v1', data: 'abc' },
    ];
    expect(reasoningOf({ reasoning_details })).toEqual([
      { kind: 'reasoning', text: 'sum', signature: null, redacted: false, issuer: null },
      { kind: 'reasoning', text: '', signature: 'abc', redacted: true, issuer: null },
    ]);
  });

  test('as two plain copies is one part', () => {
    expect(reasoningOf({ reasoning: 'hm', reasoning_content: 'hm' })).toHaveLength(1);
  });

  test('in the content, as Mistral writes it, is reasoning', () => {
    const content = [
      {
        type: 'thinking',
        thinking: [
          { type: 'text', text: 'h' },
          { type: 'text', text: 'm' },
        ],
      },
      { type: 'text', text: '8' },
    ];
    expect(reasoningOf({ content })).toEqual([{ ...signed, signature: null, issuer: null }, textPart('8')]);
  });

  test('reasoning of an unknown kind is reported', () => {
    const message = { role: 'assistant', content: 'a', reasoning_details: [{ type: 'reasoning.smell' }, 7] };
    expect(parse({ messages: [message] }).dropped).toEqual(['messages[].reasoning_details']);
  });
});

describe('results', () => {
  test('are a user’s turns with one result each', () => {
    const messages = [
      { role: 'tool', tool_call_id: 'c1', content: 'sunny', name: 'weather' },
      {
        role: 'tool',
        tool_call_id: 'c2',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
        is_error: true,
      },
    ];
    expect(parse({ messages }, true).request.turns.map(({ role, parts }) => [role, parts])).toEqual([
      ['user', [{ kind: 'tool_result', call_id: 'c1', parts: [textPart('sunny')], is_error: false, cache_mark: null }]],
      [
        'user',
        [
          {
            kind: 'tool_result',
            call_id: 'c2',
            parts: [textPart('a'), textPart('b')],
            is_error: true,
            cache_mark: null,
          },
        ],
      ],
    ]);
  });

  test('in the old form get the id of the first call of that name that has none', () => {
    const calls = (name: string) => ({ role: 'assistant', content: null, function_call: { name, arguments: '{}' } });
    const turns = turnsOf(USER, calls('f'), { role: 'function', name: 'f', content: 'x' }, calls('f'), {
      role: 'function',
      name: 'f',
      content: null,
    });
    const ids = turns.flatMap(({ parts }) =>
      parts.map((part) => ('call_id' in part ? part.call_id : 'id' in part ? part.id : '')),
    );
    expect(ids).toEqual(['', 'call_legacy_1', 'call_legacy_1', 'call_legacy_3', 'call_legacy_3']);
  });

  test('in the old form without a call are refused', () => {
    expect(refusalOf(() => turnsOf(USER, { role: 'function', name: 'f', content: 'x' })).param).toBe('messages.1');
  });

  test('without the id of a call are refused', () => {
    expect(refusalOf(() => turnsOf(USER, { role: 'tool', content: 'x' })).param).toBe('messages.1.tool_call_id');
  });
});

test('marks are read from parts, messages and results with their times', () => {
  const mark = (ttl?: string) => ({ cache_control: { type: 'ephemeral', ttl } });
  const { request, dropped } = parse({
    messages: [
      {
        role: 'system',
        content: [{ type: 'text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } }],
      },
      { role: 'user', content: 'b', ...mark('5m') },
      { role: 'assistant', tool_calls: [{ id: 'c1', function: { name: 'f', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'c1', content: 'd', ...mark('1h') },
      { role: 'user', content: [{ type: 'text', text: 'e', ...mark() }] },
    ],
  });
  const marks = request.turns.map(({ parts }) =>
    parts.map((part) => ('cache_mark' in part ? part.cache_mark : 'none')),
  );
  expect(marks).toEqual([
    [{ ttlMinutes: 720 }],
    [{ ttlMinutes: 5 }],
    [null],
    [{ ttlMinutes: 60 }],
    [{ ttlMinutes: null }],
  ]);
  expect([request.named.cache_marks, dropped]).toEqual(['prompt_cache_breakpoint', []]);
  const unknown = { role: 'user', content: [{ type: 'text', text: 'a', ...mark('2d') }] };
  expect(refusalOf(() => turnsOf(unknown)).message).toBe(
    'messages.0.content.0.cache_control.ttl: found "2d"; expected one of 5m, 30m, 1h, 12h',
  );
});

test.each([
  [{ role: 'user' }, 'messages.0.content'],
  [{ role: 'user', content: null }, 'messages.0.content'],
  [{ role: 'user', content: { type: 'text' } }, 'messages.0.content'],
  [{ role: 'user', content: [7] }, 'messages.0.content.0'],
  [{ role: 'user', content: [{ type: 'video_url' }] }, 'messages.0.content.0.type'],
  [
    { role: 'system', content: [{ type: 'image_url', image_url: { url: 'https://a/b' } }] },
    'messages.0.content.0.type',
  ],
  [{ role: 'assistant', content: [{ type: 'text', text: 7 }] }, 'messages.0.content.0.text'],
  [{ role: 'ghost', content: 'x' }, 'messages.0.role'],
  [{ role: 'user', content: 'x', name: 7 }, 'messages.0.name'],
  [7, 'messages.0'],
])('%j is refused, naming %s', (message, param) => {
  expect(refusalOf(() => turnsOf(message)).param).toBe(param);
});
