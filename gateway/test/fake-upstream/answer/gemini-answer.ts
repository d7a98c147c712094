/**
 * Renders a built-in model's speech as an answer of Gemini, plain or streamed, and refuses histories as Gemini 3 does:
 * each step of calls begins with the signature that the call was given, or with Google's stand-in.
 */
import { createHash } from 'node:crypto';
import { type Answer, jsonAnswer, streamAnswer } from './answer.ts';
import { type BodyPart, isObject, recordPart } from './body-part.ts';
import { isWordless, type Speech, type ToolCall } from './speech.ts';

const STAND_IN = 'skip_thought_signature_validator';

/** The signature of a call: of its name and arguments, whatever their order. */
function geminiSignature(name: string, args: unknown): string {
  const sorted = JSON.stringify(args, (_, value) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value,
  );
  return createHash('sha256').update(`${name} ${sorted}`).digest('base64');
}

/** Why Gemini 3 would refuse the signatures of a request's contents; null: it accepts them. */
export function signatureFault(contents: unknown): string | null {
  for (const [position, content] of (Array.isArray(contents) ? contents : []).entries()) {
    const parts: unknown[] = isObject(content) && Array.isArray(content.parts) ? content.parts : [];
    const [first, ...others] = parts.filter(isObject).filter(({ functionCall }) => isObject(functionCall));
    const call = first?.functionCall;
    if (first === undefined || !isObject(call)) continue;
    const { thoughtSignature } = first;
    if (thoughtSignature === undefined) {
      return `Function call is missing a thought_signature in functionCall parts. Function call ${call.name}, position ${position}.`;
    }
    const isOwn = thoughtSignature === geminiSignature(String(call.name), call.args);
    if (!isOwn && thoughtSignature !== STAND_IN) return 'Corrupted thought signature.';
    if (others.some((part) => part.thoughtSignature !== undefined)) return 'Corrupted thought signature.';
  }
  return null;
}

function callPart({ id, name, argumentPieces }: ToolCall, index: number): object {
  const args: unknown = JSON.parse(argumentPieces.join(''));
  const functionCall = { id, name, args };
  return index === 0 ? { functionCall, thoughtSignature: geminiSignature(name, args) } : { functionCall };
}

function usageOf({ inputTokens, cacheReadTokens, outputTokens, reasoningTokens }: Speech): object {
  const prompt = inputTokens + cacheReadTokens;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: outputTokens - reasoningTokens,
    totalTokenCount: prompt + outputTokens,
    ...(reasoningTokens === 0 ? {} : { thoughtsTokenCount: reasoningTokens }),
    ...(cacheReadTokens === 0 ? {} : { cachedContentTokenCount: cacheReadTokens }),
  };
}

function answerOf(model: string, speech: Speech, parts: readonly object[], isLast: boolean): object {
  const finish = isLast ? { finishReason: 'STOP' } : {};
  return {
    candidates: [{ content: { role: 'model', parts }, ...finish, index: 0 }],
    modelVersion: model,
    responseId: speech.id,
    ...(isLast ? { usageMetadata: usageOf(speech) } : {}),
  };
}

/** Renders the speech as one answer. */
export function plainGeminiAnswer(model: string, speech: Speech): Answer {
  const thoughts = speech.reasoning.length > 0 ? [{ text: speech.reasoning.join(''), thought: true }] : [];
  const texts = isWordless(speech) ? [] : [{ text: [...speech.text].join('') }];
  return jsonAnswer(200, answerOf(model, speech, [...thoughts, ...texts, ...speech.toolCalls.map(callPart)], true));
}

function* chunks(model: string, speech: Speech): Generator<BodyPart> {
  const chunk = (parts: readonly object[], isLast = false) =>
    recordPart(`data: ${JSON.stringify(answerOf(model, speech, parts, isLast))}\r\n\r\n`);
  for (const text of speech.reasoning) yield chunk([{ text, thought: true }]);
  for (const text of speech.text) yield chunk([{ text }]);
  for (const [index, call] of speech.toolCalls.entries()) yield chunk([callPart(call, index)]);
  yield chunk([{ text: '' }], true);
}

/** Renders the speech as the chunks of a stream. */
export function streamedGeminiAnswer(model: string, speech: Speech): Answer {
  return streamAnswer({ [Symbol.iterator]: () => chunks(model, speech) });
}
