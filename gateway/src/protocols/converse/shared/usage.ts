/**
 * Parses the `usage` of a Converse answer into disjoint counters with their anomalies, and reads the facts of a
 * non-streamed answer. Source: provider reference C.5.
 */
import {
  isTextCounted,
  NO_FLAGS,
  type ReportedUsage,
  readTierWords,
  type UsageFlag,
  withExtras,
} from '../../../generation/usage.ts';
import { asArray, asCount, asName, asObject, countOrZero, type JsonObject, textBytes } from '../../json.ts';
import type { AnswerFacts, AnswerReading } from '../../upstream-protocol.ts';

/**
 * The counters of an answer, or of the last event of a stream. `inputTokens` excludes cached tokens, and reasoning is
 * part of the output without a number. Null if they are absent or invalid.
 */
export function readUsage(answer: JsonObject): ReportedUsage | null {
  const given = asObject(answer.usage);
  const input = asCount(given?.inputTokens);
  const output = asCount(given?.outputTokens);
  if (given === null || typeof input !== 'number' || typeof output !== 'number') return null;
  const cache_read = countOrZero(given.cacheReadInputTokens);
  const written = countOrZero(given.cacheWriteInputTokens);
  const split = asArray(given.cacheDetails).map(asObject);
  const hourly = split.reduce((sum, one) => sum + (one?.ttl === '1h' ? countOrZero(one.inputTokens) : 0), 0);
  const cache_write_1h = Math.min(hourly, written);
  const counters = {
    input,
    cache_read,
    cache_write_5m: written - cache_write_1h,
    cache_write_1h,
    output,
    reasoning: 0,
  };
  const tier = readTierWords({ service_tier: asObject(answer.serviceTier)?.type });
  const flags: UsageFlag[] = [];
  const total = asCount(given.totalTokens);
  if (typeof total === 'number' && total !== input + output + cache_read + written) flags.push('sum');
  if (hourly > written) flags.push('cached');
  return { usage: withExtras(counters, undefined, tier), flags: flags.length === 0 ? NO_FLAGS : flags };
}

/** `answer` is the parsed body of a 200, `bodyBytes` its length. */
export function readAnswer(answer: unknown, bodyBytes: number): AnswerReading {
  const body = asObject(answer);
  if (body === null) return { kind: 'malformed', message: 'the answer is not a JSON object' };
  const content = asObject(asObject(body.output)?.message)?.content;
  const facts = factsOf(body, asArray(content), bodyBytes);
  if (Array.isArray(content)) return { kind: 'answer', facts };
  return {
    kind: 'malformed',
    message: 'the answer has no message',
    facts: facts.usage === null ? undefined : facts,
  };
}

function factsOf(body: JsonObject, content: readonly unknown[], bodyBytes: number): AnswerFacts {
  const reported = readUsage(body);
  const usage = reported?.usage ?? null;
  const counted = isTextCounted(usage, bodyBytes) ? content : [];
  const reasoning = counted.map((block) => asObject(block)?.reasoningContent);
  return {
    usage,
    usageFlags: reported?.flags ?? NO_FLAGS,
    usageSoFar: usage,
    finish_reason: asName(body.stopReason),
    model: null,
    outputBytes: textBytes(counted),
    reasoningBytes: textBytes(reasoning),
    outputBytesMax: bodyBytes,
  };
}
