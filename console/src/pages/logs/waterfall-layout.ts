/** Owns where the bars of a call's waterfall are: attempts follow one another, within the time of the whole call. */
import type { CallView } from './call-list.ts';

export interface WaterfallBar {
  readonly provider: string;
  readonly model: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly startMs: number;
  readonly durationMs: number;
}

export interface Waterfall {
  readonly bars: readonly WaterfallBar[];
  readonly totalMs: number;
  /** When the first byte of the answer went out; null: there was none. */
  readonly firstByteMs: number | null;
  /** What was spent outside of attempts: reading, limits, the ledger. */
  readonly gatewayMs: number;
}

/** What is told instead of bars where the gateway died during the call, and its times with it; null: it did not. */
export function describeCrash({ error, attempts }: Pick<CallView, 'error' | 'attempts'>): string | null {
  if (error !== 'gateway_crashed') return null;
  const [attempt] = attempts;
  return attempt === undefined
    ? 'The gateway died during the call: whether a provider was asked, and how long the call ran, is not known.'
    : `The gateway died while ${attempt.provider} answered with ${attempt.model}: how long the call ran is not known.`;
}

/** Attempts are recorded without their beginnings: what the gateway did itself is put before the first one. */
export function layOutAttempts(call: Pick<CallView, 'attempts' | 'duration_ms' | 'ttfb_ms'>): Waterfall {
  const spentMs = call.attempts.reduce((sum, { duration_ms }) => sum + duration_ms, 0);
  const totalMs = Math.max(call.duration_ms, spentMs);
  const gatewayMs = totalMs - spentMs;
  let startMs = gatewayMs;
  const bars = call.attempts.map(({ provider, model, status, error, duration_ms: durationMs }): WaterfallBar => {
    const bar = { provider, model, status, error, startMs, durationMs };
    startMs += durationMs;
    return bar;
  });
  return { bars, totalMs, firstByteMs: call.ttfb_ms, gatewayMs };
}
