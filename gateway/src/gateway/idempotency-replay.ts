/** Owns giving out an answer again that an earlier call got: its record, its headers, its bytes. Decides nothing about when. */
import { formatNanoUsd } from '../billing/money.ts';
import { CallFailure } from '../errors/call-failure.ts';
import type { Call } from './call.ts';
import { masked } from './draft-record.ts';
import type { Gate } from './gate.ts';
import type { KeptAnswer, KeptHead } from './idempotency-seal.ts';
import { type HeldBytes, pacedBody } from './paced-body.ts';
import { baseHeaders } from './reply.ts';
import { settle } from './settle.ts';

/** Up to here bytes are handed over at once, as those of any answer in one piece are. */
const UNPACED_BYTES_MAX = 64 * 1024;

/**
 * The stored answer as a reply of this call, with an id of its own; the first call's id stands beside it. It has a record
 * and costs nothing. Throws `over_capacity`, or `store_away` where the record cannot be kept.
 */
export async function replayAnswer(
  { call, gate, request }: { readonly call: Call; readonly gate: Gate; readonly request: Request },
  { head, body }: KeptAnswer,
  firstCallId: string,
): Promise<Response> {
  const held = body.length <= UNPACED_BYTES_MAX ? null : holdBytes(gate, body.length);
  try {
    await recordReplay(call, gate, head);
  } catch (cause) {
    held?.release();
    throw new CallFailure('store_away', 'the call could not be recorded; try again', { cause, retryAfterSeconds: 1 });
  }
  call.content?.answered(body, head.stream);
  const headers = new Headers(baseHeaders(call.requestId));
  for (const [name, value] of head.headers) headers.set(name, value);
  // An answer that an earlier release stored may have the type that upstream gave it.
  if (headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    headers.set('content-type', 'application/json');
  }
  if (headers.has('x-tollgate-cost-usd')) headers.set('x-tollgate-cost-usd', formatNanoUsd(0n));
  headers.set('x-tollgate-replayed', 'true');
  headers.set('x-tollgate-replayed-request-id', firstCallId);
  if (held === null) return new Response(body, { status: head.status, headers });
  const timeoutMs = gate.settings.config.limits.slowReaderTimeoutMs;
  return new Response(pacedBody(held, body, { timeoutMs, signal: request.signal }), { status: head.status, headers });
}

function holdBytes({ idempotency: { answerBytes } }: Gate, bytes: number): HeldBytes {
  if (!answerBytes.take(bytes)) {
    throw new CallFailure('over_capacity', 'too many stored answers are being given out; try again shortly', {
      retryAfterSeconds: 1,
    });
  }
  let isHeld = true;
  return {
    release() {
      if (isHeld) answerBytes.give(bytes);
      isHeld = false;
    },
  };
}

/** What the first call's record says of the answer; what was used is that call's alone. */
function recordReplay(call: Call, gate: Gate, head: KeptHead): Promise<unknown> {
  const { error, finish_reason, provider } = head;
  const served_model = masked(head.served_model);
  const outcome = { status: head.status, failure: null, facts: null };
  return settle(call, outcome, gate, { error, finish_reason, served_model, provider });
}
