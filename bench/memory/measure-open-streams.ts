/** Measures the resident memory that an open, nearly idle stream costs a gateway. */
import { readResidentBytes } from '../process/process-usage.ts';
import { openStreams, type StreamTarget } from './open-stream.ts';

export interface OpenStreamsPlan extends StreamTarget {
  /** Leader of the gateway's process group. */
  readonly pid: number;
  readonly streams: number;
  /** Time between the last stream's first event and the memory reading. */
  readonly settleMs: number;
}

export interface OpenStreamsResult {
  readonly opened: number;
  /** Streams still running when memory was read; fewer than `opened` if the gateway dropped some. */
  readonly stillOpen: number;
  readonly failures: number;
  readonly firstFailure: string | null;
  readonly beforeBytes: number;
  readonly afterBytes: number;
  /** Growth of resident memory divided by the streams opened; null when none opened. */
  readonly bytesPerStream: number | null;
}

const OPENING_AT_ONCE = 100;

/**
 * Opens the streams (one event every two seconds), waits, reads memory, closes them all. Rejects only when /proc cannot
 * be read.
 */
export async function measureOpenStreams(plan: OpenStreamsPlan): Promise<OpenStreamsResult> {
  const beforeBytes = readResidentBytes(plan.pid);
  const { streams, failures, firstFailure } = await openStreams(
    plan,
    'bench-slow',
    plan.streams,
    OPENING_AT_ONCE,
    () => {},
  );
  await Bun.sleep(plan.settleMs);
  const afterBytes = readResidentBytes(plan.pid);
  const stillOpen = streams.filter(({ ended }) => ended === null).length;
  for (const stream of streams) stream.close();
  const opened = streams.length;
  const bytesPerStream = opened === 0 ? null : Math.round((afterBytes - beforeBytes) / opened);
  return { opened, stillOpen, failures, firstFailure, beforeBytes, afterBytes, bytesPerStream };
}
