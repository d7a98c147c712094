/**
 * Renders a built-in model's speech as an answer of Bedrock's Converse, plain or in frames, and refuses what Bedrock and
 * Claude refuse: illegal requests, and histories whose calls lack the reasoning before them, or a part of its signature.
 */
import { createHash } from 'node:crypto';
import { encodeEvent } from '../../../src/framing/testing/encode-frame.ts';
import { judgeConverseRequest } from '../../conformance/converse/judge-request.ts';
import { type Answer, jsonAnswer } from './answer.ts';
import { type BodyPart, isObject } from './body-part.ts';
import { isWordless, type Speech } from './speech.ts';

/** The signature of a thought. */
function converseSignature(text: string): string {
  return createHash('sha256').update(`claude ${text}`).digest('base64');
}

/** Why Bedrock would refuse the request; null: it takes it. */
export function converseFault(body: Record<string, unknown>, stream: boolean): string | null {
  const [fault] = judgeConverseRequest(body, stream);
  if (fault !== undefined) return `Malformed input request: ${fault}, please reformat your input and try again.`;
  const fields = isObject(body.additionalModelRequestFields) ? body.additionalModelRequestFields : {};
  const thinks = isObject(fields.thinking) && fields.thinking.type !== 'disabled';
  const messages = (body.messages as unknown[]).filter(isObject);
  for (const [index, { role, content }] of messages.entries()) {
    if (role !== 'assistant') continue;
    const wrong = thoughtFault((content as unknown[]).filter(isObject), thinks);
    if (wrong !== null) return `The model returned the following errors: messages.${index}.content.0${wrong}`;
  }
  return null;
}

function thoughtFault(blocks: readonly Record<string, unknown>[], thinks: boolean): string | null {
  for (const { reasoningContent } of blocks) {
    if (!isObject(reasoningContent)) continue;
    const { text, signature } = isObject(reasoningContent.reasoningText) ? reasoningContent.reasoningText : {};
    if (signature !== converseSignature(String(text))) return ': Invalid `signature` in `thinking` block';
  }
  const calls = blocks.some(({ toolUse }) => toolUse !== undefined);
  if (!thinks || !calls || blocks[0]?.reasoningContent !== undefined) return null;
  return '.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block';
}

function usageOf({ inputTokens, cacheReadTokens, outputTokens }: Speech): Record<string, unknown> {
  const cached = { cacheReadInputTokens: cacheReadTokens, cacheWriteInputTokens: 0 };
  return { inputTokens, outputTokens, totalTokens: inputTokens + cacheReadTokens + outputTokens, ...cached };
}

function stopReasonOf({ toolCalls }: Speech): string {
  return toolCalls.length > 0 ? 'tool_use' : 'end_turn';
}

/** Renders the speech as one message. */
export function plainConverseAnswer(speech: Speech): Answer {
  const content: object[] = [];
  const text = speech.reasoning.join('');
  if (text !== '') content.push({ reasoningContent: { reasoningText: { text, signature: converseSignature(text) } } });
  if (!isWordless(speech)) content.push({ text: [...speech.text].join('') });
  for (const { id, name, argumentPieces } of speech.toolCalls) {
    content.push({ toolUse: { toolUseId: id, name, input: JSON.parse(argumentPieces.join('')) } });
  }
  const output = { message: { role: 'assistant', content } };
  return jsonAnswer(200, {
    output,
    stopReason: stopReasonOf(speech),
    usage: usageOf(speech),
    metrics: { latencyMs: 1 },
  });
}

function frame(type: string, payload: object, usage: BodyPart['usage'] = null): BodyPart {
  return { bytes: encodeEvent(type, { ...payload, p: 'abcdefgh' }), usage };
}

function* block(contentBlockIndex: number, start: object | null, deltas: Iterable<object>): Generator<BodyPart> {
  if (start !== null) yield frame('contentBlockStart', { contentBlockIndex, start });
  for (const delta of deltas) yield frame('contentBlockDelta', { contentBlockIndex, delta });
  yield frame('contentBlockStop', { contentBlockIndex });
}

function* textDeltas(text: Iterable<string>): Generator<object> {
  for (const piece of text) yield { text: piece };
}

function* frames(speech: Speech): Generator<BodyPart> {
  yield frame('messageStart', { role: 'assistant' });
  let index = 0;
  if (speech.reasoning.length > 0) {
    const signature = converseSignature(speech.reasoning.join(''));
    const pieces = [...speech.reasoning.map((text): object => ({ text })), { signature }];
    yield* block(
      index,
      null,
      pieces.map((reasoningContent) => ({ reasoningContent })),
    );
    index += 1;
  }
  if (!isWordless(speech)) {
    yield* block(index, null, textDeltas(speech.text));
    index += 1;
  }
  for (const { id, name, argumentPieces } of speech.toolCalls) {
    const pieces = ['', ...argumentPieces].map((input) => ({ toolUse: { input } }));
    yield* block(index, { toolUse: { toolUseId: id, name } }, pieces);
    index += 1;
  }
  yield frame('messageStop', { stopReason: stopReasonOf(speech) });
  const usage = usageOf(speech);
  yield frame('metadata', { usage, metrics: { latencyMs: 1 } }, usage);
}

/** Renders the speech as the frames of a stream. */
export function streamedConverseAnswer(speech: Speech): Answer {
  const headers = [
    ['content-type', 'application/vnd.amazon.eventstream'],
    ['x-amzn-requestid', 'fake'],
  ] as const;
  return { status: 200, headers, stream: true, parts: { [Symbol.iterator]: () => frames(speech) } };
}
