/**
 * Handles one call from start to finish: authenticate, admit, read, authorize, route, plan, hold, attempt, deliver,
 * settle. Every step is a plain function that returns a value or throws CallFailure; the only catch is here.
 */

import type { Capacity } from '../admission/capacity.ts';
import { CallFailure } from '../errors/call-failure.ts';
import { noteUse } from '../identity/key-use.ts';
import type { ClientProtocol } from '../protocols/client-protocol.ts';
import { speaks } from '../protocols/names.ts';
import { dispatch } from './attempt/attempt.ts';
import { type CallConnection, openCall, releaseCall } from './call.ts';
import { ContentDraft } from './content/content-draft.ts';
import { countTokens, holdCount } from './count-call.ts';
import { deliver } from './deliver/deliver.ts';
import { refuse } from './deliver/refuse.ts';
import { countReply } from './deliver/reply.ts';
import type { CallDeps } from './deps.ts';
import { replayOrBegin } from './idempotency/idempotency.ts';
import { holdCall } from './money/hold-call.ts';
import { allowNamedModels } from './plan/named-models.ts';
import { planCall, planFold } from './plan/plan-call.ts';
import { adaptRoute } from './plan/refused-members.ts';
import { allowCaller, chooseRoute, identify, readCredential } from './request/identify.ts';
import { readBody } from './request/read-body.ts';
import { readCall } from './request/read-call.ts';

/** An incoming client request. `address` is called only for keys with an address list. */
export interface Arrival {
  readonly request: Request;
  readonly protocol: ClientProtocol;
  /** The client asks for a token count, not for an answer. */
  readonly countOnly: boolean;
  address(): string | null;
  readonly connection: CallConnection;
}

/** Answers one call, also if a step fails. */
export async function handleCall(
  { request, protocol, countOnly, address, connection }: Arrival,
  deps: CallDeps,
): Promise<Response> {
  const call = openCall(protocol.name, request.headers, connection);
  const { settings } = deps;
  const { limits } = settings.config;
  let streams = false;
  try {
    const principal = identify(deps.directory, readCredential(request.headers, protocol.prefersApiKeyHeader));
    call.principal = principal;
    noteUse(principal.use, request.headers, call.atMs);
    allowCaller(principal, principal.ranges === null ? null : address());
    const place = admit(deps);
    call.held.push(() => place.leave());
    const version = protocol.readVersion(request.headers);
    const body = await readBody(request, { keyId: principal.keyId, address }, limits, deps.capacity.bodyBytes);
    call.held.push(body.release);
    place.open();
    const kept = principal.bodies ?? settings.config.defaults.logBodies;
    if (kept !== 'off' && !countOnly) call.content = new ContentDraft(deps.content, kept, call, principal, body.bytes);
    const { outline, facts } = await readCall(body.bytes, protocol, { limits, version, countOnly });
    call.facts = facts;
    const chosen = chooseRoute(settings, principal, facts.model, protocol.name);
    const route = adaptRoute(chosen, principal.workspaceId, call.atMs, deps.refusedMembers);
    call.route = route;
    if (facts.priced !== undefined && speaks(route.upstream.protocols, protocol.name)) {
      call.priced = allowNamedModels(settings, { principal, route, protocol: protocol.name }, facts.priced);
    }
    const routed = { call, deps, protocol, route, outline };
    if (countOnly) {
      await holdCount(routed);
      if (!speaks(route.upstream.protocols, protocol.name)) return countReply(call, await countTokens(routed));
    }
    const planned = planCall(routed);
    const sending = planned instanceof Promise ? await planned : planned;
    call.dropped = sending.dropped;
    const earlier = countOnly ? null : replayOrBegin(routed, request);
    const replayed = earlier instanceof Promise ? await earlier : earlier;
    if (replayed !== null) return replayed;
    const holding = countOnly ? undefined : holdCall(routed);
    if (holding instanceof Promise) await holding;
    const job = { ...routed, request, version, countOnly, sending: call.folded ? await planFold(routed) : sending };
    const begun = await dispatch(job);
    streams = begun.kind === 'stream';
    return await deliver(job, begun);
  } catch (error) {
    return await refuse(call, error, { protocol, deps, countOnly });
  } finally {
    // A stream releases its resources when it closes.
    if (!streams) {
      releaseCall(call);
      connection.replyReady();
    }
  }
}

/** Admits a call before its body is read. Throws `draining`, `store_unavailable` or `over_capacity`, each a 503. */
function admit(deps: CallDeps): CallPlace {
  if (deps.draining) {
    throw new CallFailure('draining', 'the gateway is shutting down; try again', {
      retryAfterSeconds: 2,
      closeConnection: true,
    });
  }
  if (!deps.recorder.writable()) {
    throw new CallFailure('store_unavailable', 'calls cannot be recorded at the moment; try again shortly', {
      retryAfterSeconds: 2,
    });
  }
  if (deps.capacity.openCalls.isFull) throw tooManyCalls();
  return new CallPlace(deps.capacity);
}

/**
 * One call's place within the open-call capacity. A call takes its place only once its body has arrived, so that slow
 * uploads cannot shut out other calls.
 */
class CallPlace {
  readonly #capacity: Capacity;
  #isOpen = false;

  constructor(capacity: Capacity) {
    this.#capacity = capacity;
    capacity.present.take(1);
  }

  /** The body has arrived and the call begins. Throws `over_capacity`. */
  open(): void {
    if (!this.#capacity.openCalls.take(1)) throw tooManyCalls();
    this.#isOpen = true;
  }

  /** Call once, when no part of the call is running any more. */
  leave(): void {
    this.#capacity.present.give(1);
    if (this.#isOpen) this.#capacity.openCalls.give(1);
  }
}

function tooManyCalls(): CallFailure {
  // A client that keeps the connection until its next retry would occupy a file descriptor.
  return new CallFailure('over_capacity', 'the gateway has too many calls open; try again shortly', {
    retryAfterSeconds: 1,
    closeConnection: true,
  });
}
