/** Ends the run of an idempotency key: stores the answer of its call, or frees the key. */
import type { Routed } from '../call.ts';
import { streamHeaders } from '../deliver/reply.ts';
import type { Outcome } from '../money/settle.ts';
import type { IdempotencyRun } from './idempotency-run.ts';
import type { StoredHead } from './idempotency-seal.ts';

const NO_BYTES = new Uint8Array(0);

/** The client's reply, without its headers. */
export function storedHead(
  { facts: request, target }: Routed,
  { status, failure, facts }: Outcome,
): Omit<StoredHead, 'headers'> {
  return {
    status,
    stream: request.stream,
    error: failure,
    finish_reason: facts?.finish_reason ?? null,
    served_model: facts?.model ?? target.upstream.model,
    provider: target.upstream.provider,
  };
}

/**
 * Resolves once the call is settled and the end of its run is stored; the client gets `last`, the bytes that end a
 * complete stream, only after that. Rejects when the settlement does; then it is unknown whether something was charged.
 */
export async function endStreamedRun(
  call: Routed,
  run: IdempotencyRun,
  outcome: Outcome,
  settled: Promise<void>,
  last: Uint8Array | null,
): Promise<void> {
  try {
    await settled;
  } catch (cause) {
    await run.end(false);
    throw cause;
  }
  if (outcome.failure !== null && !call.left) return run.end(call.charged === 0n);
  // The client of a response that goes on reads the rest of it by its id, which these events have.
  const ended = call.left ? { ...outcome, status: 200, failure: null } : outcome;
  await run.keep(storedHead(call, ended), streamHeaders(call), call.left || last === null ? NO_BYTES : last);
}
