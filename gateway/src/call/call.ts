/** Holds the state of one call while it runs, from arrival to record. Makes no decisions. */

import type { CallFailure } from '../errors/call-failure.ts';
import type { Principal } from '../identity/principal.ts';
import { newRequestId } from '../lib/request-id.ts';
import type { ClientProtocolName } from '../protocols/names.ts';
import type { RequestFacts } from '../protocols/request/request-facts.ts';
import type { AnswerFacts } from '../protocols/upstream-protocol.ts';
import type { Route } from '../routing/route.ts';
import type { RateLimitStatus } from '../store/ports/limits.ts';
import type { AttemptRecord } from '../store/ports/records.ts';
import type { ContentDraft } from './content/content-draft.ts';
import type { IdempotencyRun } from './idempotency/idempotency-run.ts';
import type { CallMoney } from './money/call-money.ts';
import type { PricedRequest } from './plan/named-models.ts';

/** The part of the client's connection that a call uses. */
export interface CallConnection {
  /** Called before the last byte is handed over, once the call waits only for the client to take its reply. */
  replyReady(): void;
}

/** Only the steps of the call change it; `settle` sets `settled` once. */
export interface Call {
  readonly requestId: string;
  readonly protocol: ClientProtocolName;
  readonly connection: CallConnection | null;
  /** Unix ms. */
  readonly atMs: number;
  /** On the `performance.now()` clock. */
  readonly startMs: number;
  readonly session: string | null;
  principal: Principal | null;
  facts: RequestFacts | null;
  route: Route | null;
  /**
   * Price-changing members and models that the request names beyond its own model; null: none, or the request is
   * translated.
   */
  priced: PricedRequest | null;
  /** A connection to an upstream was attempted, whether or not it succeeded. */
  attempted: boolean;
  /** Bytes were sent to an upstream: from here on the call may cost money. */
  dispatched: boolean;
  firstByteMs: number | null;
  /** Members of the request, or states of the answer, that a translation could not carry; reported to the caller. */
  dropped: readonly string[];
  readonly attempts: AttemptRecord[];
  /**
   * The failure as reported where it was detected: why the call failed, was refused or was cut. Null: it did not fail,
   * or only the kind is known.
   */
  failure: CallFailure | null;
  settled: boolean;
  /** The call's hold and settlement; null: it was not admitted to its limits. */
  money: CallMoney | null;
  /** The remaining allowance of the caller's limits; null: they were not checked. */
  rateLimitStatus: RateLimitStatus | null;
  /** The hold is that of a stream although the client gets one piece: the caps do not cover the maximum cost. */
  folded: boolean;
  /** The non-streamed answer was cut because no more money was available; reported to the caller. */
  cut: boolean;
  /** Upstream's facts about an answer that the client did not get; null: none. */
  unsent: AnswerFacts | null;
  /** Null: the call has no idempotency key. */
  run: IdempotencyRun | null;
  /** The recorded bodies; null: the workspace does not record them. */
  content: ContentDraft | null;
  /**
   * Releases the process resources of the call (its place, its body's bytes); run once, when no part of the call is
   * running any more.
   */
  readonly held: Array<() => void>;
}

/** Releases everything the call holds. Safe to call more than once. */
export function releaseCall(call: Call): void {
  for (const release of call.held.splice(0)) release();
  call.content?.close();
}

/**
 * Starts a call. The gateway creates the id (UUIDv7), never the client: a label that a client sends must not identify a
 * charge.
 */
export function openCall(
  protocol: ClientProtocolName,
  headers: Headers,
  connection: CallConnection | null = null,
): Call {
  return {
    requestId: newRequestId(),
    protocol,
    connection,
    atMs: Date.now(),
    startMs: performance.now(),
    session: readSession(headers),
    principal: null,
    facts: null,
    route: null,
    priced: null,
    attempted: false,
    dispatched: false,
    firstByteMs: null,
    dropped: [],
    attempts: [],
    failure: null,
    settled: false,
    money: null,
    rateLimitStatus: null,
    folded: false,
    cut: false,
    unsent: null,
    run: null,
    content: null,
    held: [],
  };
}

/** Not truncated: the header block limits its length. */
function readSession(headers: Headers): string | null {
  const session = headers.get('x-claude-code-session-id') ?? headers.get('x-session-id');
  return session || null;
}
