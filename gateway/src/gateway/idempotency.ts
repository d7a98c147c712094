/**
 * Owns what an idempotency key means for a call before it is sent: it runs, gets the answer of the call that ran, or is
 * refused. Contract, 5 and 8.
 */
import { Gauge } from '../admission/capacity.ts';
import { CallFailure } from '../errors/call-failure.ts';
import type { Secret } from '../lib/secret.ts';
import type { BeginOutcome, IdempotencyStore, RunName, UnkeptReason } from '../store/idempotency-port.ts';
import { createRunHasher, readIdempotencyName } from './idempotency-name.ts';
import { replayAnswer } from './idempotency-replay.ts';
import { type Idempotency, IdempotencyRun } from './idempotency-run.ts';
import { createAnswerSeal } from './idempotency-seal.ts';
import type { RoutedCall } from './plan-call.ts';

/** Of the whole process, in bytes: streams that are gathered for replay, and replays that clients have still to take. */
const ANSWER_BYTES_MAX = 256 * 1024 * 1024;

/** All that the line needs; keys are derived from the master key, so that what is stored holds over restarts. */
export function createIdempotency(masterKey: Secret, store: IdempotencyStore): Idempotency {
  return {
    store,
    hasher: createRunHasher(masterKey),
    seal: createAnswerSeal(masterKey),
    answerBytes: new Gauge(() => ANSWER_BYTES_MAX),
  };
}

/**
 * The reply where the call must not be sent, null where it may: then `call.run` is set, durably begun, if it has a name.
 * Throws `invalid_request`, `idempotency_reused`, `idempotency_running`, `idempotency_lost`, `store_away`.
 */
export function replayOrBegin(routed: RoutedCall, request: Request): Promise<Response | null> | null {
  const name = readIdempotencyName(request.headers);
  return name === null ? null : beginRun(routed, request, name);
}

async function beginRun(routed: RoutedCall, request: Request, name: string): Promise<Response | null> {
  const { call, gate, protocol, outline } = routed;
  const { store, hasher, seal } = gate.idempotency;
  const keyId = call.principal?.keyId;
  if (keyId === undefined) throw new Error('a run begins only after its caller is known');
  const nameHash = hasher.hashName(keyId, name);
  const bodyHash = await hasher.hashBody(protocol.name, outline.bytes);
  const run: RunName = { keyId, nameHash, bodyHash, callId: call.requestId };
  const met = await store.begin(run, Date.now()).catch((cause: unknown) => {
    throw new CallFailure('store_away', 'the idempotency key cannot be looked up at the moment; try again shortly', {
      cause,
      retryAfterSeconds: 2,
    });
  });
  if (met.kind === 'began') {
    call.run = new IdempotencyRun(run, gate.idempotency, gate.log);
    return null;
  }
  if (met.kind !== 'replay') throw refusalOf(met);
  const answer = seal.open(met.run, met.sealed);
  if (answer === null) {
    const cause = `the answer of ${met.run.callId} was changed, or sealed with another master key`;
    gate.log.fault(call.requestId, 'a stored answer cannot be read', cause);
    throw new CallFailure('gateway_fault', 'the answer stored for this idempotency key cannot be read', { cause });
  }
  return replayAnswer({ call, gate, request }, answer, met.run.callId);
}

const NEW_KEY = 'To have it run again, and pay again, send it with a new idempotency key';
const WHY_UNKEPT: { readonly [reason in UnkeptReason]: string } = {
  incomplete: 'broke off before its answer was complete, and was charged for what it used',
  too_large: 'was answered, but its answer is too large to be kept',
  no_room: 'was answered, but there was no room to keep its answer',
};

function refusalOf(met: Exclude<BeginOutcome, { kind: 'began' | 'replay' }>): CallFailure {
  switch (met.kind) {
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
    case 'unkept':
      return new CallFailure(
        'idempotency_lost',
        `the call with this idempotency key ${WHY_UNKEPT[met.reason]}. ${NEW_KEY}`,
      );
  }
}
