/** Owns one attempt at the route's upstream: what is sent, how the answer is listened to, what the attempt's record says. */
import { CallFailure } from '../errors/call-failure.ts';
import type { FailureKind } from '../errors/failure-kinds.ts';
import type { Protocol } from '../protocols/protocol.ts';
import { endpointOf } from '../providers/endpoint.ts';
import { type HttpUpstream, renderRequestHead } from '../providers/upstream.ts';
import type { Route } from '../routing/route.ts';
import { Exchange, type ExchangeLimits, type ExchangeListener } from '../upstream/exchange.ts';
import type { JsonOutline } from '../wire/json-node.ts';
import type { Call } from './call.ts';
import { AnswerCollector, type CollectedAnswer } from './collect-answer.ts';
import { DemoExchange } from './demo-exchange.ts';
import type { Gate } from './gate.ts';
import { openRelay, type RelayPlan } from './open-relay.ts';
import type { UpstreamTap } from './relay-settings.ts';
import type { StreamRelay } from './stream-relay.ts';
import { asksForUsage, forwardedHeaders, renderUpstreamBody } from './upstream-request.ts';

/** What the line has in its hands when it dispatches. */
export interface Dispatch {
  readonly call: Call;
  readonly gate: Gate;
  readonly protocol: Protocol;
  readonly route: Route;
  readonly outline: JsonOutline;
  readonly request: Request;
  readonly version: string;
  readonly countOnly: boolean;
}

/** How the attempt began: a stream that runs, or an answer in one piece (of any status). */
export type Dispatched =
  | { readonly kind: 'stream'; readonly relay: StreamRelay }
  | { readonly kind: 'collected'; readonly answer: CollectedAnswer };

/** Sends the call upstream and waits for what it begins with. Throws CallFailure; `call.attempts` holds the attempt. */
export async function dispatch(job: Dispatch): Promise<Dispatched> {
  const { call, route, gate } = job;
  const { upstream } = route;
  const startMs = performance.now();
  const askForUsage = call.facts !== null && asksForUsage(call.protocol, call.facts, upstream);
  call.dispatched = true;
  const note = (status: number | null, error: FailureKind | null) => {
    call.attempts.push({
      provider: upstream.provider,
      model: upstream.model,
      status,
      error,
      duration_ms: Math.round(performance.now() - startMs),
    });
  };
  try {
    const streamed = call.facts?.stream === true && !job.countOnly;
    let begun = streamed ? await beginStream(job, askForUsage, note) : await collect(job);
    if (askForUsage && begun.kind === 'collected' && refusesUsageOption(begun.answer)) {
      note(begun.answer.head.status, 'upstream_rejected');
      gate.log.upstream(call.requestId, upstream.provider, 'refuses stream_options.include_usage: sent again without');
      begun = await beginStream(job, false, note);
    }
    if (begun.kind === 'collected') note(begun.answer.head.status, null);
    return begun;
  } catch (error) {
    const failure =
      error instanceof CallFailure ? error : new CallFailure('gateway_fault', 'the gateway failed', { cause: error });
    note(null, failure.kind);
    if (failure.details.cause !== undefined)
      gate.log.upstream(call.requestId, upstream.provider, String(failure.details.cause));
    throw failure;
  }
}

/** We put the option in, the caller did not: a host that refuses it must not be the caller's fault. */
function refusesUsageOption({ head, body }: CollectedAnswer): boolean {
  return (head.status === 400 || head.status === 422) && /stream_options|include_usage/.test(body.toString('latin1'));
}

async function beginStream(job: Dispatch, askForUsage: boolean, note: RelayPlan['note']): Promise<Dispatched> {
  const relay = openRelay(job.call, job.gate, { protocol: job.protocol, withholdUsage: askForUsage, note });
  const leave = () => relay.leave();
  job.request.signal.addEventListener('abort', leave, { once: true });
  if (job.request.signal.aborted) leave();
  else relay.connect(send(job, relay, askForUsage));
  const start = await relay.started;
  return start.kind === 'stream' ? { kind: 'stream', relay } : start;
}

async function collect(job: Dispatch): Promise<Dispatched> {
  const { limits } = job.gate.settings.config;
  let tap: UpstreamTap | null = null;
  const collector = new AnswerCollector(limits, () => tap?.abort());
  const leave = () => {
    tap?.abort();
    collector.reject(new CallFailure('client_left', 'the client left before its answer was complete'));
  };
  const { signal } = job.request;
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  else tap = send(job, collector, false);
  const answer = await collector.done;
  job.call.firstByteMs = performance.now();
  return { kind: 'collected', answer };
}

function send(job: Dispatch, listener: ExchangeListener, askForUsage: boolean): UpstreamTap {
  const { call, route, outline, countOnly } = job;
  const { upstream } = route;
  const facts = call.facts;
  if (facts === null) throw new Error('a call is dispatched only after its body was read');
  const body = renderUpstreamBody(outline, facts, upstream.model, askForUsage);
  if (upstream.kind === 'demo') {
    const parsed: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    const { protocol, requestId, atMs: nowMs } = call;
    return new DemoExchange({ protocol, body: parsed, requestId, nowMs, version: job.version }, countOnly, listener);
  }
  const forwarded = forwardedHeaders(call.protocol, job.request.headers, job.version);
  const endpoint = endpointOf(call.protocol, countOnly);
  const head = renderRequestHead(upstream, endpoint, forwarded, facts.stream && !countOnly, body.length);
  return new Exchange({ origin: upstream.origin, head, body }, limitsOf(upstream, facts.stream, job), listener);
}

function limitsOf({ timeouts }: HttpUpstream, stream: boolean, { gate }: Dispatch): ExchangeLimits {
  return {
    connectMs: timeouts.connectMs,
    firstByteMs: stream ? timeouts.firstByteMs : timeouts.firstBytePlainMs,
    idleMs: timeouts.idleMs,
    totalMs: timeouts.totalMs,
    responseBytesMax: gate.settings.config.limits.responseBytesMax,
  };
}
