/** Tests render-answer.ts: the whole message object, its blocks, its usage, and invalid arguments. */
import { describe, expect, test } from 'bun:test';
import { CallFailure } from '../../../errors/call-failure.ts';
import type { Generation } from '../../../generation/generation.ts';
import type { Part, ToolCallPart } from '../../../generation/part.ts';
import { textPart } from '../../../generation/part.ts';
import { ZERO_USAGE } from '../../../generation/usage.ts';
import { CONTEXT } from '../testing/answer-events.ts';
import { renderAnswer } from './render-answer.ts';

const usage = { input: 50, cache_read: 900, cache_write_5m: 30, cache_write_1h: 20, output: 7, reasoning: 2 };
const generation: Generation = {
  id: 'x',
  model: 'm',
  parts: [],
  finish_reason: 'stop',
  stop_sequence: null,
  reported: 'stop',
  explanation: null,
  usage,
  usageFlags: [],
  complete: true,
};
const render = (more: Partial<Generation>) => JSON.parse(renderAnswer({ ...generation, ...more }, CONTEXT).json);
const call = (args: string, more: Partial<ToolCallPart> = {}): ToolCallPart => ({
  kind: 'tool_call',
  id: 'c',
  name: 'get',
  tool: 'function',
  arguments: args,
  cache_mark: null,
  ...more,
});
const thought = (text: string, signature: string | null, issuer: string | null, redacted = false): Part => ({
  kind: 'reasoning',
  text,
  signature,
  redacted,
  issuer,
});

test('vectors 17 and 19: the message has every member, no empty block, counters as disjoint as upstream counted them', () => {
  const parts = [textPart(''), thought('', null, null)];
  expect(renderAnswer({ ...generation, parts }, CONTEXT).finish_reason).toBe('end_turn');
  expect(render({ parts })).toEqual({
    id: 'msg_a1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: 'end_turn',
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: {
      input_tokens: 50,
      cache_creation_input_tokens: 50,
      cache_read_input_tokens: 900,
      cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 20 },
      output_tokens: 7,
      output_tokens_details: { thinking_tokens: 2 },
      server_tool_use: null,
      service_tier: null,
      inference_geo: null,
      speed: null,
    },
  });
});

test('parts are blocks in their order', () => {
  const cited = { origin: 'messages', json: '{"type":"char_location","n":12345678901234567890}' };
  const parts: Part[] = [
    thought('hm', null, null),
    thought('', 'EqQ=', 'messages'),
    thought('', 'blob', 'messages', true),
    thought('', 'blob', null, true),
    {
      ...textPart('Hi'),
      citations: [
        { kind: 'opaque', native: cited },
        { kind: 'opaque', native: { ...cited, origin: 'chat' } },
        { kind: 'url', url: 'https://a', title: 'A', quote: null, start: 0, end: 1, native: null },
      ],
    },
    { kind: 'refusal', text: 'no' },
    call('', { id: 'a' }),
    call('say "hi"', { id: 'b', tool: 'custom' }),
    { kind: 'opaque', type: 'new', native: { origin: 'messages', json: '{"type":"new"}' }, words: null },
    { kind: 'opaque', type: 'new', native: { origin: 'gemini', json: '{"type":"new"}' }, words: null },
  ];
  const { content, stop_reason } = render({ parts });
  expect(content).toEqual([
    { type: 'thinking', thinking: 'hm', signature: 'gw1.2' },
    { type: 'thinking', thinking: '', signature: 'EqQ=' },
    { type: 'redacted_thinking', data: 'blob' },
    {
      type: 'text',
      text: 'Hi',
      citations: [
        JSON.parse(cited.json),
        {
          type: 'search_result_location',
          cited_text: '',
          source: 'https://a',
          title: 'A',
          search_result_index: 0,
          start_block_index: 0,
          end_block_index: 0,
        },
      ],
    },
    { type: 'text', text: 'no' },
    { type: 'tool_use', id: 'a', name: 'get', input: {} },
    { type: 'tool_use', id: 'b', name: 'get', input: { input: 'say "hi"' } },
    { type: 'new' },
  ]);
  expect(stop_reason).toBe('tool_use');
});

test('arguments stay as they were written', () => {
  const input = '{"n": 12345678901234567890,\n "n":1.0}';
  expect(renderAnswer({ ...generation, parts: [call(input)] }, CONTEXT).json).toContain(`"input":${input}}`);
});

test('a refusal and a stop text have their members', () => {
  expect(render({ finish_reason: 'refusal', explanation: 'why' })).toMatchObject({
    stop_reason: 'refusal',
    stop_details: { type: 'refusal', category: null, explanation: 'why' },
  });
  expect(render({ finish_reason: 'stop_sequence', stop_sequence: 'END' })).toMatchObject({ stop_sequence: 'END' });
});

test('usage is estimated if nothing was counted', () => {
  expect(render({ usage: null, parts: [textPart('12345')] }).usage).toMatchObject({
    input_tokens: 1000,
    output_tokens: 2,
  });
  expect(render({ usage: ZERO_USAGE }).usage).toMatchObject({ input_tokens: 0, output_tokens: 0 });
});

describe('arguments that are no JSON object', () => {
  test.each(['{"a":', '[1]', 'null', '{} {}'])('fail the call: %s', (args) => {
    expect(() => render({ parts: [call(args)] })).toThrow(CallFailure);
    expect(() => render({ parts: [call(args)] })).toThrow('the arguments of a call of "get" are not a JSON object');
  });

  test('arguments keep their complete members if the answer was cut', () => {
    const { content, stop_reason } = render({ parts: [call('{"a":1,"b":[1,{"c":"d"},2')], finish_reason: 'length' });
    expect(content).toEqual([{ type: 'tool_use', id: 'c', name: 'get', input: { a: 1, b: [1, { c: 'd' }] } }]);
    expect(stop_reason).toBe('max_tokens');
  });
});
