/** Parses and validates a call's body: JSON within its limits, members by type and range. Reads no headers. */
import { invalidRequest } from '../../errors/call-failure.ts';
import type { ClientProtocol } from '../../protocols/client-protocol.ts';
import type { CheckContext, RequestFacts } from '../../protocols/request/request-facts.ts';
import type { JsonOutline } from '../../wire/json-node.ts';
import type { JsonProblem } from '../../wire/json-problem.ts';
import { type JsonScan, startJsonScan } from '../../wire/json-scan.ts';

/** A validated body: its outline (for splicing) and its facts. */
export interface ReadCall {
  readonly outline: JsonOutline;
  readonly facts: RequestFacts;
}

/** The scan yields to other calls after this many bytes; about 0.2 ms. */
const STEP_BYTES = 256 * 1024;

/** Validates a body. Throws CallFailure `invalid_request` with position and cause. */
export function readCall(
  bytes: Uint8Array,
  protocol: ClientProtocol,
  context: CheckContext,
): ReadCall | Promise<ReadCall> {
  const { limits } = context;
  const scan = startJsonScan(bytes, {
    depthMax: limits.jsonDepthMax,
    keysPerObjectMax: limits.jsonKeysMax,
  });
  const outcome = scan.step(STEP_BYTES);
  return outcome === 'more' ? readOn(scan, protocol, context) : check(outcome, protocol, context);
}

async function readOn(scan: JsonScan, protocol: ClientProtocol, context: CheckContext): Promise<ReadCall> {
  for (;;) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    const outcome = scan.step(STEP_BYTES);
    if (outcome !== 'more') return check(outcome, protocol, context);
  }
}

function check(outcome: JsonOutline | JsonProblem, protocol: ClientProtocol, context: CheckContext): ReadCall {
  if (!outcome.ok) throw invalidRequest(`the body is not JSON that this gateway takes: ${outcome.message}`);
  return { outline: outcome, facts: protocol.checkRequest(outcome, context) };
}
