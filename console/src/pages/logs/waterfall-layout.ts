/**
 * Computes the bars of a call's waterfall from the timings of its attempts: connect, wait, stream; the remaining time
 * is the gateway's. Records without timings are drawn as far as known.
 */
import type { CallView } from './use-call-list.ts';

/** `unknown`: after the first byte of a record without timings, which does not tell how long the provider streamed. */
export type Phase = 'connect' | 'wait' | 'stream' | 'unknown';

export interface WaterfallSegment {
  readonly phase: Phase;
  readonly startMs: number;
  readonly durationMs: number;
}

export interface WaterfallBar {
  readonly provider: string;
  readonly model: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly durationMs: number;
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
  /** Time outside of attempts: reading, limits, ledger, and the last bytes to the client. */
  readonly gatewayMs: number;
}

type Times = Pick<CallView, 'attempts' | 'duration_ms' | 'ttfb_ms' | 'stream'>;
type Attempt = CallView['attempts'][number];

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
  const spentMs = segments.reduce((sum, { durationMs }) => sum + durationMs, 0);
  const lastEndMs = Math.max(0, ...segments.map(({ startMs, durationMs }) => startMs + durationMs));
  // Each timing is rounded separately.
  const totalMs = Math.max(call.duration_ms, lastEndMs);
  const phaseMs = (phase: Phase) =>
    segments.reduce((sum, segment) => sum + (segment.phase === phase ? segment.durationMs : 0), 0);
  const phases = {
    connect: phaseMs('connect'),
    wait: phaseMs('wait'),
    stream: phaseMs('stream'),
    unknown: phaseMs('unknown'),
  };
  const firstTokenMs = isMarked ? firstTokenOf(call.attempts) : call.stream ? call.ttfb_ms : null;
  return { bars, totalMs, firstTokenMs, isMarked, phases, gatewayMs: Math.max(0, totalMs - spentMs) };
}

function firstTokenOf(attempts: readonly Attempt[]): number | null {
  const { start_ms = 0, ttft_ms = null } = attempts.at(-1) ?? {};
  return ttft_ms === null ? null : start_ms + ttft_ms;
}

function markedBar(attempt: Attempt): WaterfallBar {
  const { start_ms = 0, connect_ms = null, ttfb_ms = null, ttft_ms = null, duration_ms } = attempt;
  const sentMs = Math.min(connect_ms ?? duration_ms, duration_ms);
  const answeredMs = Math.min(Math.max(ttft_ms ?? ttfb_ms ?? duration_ms, sentMs), duration_ms);
  const marks = [
    ['connect', 0, sentMs],
    ['wait', sentMs, answeredMs],
    ['stream', answeredMs, duration_ms],
  ] as const;
  const segments = marks.flatMap(([phase, fromMs, toMs]) => segment(phase, start_ms + fromMs, toMs - fromMs));
  return barOf(attempt, segments, duration_ms);
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
    return barOf(attempt, [...segments, ...segment('unknown', startMs, restMs)], attempt.duration_ms);
  });
}

function segment(phase: Phase, startMs: number, durationMs: number): readonly WaterfallSegment[] {
  return durationMs > 0 ? [{ phase, startMs, durationMs }] : [];
}

function barOf(
  { provider, model, status, error }: Attempt,
  segments: readonly WaterfallSegment[],
  durationMs: number,
): WaterfallBar {
  return { provider, model, status, error, segments, durationMs };
}
