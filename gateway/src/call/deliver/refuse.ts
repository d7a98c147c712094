/** Ends a call that got no answer: writes its record and log lines and renders the error reply. */
import { CallFailure } from '../../errors/call-failure.ts';
import { isOperatorsFault } from '../attempt/upstream-outcome.ts';
import { type Arrived, type Identified, isIdentified } from '../call.ts';
import { settle } from '../money/settle.ts';
import { withHint } from '../reason/caller-hint.ts';
import { withAgentStatus } from './agent-stops.ts';
import { failureReply, streamReply } from './reply.ts';

/** Replies to a call that failed, and settles it if its caller is known. */
export async function refuse(call: Arrived, error: unknown): Promise<Response> {
  const failure = withAgentStatus(call, reportFailure(call, error));
  const { protocol } = call;
  const asStream = call.facts?.stream === true && protocol.failsAsStream?.(failure) === true;
  const status = asStream ? 200 : protocol.statusOf(failure);
  const isFree = isIdentified(call) && !call.settled && (await settleFailed(call, failure, status));
  const told = withHint(call, failure, call.reason);
  const reply = asStream
    ? streamReply(call, protocol.renderStreamError(told, call.requestId, call.facts?.model ?? null))
    : failureReply(told, protocol, call.requestId, call.rateLimitStatus, call.request.headers.get('user-agent'));
  if (call.content !== null) call.content.answered(await reply.clone().text());
  if (call.run !== null) await call.run.end(isFree);
  return reply;
}

/** Whether the call cost nothing. */
async function settleFailed(call: Identified, failure: CallFailure, status: number): Promise<boolean> {
  const outcome = { status, failure: failure.kind, facts: call.undelivered };
  try {
    await settle(call, outcome);
    return call.charged === 0n;
  } catch (cause) {
    call.deps.log.fault(call.requestId, 'a refused call could not be recorded', cause);
    return false;
  }
}

/**
 * The failure of a call, noted in the call and logged where the operator must know of it. Any error other than a
 * CallFailure is a fault of the gateway: it is logged with its cause, which the caller does not see.
 */
export function reportFailure(call: Arrived, error: unknown): CallFailure {
  const failure = error instanceof CallFailure ? error : fault(call, error);
  if (isOperatorsFault(failure)) alarm(call, failure);
  if (call.principal === null) {
    call.deps.unknownCallers += 1;
    call.deps.observer.turnedAway(failure.kind);
  }
  call.failure = failure;
  return failure;
}

/** Warns the operator of problems with their own account or configuration at the provider. */
export function alarm({ requestId, target, deps }: Arrived, { message, details }: CallFailure): void {
  deps.log.alarm(requestId, `${target?.upstream.provider ?? ''}: ${String(details.cause ?? message)}`);
}

function fault({ deps, requestId }: Arrived, cause: unknown): CallFailure {
  deps.log.fault(requestId, 'the gateway failed', cause);
  return new CallFailure('gateway_fault', 'the gateway failed; this is not your fault', { cause });
}
