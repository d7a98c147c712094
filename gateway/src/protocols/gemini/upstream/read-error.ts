/**
 * Reads Google's errors: the word of their status, the delay before a retry, and which quota is used up. The shape is
 * `google.rpc.Status`; an error may come alone in an array. https://ai.google.dev/gemini-api/docs/troubleshooting, read
 * 2026-11-22.
 */
import type { GenerationEvent } from '../../../generation/event.ts';
import { describeError, readErrorBody, type UpstreamError } from '../../answer/error-body.ts';
import { asArray, asObject, asText, type JsonObject } from '../../json.ts';

/** Never throws, whatever the bytes. `message` is not scrubbed. */
export function readError(body: Buffer): UpstreamError {
  const { message, error } = readErrorBody(body);
  const details = error === null ? [] : detailsOf(error);
  const retrySeconds = details.some(isDailyQuota) ? secondsToReset(Date.now()) : retrySecondsOf(details);
  const described = describeError(message, codeOf(error, details));
  return retrySeconds === null ? described : { ...described, retrySeconds };
}

/** An error in a stream, or instead of an answer. */
export function errorEvent(error: JsonObject): GenerationEvent {
  const status = typeof error.code === 'number' && error.code >= 400 && error.code < 600 ? error.code : null;
  const type = codeOf(error, detailsOf(error)) ?? 'error';
  return { kind: 'error', type, message: asText(error.message) ?? 'upstream gave no reason', status };
}

function detailsOf({ details }: JsonObject): readonly JsonObject[] {
  return asArray(details)
    .map(asObject)
    .filter((detail) => detail !== null);
}

/** The most exact word: that of an invalid key, else the status. */
function codeOf(error: JsonObject | null, details: readonly JsonObject[]): string | null {
  const reason = details.map((detail) => asText(detail.reason)).find((word) => word?.startsWith('API_KEY_'));
  return reason ?? asText(error?.status);
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
