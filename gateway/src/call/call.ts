/**
 * Holds the state of one call while it runs, from arrival to record, and the row of each of its attempts. The stages
 * `Arrived`, `Identified`, `Routed` and `Held` are views of the same object: each knows more than the one before. Makes no
 * decisions.
 */
import type { BodyShare, CallPlace } from '../admission/capacity.ts';
import type { NanoUsd } from '../billing/money.ts';
import type { CallFailure } from '../errors/call-failure.ts';
import { FAILURE_KINDS, type FailureKind } from '../errors/failure-kinds.ts';
import type { Reason, ReasonTarget } from '../errors/reason.ts';
import type { Guard } from '../guardrails/guardrails.ts';
import type { MaskCounts } from '../guardrails/side-guard.ts';
import type { Principal } from '../identity/principal.ts';
import { newRequestId } from '../lib/request-id.ts';
import { maskKeys } from '../lib/secret.ts';
import { newSpanId, openTrace, type TraceContext } from '../lib/trace-context.ts';
import type { ClientProtocol } from '../protocols/client-protocol.ts';
import { readBodySession, readHeaderSession } from '../protocols/named-session.ts';
import type { UpstreamProtocolName } from '../protocols/names.ts';
import type { AskedModel, RequestFacts } from '../protocols/request/request-facts.ts';
import type { AnswerFacts, StreamObserver } from '../protocols/upstream-protocol.ts';
import type { Candidate } from '../routing/choose/candidate.ts';
import type { RoutedRequest } from '../routing/choose/routed-request.ts';
import type { Route, Target } from '../routing/route.ts';
import type { DetachedCall } from '../store/ports/ledger.ts';
import type { RateLimitStatus } from '../store/ports/limits.ts';
import type { AttemptCost, AttemptRecord } from '../store/ports/records.ts';
import type { ExchangeListener, UpstreamMarks } from '../upstream/exchange.ts';
import type { JsonOutline } from '../wire/json-node.ts';
import type { CachedCall } from './cache/answer-cache.ts';
import type { ContentDraft } from './content/content-draft.ts';
import type { CallDeps, Settings } from './deps.ts';
import type { IdempotencyRun } from './idempotency/idempotency-run.ts';
import type { CallMoney } from './money/call-money.ts';
import type { PricedRequest } from './plan/named-models.ts';
import type { EndedResponse } from './stored/open-stored-state.ts';
import type { AnswerStream } from './stream/outbox.ts';
import type { ReceivedForm } from './upload/sent-form.ts';

/** The client's side of a request. */
export interface CallOrigin {
  /** The client's address, called only when needed; null: unknown. */
  address(): string | null;
  /** Called before the last byte is handed over, once the call waits only for the client to take its reply. */
  replyReady(): void;
  /** Gets a streamed answer, which it writes itself; then the body of the response is empty. Absent: the body has it. */
  takeStream?(stream: AnswerStream): void;
}

/** The call itself. Members that are not read-only are its progress; the steps of the call set them. */
class Call {
  readonly requestId = newRequestId();
  readonly request: Request;
  readonly protocol: ClientProtocol;
  /** What its path names; null: its body names it. */
  readonly path: AskedModel | null;
  readonly origin: CallOrigin;
  readonly deps: CallDeps;
  /** The settings in force when it arrived. */
  readonly settings: Settings;
  /** Unix ms. */
  readonly atMs = Date.now();
  /** On the `performance.now()` clock. */
  readonly startMs = performance.now();
  /** The session that a header names, else its body. Null: none, or the body is not read yet. */
  session: string | null;
  /** Null: the call is not traced, and its client named no trace. */
  readonly trace: TraceContext | null;
  principal: Principal | null = null;
  facts: RequestFacts | null = null;
  /** The body, validated. */
  outline: JsonOutline | null = null;
  route: Route | null = null;
  /** The target of the current attempt, perhaps adapted to what it has refused; set with the route. */
  target: Target | null = null;
  /** Index of the credential of the current attempt, in `target.upstream.credentials`. */
  credential = 0;
  /**
   * Price-changing members and models that the request names beyond its own model; null: none, or the request is
   * translated.
   */
  priced: PricedRequest | null = null;
  money: CallMoney | null = null;
  /** The version of the protocol that the client asked for; null: it has none. */
  version: string | null = null;
  /** The targets of its route in the order in which they are tried; the others follow. */
  candidates: readonly Candidate[] = [];
  /** What they were chosen from; null: there was nothing to choose. */
  routed: RoutedRequest | null = null;
  /** Why the call goes to its present target, for its reply; null: there was nothing to choose. */
  why: string | null = null;
  /** A connection to an upstream was attempted, whether or not it succeeded. */
  attempted = false;
  /** The present attempt sent bytes to its upstream, so it may cost money. Known once it is noted. */
  dispatched = false;
  firstByteMs: number | null = null;
  /** Members of the request, or states of the answer, that a translation could not carry; reported to the caller. */
  dropped: readonly string[] = [];
  readonly attempts: AttemptRecord[] = [];
  /** Targets that could not take the call, once nothing is left to try. */
  unavailable: readonly ReasonTarget[] = [];
  /**
   * The failure as reported where it was detected: why the call failed, was refused or was cut. Null: it did not fail,
   * or only the kind is known.
   */
  failure: CallFailure | null = null;
  /** Set with the record of a call that failed. */
  reason: Reason | null = null;
  /** Set once, by `settle`. */
  settled = false;
  /** What the account pays, set with `settled`: 0 if the operator pays all of it, null if the model has no price. */
  charged: NanoUsd | null = null;
  /** The remaining allowance of the caller's limits; null: they were not checked. */
  rateLimitStatus: RateLimitStatus | null = null;
  /** The hold is that of a stream although the client gets one piece: the caps do not cover the maximum cost. */
  folded = false;
  /** The non-streamed answer was cut because no more money was available; reported to the caller. */
  cut = false;
  /** Upstream's facts about an answer that the client did not get; null: none. */
  undelivered: AnswerFacts | null = null;
  /** Null: the call has no idempotency key. */
  run: IdempotencyRun | null = null;
  /** Collects its answer for the cache; null: it is not cached. */
  caching: CachedCall | null = null;
  /** What its reply says of the cache; null: nothing. */
  cacheNote: string | null = null;
  /** The request whose answer it gets from the cache; null: it does not. */
  cachedFrom: string | null = null;
  /** The id of the response that it continues, kept here; null: none. */
  continues: string | null = null;
  /** The response that is kept with its end; null: none. */
  ended: EndedResponse | null = null;
  /**
   * The call as it is left, where its streamed answer goes on whatever becomes of the stream; resolves with null if its
   * hold could not be detached. Null: the answer ends with the stream.
   */
  detached: Promise<DetachedCall | null> | null = null;
  /** Its response goes on without it. */
  left = false;
  /** The rules for its texts; null: its workspace has none. */
  guard: Guard | null = null;
  /** The request before they changed it; null: they did not. */
  unguarded: Uint8Array | null = null;
  /** How often they masked something, by rule; null: nothing was masked. */
  masked: MaskCounts | null = null;
  /** The recorded bodies; null: the workspace does not record them. */
  content: ContentDraft | null = null;
  /** Its place within the capacity of the process; null: not admitted. */
  place: CallPlace | null = null;
  /** The memory of its body; null: not read, or a form. */
  body: BodyShare | null = null;
  /** The body, if it is a form. */
  form: ReceivedForm | null = null;
  /** The content type of an answer that is bytes; null: it has none, or is not. */
  answerType: string | null = null;

  constructor(request: Request, protocol: ClientProtocol, origin: CallOrigin, deps: CallDeps, path: AskedModel | null) {
    this.request = request;
    this.protocol = protocol;
    this.path = path;
    this.origin = origin;
    this.deps = deps;
    this.settings = deps.settings;
    this.session = readHeaderSession(request.headers);
    this.trace = openTrace(request.headers, deps.sampleTrace);
  }
}

/** Members that a step of the call sets for good, with a function below. */
type Learned = 'principal' | 'facts' | 'route' | 'target' | 'money';

/** A call whose head has arrived. */
export interface Arrived extends Omit<Call, Learned | 'outline' | 'priced'>, Readonly<Pick<Call, Learned>> {}

/** A call whose caller is known. Every such call has a record. */
export interface Identified extends Arrived {
  readonly principal: Principal;
}

/** A call whose body was read and whose model may be used. */
export interface Routed extends Identified, Readonly<Pick<Call, 'priced'>> {
  readonly facts: RequestFacts;
  readonly outline: JsonOutline;
  readonly route: Route;
  readonly target: Target;
}

/** A call that was admitted to its limits, with its money held. */
export interface Held extends Routed {
  readonly money: CallMoney;
}

/**
 * Starts a call. The gateway creates the id (UUIDv7), never the client: a label that a client sends must not identify a
 * charge.
 */
export function openCall(
  request: Request,
  protocol: ClientProtocol,
  origin: CallOrigin,
  deps: CallDeps,
  path: AskedModel | null = null,
): Arrived {
  return new Call(request, protocol, origin, deps, path);
}

export function setPrincipal(call: Arrived, principal: Principal): asserts call is Identified {
  (call as Call).principal = principal;
}

/** Whether the caller is known. */
export function isIdentified(call: Arrived): call is Identified {
  return call.principal !== null;
}

/** Sets what the body says, before its model is looked up: a refused call is recorded with it. */
export function setFacts(call: Identified, outline: JsonOutline, facts: RequestFacts): void {
  (call as Call).outline = outline;
  call.session ??= readBodySession(outline.root);
  (call as Call).facts = facts;
}

/** Sets the route, and the target to try first. Only after `setFacts`. */
export function setRoute(call: Identified, route: Route, target: Target): asserts call is Routed {
  (call as Call).route = route;
  (call as Call).target = target;
}

/** Sets the target of the next attempt. */
export function setTarget(call: Identified, target: Target): void {
  (call as Call).target = target;
}

export function setPriced(call: Routed, priced: PricedRequest | null): void {
  (call as Call).priced = priced;
}

export function setMoney(call: Routed, money: CallMoney): asserts call is Held {
  (call as Call).money = money;
}

/** Whether the call got as far as its route, so that it can have an answer. */
export function isRouted(call: Arrived): call is Routed {
  return call.route !== null;
}

/** Releases everything that the call holds of the process. Safe to call more than once. */
export function releaseCall({ place, body, form, content, caching }: Arrived): void {
  place?.leave();
  caching?.drop();
  // Copies the body before its memory is freed.
  content?.close();
  body?.release();
  form?.body.release();
}

/** Why an attempt went where it did, where there was a choice. */
export interface AttemptChoice {
  readonly why: string;
  readonly credential: string;
  readonly waitMs: number;
}

function describeChoice(row: Row, { why, credential, waitMs }: AttemptChoice): void {
  row.why = why;
  if (credential !== 'default') row.credential = credential;
  if (waitMs > 0) row.wait_ms = waitMs;
}

type Row = { -readonly [Member in keyof AttemptRecord]: AttemptRecord[Member] };

/** The record row of one attempt while it runs: its outcome and the time of each of its marks. */
export class AttemptRow {
  /** The upstream side; null: not connected yet. */
  marks: UpstreamMarks | null = null;
  /** Null: the target's only credential, at the first target of a route in order. */
  readonly choice: AttemptChoice | null;
  /** The target's format, if it is not the client's. */
  format: UpstreamProtocolName | null = null;
  /** The provider's id of the request; null: none was reported. */
  upstreamRequestId: string | null = null;
  readonly #call: Routed;
  readonly #startMs = performance.now();
  #row: Row | null = null;
  /** On the `performance.now()` clock; 0: not yet. */
  #firstTokenAtMs = 0;
  /** The attempt's span in the call's trace; empty: there is no trace. */
  readonly spanId: string;

  constructor(call: Routed, choice: AttemptChoice | null = null) {
    this.#call = call;
    this.spanId = call.trace === null ? '' : newSpanId();
    this.choice = choice;
  }

  /** Upstream's status; null: none was noted. */
  get status(): number | null {
    return this.#row?.status ?? null;
  }

  /** Adds the row to the call's attempts: once, when upstream's answer begins, and before the call is settled. */
  note(status: number | null, error: FailureKind | null): void {
    const { target, attempts, startMs } = this.#call;
    if (this.#row !== null) return;
    if (this.marks !== null && this.marks.sentAtMs > 0) this.#call.dispatched = true;
    const { provider, model, region } = target.upstream;
    const row: Row = { provider, model, status, error, start_ms: Math.round(this.#startMs - startMs), duration_ms: 0 };
    this.#row = row;
    if (target.name !== `${provider}/${model}`) row.target = target.name;
    if (this.format !== null) row.format = this.format;
    if (this.choice !== null) describeChoice(row, this.choice);
    if (region !== undefined) row.region = region;
    if (this.upstreamRequestId !== null) row.upstream_request_id = maskKeys(this.upstreamRequestId);
    attempts.push(row);
    this.#call.trace?.attemptIds.push(this.spanId);
    this.#mark(error === null && status !== null);
  }

  /** Puts the row last, as that of the attempt by which the call is settled, where another one ended after it. */
  putLast(): void {
    const { attempts, trace } = this.#call;
    const at = this.#row === null ? -1 : attempts.indexOf(this.#row);
    if (at === -1) return;
    this.#call.dispatched = true;
    attempts.push(...attempts.splice(at, 1));
    trace?.attemptIds.push(...trace.attemptIds.splice(at, 1));
  }

  /**
   * Notes why an attempt failed; `failure` null: another one of the call was faster. `message`: what its provider said,
   * for the record. After `note`.
   */
  lose(failure: FailureKind | null, failureClass: string, message: string | null = null): void {
    const row = this.#row;
    if (row === null) return;
    row.error ??= failure;
    row.class = failureClass;
    if (message !== null) row.message = message;
    const { marks } = this;
    if ((marks?.sentAtMs ?? 0) === 0) row.phase = 'connect';
    else if ((marks?.headAtMs ?? 0) === 0) row.phase = 'sent';
    else if (this.#firstTokenAtMs === 0) row.phase = 'head';
  }

  /** Adds the cost of an attempt that is not the call's; null: it cost nothing. Then the call has sent nothing. */
  price(cost: AttemptCost | null): void {
    this.#call.dispatched = false;
    if (this.#row !== null && cost !== null) Object.assign(this.#row, cost);
  }

  /** Wraps the listener to note the first output that the observer behind it reads. */
  listen(listener: ExchangeListener, observer: Pick<StreamObserver, 'facts'>): ExchangeListener {
    return {
      onHead: (head) => listener.onHead(head),
      onBody: (span) => {
        listener.onBody(span);
        if (this.#firstTokenAtMs === 0) this.#noteToken(observer.facts().outputBytes);
      },
      onEnd: () => listener.onEnd(),
      onFailure: (failure) => listener.onFailure(failure),
    };
  }

  /** Completes the row of a stream at its end. `failure`: the call's failure; null: a complete answer. */
  end(failure: FailureKind | null, outputBytes: number): void {
    const row = this.#row;
    if (row === null) return;
    // For an answer that came and ended in one read, the first token is detected only here.
    if (this.#firstTokenAtMs === 0) this.#noteToken(outputBytes);
    if (failure !== null && FAILURE_KINDS[failure].origin === 'upstream') row.error ??= failure;
    this.#mark(failure === null);
  }

  /** `whole`: the attempt ends with upstream's last byte; otherwise it ended now. */
  #mark(whole: boolean): void {
    const row = this.#row;
    const { marks } = this;
    if (row === null) return;
    const lastByteAtMs = whole ? (marks?.lastByteAtMs ?? 0) : 0;
    const endMs = lastByteAtMs === 0 ? performance.now() : lastByteAtMs;
    row.connect_ms = this.#since(marks?.sentAtMs ?? 0);
    row.ttfb_ms = this.#since(marks?.headAtMs ?? 0);
    row.ttft_ms = this.#since(this.#firstTokenAtMs);
    if (marks?.exchanges !== undefined && marks.exchanges > 1) row.exchanges = marks.exchanges;
    if (marks?.door !== undefined) row.door = marks.door;
    row.duration_ms = Math.round(endMs - this.#startMs);
  }

  #noteToken(outputBytes: number): void {
    if (outputBytes > 0) this.#firstTokenAtMs = performance.now();
  }

  #since(atMs: number): number | null {
    return atMs === 0 ? null : Math.round(atMs - this.#startMs);
  }
}
