/** Sends the request of one attempt to the call's target. */

import { traceHeaders } from '../../lib/trace-context.ts';
import type { Operation } from '../../providers/provider.ts';
import type { AttemptPlan } from '../../routing/attempt-plan.ts';
import type { ExchangeListener, UpstreamTap } from '../../upstream/exchange.ts';
import type { AttemptRow, Routed } from '../call.ts';
import { listenForContent } from '../content/content-draft.ts';
import type { UpstreamCall } from '../plan/upstream-call.ts';
import { answerLimits } from '../stream/answer-limits.ts';

/** Where and until when an attempt runs, at the call's target. */
export interface SendingPlace {
  readonly plan: Pick<AttemptPlan, 'credential' | 'isFresh'>;
  readonly laterEndMs: number | null;
}

/** The running exchange, whose marks the row gets. Throws if the target has no endpoint for the operation. */
export function sendRequest(
  call: Routed,
  plan: UpstreamCall,
  row: AttemptRow,
  operation: Operation,
  { plan: { credential, isFresh }, laterEndMs }: SendingPlace,
  reader: ExchangeListener,
): UpstreamTap {
  const { protocol, body, form } = plan;
  const listener = call.content === null ? reader : listenForContent(call.content, plan, reader);
  const own = plan.translation === null ? protocol.passThrough : null;
  if (protocol.name !== call.protocol.name) row.format = protocol.name;
  const headers = own === null ? protocol.headers : own.forwardHeaders(call.request.headers, call.version);
  const exchange = call.target.upstream.openExchange(
    {
      protocol: protocol.name,
      operation,
      below: plan.below,
      headers: call.trace === null ? headers : [...headers, ...traceHeaders(call.trace, row.spanId)],
      body,
      form,
      answers: call.facts.answers,
      passes: own !== null,
      requestId: call.requestId,
      atMs: call.atMs,
      strict: call.principal.strict,
      endMs: laterEndMs,
      fresh: isFresh,
    },
    credential,
    answerLimits(call).responseBytesMax,
    listener,
  );
  row.marks = exchange;
  return exchange;
}
