/** Owns writing counters as a chat-completions `usage` object. Reading is usage.ts's. */
import type { Usage } from '../../generation/usage.ts';

/** A `usage` object of numbers. */
export interface ChatUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: {
    readonly cached_tokens: number;
    readonly cache_write_tokens: number;
    readonly [media: string]: number;
  };
  readonly completion_tokens_details: { readonly reasoning_tokens: number; readonly [media: string]: number };
  readonly [member: string]: number | { readonly [member: string]: number };
}

/**
 * Disjoint counters as the inclusive ones of wire reference A.8 and C.7: the prompt's include cache reads and writes. Sound
 * and images are named where there are any; for tools that ran upstream the format has no member.
 */
export function renderUsage(usage: Usage): ChatUsage {
  const cache_write_tokens = usage.cache_write_5m + usage.cache_write_1h;
  const { apart } = usage;
  const prompt_tokens = usage.input + usage.cache_read + cache_write_tokens;
  return {
    prompt_tokens,
    completion_tokens: usage.output,
    total_tokens: prompt_tokens + usage.output,
    prompt_tokens_details: {
      cached_tokens: usage.cache_read,
      cache_write_tokens,
      ...renderMedia((apart?.audio_input ?? 0) + (apart?.audio_cache_read ?? 0), apart?.image_input ?? 0),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      ...renderMedia(apart?.audio_output ?? 0, apart?.image_output ?? 0),
    },
  };
}

function renderMedia(audio_tokens: number, image_tokens: number): { readonly [member: string]: number } {
  return { ...(audio_tokens > 0 && { audio_tokens }), ...(image_tokens > 0 && { image_tokens }) };
}
