/** Tests fold-stream.ts, stream-of-answer.ts and shared/usage.ts: a stream and the whole response are the same answer. */
import { describe, expect, test } from 'bun:test';
import { ZERO_USAGE } from '../../../generation/usage.ts';
import { recordsOf } from '../../testing/outline-of.ts';
import { readAnswer } from '../shared/usage.ts';
import { RECORDED_ANSWERS } from '../testing/recorded.ts';
import {
  call,
  event,
  message,
  reasoning,
  response,
  streamOf,
  textOf,
  USAGE,
  violationOf,
} from '../testing/responses-stream.ts';
import { startFold } from './fold-stream.ts';
import { streamOfAnswer } from './stream-of-answer.ts';

const CUT = { ...ZERO_USAGE, input: 10, output: 4 };
const ITEMS = [reasoning(0, ['think']), message(1, ['He', 'llo']), call(2, ['{"a"', ':1}'])];

function fold(text: string, cut: typeof CUT | null = null): string {
  const folded = startFold();
  for (const one of recordsOf(text)) folded.push(one);
  return folded.finish(cut);
}

describe('a folded stream', () => {
  test('is the response of its end, as written', () => {
    const text = textOf(streamOf(ITEMS)).replace('"usage":{', '"n":12345678901234567890, "usage":{');
    expect(fold(text)).toContain('"n":12345678901234567890, "usage":{"input_tokens":10');
    expect(JSON.parse(fold(text)).output).toEqual(ITEMS.map(({ done }) => done));
  });

  test('of a cut stream has the items and texts so far, as incomplete', () => {
    const events = streamOf(ITEMS);
    const at = events.findIndex(({ delta }) => delta === 'llo');
    const { status, incomplete_details, output, usage } = JSON.parse(fold(textOf(events.slice(0, at)), CUT));
    expect({ status, incomplete_details, usage: usage.total_tokens }).toEqual({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      usage: 14,
    });
    expect(output).toEqual([ITEMS[0]?.done, { ...message(1, ['He']).done, status: 'incomplete' }]);
    const inCall = JSON.parse(fold(textOf(events.slice(0, -3)), CUT)).output;
    expect(inCall[2]).toMatchObject({ arguments: '{"a":1}', status: 'incomplete' });
  });

  test('ignores places that no list can have', () => {
    const [head] = streamOf(ITEMS);
    if (head === undefined) throw new Error('a stream has events');
    const text = (output_index: number, content_index: number) =>
      event('response.output_text.delta', { output_index, content_index, delta: 'far' });
    const far = [4_000_000_000, -1, 0.5].flatMap((place) => [text(place, 0), text(0, place)]);
    const added = event('response.output_item.added', { output_index: 4_000_000_000, item: message(0, []).added });
    const item = event('response.output_item.added', { output_index: 0, item: message(0, []).added });
    const { output } = JSON.parse(fold(textOf([head, item, ...far, added]), CUT));
    expect(output).toMatchObject([
      { type: 'message', content: [] },
      { type: 'message', content: [] },
    ]);
  });

  test('that never began is malformed', () => {
    expect(() => fold(textOf([event('keepalive')]), CUT)).toThrow('it has no response');
    expect(() => fold(textOf(streamOf(ITEMS).slice(0, -1)))).toThrow('it has no response');
  });
});

describe('a whole answer', () => {
  const whole = (members: object = {}) =>
    response('completed', { output: ITEMS.map(({ done }) => done), usage: USAGE, ...members });

  test('is an answer with its usage and its tools', () => {
    const tools = [
      { type: 'web_search_call', id: 'ws_1' },
      { type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1', code: '' },
      { type: 'code_interpreter_call', id: 'ci_2', container_id: 'cntr_1', code: '' },
    ];
    expect(readAnswer(whole({ output: tools }), 100)).toMatchObject({
      kind: 'answer',
      facts: {
        usage: { output: 7, extras: { server_tools: { web_search: 1, code_interpreter: 1 } } },
        finish_reason: 'completed',
      },
    });
    const stated = { ...USAGE, server_side_tool_usage_details: { web_search_calls: 2, x_search_calls: 0 } };
    expect(readAnswer(whole({ output: tools, usage: stated }), 100)).toMatchObject({
      facts: { usage: { extras: { server_tools: { web_search: 2 } } } },
    });
    const searches = { tool_usage: { web_search: { num_requests: 3 } } };
    expect(readAnswer(whole(searches), 100)).toMatchObject({
      facts: { usage: { extras: { server_tools: { web_search: 3 } } } },
    });
  });

  // Vector 28.
  test('its counters are disjoint inside', () => {
    const usage = {
      input_tokens: 1000,
      input_tokens_details: { cached_tokens: 800, cache_write_tokens: 100 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 1020,
    };
    expect(readAnswer(whole({ usage }), 100)).toMatchObject({
      facts: {
        usage: {
          input: 100,
          cache_read: 800,
          cache_write_5m: 100,
          output: 20,
          reasoning: 5,
          extras: { cache_write_30m: 100 },
        },
        usageFlags: [],
      },
    });
    const details = {
      ...usage.input_tokens_details,
      cache_write_tokens_details: { ttl_30m_tokens: 60, ttl_12h_tokens: 40 },
    };
    expect(readAnswer(whole({ usage: { ...usage, input_tokens_details: details } }), 100)).toMatchObject({
      facts: { usage: { cache_write_5m: 60, cache_write_1h: 40, extras: { cache_write_30m: 60 } } },
    });
  });

  test.each([
    ['failed', response('failed', { error: { code: 'server_error', message: 'broke' }, usage: USAGE }), 'error'],
    ['an error body', { error: { code: 'insufficient_quota', message: 'none left' } }, 'error'],
    ['not finished', response('in_progress'), 'malformed'],
    ['without output', { ...response('completed'), output: undefined }, 'malformed'],
    ['a list', [], 'malformed'],
  ])('%s is not an answer', (_, body, kind) => {
    expect(readAnswer(body, 10).kind).toBe(kind as 'error');
  });

  test('streams as its own events, which fold to it', () => {
    const body = whole();
    const stream = streamOfAnswer(Buffer.from(JSON.stringify(body)))?.toString() ?? '';
    expect(violationOf(stream)).toBeNull();
    expect(JSON.parse(fold(stream))).toEqual(body);
    for (const none of [{ error: {} }, response('failed'), response('in_progress'), []])
      expect(streamOfAnswer(Buffer.from(JSON.stringify(none)))).toBeNull();
  });
});

test.skipIf(RECORDED_ANSWERS === null)(
  'recorded answers are read, and stream and fold to themselves (needs the recordings)',
  () => {
    expect(RECORDED_ANSWERS?.length).toBeGreaterThan(350);
    const unstreamed: string[] = [];
    for (const { id, body } of RECORDED_ANSWERS ?? []) {
      const json = Buffer.from(JSON.stringify(body));
      const reading = readAnswer(body, json.length);
      expect([id, reading.kind]).toEqual([id, 'answer']);
      const stream = streamOfAnswer(json);
      if (stream === null) unstreamed.push(id);
      else expect([id, JSON.parse(fold(stream.toString()))]).toEqual([id, JSON.parse(json.toString())]);
    }
    // Invented by their authors, with a status that the format does not have.
    expect(unstreamed).toEqual(['openai-responses/0457', 'openai-responses/0805']);
  },
);
