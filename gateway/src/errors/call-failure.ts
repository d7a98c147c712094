/** Owns the one error class of a call: thrown by the boundary that knows, caught where a reply is made. Renders nothing. */
import { FAILURE_KINDS, type FailureKind } from './failure-kinds.ts';
import type { ReasonDraft, ReasonUpstream } from './reason.ts';

/** Of the prompt, of the answer that was asked for, and the most of both together; null: unknown. */
export interface TokenCounts {
  readonly prompt: number | null;
  readonly output: number | null;
  readonly max: number | null;
}

interface Details {
  /** The request member that is at fault, as a path (`messages.2.content`). */
  readonly param?: string;
  /** For the log and the record only; never shown to a caller. */
  readonly cause?: unknown;
  /** Whole seconds, 1 to 60. */
  readonly retryAfterSeconds?: number;
  /** The status upstream gave, where it is kept (`upstream_rejected`: 400, 404, 413, 422). */
  readonly status?: number;
  /** How many tokens were asked for and how many there may be, where upstream said so: a vocabulary's own words need them. */
  readonly tokens?: TokenCounts;
  /** For the record: which rule refused the request. Left out: `kind` says enough. */
  readonly reason?: ReasonDraft;
  /** For the record: what the provider said, scrubbed. */
  readonly upstream?: ReasonUpstream;
  /** Value of the `allow` header of a 405. */
  readonly allow?: string;
  /** Early refusals close the connection instead of draining a body that nobody wants. */
  readonly closeConnection?: boolean;
}

/** `message` is safe to show: it holds no secret and no byte of upstream's that was not scrubbed. */
export class CallFailure extends Error {
  readonly kind: FailureKind;
  readonly details: Details;

  constructor(kind: FailureKind, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'CallFailure';
    this.kind = kind;
    this.details = details;
  }

  /** The HTTP status in the given protocol. */
  status(protocol: 'chat' | 'messages'): number {
    return this.details.status ?? FAILURE_KINDS[this.kind][protocol].status;
  }
}

/** A refusal of the caller's body: names the member, what was found, what was expected and what to do. */
export function invalidRequest(message: string, param?: string): CallFailure {
  return new CallFailure('invalid_request', message, param === undefined ? {} : { param });
}
