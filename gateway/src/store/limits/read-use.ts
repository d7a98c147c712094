/** Owns what is shown of a subject's rates and slots at a moment. Changes nothing and decides nothing. */
import { type Bucket, levelAt, usedOf, wholeAfterMs } from '../../admission/gcra.ts';
import type { Caps, CapsUse } from '../limits-port.ts';
import type { SubjectState } from './subject-book.ts';

/** Of a subject that no call has named lately (undefined), nothing is used. */
export function readUse(state: SubjectState | undefined, caps: Caps, nowMs: number): CapsUse {
  return {
    requests: useOf(state?.requests ?? null, caps.requestsPerMinute, nowMs),
    tokens: useOf(state?.tokens ?? null, caps.tokensPerMinute, nowMs),
    running: caps.concurrency === null ? null : (state?.running ?? 0),
  };
}

function useOf(bucket: Bucket | null, limit: number | null, nowMs: number): CapsUse['requests'] {
  if (limit === null) return null;
  const level = bucket === null ? 0 : levelAt(bucket, limit, nowMs);
  return { used: usedOf(level), wholeAtMs: nowMs + wholeAfterMs(level, limit) };
}
