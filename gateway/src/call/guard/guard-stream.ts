/** Applies the rules of a workspace to the streams that its clients get. */
import { StreamGuard } from '../../guardrails/stream-guard.ts';
import { asObject, type JsonObject, parseObject } from '../../protocols/json.ts';
import { answerLimits } from '../attempt/collect-answer.ts';
import type { Held } from '../call.ts';
import { masksOf, subjectOf } from './guard-request.ts';

/** A guard of the call's stream; null: no rule is for it. */
export function openStreamGuard(call: Held): ((put: (bytes: Uint8Array) => void) => StreamGuard) | null {
  const side = call.guard?.answer ?? null;
  if (side === null || call.facts.binary !== undefined) return null;
  return (put) =>
    new StreamGuard({
      guard: side,
      protocol: call.protocol.name,
      subject: subjectOf(call, call.facts.model),
      counts: masksOf(call),
      recordBytesMax: answerLimits(call).sseRecordBytesMax,
      put,
      onTerminal(record) {
        if (call.ended !== null) call.ended = { ...call.ended, object: responseIn(record) ?? call.ended.object };
      },
    });
}

/** The response in the last event of a stream. */
function responseIn(record: Uint8Array): JsonObject | null {
  const text = Buffer.from(record.buffer, record.byteOffset, record.byteLength).toString();
  return asObject(parseObject(text.slice(text.indexOf('data:') + 'data:'.length))?.response) ?? null;
}
