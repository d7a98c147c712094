/** Ends a call that got no answer: writes its record and log lines and renders the error reply. */
import { CallFailure } from '../../errors/call-failure.ts';
import type { ClientProtocol } from '../../protocols/client-protocol.ts';
import { isOperatorsFault } from '../attempt/upstream-outcome.ts';
import type { Call } from '../call.ts';
import type { CallDeps } from '../deps.ts';
import { settle } from '../money/settle.ts';
import { failureReply } from './reply.ts';

interface Ending {
  readonly protocol: ClientProtocol;
  readonly deps: CallDeps;
  readonly countOnly: boolean;
}

/**
 * Any error other than a CallFailure is a fault of the gateway: it is logged with its cause, which the caller does not
 * see.
 */
export async function refuse(call: Call, error: unknown, { protocol, deps, countOnly }: Ending): Promise<Response> {
  const failure = error instanceof CallFailure ? error : fault(call, error, deps);
  if (isOperatorsFault(failure)) alarm(call, failure, deps);
  if (call.principal === null) deps.unknownCallers += 1;
  call.failure = failure;
  let isFree = false;
  if (!call.settled && call.principal !== null && !countOnly) {
    const outcome = { status: protocol.statusOf(failure), failure: failure.kind, facts: call.unsent };
    try {
      isFree = (await settle(call, outcome, deps)) === 0n;
    } catch (cause) {
      deps.log.fault(call.requestId, 'a refused call could not be recorded', cause);
    }
  }
  const reply = failureReply(failure, protocol, call.requestId, call.rateLimitStatus);
  if (call.content !== null) call.content.answered(await reply.clone().text());
  if (call.run !== null) await call.run.end(isFree);
  return reply;
}

/** Warns the operator of problems with their own account or configuration at the provider. */
export function alarm({ requestId, route }: Call, { details }: CallFailure, { log }: CallDeps): void {
  log.alarm(requestId, `${route?.upstream.provider ?? ''}: ${String(details.cause)}`);
}

function fault(call: Call, cause: unknown, deps: CallDeps): CallFailure {
  deps.log.fault(call.requestId, 'the gateway failed', cause);
  return new CallFailure('gateway_fault', 'the gateway failed; this is not your fault', { cause });
}
