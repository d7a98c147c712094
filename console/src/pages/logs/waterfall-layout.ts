/**
 * Computes the bars of a call's waterfall from the timings of its attempts: pause before it, connect, wait, stream; the
 * remaining time is the gateway's. Records without timings are drawn as far as known.
 */
import type { CallView } from './use-call-list.ts';

/**
 * `pause`: before an attempt, for a retry, a rate limit or a place in the queue. `unknown`: after the first byte of a
 * record without timings, which does not tell how long the provider streamed.
 */
export type Phase = 'pause' | 'connect' | 'wait' | 'stream' | 'unknown';

export interface WaterfallSegment {
  readonly phase: Phase;
  readonly startMs: number;
  readonly durationMs: number;
}

export interface WaterfallBar {
  readonly attempt: Attempt;
  /** In order; none is empty. */
  readonly segments: readonly WaterfallSegment[];
}

export interface Waterfall {
  readonly bars: readonly WaterfallBar[];
  readonly totalMs: number;
  /**
   * Since the arrival of the call. Without timings: when the first byte arrived. Null when none did, or when the
   * response was not streamed.
   */
  readonly firstTokenMs: number | null;
  readonly isMarked: boolean;
  /** Total duration of each phase over all attempts. */
  readonly phases: Readonly<Record<Phase, number>>;
  /** Time outside of attempts and the pauses before them: reading, limits, ledger, and the last bytes to the client. */
  readonly gatewayMs: number;
}

type Times = Pick<CallView, 'attempts' | 'duration_ms' | 'ttfb_ms' | 'stream'>;
export type Attempt = CallView['attempts'][number];

/**
 * Text that replaces the bars when the gateway crashed during the call, which lost its timings; null when it did not
 * crash.
 */
export function describeCrash({ error, attempts }: Pick<CallView, 'error' | 'attempts'>): string | null {
  if (error !== 'gateway_crashed') return null;
  const [attempt] = attempts;
  return attempt === undefined
    ? 'The gateway crashed during this request. Its provider and duration are unknown.'
    : `The gateway crashed during this request to ${attempt.model} at ${attempt.provider}. Its duration is unknown.`;
}

export function layOutAttempts(call: Times): Waterfall {
  const isMarked = call.attempts.every(({ start_ms }) => start_ms !== undefined);
  const bars = isMarked ? call.attempts.map(markedBar) : unmarkedBars(call);
  const segments = bars.flatMap((bar) => bar.segments);
  const spentMs = coveredMs(segments);
  const lastEndMs = Math.max(0, ...segments.map(({ startMs, durationMs }) => startMs + durationMs));
  // Each timing is rounded separately.
  const totalMs = Math.max(call.duration_ms, lastEndMs);
  const phaseMs = (phase: Phase) =>
    segments.reduce((sum, segment) => sum + (segment.phase === phase ? segment.durationMs : 0), 0);
  const phases = {
    pause: phaseMs('pause'),
    connect: phaseMs('connect'),
    wait: phaseMs('wait'),
    stream: phaseMs('stream'),
    unknown: phaseMs('unknown'),
  };
  const firstTokenMs = isMarked ? firstTokenOf(call.attempts) : call.stream ? call.ttfb_ms : null;
  return { bars, totalMs, firstTokenMs, isMarked, phases, gatewayMs: Math.max(0, totalMs - spentMs) };
}

/** Attempts overlap where a slow first one gets a second one. */
function coveredMs(segments: readonly WaterfallSegment[]): number {
  let [sum, endMs] = [0, 0];
  for (const { startMs, durationMs } of [...segments].sort((one, other) => one.startMs - other.startMs)) {
    sum += Math.max(0, startMs + durationMs - Math.max(startMs, endMs));
    endMs = Math.max(endMs, startMs + durationMs);
  }
  return sum;
}

function firstTokenOf(attempts: readonly Attempt[]): number | null {
  const { start_ms = 0, ttft_ms = null } = attempts.at(-1) ?? {};
  return ttft_ms === null ? null : start_ms + ttft_ms;
}

function markedBar(attempt: Attempt): WaterfallBar {
  const { start_ms = 0, connect_ms = null, ttfb_ms = null, ttft_ms = null, duration_ms, wait_ms = 0 } = attempt;
  const pausedMs = Math.min(wait_ms, start_ms);
  const sentMs = Math.min(connect_ms ?? duration_ms, duration_ms);
  const answeredMs = Math.min(Math.max(ttft_ms ?? ttfb_ms ?? duration_ms, sentMs), duration_ms);
  const marks = [
    ['pause', -pausedMs, 0],
    ['connect', 0, sentMs],
    ['wait', sentMs, answeredMs],
    ['stream', answeredMs, duration_ms],
  ] as const;
  const segments = marks.flatMap(([phase, fromMs, toMs]) => segment(phase, start_ms + fromMs, toMs - fromMs));
  return { attempt, segments };
}

/**
 * Older records of a stream contain the duration of each attempt until the response began, and the time when it began.
 * Older records of a non-streamed call contain only the attempts' durations, so the gateway's own time is drawn before
 * them.
 */
function unmarkedBars({ attempts, duration_ms: durationMs, ttfb_ms: ttfbMs, stream }: Times): readonly WaterfallBar[] {
  const spentMs = attempts.reduce((sum, attempt) => sum + attempt.duration_ms, 0);
  const begunMs = stream && attempts.at(-1)?.status === 200 ? ttfbMs : null;
  let startMs = Math.max(0, (begunMs ?? durationMs) - spentMs);
  return attempts.map((attempt, at) => {
    const segments = segment('wait', startMs, attempt.duration_ms);
    startMs += attempt.duration_ms;
    const restMs = at === attempts.length - 1 && begunMs !== null ? durationMs - startMs : 0;
    return { attempt, segments: [...segments, ...segment('unknown', startMs, restMs)] };
  });
}

function segment(phase: Phase, startMs: number, durationMs: number): readonly WaterfallSegment[] {
  return durationMs > 0 ? [{ phase, startMs, durationMs }] : [];
}
