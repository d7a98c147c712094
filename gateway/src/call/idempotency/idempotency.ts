/**
 * Handles the idempotency key of a call before it is sent: starts a run, replays the answer of an earlier run or
 * refuses. Deletes expired runs. Contract, 5 and 8.
 */
import { Gauge } from '../../admission/capacity.ts';
import { formatNanoUsd } from '../../billing/money.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import type { Secret } from '../../lib/secret.ts';
import type { BeginOutcome, IdempotencyStore, NotStoredReason, RunName } from '../../store/ports/idempotency.ts';
import type { Identified, Routed } from '../call.ts';
import { baseHeaders } from '../deliver/reply.ts';
import { holdBytes, replyStored } from '../deliver/stored-reply.ts';
import { guardBody } from '../guard/guard-answer.ts';
import { guardStoredStream } from '../guard/guard-stream.ts';
import { redactKeys, settle, unrecorded } from '../money/settle.ts';
import { type Idempotency, IdempotencyRun } from './idempotency-run.ts';
import { createAnswerSeal, createRunHasher, type StoredAnswer, type StoredHead } from './idempotency-seal.ts';

/** Process-wide, in bytes: streams being collected for replay, and replays that clients have not taken yet. */
const ANSWER_BYTES_MAX = 256 * 1024 * 1024;

/** Creates all dependencies; their keys are derived from the master key, so stored data stays valid across restarts. */
export function createIdempotency(masterKey: Secret, store: IdempotencyStore): Idempotency {
  return {
    store,
    hasher: createRunHasher(masterKey),
    seal: createAnswerSeal(masterKey),
    answerBytes: new Gauge(ANSWER_BYTES_MAX),
  };
}

/**
 * For a call with the idempotency key `name`: the reply if it must not be sent; null if it may, and then it has a
 * durably started `call.run`. Throws `idempotency_reused`, `idempotency_running`, `idempotency_lost`,
 * `store_unavailable`.
 */
export async function replayOrBegin(call: Routed, name: string): Promise<Response | null> {
  const { deps, protocol, path, outline, principal } = call;
  const { store, hasher, seal } = deps.idempotency;
  const { keyId } = principal;
  const nameHash = hasher.hashName(keyId, name);
  const named = path === null ? '' : `\0${path.model}\0${path.stream}`;
  // As the client sent it: rules that change between two tries, and hooks, leave another body of the same request.
  const body = call.unguarded ?? outline.bytes;
  const bodyHash = await hasher.hashBody(`${protocol.name}${call.facts.below ?? ''}${named}`, body);
  const run: RunName = { keyId, nameHash, bodyHash, callId: call.requestId };
  const found = await store.begin(run, Date.now()).catch((cause: unknown) => {
    throw new CallFailure(
      'store_unavailable',
      'the idempotency key cannot be looked up at the moment; try again shortly',
      {
        cause,
        retryAfterSeconds: 2,
      },
    );
  });
  if (found.kind === 'began') {
    call.run = new IdempotencyRun(run, deps.idempotency, deps.log);
    return null;
  }
  if (found.kind !== 'replay') throw refusalOf(found);
  const answer = seal.open(found.run, found.sealed);
  if (answer === null) {
    const cause = `the answer of ${found.run.callId} was changed, or sealed with another master key`;
    deps.log.fault(call.requestId, 'a stored answer cannot be read', cause);
    throw new CallFailure('gateway_fault', 'the answer stored for this idempotency key cannot be read', { cause });
  }
  return replayAnswer(call, answer, found.run.callId);
}

const NEW_KEY = 'To have it run again, and pay again, send it with a new idempotency key';
const WHY_UNKEPT: { readonly [reason in NotStoredReason]: string } = {
  incomplete: 'broke off before its answer was complete, and was charged for what it used',
  too_large: 'was answered, but its answer is too large to be kept',
  no_room: 'was answered, but there was no room to keep its answer',
};

function refusalOf(found: Exclude<BeginOutcome, { kind: 'began' | 'replay' }>): CallFailure {
  switch (found.kind) {
    case 'other_body':
      return new CallFailure(
        'idempotency_reused',
        'this idempotency key was used with another body, or at another endpoint, within 24 hours. Send a new request with a new key',
        { param: 'idempotency-key' },
      );
    case 'running':
      return new CallFailure(
        'idempotency_running',
        'the call with this idempotency key is still running. Ask again for its answer shortly',
        { retryAfterSeconds: 1 },
      );
    case 'cut':
      return new CallFailure(
        'idempotency_lost',
        `the call with this idempotency key was cut off by a fault of this gateway, and may have reached the model. ${NEW_KEY}`,
      );
    case 'not_stored':
      return new CallFailure(
        'idempotency_lost',
        `the call with this idempotency key ${WHY_UNKEPT[found.reason]}. ${NEW_KEY}`,
      );
  }
}

/**
 * The stored answer as a reply to this call, with its own request id; a second header names the first call's id. The
 * replay is recorded and costs nothing. Throws `over_capacity`, `store_unavailable` if the record cannot be kept, or as the
 * rules of the workspace decide.
 */
async function replayAnswer(call: Routed, answer: StoredAnswer, firstCallId: string): Promise<Response> {
  const { head } = answer;
  const body = await guardAnswer(call, answer);
  const held = holdBytes(call.deps.idempotency.answerBytes, body.length);
  if (held === null) {
    throw new CallFailure('over_capacity', 'too many stored answers are being given out; try again shortly', {
      retryAfterSeconds: 1,
    });
  }
  try {
    await recordReplay(call, head);
  } catch (cause) {
    held.release();
    throw unrecorded(cause);
  }
  call.content?.answered(body, head.stream);
  const headers = new Headers(baseHeaders(call.requestId));
  for (const [name, value] of head.headers) headers.set(name, value);
  // Answers stored by an earlier release may carry upstream's content type.
  if (headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    headers.set('content-type', 'application/json');
  }
  if (headers.has('x-tollgate-cost-usd')) headers.set('x-tollgate-cost-usd', formatNanoUsd(0n));
  headers.set('x-tollgate-replayed', 'true');
  headers.set('x-tollgate-replayed-request-id', firstCallId);
  return replyStored(call, { status: head.status, stream: head.stream, headers }, body, held);
}

/** The rules may have changed since the answer was stored. */
async function guardAnswer(call: Routed, { head, body }: StoredAnswer): Promise<Buffer> {
  const side = call.guard?.answer ?? null;
  if (side === null) return body;
  return head.stream ? guardStoredStream(call, side, body) : Buffer.from(await guardBody(call, side, body));
}

/** Copies the answer's fields from the first call's record, but no usage, which belongs to the first call. */
function recordReplay(call: Identified, head: StoredHead): Promise<unknown> {
  const { error, finish_reason, provider } = head;
  const served_model = redactKeys(head.served_model);
  const outcome = { status: head.status, failure: null, facts: null };
  return settle(call, outcome, { error, finish_reason, served_model, provider });
}

const EVERY_MS = 5 * 60 * 1000;

/** Returns a function that stops it. A failed sweep is reported; the next one also deletes what it left. */
export function startSweeping(
  stores: readonly Pick<IdempotencyStore, 'sweep'>[],
  onFault: (cause: unknown) => void,
  everyMs = EVERY_MS,
): () => void {
  let isStopped = false;
  let timer: Timer | null = null;
  const sweep = async () => {
    try {
      for (const store of stores) await store.sweep(Date.now());
    } catch (cause) {
      if (!isStopped) onFault(cause);
    }
    if (!isStopped) timer = setTimeout(sweep, everyMs).unref();
  };
  void sweep();
  return () => {
    isStopped = true;
    if (timer !== null) clearTimeout(timer);
  };
}
