/** Recomputes independently what a recording's usage means: disjoint counters, and their cost in integers. */
import { type Json, list, object } from './wire-text.ts';

interface TokenCounters {
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write_5m: number;
  readonly cache_write_1h: number;
  readonly output: number;
  readonly reasoning: number;
}

/** Counters that a record has only above 0. */
interface PartCounters {
  readonly audio_input?: number;
  readonly audio_cache_read?: number;
  readonly audio_output?: number;
  readonly image_input?: number;
  readonly image_output?: number;
}

/** A record's counters, as printed. */
export interface Counters extends TokenCounters, PartCounters {
  readonly server_tools?: { readonly [kind: string]: number };
}

/**
 * USD per million tokens, which is also pico-USD × 10⁻⁶ per token; every number differs so that no mix-up is hidden.
 */
export const PRICE = {
  input: 1.25,
  cache_read: 0.125,
  cache_write_5m: 1.5625,
  cache_write_1h: 2.5,
  output: 10.3,
  reasoning: 11.000001,
  audio_input: 40.7,
  audio_cache_read: 0.77,
  audio_output: 81.3,
  image_input: 0.9,
  image_output: 33.3,
  // Fees that no provider has; `search_source` has none.
  per_1000_requests: { web_search: 13.000003, web_fetch: 0.7, search_low: 3.1 },
  tiers: [
    {
      above: 1000,
      input: 2.75,
      cache_read: 0.275,
      cache_write_5m: 3.4375,
      cache_write_1h: 5.5,
      output: 20.6,
      reasoning: 22.000003,
      audio_input: 44.9,
    },
  ],
} as const;

type PicoRates = { readonly [Counter in keyof (TokenCounters & PartCounters)]-?: bigint };

const PICO: PicoRates = {
  input: 1_250_000n,
  cache_read: 125_000n,
  cache_write_5m: 1_562_500n,
  cache_write_1h: 2_500_000n,
  output: 10_300_000n,
  reasoning: 11_000_001n,
  audio_input: 40_700_000n,
  audio_cache_read: 770_000n,
  audio_output: 81_300_000n,
  image_input: 900_000n,
  image_output: 33_300_000n,
};

const PICO_PER_REQUEST: { readonly [kind: string]: bigint } = {
  web_search: 13_000_003_000n,
  web_fetch: 700_000_000n,
  search_low: 3_100_000_000n,
};

/** For a call with more than a thousand input tokens, cached or not. */
const PICO_LONG: PicoRates = {
  input: 2_750_000n,
  cache_read: 275_000n,
  cache_write_5m: 3_437_500n,
  cache_write_1h: 5_500_000n,
  output: 20_600_000n,
  reasoning: 22_000_003n,
  audio_input: 44_900_000n,
  audio_cache_read: 275_000n,
  audio_output: 20_600_000n,
  image_input: 2_750_000n,
  image_output: 20_600_000n,
};

/** The cost in nano-USD as the record prints it: exact pico-USD, rounded once, half up. */
export function costOf({ parts, ...whole }: Counters & { readonly parts?: readonly TokenCounters[] }): string {
  // Each model run of an answer has its own length; server tools are counted for the whole.
  const { server_tools = {}, ...counters } = whole;
  let pico = (parts ?? [counters]).reduce((sum, part) => sum + tokenPico(part), 0n);
  for (const [kind, requests] of Object.entries(server_tools)) {
    pico += BigInt(requests) * (PICO_PER_REQUEST[kind] ?? 0n);
  }
  return String((pico + 500n) / 1000n);
}

function tokenPico(counters: Counters): bigint {
  const { server_tools: _, ...all } = counters;
  const { audio_input = 0, audio_cache_read = 0, audio_output = 0, image_input = 0, image_output = 0 } = all;
  const tokens = {
    ...all,
    input: all.input - audio_input - image_input,
    cache_read: all.cache_read - audio_cache_read,
    output: all.output - all.reasoning - audio_output - image_output,
  };
  const sent = counters.input + counters.cache_read + counters.cache_write_5m + counters.cache_write_1h;
  let pico = 0n;
  for (const [counter, price] of Object.entries(sent > 1000 ? PICO_LONG : PICO))
    pico += BigInt(tokens[counter as keyof PicoRates] ?? 0) * price;
  return pico;
}

function whole(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0;
}

function largest(...values: readonly unknown[]): number {
  return Math.max(...values.map(whole));
}

/** Chat: `prompt_tokens` includes cache reads and writes; reasoning is included unless the total shows otherwise. */
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
  // Parts never exceed the whole, whatever the provider reports (seen at Azure's Grok and at OpenRouter).
  const read = Math.min(claimed, prompt);
  const written = Math.min(whole(details.cache_write_tokens), prompt - read);
  // Google's chat endpoint counts thoughts in the total alone.
  const isUnnamed = object(usage.completion_tokens_details) === null && whole(details.audio_tokens) === 0;
  const rest = isUnnamed ? Math.max(0, whole(usage.total_tokens) - prompt - completion) : 0;
  const thought = rest || whole(object(usage.completion_tokens_details)?.reasoning_tokens);
  const outside = thought > 0 && usage.total_tokens === prompt + completion + thought;
  const sound = whole(details.audio_tokens);
  // Mistral's audio tokens are not part of its prompt tokens.
  const beside = sound > 0 && usage.total_tokens === prompt + completion + sound;
  const tokens = {
    input: prompt - read - written + (beside ? sound : 0),
    cache_read: read,
    cache_write_5m: written,
    cache_write_1h: 0,
    output: outside ? completion + thought : completion,
    reasoning: outside ? thought : Math.min(thought, completion),
  };
  return { ...tokens, ...chatParts(usage, tokens), ...chatTools(usage) };
}

/** Text is assumed to come from the cache first; each part is limited to what the previous ones leave of the whole. */
function chatParts(usage: Json, tokens: TokenCounters): PartCounters {
  const sent = object(usage.prompt_tokens_details) ?? {};
  const made = object(usage.completion_tokens_details) ?? {};
  const audio_input = Math.min(whole(sent.audio_tokens), tokens.input);
  const text = tokens.output - tokens.reasoning;
  const audio_output = Math.min(whole(made.audio_tokens), text);
  return aboveZero({
    audio_input,
    audio_cache_read: Math.min(whole(sent.audio_tokens) - audio_input, tokens.cache_read),
    audio_output,
    image_input: Math.min(whole(sent.image_tokens), tokens.input - audio_input),
    image_output: Math.min(whole(made.image_tokens), text - audio_output),
  });
}

function chatTools(usage: Json): Pick<Counters, 'server_tools'> {
  const size = usage.search_context_size;
  return toolsOf({
    ...(typeof size === 'string' ? { [`search_${size}`]: 1 } : {}),
    search_source: whole(usage.num_sources_used),
  });
}

function toolsOf(kinds: { readonly [kind: string]: number }): Pick<Counters, 'server_tools'> {
  const used = aboveZero(kinds);
  return Object.keys(used).length === 0 ? {} : { server_tools: used };
}

function aboveZero(counts: { readonly [name: string]: number }): { readonly [name: string]: number } {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

/** The usage of a chat stream: the last chunk that has one, in the standard member or in Groq's. */
export function lastChatUsage(chunks: readonly Json[]): Counters | null {
  let last: Counters | null = null;
  for (const chunk of chunks) {
    last = chatCounters(object(chunk.usage)) ?? chatCounters(object(object(chunk.x_groq)?.usage)) ?? last;
  }
  return last;
}

/**
 * Messages: the last number of each member counts; with iterations the sums do, without attempts that a fallback
 * replaced.
 */
export function messagesCounters(usages: readonly Json[]): Counters {
  const merged: Record<string, unknown> = {};
  for (const usage of usages) {
    for (const [member, value] of Object.entries(usage)) if (value !== null) merged[member] = value;
  }
  const thought = whole(object(merged.output_tokens_details)?.thinking_tokens);
  const rounds = list(merged.iterations).map((round) => object(round) ?? {});
  const declined = (round: Json) => round.type === 'message' && round.output_tokens === 0;
  const fellBack = rounds.some((round) => round.type === 'fallback_message');
  const counted = fellBack ? rounds.filter((round) => !declined(round)) : rounds;
  const parts = (counted.length > 0 ? counted : [merged]).map(oneRound);
  const sum = (counter: keyof TokenCounters) => parts.reduce((total, part) => total + part[counter], 0);
  const output = sum('output');
  const ran = object(merged.server_tool_use) ?? {};
  return {
    input: sum('input'),
    cache_read: sum('cache_read'),
    cache_write_5m: sum('cache_write_5m'),
    cache_write_1h: sum('cache_write_1h'),
    output,
    reasoning: Math.min(thought, output),
    ...toolsOf({ web_search: whole(ran.web_search_requests), web_fetch: whole(ran.web_fetch_requests) }),
  };
}

function oneRound(usage: Json): TokenCounters {
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
