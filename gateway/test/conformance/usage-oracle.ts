/** Owns the independent recomputation of what a recording's usage means: disjoint counters, and their cost in integers. */
import { type Json, list, object } from './wire-text.ts';

/** The counters of a record. */
export interface Counters {
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write_5m: number;
  readonly cache_write_1h: number;
  readonly output: number;
  readonly reasoning: number;
}

/** USD per million tokens, which is also pico-USD × 10⁻⁶ per token; each number differs so that no mix-up can hide. */
export const PRICE = {
  input: 1.25,
  cache_read: 0.125,
  cache_write_5m: 1.5625,
  cache_write_1h: 2.5,
  output: 10.3,
  reasoning: 11.000001,
  tiers: [
    {
      above: 1000,
      input: 2.75,
      cache_read: 0.275,
      cache_write_5m: 3.4375,
      cache_write_1h: 5.5,
      output: 20.6,
      reasoning: 22.000003,
    },
  ],
} as const;

type PicoRates = { readonly [Counter in keyof Counters]: bigint };

const PICO: PicoRates = {
  input: 1_250_000n,
  cache_read: 125_000n,
  cache_write_5m: 1_562_500n,
  cache_write_1h: 2_500_000n,
  output: 10_300_000n,
  reasoning: 11_000_001n,
};

/** Of a call with more than a thousand tokens of input, whatever part the caches had in them. */
const PICO_LONG: PicoRates = {
  input: 2_750_000n,
  cache_read: 275_000n,
  cache_write_5m: 3_437_500n,
  cache_write_1h: 5_500_000n,
  output: 20_600_000n,
  reasoning: 22_000_003n,
};

/** The cost in nano-USD as the record prints it: exact pico-USD, rounded once, half up. */
export function costOf(counters: Counters): string {
  const tokens = { ...counters, output: counters.output - counters.reasoning };
  const sent = counters.input + counters.cache_read + counters.cache_write_5m + counters.cache_write_1h;
  let pico = 0n;
  for (const [counter, price] of Object.entries(sent > 1000 ? PICO_LONG : PICO))
    pico += BigInt(tokens[counter as keyof Counters]) * price;
  return String((pico + 500n) / 1000n);
}

function whole(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0;
}

function largest(...values: readonly unknown[]): number {
  return Math.max(...values.map(whole));
}

/** Chat: `prompt_tokens` holds what the cache gave and took; reasoning is inside unless the total says that it is not. */
export function chatCounters(usage: Json | null): Counters | null {
  if (usage === null || !Number.isInteger(usage.prompt_tokens) || !Number.isInteger(usage.completion_tokens))
    return null;
  const prompt = whole(usage.prompt_tokens);
  const completion = whole(usage.completion_tokens);
  const details = object(usage.prompt_tokens_details) ?? {};
  const claimed = largest(
    details.cached_tokens,
    usage.prompt_cache_hit_tokens,
    usage.cached_tokens,
    usage.num_cached_tokens,
  );
  // Parts are never more than the whole, whatever a host claims (seen at Azure's Grok and at OpenRouter).
  const read = Math.min(claimed, prompt);
  const written = Math.min(whole(details.cache_write_tokens), prompt - read);
  const thought = whole(object(usage.completion_tokens_details)?.reasoning_tokens);
  const outside = thought > 0 && usage.total_tokens === prompt + completion + thought;
  return {
    input: prompt - read - written,
    cache_read: read,
    cache_write_5m: written,
    cache_write_1h: 0,
    output: outside ? completion + thought : completion,
    reasoning: outside ? thought : Math.min(thought, completion),
  };
}

/** The usage of a chat stream: the last chunk that has one, in its own place or in Groq's. */
export function lastChatUsage(chunks: readonly Json[]): Counters | null {
  let last: Counters | null = null;
  for (const chunk of chunks) {
    last = chatCounters(object(chunk.usage)) ?? chatCounters(object(object(chunk.x_groq)?.usage)) ?? last;
  }
  return last;
}

/** Messages: each member's last number counts; with iterations (and no fallback among them) their sums do. */
export function messagesCounters(usages: readonly Json[]): Counters {
  const merged: Record<string, unknown> = {};
  for (const usage of usages) {
    for (const [member, value] of Object.entries(usage)) if (value !== null) merged[member] = value;
  }
  const thought = whole(object(merged.output_tokens_details)?.thinking_tokens);
  const rounds = list(merged.iterations).map((round) => object(round) ?? {});
  const summed = rounds.length > 1 && rounds.every((round) => round.type !== 'fallback_message');
  const parts = (summed ? rounds : [merged]).map(oneRound);
  const sum = (counter: keyof Counters) => parts.reduce((total, part) => total + part[counter], 0);
  const output = sum('output');
  return {
    input: sum('input'),
    cache_read: sum('cache_read'),
    cache_write_5m: sum('cache_write_5m'),
    cache_write_1h: sum('cache_write_1h'),
    output,
    reasoning: Math.min(thought, output),
  };
}

function oneRound(usage: Json): Counters {
  const written = whole(usage.cache_creation_input_tokens);
  const hour = whole(object(usage.cache_creation)?.ephemeral_1h_input_tokens);
  return {
    input: whole(usage.input_tokens),
    cache_read: whole(usage.cache_read_input_tokens),
    cache_write_5m: written - hour,
    cache_write_1h: hour,
    output: whole(usage.output_tokens),
    reasoning: 0,
  };
}
