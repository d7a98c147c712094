/** Owns what a chat-completions answer in one piece tells of itself. Changes no byte of it. */
import { NO_FLAGS } from '../../../generation/usage.ts';
import { isTextCounted } from '../../answer/is-text-counted.ts';
import { asArray, asObject, asText, type JsonObject, textBytes } from '../../json.ts';
import type { AnswerFacts, AnswerReading } from '../../protocol.ts';
import { readTier, readToldUsage } from '../shared/usage.ts';

/** `answer` is the parsed body of a 200, `bodyBytes` its length. Some hosts answer 200 with an error inside; that is no answer. */
export function readAnswer(answer: unknown, bodyBytes: number): AnswerReading {
  const body = asObject(answer);
  if (body === null) return { kind: 'nonsense', message: 'the answer is not a JSON object' };
  const choices = asArray(body.choices);
  const facts = factsOf(body, choices, bodyBytes);
  const error = body.error;
  if (error !== undefined && error !== null && !Array.isArray(body.choices)) {
    const told = { type: typeOf(error), status: statusOf(error), message: messageOf(error) };
    return { kind: 'error', ...told, facts: billed(facts) };
  }
  if (choices.length === 0) return { kind: 'nonsense', message: 'the answer has no choices', facts: billed(facts) };
  return { kind: 'answer', facts };
}

/** Undefined: it tells no usage. */
function billed(facts: AnswerFacts): AnswerFacts | undefined {
  return facts.usage === null ? undefined : facts;
}

function factsOf(body: JsonObject, choices: readonly unknown[], bodyBytes: number): AnswerFacts {
  const told = readToldUsage(body);
  const usage = told?.usage ?? null;
  const isCounted = isTextCounted(usage, bodyBytes);
  return {
    usage,
    usageFlags: told?.flags ?? NO_FLAGS,
    usageSoFar: usage,
    finish_reason: asText(asObject(choices[0])?.finish_reason),
    model: asText(body.model),
    tier: readTier(body),
    outputBytes: isCounted ? sum(choices, generatedBytes) : 0,
    reasoningBytes: isCounted ? sum(choices, reasoningBytes) : 0,
    outputBytesMax: bodyBytes,
  };
}

/** Bytes that a message or a delta holds of generated text: words, reasoning, refusals, names and arguments of calls. */
export function generatedBytes(part: JsonObject | null): number {
  if (part === null) return 0;
  const calls = asArray(part.tool_calls).map((call) => asObject(call));
  return textBytes([
    part.content,
    part.reasoning_content ?? part.reasoning,
    part.refusal,
    part.function_call,
    calls.map((call) => [call?.function, call?.custom]),
  ]);
}

/** Those of `generatedBytes` that are reasoning. */
export function reasoningBytes(part: JsonObject | null): number {
  if (part === null) return 0;
  const { content } = part;
  const thought = part.reasoning_content ?? part.reasoning;
  const bytes = thought === undefined ? 0 : textBytes(thought);
  // Mistral's reasoning models think in pieces of `content`.
  return Array.isArray(content)
    ? bytes + textBytes(content.filter((one) => asObject(one)?.type === 'thinking'))
    : bytes;
}

function sum(choices: readonly unknown[], bytesOf: (message: JsonObject | null) => number): number {
  return choices.reduce<number>((total, choice) => total + bytesOf(asObject(asObject(choice)?.message)), 0);
}

/** The status that an error object names by a number, if it does. */
export function statusOf(error: unknown): number | null {
  const named = asObject(error);
  for (const member of ['status', 'status_code', 'code']) {
    const value = named?.[member];
    if (typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599) return value;
  }
  return null;
}

/** The code of an error object, else its type: the code says more, `rate_limit_exceeded` of `requests`. */
export function typeOf(error: unknown): string {
  const named = asObject(error);
  return asText(named?.code) ?? asText(named?.type) ?? 'error';
}

/** The words of an error object or text, for the log and for a scrubbed in-band message. */
export function messageOf(error: unknown): string {
  return asText(error) ?? asText(asObject(error)?.message) ?? 'upstream gave no reason';
}
