/**
 * Defines the only error class of a call: thrown where a failure is detected, caught where a reply is made. Renders
 * nothing.
 */
import type { FailureKind } from './failure-kinds.ts';
import type { ReasonDraft, ReasonHint, ReasonUpstream } from './reason.ts';

/** Of the prompt, of the requested response, and the maximum of both together; null: unknown. */
export interface TokenCounts {
  readonly prompt: number | null;
  readonly output: number | null;
  readonly max: number | null;
}

interface Details {
  /** The path of the invalid request member (`messages.2.content`). */
  readonly param?: string;
  /** The code that OpenAI's formats have for this failure, if its kind has several. */
  readonly code?: string;
  /** For the log and the record only; never shown to a client. */
  readonly cause?: unknown;
  /** Whole seconds, 1 to 60. */
  readonly retryAfterSeconds?: number;
  /** The upstream's status, if it is passed on (`upstream_rejected`: 400, 404, 413, 422); 426 for a refused upgrade; one on which an agent ends. */
  readonly status?: number;
  /** Requested and maximum tokens, if the upstream stated them: the error messages of a protocol need them. */
  readonly tokens?: TokenCounts;
  /** For the record: which rule refused the request. Omitted if `kind` says enough. */
  readonly reason?: ReasonDraft;
  /** For the record: the provider's error, scrubbed. */
  readonly upstream?: ReasonUpstream;
  /** For the error body: what its caller may know of the reason. */
  readonly hint?: ReasonHint;
  /** The `allow` header of a 405. */
  readonly allow?: string;
  /** Early refusals close the connection instead of draining an unneeded body. */
  readonly closeConnection?: boolean;
}

/** `message` is safe to show: it contains no secret and no unscrubbed byte from upstream. */
export class CallFailure extends Error {
  readonly kind: FailureKind;
  readonly details: Details;

  constructor(kind: FailureKind, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'CallFailure';
    this.kind = kind;
    this.details = details;
  }
}

/** A refusal of the client's body: names the member, what was found, what was expected and the remedy. */
export function invalidRequest(message: string, param?: string): CallFailure {
  return new CallFailure('invalid_request', message, param === undefined ? {} : { param });
}
