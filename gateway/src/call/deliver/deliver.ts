/**
 * Delivers an answer to the client: a stream as it arrives, any other in one piece, once its record is durable.
 */
import { formatNanoUsd } from '../../billing/money.ts';
import type { AttemptOutcome } from '../attempt/attempt.ts';
import type { Reply } from '../attempt/read-answer.ts';
import type { Held } from '../call.ts';
import { detachCall, leaveCall, readId } from '../detached/detach-call.ts';
import { guardReply } from '../guard/guard-answer.ts';
import { storedHead } from '../idempotency/end-run.ts';
import type { IdempotencyRun } from '../idempotency/idempotency-run.ts';
import { settle, unrecorded } from '../money/settle.ts';
import { plainReply, streamReply } from './reply.ts';

/** The client's response. Throws CallFailure `store_unavailable` if its record cannot be kept. */
export async function deliver(call: Held, outcome: AttemptOutcome): Promise<Response> {
  if (outcome.kind === 'stream') return deliverStream(call, outcome);
  const guard = call.guard?.answer ?? null;
  const reply = guard === null ? outcome.reply : await guardReply(call, guard, outcome.reply);
  if (reply.goesOn === true) return deliverBegun(call, reply);
  try {
    await settle(call, reply);
  } catch (cause) {
    throw unrecorded(cause);
  }
  call.content?.answered(reply.body);
  const cost = call.charged === null ? null : formatNanoUsd(call.charged);
  const response = plainReply(call, reply.head, reply.body, reply.status, cost, reply.isText);
  call.caching?.keep(reply, bytesOf(reply), response.headers);
  if (call.run !== null) await endRun(call, call.run, reply, response);
  return response;
}

/** Answers with a response that goes on in the background, once its hold is sure to be settled whatever happens here. */
async function deliverBegun(call: Held, reply: Reply): Promise<Response> {
  try {
    leaveCall(call, await detachCall(call, readId(reply.body)));
  } catch (cause) {
    throw unrecorded(cause);
  }
  call.content?.answered(reply.body);
  const response = plainReply(call, reply.head, reply.body, 200, null);
  if (call.run !== null) await endRun(call, call.run, reply, response);
  return response;
}

type StreamOutcome = Extract<AttemptOutcome, { kind: 'stream' }>;

/**
 * No byte goes out before the hold is durable. A stream that is complete, at once or by then, goes out in one piece once
 * its record is durable: with the hold, in one write.
 */
async function deliverStream(call: Held, { stream, attempts }: StreamOutcome): Promise<Response> {
  if (stream.ended === null) {
    try {
      await call.money.whenSaved();
    } catch (cause) {
      const failure = unrecorded(cause);
      attempts.interrupt(failure);
      throw failure;
    }
  }
  await stream.ended;
  const { origin } = call;
  if (origin.takeStream === undefined) return streamReply(call, stream.body(), stream.begun);
  origin.takeStream(stream);
  return streamReply(call, Buffer.alloc(0), stream.begun);
}

/**
 * Ends the run of an idempotency key. A refusal by upstream is not an answer: the caller may resend or correct the
 * request under the same key.
 */
function endRun(call: Held, run: IdempotencyRun, reply: Reply, { headers }: Response): Promise<void> {
  if (reply.status !== 200) return run.end((call.charged ?? 0n) === 0n);
  return run.keep(storedHead(call, reply), headers, bytesOf(reply));
}

function bytesOf({ body }: Reply): Buffer {
  return typeof body === 'string' ? Buffer.from(body) : body;
}
