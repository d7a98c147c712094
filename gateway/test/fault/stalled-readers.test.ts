/**
 * Tests that clients that stop reading an endless stream cost bounded memory, do not slow other calls, and are
 * disconnected.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type OpenStream, openStreams } from '../../../bench/memory/open-stream.ts';
import { eventually } from '../harness/eventually.ts';
import { ask, EXHAUSTIVE } from './calls.ts';
import { type MeasuredGateway, startMeasured } from './readers.ts';
import { type CollectedMemory, prepareSteering } from './steer.ts';

const READERS = EXHAUSTIVE ? 200 : 50;
const NEIGHBOUR_CALLS = 300;
/** On a busy machine: three times the latency without stalled readers, if that is more. */
const NEIGHBOUR_P99_MS = 150;
/**
 * What one reader retains after a full collection: the 256 KiB of `slow_reader_bytes_max`, and a copy of the socket read
 * of up to 512 KiB that arrives behind a pause. Measured 640 KiB (2026-11-22). An upstream that is not paused grows by
 * 20 MiB for each reader.
 */
const RETAINED_BYTES_MAX = 1024 * 1024;
/** Growth of resident memory while the readers stall: buffers of the runtime show only there. */
const NOISE_BYTES = 24 * 1024 * 1024;
const FLAT_LOOKS = 10;
/** A lower value would mean a wrong measurement. */
const FULL_BYTES = 256 * 1024;
const FILLS_WITHIN_MS = 60_000;
const SETTLES_WITHIN_MS = EXHAUSTIVE ? 20_000 : 8_000;
/** The default of `slow_reader_timeout`. The test moves the clock instead of waiting for it. */
const SLOW_READER_TIMEOUT_MS = 60_000;

const steering = prepareSteering();
let measured: MeasuredGateway;
let streams: readonly OpenStream[] = [];

beforeAll(async () => {
  measured = await startMeasured(steering.environment);
});
afterAll(async () => {
  for (const stream of streams) stream.close();
  await measured.stop();
  steering.forget();
});

/** Full collections one after another delay the event loop for so long that the gateway sheds calls for a moment. */
async function awaitCalm(): Promise<void> {
  await eventually('calls to pass again', async () => {
    for (let call = 0; call < 30; call += 1) {
      const { status } = await ask(measured.gateway, { protocol: 'chat', model: 'bench', stream: false });
      if (status !== 200) return null;
    }
    return true;
  });
}

async function callNeighbours(): Promise<number> {
  await awaitCalm();
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

/** Returns the memory once neither part of it exceeded its maximum in ten readings in a row. */
async function settledMemory(): Promise<CollectedMemory> {
  const highest = { retainedBytes: 0, residentBytes: 0 };
  let looks = 0;
  return await eventually(
    'memory that grows no further',
    async () => {
      const memory = await steering.order(measured.gateway, {});
      let grows = false;
      for (const part of ['retainedBytes', 'residentBytes'] as const) {
        grows ||= memory[part] > highest[part] * 1.01;
        highest[part] = Math.max(highest[part], memory[part]);
      }
      looks = grows ? 0 : looks + 1;
      return looks >= FLAT_LOOKS ? memory : null;
    },
    SETTLES_WITHIN_MS,
  );
}

test(`${READERS} stalled readers of an endless stream: memory is bounded and flat, neighbours are served, the readers are dropped`, async () => {
  const { gateway, target } = measured;
  const aloneMs = await callNeighbours();
  const before = await settledMemory();
  const opened = await openStreams(target, 'bench-endless', READERS, 20, (stream) => stream.pause());
  streams = opened.streams;
  expect([opened.streams.length, opened.firstFailure]).toEqual([READERS, null]);
  await eventually(
    'each backlog to be full',
    async () => {
      const { retainedBytes } = await steering.order(gateway, {});
      return (retainedBytes - before.retainedBytes) / READERS > FULL_BYTES ? true : null;
    },
    FILLS_WITHIN_MS,
  );
  const full = await settledMemory();
  const p99Ms = await callNeighbours();
  const later = await settledMemory();
  const perReader = (memory: CollectedMemory) => (memory.retainedBytes - before.retainedBytes) / READERS;
  console.log(
    `stalled readers: ${READERS}, ${Math.round(perReader(full) / 1024)} KiB each, ` +
      `then ${Math.round((later.residentBytes - full.residentBytes) / 1024)} KiB resident in all; ` +
      `neighbours' p99 ${p99Ms.toFixed(1)} ms, before ${aloneMs.toFixed(1)} ms`,
  );
  expect(perReader(later)).toBeLessThan(RETAINED_BYTES_MAX);
  expect(later.residentBytes - full.residentBytes).toBeLessThan(NOISE_BYTES);
  expect(p99Ms).toBeLessThan(Math.max(NEIGHBOUR_P99_MS, 3 * aloneMs));
  expect((await gateway.calls()).some(({ model }) => model === 'bench-endless')).toBe(false);
  await steering.order(gateway, { steadyOffsetMs: SLOW_READER_TIMEOUT_MS });
  const dropped = await eventually('the readers to be dropped and settled', async () => {
    const calls = (await gateway.calls()).filter(({ model }) => model === 'bench-endless');
    return calls.length === READERS ? calls : null;
  });
  expect(new Set(dropped.map(({ error, usage_source }) => `${error} ${usage_source}`))).toEqual(
    new Set(['reader_too_slow counted']),
  );
  expect(dropped.every(({ usage }) => (usage.output ?? 0) > 0)).toBe(true);
}, 180_000);
