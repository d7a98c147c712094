/**
 * Reads the details of a `google.rpc.Status`, which Google's errors have in each of its formats: the delay before a
 * retry, and the model whose quota is used up. https://ai.google.dev/gemini-api/docs/troubleshooting, read 2026-11-22.
 */
import { asArray, asObject, asText, type JsonObject } from '../json.ts';
import type { UpstreamError } from './error-body.ts';

/** The details of an error object; none if it has no such list. */
export function detailsOf(error: JsonObject | null): readonly JsonObject[] {
  return asArray(error?.details)
    .map(asObject)
    .filter((detail) => detail !== null);
}

/** The error with the delay and the scope that the details of its object name, if they do. */
export function withRetryDelay(described: UpstreamError, error: JsonObject | null): UpstreamError {
  const details = detailsOf(error);
  const retrySeconds = details.some(isDailyQuota) ? secondsToReset(Date.now()) : retrySecondsOf(details);
  if (retrySeconds === null) return described;
  const violations = details.flatMap((detail) => asArray(detail.violations).map(asObject));
  return { ...described, retrySeconds, ...(violations.length > 0 && violations.every(isOfModel) ? OF_MODEL : {}) };
}

const OF_MODEL = { ofModel: true } as const;

/** The quota of a model: `quotaDimensions` names it, or `quotaId` says so. */
function isOfModel(violation: JsonObject | null): boolean {
  const isNamed = asText(asObject(violation?.quotaDimensions)?.model) !== null;
  return isNamed || asText(violation?.quotaId)?.includes('PerModel') === true;
}

/** `retryDelay` is a duration such as "23s" or "46.9s". Null: none. */
function retrySecondsOf(details: readonly JsonObject[]): number | null {
  for (const { retryDelay } of details) {
    const found = /^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(asText(retryDelay) ?? '');
    if (found !== null) return Number(found[1]);
  }
  return null;
}

const DAY_SECONDS = 86_400;
const PACIFIC = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/Los_Angeles',
  timeStyle: 'medium',
  hourCycle: 'h23',
});

/**
 * Daily quotas reset at midnight Pacific time, whatever the error's own delay says; an hour off where clocks change.
 * https://ai.google.dev/gemini-api/docs/rate-limits, read 2026-11-22.
 */
export function secondsToReset(nowMs: number): number {
  const [hours = 0, minutes = 0, seconds = 0] = PACIFIC.format(nowMs).split(':').map(Number);
  return DAY_SECONDS - (hours * 3600 + minutes * 60 + seconds);
}

function isDailyQuota({ violations }: JsonObject): boolean {
  return asArray(violations).some((violation) => asText(asObject(violation)?.quotaId)?.includes('PerDay') === true);
}
