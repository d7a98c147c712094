/** Tests observe-stream.ts: the result for each event, and the stream's final state. */
import { describe, expect, test } from 'bun:test';
import { recordsOf } from '../../testing/outline-of.ts';
import { MessagesStreamObserver } from './observe-stream.ts';

function observe(records: readonly string[]) {
  const observer = new MessagesStreamObserver();
  const verdicts = recordsOf(records.join('')).map((record) => observer.observe(record));
  return { observer, verdicts, facts: observer.facts() };
}

const event = (type: string, members: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
const start = event('message_start', { message: { model: 'c', usage: { input_tokens: 9, output_tokens: 1 } } });
const delta = (members: object) => event('content_block_delta', { index: 0, delta: members });
const last = event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 40 } });

describe('a messages stream', () => {
  test('passes everything on and ends at message_stop', () => {
    const { verdicts, facts } = observe([
      start,
      event('ping', {}),
      delta({ type: 'text_delta', text: 'hi' }),
      last,
      event('message_stop', {}),
    ]);
    expect(verdicts).toEqual(['pass', 'silent', 'pass', 'pass', 'terminal']);
    expect(facts).toMatchObject({
      usage: { input: 9, output: 40 },
      finish_reason: 'end_turn',
      model: 'c',
      outputBytes: 2,
    });
  });

  test('has no final usage before its stop reason, but the count so far', () => {
    expect(observe([start]).facts).toMatchObject({
      usage: null,
      usageSoFar: { input: 9, output: 1 },
      finish_reason: null,
    });
  });

  test.each([
    ['says no usage', undefined],
    ['says null', null],
    ['leaves the output out', { input_tokens: 12 }],
  ])('has no final usage where its message_delta %s', (_, usage) => {
    const ending = event('message_delta', { delta: { stop_reason: 'end_turn' }, usage });
    const { facts } = observe([start, delta({ type: 'text_delta', text: 'hi' }), ending, event('message_stop', {})]);
    expect(facts).toMatchObject({ usage: null, usageSoFar: { output: 1 }, finish_reason: 'end_turn' });
  });

  test('counts the bytes of every kind of delta and of complete blocks', () => {
    const deltas = [
      { text: 'aé' },
      { text: 'b"' },
      { text: 'cc' },
      { thinking: 'ddd' },
      { partial_json: '{"a"' },
      { partial_json: '' },
    ];
    const block = event('content_block_start', {
      index: 1,
      content_block: { type: 'tool_use', name: 'get', input: {} },
    });
    expect(observe([...deltas.map(delta), block, delta({ signature: 'x'.repeat(99) })]).facts.outputBytes).toBe(
      3 + 2 + 2 + 3 + 4 + 3,
    );
    expect(observe(deltas.map(delta)).facts.reasoningBytes).toBe(3);
  });

  test('is never finished without its message_stop', () => {
    const { observer } = observe([start, last]);
    expect(observer.endOfBytes()).toBeNull();
  });

  test.each([
    ['overloaded_error', 529],
    ['rate_limit_error', 429],
    ['api_error', null],
  ])('sees an error of type %s', (type, status) => {
    const { observer, verdicts } = observe([start, event('error', { error: { type, message: 'm' } })]);
    expect(verdicts).toEqual(['pass', 'error']);
    expect(observer.failure).toEqual({ type, message: 'm', status });
  });

  test('passes events that it does not know', () => {
    expect(observe([event('future_event', { x: 1 }), 'data: {"no":"type"}\n\n']).verdicts).toEqual(['pass', 'pass']);
  });

  test.each(['data: {"type":\n\n', 'data: [DONE]\n\n', 'data: "x"\n\n'])('finds %j malformed', (record) => {
    expect(observe([record]).verdicts).toEqual(['malformed']);
  });
});
