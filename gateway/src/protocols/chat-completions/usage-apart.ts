/**
 * Owns the reading of what a chat-completions `usage` object says of sound, images and tools that ran upstream. How the
 * counters around them are read is usage.ts's.
 */
import type { Usage } from '../../generation/usage.ts';
import { apartOf, type UsageApart } from '../../generation/usage-apart.ts';
import { asObject, asText, countOrZero, type JsonObject } from '../json.ts';
import { readRequests, readServerToolUse, type ToolRequests } from '../server-tools.ts';

/** The counters of which sound and images are parts. */
export type Inside = Omit<Usage, 'apart'>;

/** Perplexity's classes of a request by how much it reads (recorded traffic, 2025): its fee is per request and class. */
const SEARCH_CLASSES: ReadonlySet<string> = new Set(['low', 'medium', 'high']);

/**
 * Undefined where there is nothing of it. Parts never exceed their whole: what a host claims beyond it is not counted. A
 * host that does not say which tokens came from its cache is taken to have cached text first.
 */
export function readUsageApart(usage: JsonObject, inside: Inside): UsageApart | undefined {
  const prompt = asObject(usage.prompt_tokens_details);
  const completion = asObject(usage.completion_tokens_details);
  const heard = countOrZero(prompt?.audio_tokens);
  const cached = countOrZero(asObject(prompt?.cached_tokens_details)?.audio_tokens);
  const audio_input = Math.min(Math.max(0, heard - cached), inside.input);
  const spoken = Math.min(countOrZero(completion?.audio_tokens), inside.output - inside.reasoning);
  return apartOf(
    {
      audio_input,
      audio_cache_read: Math.min(heard - audio_input, inside.cache_read),
      audio_output: spoken,
      image_input: Math.min(countOrZero(prompt?.image_tokens), inside.input - audio_input),
      image_output: Math.min(countOrZero(completion?.image_tokens), inside.output - inside.reasoning - spoken),
    },
    readTools(usage),
  );
}

/**
 * OpenRouter reports in the words of messages. Perplexity counts searches where it charges for each, else names the class
 * of the request. xAI counts the sources that its search used.
 */
function readTools(usage: JsonObject): readonly ToolRequests[] {
  const tools = [...readServerToolUse(usage.server_tool_use)];
  const searches = readRequests(usage.num_search_queries);
  const searchClass = asText(usage.search_context_size);
  if (searches !== null) tools.push(['web_search', searches]);
  else if (searchClass !== null && SEARCH_CLASSES.has(searchClass)) tools.push([`search_${searchClass}`, 1]);
  const sources = readRequests(usage.num_sources_used);
  if (sources !== null) tools.push(['search_source', sources]);
  return tools;
}
