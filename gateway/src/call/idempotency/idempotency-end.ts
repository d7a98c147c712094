/** Owns what is remembered of a run that ends with an answer: what a replay's record will say of it, and how a stream ends. */
import type { NanoUsd } from '../../billing/money.ts';
import type { Call } from '../call.ts';
import { streamHeaders } from '../deliver/reply.ts';
import type { Outcome } from '../money/settle.ts';
import type { IdempotencyRun } from './idempotency-run.ts';
import type { KeptHead } from './idempotency-seal.ts';

/** What the client got, without its headers. */
export function keptHead(
  { facts: request, route }: Call,
  { status, failure, facts }: Outcome,
): Omit<KeptHead, 'headers'> {
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
 * Resolves when the call is settled and the end of its run is kept: before that the client has not got `last`, the bytes
 * that end a complete stream. Rejects as the settlement does; then it is not known whether something was charged.
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
