/** Builds the inputs of request checks and observers from plain texts, for tests. */
import { resolveLimits } from '../../config/resolve-settings.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import type { StreamRecord } from '../../framing/framing.ts';
import { startSseDecoder } from '../../framing/sse-decoder.ts';
import type { JsonOutline } from '../../wire/json-node.ts';
import { scanJson } from '../../wire/json-scan.ts';
import type { CheckContext, RequestCheck } from '../request/request-facts.ts';

export const CONTEXT: CheckContext = { limits: resolveLimits({}), version: '2023-06-01', countOnly: false };

/** The outline of a body as the call pipeline builds it. */
export function outlineOf(body: unknown): JsonOutline {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const outcome = scanJson(Buffer.from(text));
  if (!outcome.ok) throw new Error(outcome.message);
  return outcome;
}

/** The refusal of a body: the member that it names and its message; null if the body passes. */
export function refusalOf(check: RequestCheck, body: unknown, context: CheckContext = CONTEXT) {
  try {
    check(outlineOf(body), context);
    return null;
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    return { kind: error.kind, param: error.details.param, message: error.message };
  }
}

/** The records of a stream's text. */
export function recordsOf(text: string): StreamRecord[] {
  const decoder = startSseDecoder();
  const outputs = [...decoder.push(Buffer.from(text)), ...decoder.finish()];
  return outputs.filter((output): output is StreamRecord => output.kind !== 'problem');
}
