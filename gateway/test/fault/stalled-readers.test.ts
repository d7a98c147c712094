/**
 * Tests that clients that stop reading an endless stream cost bounded memory, do not slow other calls, and are
 * disconnected.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type OpenStream, openStreams } from '../../../bench/memory/open-stream.ts';
import { readResidentBytes } from '../../../bench/process/process-usage.ts';
import { eventually } from '../harness/eventually.ts';
import { ask, EXHAUSTIVE } from './calls.ts';
import { type MeasuredGateway, startMeasured } from './readers.ts';

const READERS = EXHAUSTIVE ? 200 : 50;
const NEIGHBOUR_CALLS = 300;
/** On a busy machine: three times the latency without stalled readers, if that is more. */
const NEIGHBOUR_P99_MS = 150;
/**
 * Far above the 256 KiB of `slow_reader_bytes_max`: it also covers socket reads of up to 512 KiB behind a paused stream
 * and the collector's slack. Measured 1.9 to 3.3 MiB on a busy machine (2026-11-22). It detects an upstream that is not
 * paused: that grows by 20 MiB for each reader.
 */
const BYTES_PER_READER_MAX = 4 * 1024 * 1024;
/** Variation by collector timing in a process of this size. */
const NOISE_BYTES = 48 * 1024 * 1024;
const FLAT_LOOKS = 40;
/** Shorter than the time until the first reader is disconnected. */
const SETTLES_WITHIN_MS = EXHAUSTIVE ? 20_000 : 16_000;

let measured: MeasuredGateway;
let streams: readonly OpenStream[] = [];

beforeAll(async () => {
  measured = await startMeasured({ slow_reader_timeout: EXHAUSTIVE ? '25s' : '20s' });
});
afterAll(async () => {
  for (const stream of streams) stream.close();
  await measured.stop();
});

async function callNeighbours(): Promise<number> {
  const tookMs: number[] = [];
  for (let call = 0; call < NEIGHBOUR_CALLS; call += 1) {
    const startMs = performance.now();
    const { status } = await ask(measured.gateway, { protocol: 'chat', model: 'bench', stream: false });
    expect(status).toBe(200);
    tookMs.push(performance.now() - startMs);
  }
  tookMs.sort((a, b) => a - b);
  return tookMs[Math.floor(NEIGHBOUR_CALLS * 0.99)] ?? Number.POSITIVE_INFINITY;
}

/**
 * Returns resident bytes once they stayed at or below their maximum for 40 readings in a row and the collector brought
 * them below the limit.
 */
async function settledBytes(pid: number, limitBytes: number): Promise<number> {
  let highest = 0;
  let looks = 0;
  return await eventually(
    `memory that grows no further, below ${limitBytes} bytes`,
    () => {
      const bytes = readResidentBytes(pid);
      looks = bytes > highest * 1.01 ? 0 : looks + 1;
      highest = Math.max(highest, bytes);
      return looks >= FLAT_LOOKS && bytes < limitBytes ? bytes : null;
    },
    SETTLES_WITHIN_MS,
  );
}

test(`${READERS} stalled readers of an endless stream: memory is bounded and flat, neighbours are served, the readers are dropped`, async () => {
  const { gateway, target } = measured;
  const aloneMs = await callNeighbours();
  const beforeBytes = readResidentBytes(gateway.pid);
  const opened = await openStreams(target, 'bench-endless', READERS, 20, (stream) => stream.pause());
  streams = opened.streams;
  expect([opened.streams.length, opened.firstFailure]).toEqual([READERS, null]);
  const fullBytes = await settledBytes(gateway.pid, beforeBytes + READERS * BYTES_PER_READER_MAX);
  const p99Ms = await callNeighbours();
  const laterBytes = readResidentBytes(gateway.pid);
  const perReader = Math.round((fullBytes - beforeBytes) / READERS);
  console.log(
    `stalled readers: ${READERS}, ${Math.round(perReader / 1024)} KiB each, ` +
      `then ${Math.round((laterBytes - fullBytes) / 1024)} KiB in all; neighbours' p99 ${p99Ms.toFixed(1)} ms, before ${aloneMs.toFixed(1)} ms`,
  );
  expect(laterBytes - fullBytes).toBeLessThan(NOISE_BYTES);
  expect(p99Ms).toBeLessThan(Math.max(NEIGHBOUR_P99_MS, 3 * aloneMs));
  const dropped = await eventually(
    'the readers to be dropped and settled',
    async () => {
      const calls = (await gateway.calls()).filter(({ model }) => model === 'bench-endless');
      return calls.length === READERS ? calls : null;
    },
    60_000,
  );
  expect(new Set(dropped.map(({ error, usage_source }) => `${error} ${usage_source}`))).toEqual(
    new Set(['reader_too_slow counted']),
  );
  expect(dropped.every(({ usage }) => (usage.output ?? 0) > 0)).toBe(true);
}, 120_000);
