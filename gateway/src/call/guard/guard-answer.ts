/** Applies the rules of a workspace to whole answers. */
import { textsOfAnswer } from '../../guardrails/format-texts.ts';
import { cannotCheck } from '../../guardrails/guard-failures.ts';
import { type JsonText, spliceTexts, type TextEdit } from '../../guardrails/json-texts.ts';
import { applyEdits, type SideGuard } from '../../guardrails/side-guard.ts';
import { emptied } from '../../guardrails/stream-guard.ts';
import { parseObject } from '../../protocols/json.ts';
import type { JsonOutline } from '../../wire/json-node.ts';
import type { Reply } from '../attempt/read-answer.ts';
import type { Held, Identified } from '../call.ts';
import { scanBySteps } from '../request/read-body.ts';
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
  const { texts, spelled } = findTexts(() => textsOfAnswer(call.protocol.name, outline.root));
  const checked = texts.map(({ text, isCall, isSigned }) => ({ text, masks: !isCall && !isSigned }));
  const edits = await side.check(checked, subject, masksOf(call));
  return splice(outline, texts, edits, emptied(spelled));
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
