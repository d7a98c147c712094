/** Tests render-answer.ts and usage.ts: the exact JSON that a client gets. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { FinishReason } from '../../../generation/event.ts';
import type { Generation } from '../../../generation/generation.ts';
import { type Part, textPart } from '../../../generation/part.ts';
import { readAnswer, readUsage, renderUsage } from '../shared/usage.ts';
import { CONTEXT } from '../testing/chat-stream.ts';
import { renderAnswer } from './render-answer.ts';

const USAGE = { input: 5, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output: 2, reasoning: 0 };

function generation(
  parts: readonly Part[],
  finish_reason: FinishReason | null = 'stop',
  more: Partial<Generation> = {},
): Generation {
  const rest = { stop_sequence: null, reported: null, explanation: null, usage: USAGE, usageFlags: [], complete: true };
  return { id: 'u1', model: 'm', parts, finish_reason, ...rest, ...more };
}

const reasoning = (text: string) =>
  ({ kind: 'reasoning', text, signature: 's', redacted: false, issuer: 'messages' }) as const;
const call = (id: string, text: string, tool: 'function' | 'custom' = 'function') =>
  ({ kind: 'tool_call', id, name: 'f', tool, arguments: text, cache_mark: null }) as const;
const messageOf = (...given: Parameters<typeof generation>) =>
  JSON.parse(renderAnswer(generation(...given), CONTEXT).json).choices[0].message;

describe('a rendered answer', () => {
  test('is, byte by byte, a chat completion', () => {
    expect(renderAnswer(generation([textPart('He'), textPart('y')]), CONTEXT)).toEqual({
      json:
        '{"id":"chatcmpl-gw1","object":"chat.completion","created":1700000000,"model":"m","choices":[{"index":0,' +
        '"message":{"role":"assistant","content":"Hey","refusal":null},"logprobs":null,"finish_reason":"stop"}],' +
        '"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7,' +
        '"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}',
      finish_reason: 'stop',
    });
  });

  test('uses our model name and omits usage if upstream reported none', () => {
    const body = JSON.parse(renderAnswer(generation([], 'stop', { model: null, usage: null }), CONTEXT).json);
    expect([body.model, 'usage' in body]).toEqual(['asked-for', false]);
  });

  test.each([
    ['stop', 'tool_calls'],
    ['other', 'tool_calls'],
    ['length', 'length'],
    ['refusal', 'content_filter'],
  ] as const)('with a call, a finish reported as %s is %s, so that agents run the call', (reported, shown) => {
    const { json, finish_reason } = renderAnswer(generation([call('x', '{}')], reported), CONTEXT);
    expect([finish_reason, JSON.parse(json).choices[0].finish_reason]).toEqual([shown, shown]);
  });

  test('has calls in order, with their arguments as they were written', () => {
    const text = '{"n":90071992547409931,"n":1.0}';
    expect(messageOf([textPart('a'), call('x', text), textPart('b'), call('y', 'ls', 'custom')], 'tool_calls')).toEqual(
      {
        role: 'assistant',
        content: 'ab',
        refusal: null,
        tool_calls: [
          { id: 'x', type: 'function', function: { name: 'f', arguments: text } },
          { id: 'y', type: 'custom', custom: { name: 'f', input: 'ls' } },
        ],
      },
    );
  });

  test('vector 1: gives a call without arguments an empty object of them', () => {
    expect(messageOf([call('x', '')], 'tool_calls')).toMatchObject({
      content: null,
      tool_calls: [{ function: { arguments: '{}' } }],
    });
    expect(messageOf([call('x', '', 'custom')], 'tool_calls')).toMatchObject({
      tool_calls: [{ custom: { input: '' } }],
    });
  });

  test('vector 19: renders an empty answer with empty content', () => {
    expect(messageOf([])).toEqual({ role: 'assistant', content: '', refusal: null });
  });

  test('vector 20: of reasoning alone has none', () => {
    const rendered = renderAnswer(generation([reasoning('hm')], 'length'), CONTEXT);
    expect(rendered.finish_reason).toBe('length');
    expect(JSON.parse(rendered.json).choices[0].message).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      reasoning_content: 'hm',
    });
  });

  test('vector 59: of a refusal before any word has the reason as refusal', () => {
    const rendered = renderAnswer(generation([], 'refusal', { explanation: 'not this' }), CONTEXT);
    expect(rendered.finish_reason).toBe('content_filter');
    expect(JSON.parse(rendered.json).choices[0].message).toEqual({
      role: 'assistant',
      content: null,
      refusal: 'not this',
    });
    const own = { kind: 'refusal', text: 'own words' } as const;
    expect(messageOf([own], 'refusal', { explanation: 'not this' }).refusal).toBe('own words');
  });

  test('has the citations of each text with offsets into all the content', () => {
    const cited = (text: string, start: number | null, end: number | null): Part => ({
      ...textPart(text),
      citations: [{ kind: 'url', url: 'https://x', title: 'X', quote: 'q', start, end, native: null }],
    });
    const span = (start_index: number, end_index: number) => ({
      type: 'url_citation',
      url_citation: { start_index, end_index, title: 'X', url: 'https://x' },
    });
    const parts = [cited('one', 1, 2), reasoning('r'), cited('three', null, null)];
    expect(messageOf(parts).annotations).toEqual([span(1, 2), span(3, 8)]);
  });

  test('omits content of another format', () => {
    const opaque: Part = { kind: 'opaque', type: 't', native: { origin: 'messages', json: '{}' }, words: 'w' };
    expect(messageOf([textPart('a'), opaque])).toEqual({ role: 'assistant', content: 'a', refusal: null });
  });

  test('an unfinished answer is never rendered', () => {
    expect(() => renderAnswer(generation([], null), CONTEXT)).toThrow('never finished');
  });

  test('is an answer to its own reader', () => {
    const { json } = renderAnswer(generation([textPart('a')]), CONTEXT);
    expect(readAnswer(JSON.parse(json), json.length)).toMatchObject({
      kind: 'answer',
      facts: { usage: USAGE, finish_reason: 'stop', model: 'm' },
    });
  });
});

test('vector 17, the other way: counters that exclude one another become inclusive', () => {
  const usage = { input: 50, cache_read: 900, cache_write_5m: 20, cache_write_1h: 30, output: 9, reasoning: 4 };
  expect(renderUsage({ ...usage, extras: { audio_input: 2, audio_cache_read: 3, image_output: 1 } })).toMatchObject({
    prompt_tokens_details: { audio_tokens: 5 },
    completion_tokens_details: { image_tokens: 1 },
  });
  expect(renderUsage(usage)).toEqual({
    prompt_tokens: 1000,
    completion_tokens: 9,
    total_tokens: 1009,
    prompt_tokens_details: { cached_tokens: 900, cache_write_tokens: 50 },
    completion_tokens_details: { reasoning_tokens: 4 },
  });
});

test('counters that were written are read back, with all cache writes as short ones', () => {
  const count = fc.nat({ max: 2_500_000 });
  fc.assert(
    fc.property(count, count, count, count, count, count, (input, read, short, long, spoken, reasoning) => {
      const output = spoken + reasoning;
      const usage = { input, cache_read: read, cache_write_5m: short, cache_write_1h: long, output, reasoning };
      const back = { ...usage, cache_write_5m: short + long, cache_write_1h: 0 };
      expect(readUsage(renderUsage(usage))).toEqual({ usage: back, flags: [] });
    }),
  );
});
