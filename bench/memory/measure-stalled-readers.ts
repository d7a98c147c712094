/** Measures what clients that stop reading do to a gateway: its memory, and the latency of another client. */
import type { Latency } from '../load/load-plan.ts';
import { runLoad } from '../load/run-load.ts';
import { readResidentBytes } from '../process/process-usage.ts';
import { openStreams, type StreamTarget } from './open-stream.ts';

export interface StalledReadersPlan extends StreamTarget {
  /** Leader of the gateway's process group. */
  readonly pid: number;
  readonly readers: number;
  /** How long the readers stall; the other client calls during that time, and for a quarter of it before. */
  readonly durationMs: number;
  /** Growth of resident memory that ends the run early, to protect the machine. */
  readonly growthBytesMax: number;
}

export interface StalledReadersResult {
  readonly opened: number;
  readonly failures: number;
  readonly firstFailure: string | null;
  /** Memory before any reader, the peak while they stalled, and the end value with the readers still connected. */
  readonly beforeBytes: number;
  readonly peakBytes: number;
  readonly afterBytes: number;
  /** Growth from `beforeBytes` to `peakBytes` per reader; null when none opened. */
  readonly bytesPerReader: number | null;
  /** True when `growthBytesMax` was exceeded: the gateway applies no backpressure to its upstream. */
  readonly stoppedEarly: boolean;
  /** Plain calls of another client with the same key, before and while the readers stall. */
  readonly neighbourBefore: Latency;
  readonly neighbourDuring: Latency;
  readonly neighbourFailures: number;
}

const NEIGHBOUR_CONNECTIONS = 2;
const NEIGHBOUR_BODY = JSON.stringify({ model: 'bench', messages: [{ role: 'user', content: 'Count the carts.' }] });
const OPENING_AT_ONCE = 20;
const SAMPLE_EVERY_MS = 100;

/** Samples memory until `until` settles or memory exceeds `limitBytes`; returns the highest value. */
async function watchMemory(pid: number, until: Promise<unknown>, limitBytes: number): Promise<number> {
  let running = true;
  const stop = () => {
    running = false;
  };
  until.then(stop, stop);
  let peakBytes = readResidentBytes(pid);
  while (running && peakBytes <= limitBytes) {
    await Promise.race([until, Bun.sleep(SAMPLE_EVERY_MS)]);
    peakBytes = Math.max(peakBytes, readResidentBytes(pid));
  }
  return peakBytes;
}

function callNeighbour(plan: StalledReadersPlan, windowMs: number) {
  const { port, path, headers } = plan;
  return runLoad({
    port,
    path,
    headers,
    body: NEIGHBOUR_BODY,
    expect: { protocol: 'chat', kind: 'json' },
    callsPerSecond: null,
    rehearsalPort: null,
    connections: NEIGHBOUR_CONNECTIONS,
    warmupMs: 100,
    windowMs,
    watch: {},
  });
}

/** Opens endless streams, stops reading them, and watches. Failures are part of the result, not thrown. */
export async function measureStalledReaders(plan: StalledReadersPlan): Promise<StalledReadersResult> {
  const before = await callNeighbour(plan, plan.durationMs / 4);
  const beforeBytes = readResidentBytes(plan.pid);
  const limitBytes = beforeBytes + plan.growthBytesMax;

  const opening = openStreams(plan, 'bench-endless', plan.readers, OPENING_AT_ONCE, (stream) => stream.pause());
  const openingPeak = await watchMemory(plan.pid, opening, Number.POSITIVE_INFINITY);
  const { streams, failures, firstFailure } = await opening;

  const neighbour = callNeighbour(plan, plan.durationMs);
  const stallPeak = await watchMemory(plan.pid, neighbour, limitBytes);
  const afterBytes = readResidentBytes(plan.pid);
  for (const stream of streams) stream.close();
  const during = await neighbour;

  const opened = streams.length;
  const peakBytes = Math.max(openingPeak, stallPeak);
  return {
    opened,
    failures,
    firstFailure,
    beforeBytes,
    peakBytes,
    afterBytes,
    bytesPerReader: opened === 0 ? null : Math.round((peakBytes - beforeBytes) / opened),
    stoppedEarly: peakBytes > limitBytes,
    neighbourBefore: before.callMs,
    neighbourDuring: during.callMs,
    neighbourFailures: before.failures + during.failures,
  };
}
