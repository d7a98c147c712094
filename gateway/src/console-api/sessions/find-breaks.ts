/**
 * Finds where the prompt cache of a session broke: requests that read clearly less from it than the request before them
 * left there. Decides from records; what changed in a prompt is compared in `compare-prompts.ts`.
 */
import { readPriceVersion } from '../../billing/price.ts';
import { chargedNanoUsd } from '../../billing/price-book.ts';
import type { Usage } from '../../generation/usage.ts';
import { GENERATED_PROTOCOLS } from '../../protocols/names.ts';
import type { CallRecord } from '../../store/ports/records.ts';

/**
 * Why less was read. `model`, `provider`, `credential`: the request went elsewhere, and caches are not shared.
 * `expired`: more time passed than the cache keeps a prompt. `short`: the prompt is shorter than caches take. `prompt`:
 * none of these, so its beginning differs, or the provider dropped it.
 */
export const BREAK_CAUSES = ['model', 'provider', 'credential', 'expired', 'short', 'prompt'] as const;
export type BreakCause = (typeof BREAK_CAUSES)[number];

export interface CacheBreak {
  readonly cause: BreakCause;
  /** The request whose cached prompt should have been read. */
  readonly previous: string;
  /** From its first byte, when its prompt was in the cache, to the arrival of this one. */
  readonly gapMs: number;
  /** How long the cache keeps a prompt after its last use. */
  readonly keptMs: number;
  /** Tokens that should have been read from the cache, and those of them that were not. */
  readonly expected: number;
  readonly lost: number;
  /** What these cost more than read from the cache, in nano-USD; null: unknown. */
  readonly cost: bigint | null;
}

/** The shortest prompt that a provider caches; some models need 2,048 or 4,096 tokens. */
const CACHED_TOKENS_MIN = 1_024;
/** Providers cache in blocks, and clients move their marks: smaller losses are no break. */
const LOST_TOKENS_MIN = CACHED_TOKENS_MIN;
const LOST_PART_MIN = 0.1;

const MINUTE_MS = 60_000;
/**
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching: five minutes, or an hour where the request asks
 * for it. Caches that fill themselves keep prompts at least as long while they are used (2026-11).
 */
const KEPT_MS = { short: 5 * MINUTE_MS, half: 30 * MINUTE_MS, long: 60 * MINUTE_MS };

/** A request whose usage its provider reported. */
interface Turn {
  readonly record: CallRecord;
  readonly target: Target;
  readonly prompt: number;
  readonly cached: number;
  readonly written: number;
}

interface Target {
  readonly model: string;
  readonly provider: string;
  readonly credential: string;
}

/** What the requests at one target told about its cache. */
interface Seen {
  readonly last: Turn;
  /** Writes are reported: only what was written or read is in the cache. */
  readonly writes: boolean;
  readonly reads: boolean;
  readonly keptMs: number;
}

/** By request id, for records in the order of arrival. The first ones may be there only as context of the others. */
export function findBreaks(records: readonly CallRecord[]): ReadonlyMap<string, CacheBreak> {
  const breaks = new Map<string, CacheBreak>();
  const byTarget = new Map<string, Seen>();
  let before: Seen | null = null;
  for (const record of records) {
    const turn = turnOf(record);
    if (turn === null) continue;
    const name = JSON.stringify(turn.target);
    const own = byTarget.get(name) ?? null;
    const reads = turn.cached > 0;
    // The first cache read of a target shows that it had cached the request before, too.
    const base = own === null ? before : { ...own, reads: own.reads || reads };
    const found = base === null ? null : compare(base, turn);
    if (found !== null) breaks.set(record.request_id, found);
    before = {
      last: turn,
      writes: own?.writes === true || turn.written > 0,
      reads: own?.reads === true || reads,
      keptMs: Math.max(own?.keptMs ?? KEPT_MS.short, keptMs(turn.record.usage)),
    };
    byTarget.set(name, before);
  }
  return breaks;
}

/** Null: its numbers say nothing about a cache. */
function turnOf(record: CallRecord): Turn | null {
  const { usage, usage_source: source, attempts, protocol } = record;
  const prompt = promptTokens(usage);
  if (!GENERATED_PROTOCOLS.has(protocol) || (source !== 'upstream' && source !== 'partial') || prompt === 0)
    return null;
  const last = attempts.at(-1);
  const model = last?.model ?? record.served_model ?? record.model ?? '';
  // Caches of a region are its own, like those of a credential.
  const credential = [last?.credential ?? '', last?.region ?? '', last?.door ?? ''].join(' ');
  const target = { model, provider: last?.provider ?? record.provider ?? '', credential };
  return { record, target, prompt, cached: usage.cache_read, written: writtenTokens(usage) };
}

export function promptTokens({ input, cache_read, ...writes }: Usage): number {
  return input + cache_read + writtenTokens(writes);
}

function writtenTokens({ cache_write_5m, cache_write_1h }: Pick<Usage, 'cache_write_5m' | 'cache_write_1h'>): number {
  return cache_write_5m + cache_write_1h;
}

function keptMs({ cache_write_1h, extras }: Usage): number {
  if (cache_write_1h > 0) return KEPT_MS.long;
  return extras?.cache_write_30m === undefined ? KEPT_MS.short : KEPT_MS.half;
}

function compare({ last, writes, reads, keptMs }: Seen, turn: Turn): CacheBreak | null {
  const expected = Math.min(turn.prompt, inCache(last, writes, reads));
  const lost = expected - turn.cached;
  const isShort = turn.prompt < CACHED_TOKENS_MIN && turn.cached === 0 && last.cached > 0;
  const isBroken = lost > LOST_TOKENS_MIN && lost > expected * LOST_PART_MIN;
  if (!isShort && !isBroken) return null;
  const { record } = last;
  const gapMs = turn.record.at_ms - record.at_ms - (record.ttfb_ms ?? record.duration_ms);
  const cause = isShort ? 'short' : causeOf(last.target, turn.target, gapMs > keptMs);
  const cost = costOfLoss(turn.record, lost);
  return { cause, previous: record.request_id, gapMs: Math.max(0, gapMs), keptMs, expected, lost, cost };
}

/** The tokens of a request's prompt that are in the cache after it. */
function inCache({ prompt, cached, written }: Turn, writes: boolean, reads: boolean): number {
  if (writes) return cached + written;
  return reads && prompt >= CACHED_TOKENS_MIN ? prompt : 0;
}

function causeOf(before: Target, now: Target, isLate: boolean): BreakCause {
  if (before.model !== now.model) return 'model';
  if (before.provider !== now.provider) return 'provider';
  if (before.credential !== now.credential) return 'credential';
  return isLate ? 'expired' : 'prompt';
}

/**
 * By the price engine: the usage as it was charged, less the same usage with these tokens read from the cache. Null: it
 * has no price, or is that of several model runs, whose caches are not known.
 */
function costOfLoss({ usage, price_version, cost_nano_usd }: CallRecord, lost: number): bigint | null {
  const price = price_version === null || cost_nano_usd === null ? null : readPriceVersion(price_version);
  if (price === null || usage.extras?.parts !== undefined) return null;
  const charged = (of: Usage) => chargedNanoUsd(of, price, () => price);
  const more = charged(usage) - charged(asCached(usage, lost));
  return more > 0n ? more : 0n;
}

/** Tokens of a lost beginning were written to the cache again, if any were, else charged as input. */
function asCached(usage: Usage, lost: number): Usage {
  const { extras = {} } = usage;
  const take = (has: number, wanted: number) => Math.min(has, wanted);
  const short = take(usage.cache_write_5m, lost);
  const long = take(usage.cache_write_1h, lost - short);
  // Audio and images of the input have prices of their own.
  const text = usage.input - (extras.audio_input ?? 0) - (extras.image_input ?? 0);
  const input = take(text, lost - short - long);
  const half = Math.min(extras.cache_write_30m ?? 0, usage.cache_write_5m - short);
  const { cache_write_30m: _, ...others } = extras;
  return {
    ...usage,
    input: usage.input - input,
    cache_read: usage.cache_read + short + long + input,
    cache_write_5m: usage.cache_write_5m - short,
    cache_write_1h: usage.cache_write_1h - long,
    extras: half > 0 ? { ...others, cache_write_30m: half } : others,
  };
}
