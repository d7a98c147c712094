/** Applies the rules of a workspace to the streams that its clients get. */
import type { SideGuard } from '../../guardrails/side-guard.ts';
import { StreamGuard, type StreamGuardParts } from '../../guardrails/stream-guard.ts';
import { asObject, type JsonObject, parseObject } from '../../protocols/json.ts';
import { answerLimits } from '../attempt/collect-answer.ts';
import type { Held, Routed } from '../call.ts';
import { masksOf, subjectOf } from './guard-request.ts';

/** A guard of the call's stream; null: no rule is for it. */
export function openStreamGuard(call: Held): ((put: (bytes: Uint8Array) => void) => StreamGuard) | null {
  const side = call.guard?.answer ?? null;
  if (side === null || call.facts.binary !== undefined) return null;
  return (put) =>
    new StreamGuard({
      ...describeGuard(call, side),
      put,
      onTerminal(record) {
        if (call.ended !== null) call.ended = { ...call.ended, object: responseIn(record) ?? call.ended.object };
      },
    });
}

function describeGuard(call: Routed, guard: SideGuard): Omit<StreamGuardParts, 'put' | 'onTerminal'> {
  return {
    guard,
    protocol: call.protocol.name,
    subject: subjectOf(call, call.facts.model),
    counts: masksOf(call),
    recordBytesMax: answerLimits(call).sseRecordBytesMax,
  };
}

/** A stored stream as the rules leave it. Throws CallFailure where they block it or cannot check it. */
export async function guardStoredStream(call: Routed, side: SideGuard, body: Uint8Array): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const guard = new StreamGuard({
    ...describeGuard(call, side),
    put: (bytes) => void pieces.push(Buffer.from(bytes)),
    onTerminal: () => undefined,
  });
  const failure = guard.feed(body) ?? (await guard.finish());
  if (failure !== null) throw failure;
  return Buffer.concat(pieces);
}

/** The response in the last event of a stream. */
function responseIn(record: Uint8Array): JsonObject | null {
  const text = Buffer.from(record.buffer, record.byteOffset, record.byteLength).toString();
  return asObject(parseObject(text.slice(text.indexOf('data:') + 'data:'.length))?.response) ?? null;
}
