/** Reads usage, finish reason, errors and output size from a non-streamed chat-completions answer. */
import { isTextCounted, NO_FLAGS } from '../../../generation/usage.ts';

import { asArray, asObject, asText, type JsonObject, textBytes } from '../../json.ts';
import type { AnswerFacts, AnswerReading } from '../../upstream-protocol.ts';
import { readReportedUsage, readTier } from '../shared/usage.ts';

/** `answer` is the parsed body of a 200, `bodyBytes` its length. Some providers send errors with status 200. */
export function readAnswer(answer: unknown, bodyBytes: number): AnswerReading {
  const body = asObject(answer);
  if (body === null) return { kind: 'malformed', message: 'the answer is not a JSON object' };
  const choices = asArray(body.choices);
  const facts = factsOf(body, choices, bodyBytes);
  const error = body.error;
  if (error !== undefined && error !== null && !Array.isArray(body.choices)) {
    const reported = { type: typeOf(error), status: statusOf(error), message: messageOf(error) };
    return { kind: 'error', ...reported, facts: billed(facts) };
  }
  if (choices.length === 0) return { kind: 'malformed', message: 'the answer has no choices', facts: billed(facts) };
  return { kind: 'answer', facts };
}

/** The facts if they have usage, which upstream will bill; else undefined. */
function billed(facts: AnswerFacts): AnswerFacts | undefined {
  return facts.usage === null ? undefined : facts;
}

function factsOf(body: JsonObject, choices: readonly unknown[], bodyBytes: number): AnswerFacts {
  const reported = readReportedUsage(body);
  const usage = reported?.usage ?? null;
  const isCounted = isTextCounted(usage, bodyBytes);
  return {
    usage,
    usageFlags: reported?.flags ?? NO_FLAGS,
    usageSoFar: usage,
    finish_reason: asText(asObject(choices[0])?.finish_reason),
    model: asText(body.model),
    tier: readTier(body),
    outputBytes: isCounted ? sum(choices, generatedBytes) : 0,
    reasoningBytes: isCounted ? sum(choices, reasoningBytes) : 0,
    outputBytesMax: bodyBytes,
  };
}

/** UTF-8 bytes of generated text in a message or delta: content, reasoning, refusals, names and arguments of calls. */
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

/** The part of `generatedBytes` that is reasoning. */
export function reasoningBytes(part: JsonObject | null): number {
  if (part === null) return 0;
  const { content } = part;
  const thought = part.reasoning_content ?? part.reasoning;
  const bytes = thought === undefined ? 0 : textBytes(thought);
  // Mistral's reasoning models put reasoning into pieces of `content`.
  return Array.isArray(content)
    ? bytes + textBytes(content.filter((one) => asObject(one)?.type === 'thinking'))
    : bytes;
}

function sum(choices: readonly unknown[], bytesOf: (message: JsonObject | null) => number): number {
  return choices.reduce<number>((total, choice) => total + bytesOf(asObject(asObject(choice)?.message)), 0);
}

/** The HTTP status that an error object names as a number; null: none. */
export function statusOf(error: unknown): number | null {
  const named = asObject(error);
  for (const member of ['status', 'status_code', 'code']) {
    const value = named?.[member];
    if (typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599) return value;
  }
  return null;
}

/** An error object's code, else its type: the code is more specific (`rate_limit_exceeded`, type `requests`). */
export function typeOf(error: unknown): string {
  const named = asObject(error);
  return asText(named?.code) ?? asText(named?.type) ?? 'error';
}

/** The message of an error object or string, for the log and for a scrubbed in-band message. */
export function messageOf(error: unknown): string {
  return asText(error) ?? asText(asObject(error)?.message) ?? 'upstream gave no reason';
}
