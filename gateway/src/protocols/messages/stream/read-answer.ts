/** Reads usage, stop reason, model and errors from a messages response in one piece. Changes no byte of it. */
import { isTextCounted, NO_FLAGS } from '../../../generation/usage.ts';

import { asArray, asObject, asText, type JsonObject, textBytes } from '../../json.ts';
import type { AnswerFacts, AnswerReading } from '../../upstream-protocol.ts';
import { EMPTY_TALLY, reportedUsageOf, tallyUsage } from '../shared/usage.ts';

/** `answer` is the parsed body of a 200, `bodyBytes` its length. */
export function readAnswer(answer: unknown, bodyBytes: number): AnswerReading {
  const body = asObject(answer);
  if (body === null) return { kind: 'malformed', message: 'the answer is not a JSON object' };
  const content = asArray(body.content);
  const facts = factsOf(body, content, bodyBytes);
  if (body.type === 'error') {
    const error = asObject(body.error);
    return {
      kind: 'error',
      type: asText(error?.type) ?? 'api_error',
      status: statusOfType(error?.type),
      message: asText(error?.message) ?? 'upstream gave no reason',
      facts: billed(facts),
    };
  }
  if (!Array.isArray(body.content)) {
    return { kind: 'malformed', message: 'the answer has no content', facts: billed(facts) };
  }
  return { kind: 'answer', facts };
}

/** Undefined if it reports no usage. */
function billed(facts: AnswerFacts): AnswerFacts | undefined {
  return facts.usage === null ? undefined : facts;
}

function factsOf(body: JsonObject, content: readonly unknown[], bodyBytes: number): AnswerFacts {
  const tally = tallyUsage(EMPTY_TALLY, body.usage);
  const reported = reportedUsageOf(tally);
  const usage = reported?.usage ?? null;
  const isCounted = isTextCounted(usage, bodyBytes);
  return {
    usage,
    usageFlags: reported?.flags ?? NO_FLAGS,
    usageSoFar: usage,
    finish_reason: asText(body.stop_reason),
    model: asText(body.model),
    tier: tally.tier,
    retryToken: retryTokenOf(body.stop_details),
    outputBytes: isCounted ? sum(content, generatedBytes) : 0,
    reasoningBytes: isCounted ? sum(content, reasoningBytes) : 0,
    outputBytesMax: bodyBytes,
  };
}

/** The HTTP status of an error type that says more than that upstream failed; else null. Source: wire reference B.8. */
export function statusOfType(type: unknown): number | null {
  if (type === 'overloaded_error') return 529;
  return type === 'rate_limit_error' ? 429 : null;
}

function sum(blocks: readonly unknown[], bytesOf: (block: JsonObject | null) => number): number {
  return blocks.reduce<number>((total, block) => total + bytesOf(asObject(block)), 0);
}

/** The model that takes over after another one declined, from a `fallback` block; null for other blocks. */
export function fallbackModel(block: JsonObject | null): string | null {
  return block?.type === 'fallback' ? asText(asObject(block.to)?.model) : null;
}

/** The token that a refusal provides for the retry. */
export function retryTokenOf(stopDetails: unknown): string | undefined {
  return asText(asObject(stopDetails)?.fallback_credit_token) ?? undefined;
}

/** The thinking part of `generatedBytes`. */
export function reasoningBytes(block: JsonObject | null): number {
  return textBytes(block?.thinking);
}

/** Bytes of generated text, thinking and tool input in a content block. */
export function generatedBytes(block: JsonObject | null): number {
  return block === null ? 0 : textBytes([block.text, block.thinking, block.name, block.input]);
}
