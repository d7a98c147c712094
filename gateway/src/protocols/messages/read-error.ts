/** Owns what a messages host's error body says. */
import type { UpstreamError } from '../codec.ts';
import { describeError, readErrorBody } from '../error-body.ts';
import { asObject, asText } from '../json.ts';

/** Never throws, whatever the bytes are. `message` is not scrubbed. `error.details.error_code` says more than the type. B.8. */
export function readError(body: Buffer): UpstreamError {
  const { message, code, error } = readErrorBody(body);
  return describeError(message, asText(asObject(error?.details)?.error_code) ?? code);
}
