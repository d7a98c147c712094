/** Tests observe-stream.ts: verdicts, facts, position, and that skimming and any split of the bytes change nothing. */
import { describe, expect, test } from 'bun:test';
import { SSE } from '../../../framing/sse-decoder.ts';
import { seededRandom } from '../../../store/testing/random-calls.ts';
import { asObject } from '../../json.ts';
import { recordsOf } from '../../testing/outline-of.ts';
import { eventsIn, RECORDED_STREAMS } from '../testing/recorded.ts';
import {
  call,
  type Event,
  event,
  message,
  numbered,
  reasoning,
  record,
  response,
  type SampleItem,
  streamOf,
  textOf,
  USAGE,
} from '../testing/responses-stream.ts';
import { ResponsesStreamObserver } from './observe-stream.ts';

function observe(text: string) {
  const observer = new ResponsesStreamObserver();
  const verdicts = recordsOf(text).map((one) => observer.observe(one));
  return { observer, verdicts, facts: observer.facts() };
}

/** As the relay reads a stream: with the skim, in pieces. Returns the bytes that are passed on. */
function relay(bytes: Uint8Array, cuts: readonly number[], skims = true) {
  const observer = new ResponsesStreamObserver();
  const passed: Uint8Array[] = [];
  let records = 0;
  const decoder = SSE.startDecoder(1_000_000_000, skims ? (chunk, start) => observer.skim(chunk, start) : null);
  const ends = [...cuts, bytes.length];
  for (const [index, end] of ends.entries()) {
    decoder.feed(bytes.slice(ends[index - 1] ?? 0, end), (output) => {
      if (output.kind === 'problem') throw new Error(output.message);
      if (output.kind === 'event') observer.observe(output);
      records += 1;
      passed.push(output.bytes.slice(output.start, output.end));
    });
  }
  for (const output of decoder.finish())
    if (output.kind !== 'problem') passed.push(output.bytes.slice(output.start, output.end));
  return { observer, records, bytes: Buffer.concat(passed), facts: observer.facts() };
}

/** The events of one item of a stream. */
const eventsOf = ({ added, events, done }: SampleItem, output_index: number): Event[] => [
  event('response.output_item.added', { output_index, item: added }),
  ...events,
  event('response.output_item.done', { output_index, item: done }),
];

const WORDS = Array.from({ length: 40 }, (_, at) => ` word${at % 3 === 0 ? 's' : ''}`);
const LONG = streamOf([reasoning(0, ['a', 'b', 'c', 'd']), message(1, WORDS), call(2, ['{"a"', ':', '1', '}'])]);

describe('a stream', () => {
  test('passes until its end, which has the usage, model, tier and status', () => {
    const end = { service_tier: 'priority', model: 'lab-model-2' };
    const { verdicts, facts, observer } = observe(textOf(streamOf([message(0, ['Hé'])], end)));
    expect(new Set(verdicts.slice(0, -1))).toEqual(new Set(['pass']));
    expect(verdicts.at(-1)).toBe('terminal');
    expect(observer.protocolViolations).toBe(0);
    expect(facts).toMatchObject({
      usage: {
        input: 5,
        cache_read: 4,
        cache_write_5m: 1,
        output: 7,
        reasoning: 3,
        extras: { tier: { service_tier: 'priority' } },
      },
      finish_reason: 'completed',
      model: 'lab-model-2',
      tier: { service_tier: 'priority' },
      outputBytes: 3,
    });
  });

  test('begins with a delta that has text, or with a whole item', () => {
    const begins = (events: Parameters<typeof textOf>[0]) => {
      const observer = new ResponsesStreamObserver();
      return recordsOf(textOf(events)).findIndex((one) => {
        observer.observe(one);
        return observer.begun;
      });
    };
    expect(begins(streamOf([message(0, ['a'])]))).toBe(4);
    expect(begins(streamOf([reasoning(0, [])]))).toBe(3);
    expect(begins(streamOf([]))).toBe(2);
  });

  test('a cut one names its reason', () => {
    const end = { incomplete_details: { reason: 'max_output_tokens' } };
    const { facts, verdicts } = observe(textOf(streamOf([message(0, ['a'])], end, 'incomplete')));
    expect([verdicts.at(-1), facts.finish_reason]).toEqual(['terminal', 'max_output_tokens']);
  });

  // Vector 27.
  test.each([
    [0, 0, null],
    [10, 0, { input: 10, output: 0 }],
  ])('a cut one that reports %p and %p tokens after text has no final usage', (input_tokens, output_tokens, soFar) => {
    const usage = { input_tokens, output_tokens, total_tokens: input_tokens };
    const { facts } = observe(textOf(streamOf([message(0, WORDS)], { usage }, 'incomplete')));
    expect([facts.usage, facts.outputBytesReported]).toEqual([null, 0]);
    if (soFar === null) expect(facts.usageSoFar).toBeNull();
    else expect(facts.usageSoFar).toMatchObject(soFar);
    expect(facts.outputBytes).toBe(WORDS.join('').length);
  });

  // Vector 25.
  test('without its terminal event is not complete', () => {
    const { observer, facts } = observe(textOf(LONG.slice(0, -1)));
    expect([observer.endOfBytes(), facts.usage, facts.finish_reason]).toEqual([null, null, null]);
    expect(observer.position).toEqual({
      id: 'resp_1',
      model: 'lab-model',
      createdSeconds: 1_800_000_000,
      nextSequence: LONG.length - 1,
    });
  });

  test('without numbers has a position without one', () => {
    const { observer } = observe(LONG.slice(0, 9).map(record).join(''));
    expect(observer.position?.nextSequence).toBeNull();
    expect(observer.protocolViolations).toBe(1);
  });

  // Vector 41.
  test('with events of an unknown type passes them and counts a violation', () => {
    const type = 'response.apply_patch_call_operation_diff.delta';
    const { verdicts, observer } = observe(textOf([...LONG.slice(0, 3), event(type, { delta: 'x' })]));
    expect([verdicts.at(-1), observer.protocolViolations, observer.facts().outputBytes]).toEqual(['pass', 1, 1]);
  });

  test('keep-alives are silent, and data that is not JSON is malformed', () => {
    expect(observe('event: keepalive\ndata: {"type":"keepalive"}\n\ndata: {"typ\n\n').verdicts).toEqual([
      'silent',
      'malformed',
    ]);
  });

  test('arguments count as output once, whole or in pieces', () => {
    const whole = { ...call(0, ['{"a":1}']), events: call(0, ['{"a":1}']).events.slice(-1) };
    expect(observe(textOf(streamOf([whole]))).facts.outputBytes).toBe('look{"a":1}'.length);
    expect(observe(textOf(streamOf([call(0, ['{"a"', ':1}'])]))).facts.outputBytes).toBe('look{"a":1}'.length);
  });

  test.each([1, 2, 3, 4, 5, 6])('items that run together count once, in any order of their events: %d', (seed) => {
    const random = seededRandom(seed);
    const texts = ['abcd', 'efghijkl', 'm', 'nopqrstuvw'];
    const items = texts.map((text, at) => {
      const pieces = text.match(/.{1,2}/g) ?? [];
      const make = [reasoning, message, call][at % 3] ?? message;
      const whole = make(at, pieces);
      return random() < 0.3 ? { ...whole, events: [] } : whole;
    });
    const waiting = items.map((item) => eventsOf(item, items.indexOf(item)));
    const mixed: Event[] = [];
    while (waiting.some((events) => events.length > 0)) {
      const next = waiting[Math.floor(random() * waiting.length)]?.shift();
      if (next !== undefined) mixed.push(next);
    }
    const [created, ...rest] = streamOf([]);
    if (created === undefined) throw new Error('the stream is empty');
    const { facts } = observe(textOf([created, ...mixed, ...rest.slice(-1)]));
    expect([facts.outputBytes, facts.reasoningBytes]).toEqual([`${texts.join('')}look`.length, 14]);
  });
});

describe('a failure', () => {
  const error = { type: 'server_error', code: 'rate_limit_exceeded', message: 'slow', param: null };
  test.each([
    ['nested', event('error', { error })],
    ['flat', event('error', { code: error.code, message: 'slow', param: null })],
    ['as in chat completions', { error } as unknown as ReturnType<typeof event>],
    ['alone', event('response.failed', { response: response('failed', { error }) })],
  ])('%s', (_, one) => {
    const { verdicts, observer } = observe(record(one).replace('event: undefined\n', ''));
    expect(verdicts).toEqual(['error']);
    expect(observer.failure).toEqual({ type: 'rate_limit_exceeded', message: 'slow', status: 429 });
  });

  test('in two events is one, with the usage of the second', () => {
    const failed = event('response.failed', { response: response('failed', { error, usage: USAGE }) });
    const { verdicts, facts } = observe(textOf([...LONG.slice(0, 9), event('error', { error }), failed]));
    expect(verdicts.slice(-2)).toEqual(['error', 'error_rest']);
    expect([facts.usage, facts.usageSoFar?.output]).toEqual([null, 7]);
  });
});

describe('skimming', () => {
  test('recognizes runs of deltas by their next numbers, and changes no byte and no fact', () => {
    const bytes = Buffer.from(textOf(LONG));
    const plain = relay(bytes, [], false);
    const skimmed = relay(bytes, []);
    expect(skimmed.records).toBeLessThan(plain.records / 2);
    expect(skimmed.bytes.equals(bytes)).toBe(true);
    expect(skimmed.facts).toEqual(plain.facts);
    expect([skimmed.observer.protocolViolations, skimmed.observer.position]).toEqual([0, plain.observer.position]);
  });

  test('a number out of order is left to the check', () => {
    const events = numbered(LONG);
    const at = events.findIndex(({ delta }) => delta === WORDS[20]);
    const text = events.map((one, index) => record(index < at ? one : { ...one, sequence_number: index + 1 })).join('');
    const { observer, bytes } = relay(Buffer.from(text), []);
    expect([observer.protocolViolations, bytes.toString() === text]).toEqual([1, true]);
    expect(observer.position?.nextSequence).toBe(LONG.length + 1);
  });

  test('padding of any length', () => {
    const padded = LONG.map((one, at) => ('delta' in one ? { ...one, obfuscation: 'x'.repeat(at % 7) } : one));
    const bytes = Buffer.from(textOf(padded));
    const { records, facts, observer } = relay(bytes, []);
    expect(records).toBeLessThan(padded.length / 2);
    expect([facts, observer.protocolViolations]).toEqual([relay(bytes, [], false).facts, 0]);
  });

  test('cut at every byte, the same bytes and facts', () => {
    const bytes = Buffer.from(textOf(LONG));
    const { facts } = relay(bytes, []);
    for (let at = 1; at < bytes.length; at++) {
      const cut = relay(bytes, [at]);
      expect(cut.bytes.equals(bytes)).toBe(true);
      expect(cut.facts).toEqual(facts);
      expect(cut.observer.protocolViolations).toBe(0);
    }
  });
});

test.skipIf(RECORDED_STREAMS === null)(
  'recorded streams pass byte for byte, with their usage (needs the recordings)',
  () => {
    expect(RECORDED_STREAMS?.length).toBeGreaterThan(140);
    for (const { id, body } of RECORDED_STREAMS ?? []) {
      const bytes = Buffer.from(body);
      const plain = relay(bytes, [], false);
      for (const cuts of [[], [1, 7, 300], [bytes.length >> 1]]) {
        const found = relay(
          bytes,
          cuts.filter((at) => at < bytes.length),
        );
        expect([id, found.bytes.equals(bytes), found.facts]).toEqual([id, true, plain.facts]);
      }
      const end = eventsIn(body).find(({ type }) => /^response\.(completed|incomplete)$/.test(type));
      const usage = asObject(asObject(end?.response)?.usage);
      if (usage === null || usage.output_tokens === 0) continue;
      const { input = 0, cache_read = 0, cache_write_5m = 0, output } = plain.facts.usage ?? {};
      expect([id, input + cache_read + cache_write_5m, output]).toEqual([
        id,
        Number(usage.input_tokens),
        Number(usage.output_tokens),
      ]);
    }
  },
);
