/**
 * Ends the idempotent run of an answered call: keeps what a replay's record needs, and completes or frees the run of a
 * stream.
 */
import type { NanoUsd } from '../../billing/money.ts';
import type { Call } from '../call.ts';
import { streamHeaders } from '../deliver/reply.ts';
import type { Outcome } from '../money/settle.ts';
import type { IdempotencyRun } from './idempotency-run.ts';
import type { StoredHead } from './idempotency-seal.ts';

/** The client's reply, without its headers. */
export function keptHead(
  { facts: request, route }: Call,
  { status, failure, facts }: Outcome,
): Omit<StoredHead, 'headers'> {
  return {
    status,
    stream: request?.stream ?? false,
    error: failure,
    finish_reason: facts?.finish_reason ?? null,
    served_model: facts?.model ?? route?.upstream.model ?? null,
    provider: route?.upstream.provider ?? null,
  };
}

/**
 * Resolves once the call is settled and the end of its run is stored; the client gets `last`, the bytes that end a
 * complete stream, only after that. Rejects when the settlement does; then it is unknown whether something was charged.
 */
export async function endStreamedRun(
  call: Call,
  run: IdempotencyRun,
  outcome: Outcome,
  settled: Promise<NanoUsd | null>,
  last: Uint8Array | null,
): Promise<void> {
  let cost: NanoUsd | null;
  try {
    cost = await settled;
  } catch (cause) {
    await run.end(false);
    throw cause;
  }
  if (outcome.failure !== null) return run.end(cost === 0n);
  await run.keep(keptHead(call, outcome), new Headers(streamHeaders(call)), last ?? new Uint8Array(0));
}
