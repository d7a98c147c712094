/** Tests parse-stream.ts: the events of streams and of whole responses are the same, and recorded ones are complete. */
import { describe, expect, test } from 'bun:test';
import type { GenerationEvent } from '../../../generation/event.ts';
import { foldGeneration, type Generation } from '../../../generation/generation.ts';
import { recordsOf } from '../../testing/outline-of.ts';
import { RECORDED_ANSWERS, RECORDED_STREAMS } from '../testing/recorded.ts';
import { call, event, message, reasoning, response, streamOf, textOf, USAGE } from '../testing/responses-stream.ts';
import { parseAnswer, startStreamParser } from './parse-stream.ts';

function parse(text: string): GenerationEvent[] {
  const parser = startStreamParser();
  return [...recordsOf(text).flatMap((one) => [...parser.push(one)]), ...parser.finish()];
}

const ITEMS = [reasoning(0, ['think', 'ing']), message(1, ['He', 'llo']), call(2, ['{"a"', ':1}'])];
const STREAM = textOf(streamOf(ITEMS));
const WHOLE = response('completed', { output: ITEMS.map(({ done }) => done), usage: USAGE });
const answerOf = (body: unknown) => parseAnswer(Buffer.from(JSON.stringify(body)));

/** The parts that a client sees: without data that only its issuer reads. */
const seen = ({ parts, ...rest }: Generation) => ({ ...rest, parts: parts.filter(({ kind }) => kind !== 'opaque') });

describe('a stream', () => {
  test('has its parts, its usage and its end', () => {
    const generation = foldGeneration(parse(STREAM));
    expect(generation).toMatchObject({
      id: 'resp_1',
      model: 'lab-model',
      finish_reason: 'tool_calls',
      reported: 'completed',
      complete: true,
      usage: { input: 5, cache_read: 4, cache_write_5m: 1, output: 7, reasoning: 3 },
    });
    expect(generation.parts).toMatchObject([
      { kind: 'reasoning', text: 'thinking', signature: expect.stringContaining('"sealed"'), issuer: 'responses' },
      { kind: 'text', text: 'Hello' },
      { kind: 'tool_call', id: 'call_2', name: 'look', tool: 'function', arguments: '{"a":1}' },
    ]);
  });

  test('keeps sealed reasoning as it was written', () => {
    const written = '{"id":"rs_0", "type":"reasoning","summary":[],"encrypted_content":"sea\\u006c","n":1.0}';
    const text = STREAM.replace(
      /"item":\{"id":"rs_0"[^\n]*"encrypted_content":"sealed","summary":\[\{[^\n]*\}\]\}/,
      () => `"item":${written}`,
    );
    expect(foldGeneration(parse(text)).parts[0]).toMatchObject({ kind: 'reasoning', signature: written });
  });

  test('is the same as the whole response', () => {
    expect(foldGeneration(parse(STREAM))).toEqual(foldGeneration(answerOf(WHOLE)));
  });

  test('items without their events count by their end', () => {
    const bare = streamOf(ITEMS).filter(({ type }) => !/delta|part|_text|arguments|added/.test(type));
    expect(foldGeneration(parse(textOf(bare)))).toEqual(foldGeneration(parse(STREAM)));
  });

  test('without its first event begins with its first content', () => {
    const kinds = parse(textOf(streamOf(ITEMS).slice(2))).map(({ kind }) => kind);
    expect([kinds[0], kinds.filter((kind) => kind === 'start').length]).toEqual(['start', 1]);
  });

  // Vector 33.
  test('has parallel calls by their places', () => {
    const calls = [call(0, ['{"a":1}']), call(1, ['{"b":2}'])];
    const mixed = streamOf(calls);
    const [, , begin0, delta0, whole0, end0, begin1, ...rest] = mixed;
    const text = textOf([...mixed.slice(0, 2), begin0, begin1, delta0, whole0, end0, ...rest] as typeof mixed);
    expect(foldGeneration(parse(text)).parts).toMatchObject([
      { id: 'call_0', arguments: '{"a":1}' },
      { id: 'call_1', arguments: '{"b":2}' },
    ]);
  });

  test.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'refusal'],
    ['steered', 'other'],
  ] as const)('cut for %s ends by %s', (reason, finish_reason) => {
    const end = { incomplete_details: { reason } };
    expect(foldGeneration(parse(textOf(streamOf([message(0, ['a'])], end, 'incomplete'))))).toMatchObject({
      finish_reason,
      reported: reason,
    });
  });

  test('with a refusal, several summaries, or citations', () => {
    const at = { id: 'm', type: 'message', role: 'assistant', status: 'completed' };
    const refused = { ...at, content: [{ type: 'refusal', refusal: 'No.' }] };
    expect(foldGeneration(answerOf({ ...WHOLE, output: [refused] }))).toMatchObject({
      finish_reason: 'refusal',
      parts: [{ kind: 'refusal', text: 'No.' }],
    });
    const summary = ['one', 'two'].map((text) => ({ type: 'summary_text', text }));
    expect(
      foldGeneration(answerOf({ ...WHOLE, output: [{ type: 'reasoning', id: 'r', summary }] })).parts,
    ).toMatchObject([{ text: 'one\n\ntwo' }]);
    const annotations = [{ type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 1 }];
    const cited = { ...at, content: [{ type: 'output_text', text: 'a', annotations }] };
    expect(foldGeneration(answerOf({ ...WHOLE, output: [cited] })).parts).toMatchObject([
      { citations: [{ url: 'https://a.example', start: 0, end: 1 }] },
    ]);
  });

  test('with two messages keeps them apart, and the places of their citations', () => {
    const [first, second] = [message(0, ['Let me ', 'look.']), message(1, ['Do', 'ne.'])];
    const annotations = [{ type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 4 }];
    const content = [{ type: 'output_text', text: 'Done.', annotations }];
    const whole = { ...WHOLE, output: [first.done, { ...second.done, content }] };
    const [said, next] = foldGeneration(answerOf(whole)).parts;
    expect([said, next]).toMatchObject([
      { kind: 'text', text: 'Let me look.' },
      { kind: 'text', text: '\n\nDone.', citations: [{ start: 2, end: 6 }] },
    ]);
    const streamed = foldGeneration(parse(textOf(streamOf([first, second])))).parts;
    expect(streamed).toMatchObject([{ text: 'Let me look.' }, { text: '\n\nDone.' }]);
  });

  test('without its terminal event is not complete', () => {
    const events = parse(textOf(streamOf(ITEMS).slice(0, -1)));
    expect(events.some(({ kind }) => kind === 'end' || kind === 'finish')).toBe(false);
  });

  test('that fails has its usage and one error, from either event', () => {
    const error = { type: 'server_error', code: 'rate_limit_exceeded', message: 'slow' };
    const failed = event('response.failed', { response: response('failed', { error, usage: USAGE }) });
    const wanted = { kind: 'error', type: 'rate_limit_exceeded', message: 'slow', status: 429 } as const;
    expect(parse(textOf([failed]))).toMatchObject([{ kind: 'usage', usage: { output: 7 } }, wanted]);
    expect(parse(textOf([event('error', { error }), failed]))).toEqual([wanted]);
    expect(answerOf(response('failed', { error }))).toEqual([wanted]);
    expect(answerOf({ error: { message: 'no', type: 'invalid_request_error' } })).toMatchObject([
      { kind: 'error', message: 'no' },
    ]);
    for (const body of [[], {}, 'x']) expect(answerOf(body)).toMatchObject([{ kind: 'malformed' }]);
  });

  test.each(['queued', 'in_progress', 'cancelled'])('that is %s is no answer', (status) => {
    expect(answerOf({ ...WHOLE, status }).at(-1)?.kind).toBe(status === 'cancelled' ? 'error' : 'malformed');
  });
});

test.skipIf(RECORDED_ANSWERS === null)('recorded answers are read to their end (needs the recordings)', () => {
  const ended = (RECORDED_STREAMS ?? []).filter(({ body }) => /"type": ?"response\.(completed|incomplete)"/.test(body));
  const answers = [
    ...ended.map(({ id, body }) => [id, parse(body)] as const),
    ...(RECORDED_ANSWERS ?? []).map(({ id, body }) => [id, [...answerOf(body)]] as const),
  ];
  for (const [id, events] of answers) {
    expect([id, events.at(-1)?.kind]).toEqual([id, 'end']);
    const generation = seen(foldGeneration(events));
    expect([id, generation.usage === null, generation.finish_reason === null]).toEqual([id, false, false]);
  }
  expect(answers.length).toBeGreaterThan(500);
});
