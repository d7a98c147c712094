/**
 * Makes the attempts at the route's upstream: sends the request, connects the listeners of the answer, and notes each
 * attempt in the record.
 */
import { DemoExchange } from '../../demo/demo-exchange.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { type HttpUpstream, renderRequestHead } from '../../providers/upstream.ts';
import { Exchange, type ExchangeLimits, type ExchangeListener } from '../../upstream/exchange.ts';
import type { ResponseHead } from '../../upstream/response-head.ts';
import { listenForContent } from '../content/content-draft.ts';
import { mostOutputTokens, sentLimit } from '../money/limit-proofs.ts';
import { planCall, type RoutedCall } from '../plan/plan-call.ts';
import { type Folding, type NextAttempt, refusesStream, type UpstreamCall } from '../plan/upstream-call.ts';
import { openFold } from '../stream/folded-stream.ts';
import { openRelay } from '../stream/open-relay.ts';
import type { UpstreamTap } from '../stream/relay-settings.ts';
import type { StreamRelay } from '../stream/stream-relay.ts';
import { AttemptRow } from './attempt-row.ts';
import { AnswerCollector, type CollectedAnswer, unsentOf } from './collect-answer.ts';

/** The inputs of an attempt. */
export interface Dispatch extends RoutedCall {
  readonly request: Request;
  readonly version: string | null;
  readonly countOnly: boolean;
  /** The upstream request, and how its answer is read. */
  readonly sending: UpstreamCall;
}

/** How the last attempt began: with a running stream, or with a complete answer of any status. */
export type Dispatched =
  | { readonly kind: 'stream'; readonly relay: StreamRelay }
  | { readonly kind: 'folded'; readonly folding: Folding; readonly head: ResponseHead; readonly cut: boolean }
  | { readonly kind: 'collected'; readonly answer: CollectedAnswer; readonly sending: UpstreamCall };

/** Upstream may refuse two optional features of a call, each once. */
const ATTEMPTS_MAX = 3;

/**
 * Sends the call upstream and waits for the beginning of the answer. Throws CallFailure; `call.attempts` holds the
 * attempts.
 */
export async function dispatch(job: Dispatch): Promise<Dispatched> {
  let unknown: string | undefined;
  for (let attempt = job, tried = 1; ; tried++) {
    if (job.request.signal.aborted) throw new CallFailure('client_left', 'the client left before its call was sent');
    job.call.attempted = true;
    const row = new AttemptRow(job.call);
    const begun = await begin(attempt, row);
    noteStreaming(attempt, begun);
    if (unknown !== undefined) rememberUnknown(attempt, begun, unknown);
    const instead =
      begun.kind === 'collected' && begun.answer.head.status !== 200 && tried < ATTEMPTS_MAX
        ? (attempt.sending.nextAttemptAfter(begun.answer) ?? (await unfold(attempt, begun.answer)))
        : null;
    if (begun.kind === 'collected') row.note(begun.answer.head.status, instead === null ? null : 'upstream_rejected');
    if (instead === null) return begun;
    attempt.deps.log.upstream(attempt.call.requestId, attempt.route.upstream.provider, instead.why);
    unknown = instead.unknown;
    const route = instead.shown === undefined ? attempt.route : { ...attempt.route, ...instead.shown };
    attempt = { ...attempt, route, sending: instead.call };
    attempt.call.route = route;
    attempt.call.dropped = instead.call.dropped;
  }
}

/** If this upstream answered without the member, later requests to it leave the member out. */
function rememberUnknown({ call, deps, route }: Dispatch, begun: Dispatched, member: string): void {
  if (begun.kind === 'collected' && begun.answer.head.status !== 200) return;
  if (call.principal !== null) deps.refusedMembers.note(route.upstream, member, call.principal.workspaceId, Date.now());
}

/** Notes whether the target streams, as this attempt shows. */
function noteStreaming({ deps, route, sending }: Dispatch, begun: Dispatched): void {
  const { limitProofs } = deps.billing;
  if (begun.kind !== 'collected') limitProofs.noteStreaming(route.upstream, null);
  else if (sending.startFolding === null) return;
  else if (begun.answer.head.status === 200) limitProofs.noteStreaming(route.upstream, 'ignores');
  else if (refusesStream(begun.answer)) limitProofs.noteStreaming(route.upstream, 'refuses');
}

/** Replans the call as non-streaming for a target that does not stream, if its maximum cost can be held. */
async function unfold(job: Dispatch, answer: CollectedAnswer): Promise<NextAttempt | null> {
  const { call, deps, route, sending, protocol } = job;
  const { money, facts } = call;
  if (sending.startFolding === null || money === null || facts === null || !refusesStream(answer)) return null;
  const limit = sentLimit(facts, protocol.name, route);
  const isTrusted = limit === null || deps.billing.limitProofs.trustOf(route.upstream, limit) === 'limit';
  const most = isTrusted ? mostOutputTokens(facts, route) : limit.mostWithoutIt;
  const covered = await money.coverUnmetered(most).catch((cause: unknown) => {
    throw new CallFailure('store_unavailable', 'the call could not be paid for; try again', {
      cause,
      retryAfterSeconds: 1,
    });
  });
  if (!covered) return null;
  call.folded = false;
  return { call: await planCall(job), why: 'does not stream: asked again for an answer in one piece' };
}

async function begin(job: Dispatch, row: AttemptRow): Promise<Dispatched> {
  const { call, deps, route } = job;
  try {
    const { startFolding } = job.sending;
    if (startFolding !== null) return await beginFold(job, startFolding(), row);
    return await (call.facts?.stream === true && !job.countOnly ? beginStream(job, row) : collect(job, row));
  } catch (error) {
    const failure =
      error instanceof CallFailure ? error : new CallFailure('gateway_fault', 'the gateway failed', { cause: error });
    row.note(null, failure.kind);
    if (failure.details.cause !== undefined)
      deps.log.upstream(call.requestId, route.upstream.provider, String(failure.details.cause));
    throw failure;
  }
}

async function beginStream(job: Dispatch, row: AttemptRow): Promise<Dispatched> {
  const { call, deps, protocol, sending } = job;
  const observer = sending.startObserver();
  const { relay, listener } = openRelay(call, deps, {
    protocol,
    upstream: sending.protocol,
    framing: job.route.upstream.framing,
    observer,
    row,
  });
  const leave = () => relay.leave();
  job.request.signal.addEventListener('abort', leave, { once: true });
  relay.connect(send(job, row.listen(listener, observer), row));
  const start = await relay.started.catch((failure: unknown) => {
    call.unsent = unsentOf(observer);
    throw failure;
  });
  return start.kind === 'stream' ? { kind: 'stream', relay } : { ...start, sending };
}

async function beginFold(job: Dispatch, folding: Folding, row: AttemptRow): Promise<Dispatched> {
  const { call, deps, request, sending } = job;
  const { stream, listener } = openFold(job, folding);
  const leave = () => {
    stream.interrupt(new CallFailure('client_left', 'the client left before its answer was complete'));
  };
  request.signal.addEventListener('abort', leave, { once: true });
  const handle = deps.openCalls.add(stream);
  try {
    stream.connect(send(job, row.listen(listener, folding.observer), row));
    const end = await stream.done.catch((failure: unknown) => {
      call.unsent = unsentOf(folding.observer);
      throw failure;
    });
    if (end.kind === 'collected') return { ...end, sending };
    row.note(200, null);
    return { ...end, folding };
  } finally {
    deps.openCalls.remove(handle);
  }
}

async function collect(job: Dispatch, row: AttemptRow): Promise<Dispatched> {
  const { limits } = job.deps.settings.config;
  let tap: UpstreamTap | null = null;
  const collector = new AnswerCollector(limits, () => tap?.abort());
  const interrupt = (failure: CallFailure) => {
    tap?.abort();
    collector.reject(failure);
  };
  const leave = () => interrupt(new CallFailure('client_left', 'the client left before its answer was complete'));
  job.request.signal.addEventListener('abort', leave, { once: true });
  const { openCalls } = job.deps;
  const handle = openCalls.add({ interrupt });
  try {
    tap = send(job, collector, row);
    const answer = await collector.done;
    job.call.firstByteMs = performance.now();
    return { kind: 'collected', answer, sending: job.sending };
  } finally {
    openCalls.remove(handle);
  }
}

function send(job: Dispatch, toTell: ExchangeListener, row: AttemptRow): UpstreamTap {
  const { call, route, countOnly, sending } = job;
  const { upstream } = route;
  const { protocol, body } = sending;
  const { paths } = protocol;
  const listener = call.content === null ? toTell : listenForContent(call.content, sending, toTell);
  const onSent = () => {
    call.dispatched = true;
  };
  if (upstream.kind === 'demo') {
    onSent();
    const { requestId, atMs } = call;
    const answers = call.facts?.answers ?? 1;
    const demoCall = { protocol: protocol.name, body, countOnly, answers, requestId, atMs };
    const demo = new DemoExchange(demoCall, listener);
    row.marks = demo;
    return demo;
  }
  const stream = call.facts?.stream === true || sending.startFolding !== null;
  const own = sending.translation === null ? protocol.passThrough : null;
  const forwarded = own === null ? protocol.headers : own.forwardHeaders(job.request.headers, job.version);
  const head = renderRequestHead(
    upstream,
    countOnly && paths.count !== null ? paths.count : paths.answer,
    forwarded,
    stream && !countOnly,
    body.length,
  );
  const sent = { origin: upstream.origin, head, body, onSent };
  const exchange = new Exchange(sent, limitsOf(upstream, stream, job), listener);
  row.marks = exchange;
  return exchange;
}

function limitsOf({ timeouts }: HttpUpstream, stream: boolean, { deps }: Dispatch): ExchangeLimits {
  return {
    connectMs: timeouts.connectMs,
    firstByteMs: stream ? timeouts.firstByteMs : timeouts.firstBytePlainMs,
    idleMs: timeouts.idleMs,
    totalMs: timeouts.totalMs,
    responseBytesMax: deps.settings.config.limits.responseBytesMax,
  };
}
