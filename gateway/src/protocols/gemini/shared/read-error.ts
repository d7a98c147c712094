/**
 * Reads Google's errors: the word of their status, the delay before a retry, and which quota is used up. The shape is
 * `google.rpc.Status`; an error may come alone in an array. https://ai.google.dev/gemini-api/docs/troubleshooting, read
 * 2026-11-22.
 */
import type { GenerationEvent } from '../../../generation/event.ts';
import { describeError, readErrorBody, type UpstreamError } from '../../answer/error-body.ts';
import { detailsOf, withRetryDelay } from '../../answer/retry-details.ts';
import { asText, type JsonObject } from '../../json.ts';

/** Never throws, whatever the bytes. `message` is not scrubbed. */
export function readError(body: Buffer): UpstreamError {
  const { message, error } = readErrorBody(body);
  return withRetryDelay(describeError(message, codeOf(error, detailsOf(error))), error);
}

/** An error in a stream, or instead of an answer. */
export function errorEvent(error: JsonObject): GenerationEvent {
  return { kind: 'error', ...errorOf(error) };
}

export function errorOf(error: JsonObject): {
  readonly type: string;
  readonly message: string;
  readonly status: number | null;
} {
  const status = typeof error.code === 'number' && error.code >= 400 && error.code < 600 ? error.code : null;
  const type = codeOf(error, detailsOf(error)) ?? 'error';
  return { type, message: asText(error.message) ?? 'upstream gave no reason', status };
}

/** The most exact word: that of an invalid key, else the status. */
function codeOf(error: JsonObject | null, details: readonly JsonObject[]): string | null {
  const reason = details.map((detail) => asText(detail.reason)).find((word) => word?.startsWith('API_KEY_'));
  return reason ?? asText(error?.status);
}
