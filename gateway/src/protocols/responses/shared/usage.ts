/**
 * Reads and renders the usage of a Responses answer, and reads whole answers and their errors. Source: specification of
 * the Responses API, C.1 to C.4.
 */
import {
  extrasOf,
  isTextCounted,
  NO_FLAGS,
  type ReportedUsage,
  readTierWords,
  type Usage,
  type UsageFlag,
  withExtras,
} from '../../../generation/usage.ts';
import {
  asArray,
  asCount,
  asName,
  asObject,
  asText,
  countOrZero,
  type JsonObject,
  readRequests,
  type ToolRequests,
  textBytes,
} from '../../json.ts';
import type { AnswerFacts, AnswerReading } from '../../upstream-protocol.ts';
import { storedInAnswer } from './stored-objects.ts';

/**
 * The usage of a response object, with its tools and its tier; null if a main counter is missing or invalid.
 * `input_tokens` includes cache reads and writes; `output_tokens` includes reasoning. Cache writes are kept for 30 minutes
 * unless their details say 12 hours, for which no host publishes a price: they count as those of an hour.
 */
export function readReportedUsage(response: JsonObject): ReportedUsage | null {
  const usage = asObject(response.usage);
  const input = asCount(usage?.input_tokens);
  const output = asCount(usage?.output_tokens);
  if (usage === null || typeof input !== 'number' || typeof output !== 'number') return null;
  const details = asObject(usage.input_tokens_details);
  const read = countOrZero(details?.cached_tokens);
  const written = countOrZero(details?.cache_write_tokens);
  const longer = countOrZero(asObject(details?.cache_write_tokens_details)?.ttl_12h_tokens);
  const thought = countOrZero(asObject(usage.output_tokens_details)?.reasoning_tokens);
  const total = asCount(usage.total_tokens);
  const cache_read = Math.min(read, input);
  const cache_write = Math.min(written, input - cache_read);
  const cache_write_1h = Math.min(longer, cache_write);
  const flags: UsageFlag[] = [];
  if (typeof total === 'number' && total !== input + output) flags.push('sum');
  if (read + written > input) flags.push('cached');
  if (thought > output) flags.push('reasoning');
  const counters: Usage = {
    input: input - cache_read - cache_write,
    cache_read,
    cache_write_5m: cache_write - cache_write_1h,
    cache_write_1h,
    output,
    reasoning: Math.min(thought, output),
  };
  const tools = extrasOf({ cache_write_30m: cache_write - cache_write_1h }, readTools(response, usage));
  return {
    usage: withExtras(counters, tools, readTierWords(response)),
    flags: flags.length === 0 ? NO_FLAGS : flags,
  };
}

/** Items that a tool of the provider ran, by type; each is one request of the kind. */
const TOOL_ITEMS: ReadonlyMap<unknown, string> = new Map([
  ['web_search_call', 'web_search'],
  ['file_search_call', 'file_search'],
  ['image_generation_call', 'image_generation'],
]);

/**
 * Requests of the provider's tools, which `usage` does not count at OpenAI: searches as stated, else by their items; a
 * container counts once, whatever ran in it. xAI states all (recorded traffic, 2026).
 */
function readTools(response: JsonObject, usage: JsonObject): ToolRequests[] {
  const stated = asObject(usage.server_side_tool_usage_details);
  if (stated !== null) {
    return Object.keys(stated).flatMap((name) => {
      const requests = name.endsWith('_calls') ? readRequests(stated[name]) : null;
      return requests === null ? [] : [[name.slice(0, -'_calls'.length), requests] as const];
    });
  }
  const counts = new Map<string, number>();
  const containers = new Set<unknown>();
  for (const value of asArray(response.output)) {
    const item = asObject(value);
    const kind = TOOL_ITEMS.get(item?.type);
    if (kind !== undefined) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    else if (item?.type === 'code_interpreter_call') containers.add(item.container_id);
  }
  const searches = readRequests(asObject(asObject(response.tool_usage)?.web_search)?.num_requests);
  if (searches !== null) counts.set('web_search', searches);
  if (containers.size > 0) counts.set('code_interpreter', containers.size);
  return [...counts];
}

/** Converts disjoint counters to the inclusive ones of the format. All members are always present. */
export function renderUsage(usage: Usage) {
  const cache_write_tokens = usage.cache_write_5m + usage.cache_write_1h;
  const input_tokens = usage.input + usage.cache_read + cache_write_tokens;
  return {
    input_tokens,
    input_tokens_details: { cached_tokens: usage.cache_read, cache_write_tokens },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input_tokens + usage.output,
  };
}

/** The reason of an incomplete response, else its status; null: it has none. */
export function finishWordOf(response: JsonObject): string | null {
  return asName(asObject(response.incomplete_details)?.reason) ?? asName(response.status);
}

/** Statuses of a response that has not ended. */
const UNFINISHED: ReadonlySet<unknown> = new Set(['queued', 'in_progress']);

/** Whether a response object is not being made any more. */
export function isFinished({ status }: JsonObject): boolean {
  return !UNFINISHED.has(status);
}

/** `answer` is the parsed body of a 200, `bodyBytes` its length. */
export function readAnswer(answer: unknown, bodyBytes: number): AnswerReading {
  const body = asObject(answer);
  if (body === null) return { kind: 'malformed', message: 'the answer is not a JSON object' };
  const facts = factsOf(body, bodyBytes);
  const billed = facts.usage === null ? undefined : facts;
  if (body.status === 'failed' || body.status === 'cancelled' || !Array.isArray(body.output)) {
    const error = errorOf(body);
    if (error !== null || Array.isArray(body.output)) {
      return { kind: 'error', ...(error ?? { ...NO_WORDS, type: asText(body.status) ?? 'error' }), facts: billed };
    }
    return { kind: 'malformed', message: 'the answer has no output', facts: billed };
  }
  if (!isFinished(body))
    return { kind: 'malformed', message: 'the answer came before it was finished', facts: billed, isUnfinished: true };
  return { kind: 'answer', facts };
}

function factsOf(body: JsonObject, bodyBytes: number): AnswerFacts {
  const reported = readReportedUsage(body);
  const usage = reported === null || isHollow(body, reported.usage) ? null : reported.usage;
  const isCounted = isTextCounted(usage, bodyBytes);
  const items = asArray(body.output).map(asObject);
  return {
    usage,
    usageFlags: reported?.flags ?? NO_FLAGS,
    usageSoFar: usage ?? soFar(reported),
    finish_reason: finishWordOf(body),
    model: asName(body.model),
    tier: readTierWords(body),
    outputBytes: isCounted ? items.reduce((sum, item) => sum + generatedBytes(item), 0) : 0,
    reasoningBytes: isCounted ? items.reduce((sum, item) => sum + reasoningBytes(item), 0) : 0,
    outputBytesMax: bodyBytes,
    stored: storedInAnswer(body),
  };
}

/** An incomplete response may report no output although it has some (5 of 13 recorded, 2026). */
function isHollow(body: JsonObject, { output }: Usage): boolean {
  return output === 0 && asArray(body.output).some((item) => generatedBytes(asObject(item)) > 0);
}

/** The counters of an answer whose output was not counted; null: nothing was. */
export function soFar(reported: ReportedUsage | null): Usage | null {
  const usage = reported?.usage ?? null;
  return usage !== null && usage.input + usage.cache_read + usage.output > 0 ? usage : null;
}

/** Bytes of generated text in an item: texts, reasoning, refusals, names, arguments and inputs of calls. */
export function generatedBytes(item: JsonObject | null): number {
  if (item === null) return 0;
  const { content, summary, name, arguments: written, input, code, action, operation, queries } = item;
  return (
    textBytes([asArray(content).map(textMembers), asArray(summary).map(textMembers)]) +
    textBytes([name, written, input, code, action, operation, queries])
  );
}

/** The part of `generatedBytes` that is reasoning. */
export function reasoningBytes(item: JsonObject | null): number {
  return item?.type === 'reasoning' ? generatedBytes(item) : 0;
}

function textMembers(part: unknown): unknown {
  const found = asObject(part);
  return found?.text ?? found?.refusal ?? null;
}

const NO_WORDS = { type: 'error', status: null, message: 'upstream gave no reason' } as const;

/** The HTTP status that the code of a failed response stands for; others are faults. Source: C.4. */
const STATUS_OF_CODE: ReadonlyMap<string, number> = new Map([
  ['rate_limit_exceeded', 429],
  ['slow_down', 429],
  ['server_is_overloaded', 529],
  ['context_length_exceeded', 400],
  ['invalid_prompt', 400],
  ['bio_policy', 400],
  ['cyber_policy', 400],
  ['misalignment_policy_violation', 400],
]);

export interface ResponseError {
  /** Its code, else its type. */
  readonly type: string;
  readonly status: number | null;
  readonly message: string;
}

/**
 * The error of an `error` event, a response object or an error body: nested below `error`, or its own flat members;
 * null: it has none.
 */
export function errorOf(holder: JsonObject): ResponseError | null {
  const error = asObject(holder.error) ?? (holder.type === 'error' ? holder : null);
  if (error === null) return null;
  const named = asText(error.code) ?? (error === holder ? null : asText(error.type));
  const type = named ?? 'error';
  return { type, status: STATUS_OF_CODE.get(type) ?? null, message: asText(error.message) ?? NO_WORDS.message };
}
