/** Owns what is known of one call while it runs, from its arrival to its record. Decides nothing. */
import type { CallFailure } from '../errors/call-failure.ts';
import type { Principal } from '../identity/principal.ts';
import { newRequestId } from '../lib/request-id.ts';
import type { AnswerFacts, ProtocolName } from '../protocols/protocol.ts';
import type { RequestFacts } from '../protocols/request/request-facts.ts';
import type { Route } from '../routing/route.ts';
import type { Standing } from '../store/ports/limits.ts';
import type { AttemptRecord } from '../store/ports/records.ts';
import type { ContentDraft } from './content/content-draft.ts';
import type { IdempotencyRun } from './idempotency/idempotency-run.ts';
import type { CallMoney } from './money/call-money.ts';
import type { PricedRequest } from './plan/named-models.ts';

/** The client's connection, as far as a call has to do with it. */
export interface CallConnection {
  /** Said once nothing is waited for but that the client takes its reply; before the last byte is handed over. */
  replyReady(): void;
}

/** Mutable by the line and by nobody else; `settled` is set once, by `settle`. */
export interface Call {
  readonly requestId: string;
  readonly protocol: ProtocolName;
  readonly connection: CallConnection | null;
  /** Unix ms. */
  readonly atMs: number;
  /** On the `performance.now()` clock. */
  readonly startMs: number;
  readonly session: string | null;
  principal: Principal | null;
  facts: RequestFacts | null;
  route: Route | null;
  /** What it names beside its model, and by what it changes its price; null: nothing, or it is translated. */
  priced: PricedRequest | null;
  /** An upstream was turned to, whether or not it could be reached. */
  attempted: boolean;
  /** Bytes were sent to an upstream: from here on somebody may have to pay. */
  dispatched: boolean;
  firstByteMs: number | null;
  /** Members of the request, or states of the answer, that a translation could not carry; told to the caller. */
  dropped: readonly string[];
  readonly attempts: AttemptRecord[];
  /** Why it failed, was refused or was cut, as the place that decided said it; null: it did not, or nothing more than the kind is known. */
  failure: CallFailure | null;
  settled: boolean;
  /** What it holds; null: it was not admitted to its limits. */
  money: CallMoney | null;
  /** What the caller's limits leave; null: they were not asked. */
  standing: Standing | null;
  /** Its money was held as a stream's, though its client gets one piece: the caps do not cover its worst case. */
  folded: boolean;
  /** The answer in one piece ends where nobody paid for more; told to the caller. */
  cut: boolean;
  /** What upstream told of an answer of which its client got nothing; null: nothing is known of it. */
  unsent: AnswerFacts | null;
  /** Null: the call has no idempotency key. */
  run: IdempotencyRun | null;
  /** What is said in it; null: its workspace keeps none of that. */
  content: ContentDraft | null;
  /** Gives back what the call holds of the process (its place, its body's bytes); run once, when nothing of it runs any more. */
  readonly held: Array<() => void>;
}

/** Gives back all that the call holds. Harmless when repeated. */
export function releaseCall(call: Call): void {
  for (const release of call.held.splice(0)) release();
}

/** Begins a call. The id is ours (UUIDv7), never the client's: a label that a client sends must not name a charge. */
export function openCall(protocol: ProtocolName, headers: Headers, connection: CallConnection | null = null): Call {
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
    standing: null,
    folded: false,
    cut: false,
    unsent: null,
    run: null,
    content: null,
    held: [],
  };
}

/** Whole, as it came: the header block bounds it. */
function readSession(headers: Headers): string | null {
  const session = headers.get('x-claude-code-session-id') ?? headers.get('x-session-id');
  return session || null;
}
