/** Owns the reading of a messages `usage` object into disjoint counters, and what is odd about it. Source: wire reference B.6 and C.7. */
import { NO_FLAGS, type ToldUsage, type Usage, type UsageFlag, ZERO_USAGE } from '../../generation/usage.ts';
import { apartOf, type ServerTools } from '../../generation/usage-apart.ts';
import { asArray, asCount, asObject, type JsonObject } from '../json.ts';
import { readServerToolUse } from '../server-tools.ts';

/** Counters of a stream arrive in pieces: `message_start` and then cumulative totals; null: not said yet. */
export interface UsageTally {
  readonly input: number | null;
  readonly output: number | null;
  readonly cache_read: number;
  /** All that was written; null: the split alone says it. */
  readonly cache_write: number | null;
  /** Null: of the last total that was named, nobody said it. */
  readonly cache_write_5m: number | null;
  readonly cache_write_1h: number;
  readonly reasoning: number;
  /** The sum over `iterations` where the answer took several; it replaces the totals, which leave some of them out. */
  readonly iterated: Usage | null;
  /** Requests of tools that ran upstream; null: none was named. The totals have those of all iterations. */
  readonly tools: ServerTools | null;
  /** A counter was negative or not an integer: nothing of it holds. */
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
  invalid: false,
};

/** Overwrites each counter that the object names by a number: the last value wins, nothing is added. */
export function tallyUsage(tally: UsageTally, value: unknown): UsageTally {
  const usage = asObject(value);
  if (usage === null) return tally;
  const input = asCount(usage.input_tokens);
  const output = asCount(usage.output_tokens);
  const written = asCount(usage.cache_creation_input_tokens);
  const split = asObject(usage.cache_creation);
  const isTotalNew = typeof written === 'number';
  return {
    input: typeof input === 'number' ? input : tally.input,
    output: typeof output === 'number' ? output : tally.output,
    cache_read: counter(usage.cache_read_input_tokens, tally.cache_read),
    cache_write: isTotalNew ? written : tally.cache_write,
    cache_write_5m: counter(split?.ephemeral_5m_input_tokens, isTotalNew ? null : tally.cache_write_5m),
    cache_write_1h: counter(split?.ephemeral_1h_input_tokens, tally.cache_write_1h),
    reasoning: counter(asObject(usage.output_tokens_details)?.thinking_tokens, tally.reasoning),
    iterated: sumIterations(usage.iterations) ?? tally.iterated,
    tools: tallyTools(tally.tools, usage.server_tool_use),
    invalid: tally.invalid || input === 'invalid' || output === 'invalid',
  };
}

/** Whether a usage object has a count of the output; in a `message_start` it is a beginning, in a `message_delta` the whole. */
export function namesOutput(value: unknown): boolean {
  return typeof asCount(asObject(value)?.output_tokens) === 'number';
}

/** The counters, or null where input or output is missing or does not hold. */
export function usageOf(tally: UsageTally): Usage | null {
  if (tally.invalid || tally.input === null || tally.output === null) return null;
  if (tally.iterated !== null)
    return withTools({ ...tally.iterated, reasoning: Math.min(tally.reasoning, tally.iterated.output) }, tally);
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
  return withTools(counters, tally);
}

function writtenIn({ cache_write, cache_write_5m, cache_write_1h }: UsageTally): number {
  return cache_write ?? (cache_write_5m ?? 0) + cache_write_1h;
}

function withTools(counters: Usage, { tools }: UsageTally): Usage {
  if (tools === null) return counters;
  const apart = apartOf({}, Object.entries(tools));
  return apart === undefined ? counters : { ...counters, apart };
}

function tallyTools(before: ServerTools | null, value: unknown): ServerTools | null {
  const named = readServerToolUse(value);
  return named.length === 0 ? before : { ...before, ...Object.fromEntries(named) };
}

/** As `usageOf`, with what is odd about it. */
export function toldUsageOf(tally: UsageTally): ToldUsage | null {
  const usage = usageOf(tally);
  return usage === null ? null : { usage, flags: flagsOf(tally, usage) };
}

function flagsOf(tally: UsageTally, usage: Usage): readonly UsageFlag[] {
  const { input, output, cache_read, cache_write_5m, cache_write_1h, reasoning, iterated } = tally;
  let flags: readonly UsageFlag[] = NO_FLAGS;
  const written = writtenIn(tally);
  // Totals may leave out what some iterations used; they cannot have more than all of them.
  const exceeds =
    iterated !== null &&
    ((input ?? 0) > iterated.input ||
      (output ?? 0) > iterated.output ||
      cache_read > iterated.cache_read ||
      written > iterated.cache_write_5m + iterated.cache_write_1h);
  const isSplitOff = cache_write_5m !== null && cache_write_5m + cache_write_1h !== written;
  if (exceeds || isSplitOff) flags = [...flags, 'sum'];
  if (cache_write_1h > written) flags = [...flags, 'cached'];
  if (reasoning > usage.output) flags = [...flags, 'reasoning'];
  return flags;
}

/**
 * The totals of an answer leave out what compaction and advisors used; `iterations` has all of it. Where a fallback model
 * answered, the totals are its own and hold as they are (the declined try is not charged).
 */
function sumIterations(value: unknown): Usage | null {
  const iterations = asArray(value).map(asObject);
  if (iterations.length < 2 || iterations.some((one) => one === null || one.type === 'fallback_message')) return null;
  let sum = ZERO_USAGE;
  for (const iteration of iterations) {
    const one = usageOf(tallyUsage(EMPTY_TALLY, withoutIterations(iteration)));
    if (one === null) return null;
    sum = {
      input: sum.input + one.input,
      cache_read: sum.cache_read + one.cache_read,
      cache_write_5m: sum.cache_write_5m + one.cache_write_5m,
      cache_write_1h: sum.cache_write_1h + one.cache_write_1h,
      output: sum.output + one.output,
      reasoning: 0,
    };
  }
  return sum;
}

/** An iteration has no iterations: whoever nests them cannot make us recurse. */
function withoutIterations(iteration: JsonObject | null): JsonObject {
  return { ...iteration, iterations: null };
}

function counter<Before extends number | null>(value: unknown, before: Before): number | Before {
  const count = asCount(value);
  return typeof count === 'number' ? count : before;
}
