/**
 * Parses a messages `usage` object into disjoint counters with their anomalies, and renders counters as one. Reads the
 * facts of a non-streamed answer. Source: wire reference B.6 and C.7.
 */
import {
  extrasOf,
  isTextCounted,
  NO_FLAGS,
  type ReportedUsage,
  readTierWords,
  type ServerTools,
  type TierWords,
  type Usage,
  type UsageFlag,
  type UsagePart,
  withExtras,
} from '../../../generation/usage.ts';
import type { WritableJson } from '../../../wire/json-writer.ts';
import {
  asArray,
  asCount,
  asName,
  asObject,
  asText,
  type JsonObject,
  readServerToolUse,
  textBytes,
} from '../../json.ts';
import type { AnswerFacts, AnswerReading } from '../../upstream-protocol.ts';
import { type Iterations, joinIterations, readIterations } from './iterations.ts';
import { storedInMessage } from './stored-objects.ts';

/** Counters of a stream arrive in pieces: `message_start`, then cumulative totals; null: not reported yet. */
export interface UsageTally {
  readonly input: number | null;
  readonly output: number | null;
  readonly cache_read: number;
  /** Total cache writes; null: only the split is known. */
  readonly cache_write: number | null;
  /** Null: the latest total came without it. */
  readonly cache_write_5m: number | null;
  readonly cache_write_1h: number;
  readonly reasoning: number;
  /** The model runs of the response; they replace the totals, which omit some runs. Null: not reported. */
  readonly iterated: Iterations | null;
  /** Requests of server tools; null: none reported. The totals cover all iterations. */
  readonly tools: ServerTools | null;
  /** The tier values that the response states, including standard ones; undefined: none. */
  readonly tier: TierWords | undefined;
  /** A counter was negative or not an integer, so none of them is used. */
  readonly invalid: boolean;
}

export const EMPTY_TALLY: UsageTally = {
  input: null,
  output: null,
  cache_read: 0,
  cache_write: null,
  cache_write_5m: null,
  cache_write_1h: 0,
  reasoning: 0,
  iterated: null,
  tools: null,
  tier: undefined,
  invalid: false,
};

/** Overwrites each counter that the object reports as a number: the last value wins, nothing is added. */
export function tallyUsage(tally: UsageTally, value: unknown): UsageTally {
  const usage = asObject(value);
  if (usage === null) return tally;
  const input = asCount(usage.input_tokens);
  const output = asCount(usage.output_tokens);
  return {
    ...(isPromptZero(usage) && hasPrompt(tally) ? promptOf(tally) : tallyPrompt(tally, usage)),
    output: typeof output === 'number' ? output : tally.output,
    reasoning: counter(asObject(usage.output_tokens_details)?.thinking_tokens, tally.reasoning),
    iterated:
      usage.iterations == null ? tally.iterated : (readIterations(usage.iterations, countersOf) ?? tally.iterated),
    tools: tallyTools(tally.tools, usage.server_tool_use),
    tier: tallyTier(tally.tier, usage),
    invalid: tally.invalid || input === 'invalid' || output === 'invalid',
  };
}

/** The counters of the prompt. */
type PromptTally = Pick<UsageTally, 'input' | 'cache_read' | 'cache_write' | 'cache_write_5m' | 'cache_write_1h'>;

function tallyPrompt(tally: PromptTally, usage: JsonObject): PromptTally {
  const input = asCount(usage.input_tokens);
  const written = asCount(usage.cache_creation_input_tokens);
  const split = asObject(usage.cache_creation);
  const isTotalNew = typeof written === 'number';
  return {
    input: typeof input === 'number' ? input : tally.input,
    cache_read: counter(usage.cache_read_input_tokens, tally.cache_read),
    cache_write: isTotalNew ? written : tally.cache_write,
    cache_write_5m: counter(split?.ephemeral_5m_input_tokens, isTotalNew ? null : tally.cache_write_5m),
    cache_write_1h: counter(split?.ephemeral_1h_input_tokens, tally.cache_write_1h),
  };
}

function promptOf({ input, cache_read, cache_write, cache_write_5m, cache_write_1h }: PromptTally): PromptTally {
  return { input, cache_read, cache_write, cache_write_5m, cache_write_1h };
}

function hasPrompt(tally: PromptTally): boolean {
  return (tally.input ?? 0) + tally.cache_read + writtenIn(tally) > 0;
}

/**
 * No prompt has no tokens: some hosts count it in `message_start` and end with zeros
 * (https://github.com/envoyproxy/ai-gateway/pull/1631, 2025-12-06).
 */
function isPromptZero(usage: JsonObject): boolean {
  return !hasPrompt(tallyPrompt(EMPTY_TALLY, usage));
}

/** Whether a usage object has an output count; preliminary in `message_start`, the total in `message_delta`. */
export function namesOutput(value: unknown): boolean {
  return typeof asCount(asObject(value)?.output_tokens) === 'number';
}

/** The counters, or null if input or output is missing or invalid. */
export function usageOf(tally: UsageTally): Usage | null {
  if (tally.invalid || tally.input === null || tally.output === null) return null;
  const written = writtenIn(tally);
  const cache_write_1h = Math.min(tally.cache_write_1h, written);
  const counters = {
    input: tally.input,
    cache_read: tally.cache_read,
    cache_write_5m: written - cache_write_1h,
    cache_write_1h,
    output: tally.output,
    reasoning: Math.min(tally.reasoning, tally.output),
  };
  if (tally.iterated === null) return withApart(counters, tally, null);
  const joined = joinIterations({ ...counters, reasoning: tally.reasoning }, tally.iterated);
  return withApart(joined.counters, tally, joined.parts);
}

/** The counters of one iteration. */
function countersOf(iteration: JsonObject): Usage | null {
  return usageOf(tallyUsage(EMPTY_TALLY, iteration));
}

function writtenIn({ cache_write, cache_write_5m, cache_write_1h }: PromptTally): number {
  return cache_write ?? (cache_write_5m ?? 0) + cache_write_1h;
}

function withApart(counters: Usage, { tools, tier }: UsageTally, parts: readonly UsagePart[] | null): Usage {
  const counted = tools === null ? undefined : extrasOf({}, Object.entries(tools));
  return withExtras(counters, parts === null ? counted : { ...counted, parts }, tier);
}

function tallyTier(before: TierWords | undefined, usage: JsonObject): TierWords | undefined {
  const stated = readTierWords(usage);
  return stated === undefined || before === undefined ? (stated ?? before) : { ...before, ...stated };
}

function tallyTools(before: ServerTools | null, value: unknown): ServerTools | null {
  const named = readServerToolUse(value);
  return named.length === 0 ? before : { ...before, ...Object.fromEntries(named) };
}

/** Like `usageOf`, with anomalies. */
export function reportedUsageOf(tally: UsageTally): ReportedUsage | null {
  const usage = usageOf(tally);
  return usage === null ? null : { usage, flags: flagsOf(tally, usage) };
}

function flagsOf(tally: UsageTally, usage: Usage): readonly UsageFlag[] {
  const { input, output, cache_read, cache_write_5m, cache_write_1h, reasoning, iterated } = tally;
  let flags: readonly UsageFlag[] = NO_FLAGS;
  const written = writtenIn(tally);
  // Totals may omit the usage of some iterations, but cannot exceed the sum of all of them.
  const exceeds =
    iterated !== null &&
    ((input ?? 0) > iterated.sum.input ||
      (output ?? 0) > iterated.sum.output ||
      cache_read > iterated.sum.cache_read ||
      written > iterated.sum.cache_write_5m + iterated.sum.cache_write_1h);
  const isSplitOff = cache_write_5m !== null && cache_write_5m + cache_write_1h !== written;
  if (exceeds || isSplitOff) flags = [...flags, 'sum'];
  if (cache_write_1h > written) flags = [...flags, 'cached'];
  if (reasoning > usage.output) flags = [...flags, 'reasoning'];
  return flags;
}

function counter<Before extends number | null>(value: unknown, before: Before): number | Before {
  const count = asCount(value);
  return typeof count === 'number' ? count : before;
}

const BYTES_PER_TOKEN = 4;

/** Counters for a source without valid ones: our estimate of the prompt, and of the response from its byte count. */
export function estimateUsage(inputTokens: number, outputBytes: number): Usage {
  return {
    input: inputTokens,
    cache_read: 0,
    cache_write_5m: 0,
    cache_write_1h: 0,
    output: Math.ceil(outputBytes / BYTES_PER_TOKEN),
    reasoning: 0,
  };
}

/** The usage of a whole message. */
export function renderUsage(usage: Usage): { readonly [member: string]: WritableJson } {
  return {
    ...renderDeltaUsage(usage),
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cache_write_5m,
      ephemeral_1h_input_tokens: usage.cache_write_1h,
    },
    service_tier: null,
    inference_geo: null,
    speed: null,
  };
}

/**
 * The usage of `message_start`, before upstream has counted. The split of cache writes is unknown, and no later event
 * has it.
 */
export function renderEstimate(inputTokens: number): WritableJson {
  return { ...renderUsage(estimateUsage(inputTokens, 0)), cache_creation: null };
}

/** The usage of `message_delta`: cumulative totals. */
export function renderDeltaUsage(usage: Usage): { readonly [member: string]: WritableJson } {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cache_write_5m + usage.cache_write_1h,
    cache_read_input_tokens: usage.cache_read,
    output_tokens: usage.output,
    output_tokens_details: { thinking_tokens: usage.reasoning },
    server_tool_use: renderToolUse(usage),
  };
}

/** The format has members for two kinds; null if neither was used. */
function renderToolUse({ extras }: Usage): WritableJson {
  const { web_search = 0, web_fetch = 0 } = extras?.server_tools ?? {};
  return web_search + web_fetch === 0 ? null : { web_search_requests: web_search, web_fetch_requests: web_fetch };
}

/**
 * The counters that follow an estimate in `message_start`: Claude Code overwrites the estimate only with values above
 * 0, so for a fully cached prompt one token is shown as uncached; otherwise the prompt would count twice. Source: B.6,
 * vector 18b.
 */
export function correctEstimate(usage: Usage, estimatedInputTokens: number): Usage {
  if (usage.input > 0 || estimatedInputTokens === 0) return usage;
  if (usage.cache_read > 0) return { ...usage, input: 1, cache_read: usage.cache_read - 1 };
  if (usage.cache_write_5m > 0) return { ...usage, input: 1, cache_write_5m: usage.cache_write_5m - 1 };
  return usage.cache_write_1h > 0 ? { ...usage, input: 1, cache_write_1h: usage.cache_write_1h - 1 } : usage;
}

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
    finish_reason: asName(body.stop_reason),
    model: asName(body.model),
    tier: tally.tier,
    retryToken: retryTokenOf(body.stop_details),
    outputBytes: isCounted ? sum(content, generatedBytes) : 0,
    reasoningBytes: isCounted ? sum(content, reasoningBytes) : 0,
    outputBytesMax: bodyBytes,
    stored: storedInMessage(body),
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
  return block?.type === 'fallback' ? asName(asObject(block.to)?.model) : null;
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
