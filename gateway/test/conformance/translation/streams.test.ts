/**
 * Tests that a translation does not depend on how the network splits a stream, and that skimming finds what parsing
 * would: recorded streams through the parsers and the gateway's own observer.
 */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { translate } from '../../../src/call/plan/translate.ts';
import { SSE } from '../../../src/framing/sse-decoder.ts';
import type { GenerationEvent } from '../../../src/generation/event.ts';
import { CLIENT_PROTOCOLS, UPSTREAM_PROTOCOLS } from '../../../src/protocols/registry.ts';
import { CAPABLE } from '../../../src/protocols/testing/capable-upstream.ts';
import type { StreamObserver } from '../../../src/protocols/upstream-protocol.ts';
import type { SetName } from '../../fake-upstream/recordings.ts';
import { CONTEXT, eventsOfStream, exchangeSets, OTHER, type RecordedExchange, readRequest } from './rig.ts';

const EXHAUSTIVE = process.env.TOLLGATE_EXHAUSTIVE === '1';
/** Streams up to this size are cut at every byte. */
const BYTEWISE_BYTES_MAX = EXHAUSTIVE ? 8_192 : 1_536;
const RANDOM_SPLITS = EXHAUSTIVE ? 24 : 2;
const HELLO = '{"model":"m","messages":[{"role":"user","content":"hello"}],"max_tokens":9,"stream":true}';

const sets = exchangeSets().map(({ name, exchanges }) => {
  return { name, streams: exchanges.filter(({ status, streamed }) => status === 200 && streamed) };
});
/** Minimum number of streams. */
const STREAMS_MIN: Readonly<Record<SetName, number>> = { corpus: 50, recordings: 183 };

/** Everything that results from a stream on its way to a client of the other format. */
interface Translated {
  readonly text: string;
  readonly emitted: readonly GenerationEvent[];
  readonly facts: ReturnType<StreamObserver['facts']>;
  readonly failure: StreamObserver['failure'];
  readonly skims: number;
}

function translated({ format }: RecordedExchange, parts: readonly Uint8Array[], skims: boolean): Translated {
  const emitted: GenerationEvent[] = [];
  const observer = translate({
    client: CLIENT_PROTOCOLS[OTHER[format]],
    upstream: UPSTREAM_PROTOCOLS[format],
    traits: CAPABLE,
    strict: false,
    folds: false,
    request: readRequest(OTHER[format], HELLO).request,
    dropped: [],
    refuses: [],
    context: CONTEXT,
    startListening: () => (event) => emitted.push(event),
  }).startObserver();
  let text = '';
  let skimmed = 0;
  let over = false;
  const decoder = SSE.startDecoder(10_000_000, (bytes, start) => (skims ? observer.skim(bytes, start) : start));
  const take = (output: Parameters<Parameters<typeof decoder.feed>[1]>[0]) => {
    if (over || (output.kind !== 'skimmed' && output.kind !== 'event')) return;
    if (output.kind === 'skimmed') skimmed += 1;
    const verdict = output.kind === 'skimmed' ? 'replace' : observer.observe(output);
    if (verdict === 'replace' || verdict === 'terminal') text += observer.replacement ?? '';
    over = verdict === 'terminal' || verdict === 'error' || verdict === 'malformed';
  };
  for (const part of parts) decoder.feed(part, take);
  for (const output of decoder.finish()) take(output);
  if (!over) text += observer.endOfBytes() ?? '';
  return { text, emitted: joinDeltas(emitted), facts: observer.facts(), failure: observer.failure, skims: skimmed };
}

/** Skimming merges several deltas into one. */
function joinDeltas(events: readonly GenerationEvent[]): GenerationEvent[] {
  const joined: GenerationEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    const isMore = event.kind === 'text_delta' && last?.kind === 'text_delta' && last.part === event.part;
    if (isMore) joined[joined.length - 1] = { ...event, text: last.text + event.text };
    else joined.push(event);
  }
  return joined;
}

function* singles(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1) yield bytes.subarray(at, at + 1);
}

/** Splits into parts of these sizes, repeated. */
function divided(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let at = 0, next = 0; at < bytes.length; next += 1) {
    const size = sizes[next % sizes.length] ?? 1;
    parts.push(bytes.subarray(at, at + size));
    at += size;
  }
  return parts;
}

const SIZES = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 10, max: 4_000 })), {
  minLength: 1,
  maxLength: 8,
});

/** Returns random divisions, the same in every run. */
function divisions(bytes: Uint8Array, seed: number): Uint8Array[][] {
  return fc.sample(SIZES, { numRuns: RANDOM_SPLITS, seed }).map((sizes) => divided(bytes, sizes));
}

function lessSkims({ skims: _, ...rest }: Translated) {
  return rest;
}

describe.each(sets)('streams of $name on their way to the other format', ({ name, streams }) => {
  test('are many', () => {
    const bytewise = streams.filter(({ answer }) => answer.length <= BYTEWISE_BYTES_MAX).length;
    console.log(
      `translated streams: ${streams.length}, of them ${bytewise} byte by byte and at every byte, ` +
        `each in ${RANDOM_SPLITS} random divisions`,
    );
    expect(streams.length).toBeGreaterThanOrEqual(STREAMS_MIN[name]);
    expect(bytewise).toBeGreaterThanOrEqual(10);
  });

  test('are the same events however their bytes are divided', () => {
    for (const [index, { id, format, answer }] of streams.entries()) {
      const whole = eventsOfStream(format, [answer]);
      for (const parts of divisions(answer, index)) {
        const events = eventsOfStream(format, parts);
        if (!Bun.deepEquals(events, whole)) expect([id, events]).toEqual([id, whole]);
      }
    }
  }, 60_000);

  test('are the same events byte by byte, and cut in two at every byte', () => {
    for (const { id, format, answer } of streams.filter((one) => one.answer.length <= BYTEWISE_BYTES_MAX)) {
      const whole = eventsOfStream(format, [answer]);
      expect([id, eventsOfStream(format, singles(answer))]).toEqual([id, whole]);
      for (let at = 1; at < answer.length; at += 1) {
        const events = eventsOfStream(format, [answer.subarray(0, at), answer.subarray(at)]);
        if (!Bun.deepEquals(events, whole)) expect([id, at, events]).toEqual([id, at, whole]);
      }
    }
  }, 60_000);

  test('are the same to the client, the listener and the record whether they are skimmed or parsed', () => {
    let skims = 0;
    for (const [index, exchange] of streams.entries()) {
      const { id, answer } = exchange;
      const parsed = translated(exchange, [answer], false);
      expect([id, parsed.skims]).toEqual([id, 0]);
      for (const parts of [[answer], ...divisions(answer, index)]) {
        const skimmed = translated(exchange, parts, true);
        skims += skimmed.skims;
        if (!Bun.deepEquals(lessSkims(skimmed), lessSkims(parsed))) {
          expect([id, lessSkims(skimmed)]).toEqual([id, lessSkims(parsed)]);
        }
      }
    }
    console.log(`translated streams: ${skims} times records were skimmed`);
    expect(skims).toBeGreaterThan(streams.length);
  }, 60_000);
});
