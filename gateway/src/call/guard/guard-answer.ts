/** Applies the rules of a workspace to what its client gets: whole answers here, streams as they leave. */
import { textsOfAnswer } from '../../guardrails/format-texts.ts';
import { cannotCheck } from '../../guardrails/guard-failures.ts';
import { type JsonText, spliceTexts, type TextEdit } from '../../guardrails/json-texts.ts';
import { applyEdits, type SideGuard } from '../../guardrails/side-guard.ts';
import { emptied, StreamGuard } from '../../guardrails/stream-guard.ts';
import { asObject, type JsonObject, parseObject } from '../../protocols/json.ts';
import type { JsonOutline } from '../../wire/json-node.ts';
import type { Reply } from '../attempt/read-answer.ts';
import type { Held, Identified } from '../call.ts';
import { scanBySteps } from '../request/read-body.ts';
import { answerLimits } from '../stream/answer-limits.ts';
import { findTexts, masksOf, subjectOf } from './guard-request.ts';

/**
 * The reply as the rules leave it. Throws CallFailure where they block it or cannot check it: then it is charged as
 * answered.
 */
export async function guardReply(call: Held, side: SideGuard, reply: Reply): Promise<Reply> {
  if (reply.status !== 200) return reply;
  try {
    const body = await guardBody(call, side, reply.body, reply.isText === true);
    // The kept copy of a response is what its client gets.
    if (call.ended !== null) call.ended = { ...call.ended, object: parseObject(body.toString()) ?? call.ended.object };
    return { ...reply, body };
  } catch (failure) {
    call.undelivered = reply.facts;
    throw failure;
  }
}

/** A body in the client's format as the rules leave it. Throws CallFailure like `SideGuard.check`. */
export async function guardBody(
  call: Identified,
  side: SideGuard,
  body: Buffer | string,
  isText = false,
): Promise<Buffer | string> {
  const subject = subjectOf(call, call.facts?.model ?? null);
  if (isText) {
    const text = body.toString();
    const [edits = []] = await side.check([{ text, masks: true }], subject, masksOf(call));
    return applyEdits(text, edits);
  }
  const outline = await scanBySteps(typeof body === 'string' ? Buffer.from(body) : body, {});
  if (!outline.ok) return failOpen(side, body, 'it is not JSON');
  const { texts, logprobs } = findTexts(() => textsOfAnswer(call.protocol.name, outline.root));
  const checked = texts.map(({ text, isCall, isSigned }) => ({ text, masks: !isCall && !isSigned }));
  const edits = await side.check(checked, subject, masksOf(call));
  return splice(outline, texts, edits, emptied(logprobs));
}

/** The response in the last event of a stream. */
function responseIn(record: Uint8Array): JsonObject | null {
  const text = Buffer.from(record.buffer, record.byteOffset, record.byteLength).toString();
  return asObject(parseObject(text.slice(text.indexOf('data:') + 'data:'.length))?.response) ?? null;
}

function splice(
  outline: JsonOutline,
  texts: readonly JsonText[],
  edits: readonly (readonly TextEdit[])[],
  values: ReturnType<typeof emptied>,
): Buffer {
  const bytes = spliceTexts(outline, new Map(texts.map((text, at) => [text, edits[at] ?? []])), values);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function failOpen(side: SideGuard, body: Buffer | string, why: string): Buffer | string {
  const { closedRule } = side;
  if (closedRule === null) return body;
  throw cannotCheck(closedRule, 'answer', why);
}

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
