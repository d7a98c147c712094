/** Owns reading a call's body into checked facts: JSON within its limits, members by type and range. Reads no header. */
import type { Limits } from '../config/limits.ts';
import { invalidRequest } from '../errors/call-failure.ts';
import type { Protocol } from '../protocols/protocol.ts';
import type { CheckContext, RequestFacts } from '../protocols/request-facts.ts';
import type { JsonOutline } from '../wire/json-node.ts';
import { startJsonScan } from '../wire/json-scan.ts';

/** A body that was checked: its outline (for splicing) and its facts. */
export interface ReadCall {
  readonly outline: JsonOutline;
  readonly facts: RequestFacts;
}

/** Members of a content part are the fifth level below the root. */
const OUTLINE_DEPTH = 5;
/** After so many bytes other calls get their turn; about a fifth of a millisecond of scanning. */
const STEP_BYTES = 256 * 1024;

/** Checks a body. Throws CallFailure `invalid_request` that says where and what. */
export async function readCall(bytes: Uint8Array, protocol: Protocol, context: CheckContext): Promise<ReadCall> {
  const outline = await scanBody(bytes, context.limits);
  return { outline, facts: protocol.checkRequest(outline, context) };
}

async function scanBody(bytes: Uint8Array, limits: Limits): Promise<JsonOutline> {
  const scan = startJsonScan(bytes, {
    depthMax: limits.jsonDepthMax,
    keysPerObjectMax: limits.jsonKeysMax,
    outlineDepth: OUTLINE_DEPTH,
  });
  for (;;) {
    const outcome = scan.step(STEP_BYTES);
    if (outcome === 'more') {
      await new Promise<void>((resolve) => setImmediate(resolve));
      continue;
    }
    if (!outcome.ok) throw invalidRequest(`the body is not JSON that this gateway takes: ${outcome.message}`);
    return outcome;
  }
}
