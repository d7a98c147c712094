/** Owns writing counters as a messages `usage` object. Source: wire reference B.6 and C.7. */
import type { Usage } from '../../generation/usage.ts';
import type { WritableJson } from '../../wire/json-writer.ts';

const BYTES_PER_TOKEN = 4;

/** Counters where the source gave none that hold: our estimate of the prompt, and of so many bytes of answer. */
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

/** Of a whole message. */
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

/** Of `message_start`: what upstream has not counted yet. How cache writes will split is not known, and no later event says it. */
export function renderEstimate(inputTokens: number): WritableJson {
  return { ...renderUsage(estimateUsage(inputTokens, 0)), cache_creation: null };
}

/** Of `message_delta`: the cumulative totals. */
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

/** The format has members for two kinds; null where neither was used. */
function renderToolUse({ apart }: Usage): WritableJson {
  const { web_search = 0, web_fetch = 0 } = apart?.server_tools ?? {};
  return web_search + web_fetch === 0 ? null : { web_search_requests: web_search, web_fetch_requests: web_fetch };
}

/**
 * The counters that follow an estimate in `message_start`: Claude Code overwrites it only by values above 0, so where all of
 * the prompt was cached one token is shown as not cached, or the prompt would count twice. Source: B.6, vector 18b.
 */
export function correctEstimate(usage: Usage, estimatedInputTokens: number): Usage {
  if (usage.input > 0 || estimatedInputTokens === 0) return usage;
  if (usage.cache_read > 0) return { ...usage, input: 1, cache_read: usage.cache_read - 1 };
  if (usage.cache_write_5m > 0) return { ...usage, input: 1, cache_write_5m: usage.cache_write_5m - 1 };
  return usage.cache_write_1h > 0 ? { ...usage, input: 1, cache_write_1h: usage.cache_write_1h - 1 } : usage;
}
