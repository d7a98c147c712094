/** Sends a non-streamed reply only after the call's record is durable. */
import { formatNanoUsd, type NanoUsd } from '../../billing/money.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import type { FailureKind } from '../../errors/failure-kinds.ts';
import type { AnswerFacts } from '../../protocols/protocol.ts';
import type { ResponseHead } from '../../upstream/response-head.ts';
import type { Dispatch } from '../attempt/attempt.ts';
import { keptHead } from '../idempotency/idempotency-end.ts';
import { settle } from '../money/settle.ts';
import { plainReply } from './reply.ts';

/**
 * The client's reply, and its fields in the record. `failure`: upstream refused the request, and its refusal is passed
 * on.
 */
interface Reply {
  readonly head: Pick<ResponseHead, 'headers'>;
  readonly body: Buffer | string;
  readonly status: number;
  readonly failure: FailureKind | null;
  readonly facts: AnswerFacts | null;
}

/** Settles the call and returns the reply. Throws `store_unavailable` if the record cannot be kept. */
export async function settledReply(
  { call, deps }: Dispatch,
  { head, body, status, failure, facts }: Reply,
): Promise<Response> {
  let cost: NanoUsd | null;
  try {
    cost = await settle(call, { status, failure, facts }, deps);
  } catch (cause) {
    if (cause instanceof CallFailure) throw cause;
    throw new CallFailure('store_unavailable', 'the call could not be recorded; try again', {
      cause,
      retryAfterSeconds: 1,
    });
  }
  call.content?.answered(body);
  const reply = plainReply(call, head, body, status, cost === null ? null : formatNanoUsd(cost));
  // A refusal by upstream is not an answer: the caller may resend or correct the request under the same idempotency
  // key.
  if (status !== 200) await call.run?.end((cost ?? 0n) === 0n);
  else if (call.run !== null) {
    const kept = keptHead(call, { status, failure, facts });
    await call.run.keep(kept, reply.headers, typeof body === 'string' ? Buffer.from(body) : body);
  }
  return reply;
}
