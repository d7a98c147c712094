/** Owns the reading of a chat-completions `usage` object into our counters, and what is odd about it. Source: wire reference A.8, C.7 and its table of hosts. */
import { readTierWords, specialTier, type TierWords } from '../../generation/tier-words.ts';
import { NO_FLAGS, type ToldUsage } from '../../generation/usage.ts';
import { asCount, asObject, countOrZero, type JsonObject } from '../json.ts';
import { type Inside, readUsageApart } from './usage-apart.ts';

/** Where hosts without `prompt_tokens_details` say it: DeepSeek, Moonshot, Mistral (recorded traffic, November 2026). */
const CACHE_READ_ELSEWHERE = ['prompt_cache_hit_tokens', 'cached_tokens', 'num_cached_tokens'];

/**
 * Null where a main counter is missing, negative or not an integer: then it does not hold. Details that do not hold
 * count as absent. `prompt_tokens` includes cache reads and writes; they are taken out of `input`.
 */
export function readUsage(value: unknown): ToldUsage | null {
  const usage = asObject(value);
  if (usage === null) return null;
  const prompt = asCount(usage.prompt_tokens);
  const completion = asCount(usage.completion_tokens);
  if (typeof prompt !== 'number' || typeof completion !== 'number') return null;
  const details = asObject(usage.prompt_tokens_details);
  const read =
    countOrZero(details?.cached_tokens) ||
    CACHE_READ_ELSEWHERE.reduce((found, name) => found || countOrZero(usage[name]), 0);
  const written = countOrZero(details?.cache_write_tokens);
  const cache_read = Math.min(read, prompt);
  const cache_write_5m = Math.min(written, prompt - cache_read);
  const reasoning = countOrZero(asObject(usage.completion_tokens_details)?.reasoning_tokens);
  const audio = countOrZero(details?.audio_tokens);
  const total = asCount(usage.total_tokens);
  const beside = typeof total === 'number' ? total - prompt - completion : null;
  // Some hosts leave reasoning out of `completion_tokens` and show it only in the total (seen at xAI, 2025-2026).
  const isApart = beside === reasoning || beside === reasoning + audio;
  const apart = beside !== 0 && reasoning > 0 && (isApart || reasoning > completion);
  // Mistral leaves the tokens of sound out of `prompt_tokens` (recorded traffic, 2026).
  const heard = audio > 0 && beside === audio + (apart ? reasoning : 0) ? audio : 0;
  let flags = NO_FLAGS;
  if (beside !== null && beside !== 0 && !isApart && heard === 0) flags = [...flags, 'sum'];
  if (read + written > prompt) flags = [...flags, 'cached'];
  if (reasoning > completion && (beside === 0 || !isApart)) flags = [...flags, 'reasoning'];
  const counters: Inside = {
    input: prompt - cache_read - cache_write_5m + heard,
    cache_read,
    cache_write_5m,
    cache_write_1h: 0,
    output: apart ? completion + reasoning : completion,
    // A host whose total says that reasoning is inside may still count more of it than of all output (seen at OpenRouter).
    reasoning: apart ? reasoning : Math.min(reasoning, completion),
  };
  const parts = readUsageApart(usage, counters);
  return { usage: parts === undefined ? counters : { ...counters, apart: parts }, flags };
}

/** What an answer or a chunk tells of its usage; Groq puts it into a member of its own. */
export function readToldUsage(body: JsonObject): ToldUsage | null {
  const told = readUsage(body.usage) ?? readUsage(asObject(body.x_groq)?.usage);
  return told === null ? null : withTier(told, readTier(body));
}

/** The words for the tier of an answer or a chunk, standard ones too; some hosts put them into `usage`. */
export function readTier(body: JsonObject): TierWords | undefined {
  return readTierWords(body) ?? readTierWords(asObject(body.usage) ?? {});
}

/** The usage of an answer in that tier. */
export function withTier({ usage, flags }: ToldUsage, stated: TierWords | undefined): ToldUsage {
  const tier = specialTier(stated);
  return { usage: tier === undefined ? usage : { ...usage, apart: { ...usage.apart, tier } }, flags };
}
