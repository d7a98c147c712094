/**
 * Owns the table of the members of a messages request: what each becomes where the answer comes from another format. Where a
 * member has members of its own that differ in fate, each has its row. Source: wire reference B.2 and C.2.
 */
import type { MemberRow } from '../fates.ts';

const REFUSED_BECAUSE =
  'and this model is reached in another format. Leave it out, or choose a model that Anthropic serves';

function becomes(member: string, feature: Exclude<MemberRow['becomes'], null>, note: string): MemberRow {
  return { member, becomes: feature, fate: null, note };
}

function dropped(member: string, note: string): MemberRow {
  return { member, becomes: null, fate: 'dropped', note };
}

function refused(member: string, need: string): MemberRow {
  return { member, becomes: null, fate: 'refused', note: `${need}, ${REFUSED_BECAUSE}` };
}

/**
 * One row per member. An unknown member is dropped and named, never refused (contract, 4); an empty list or object asks
 * for nothing.
 */
export const REQUEST_MEMBERS: readonly MemberRow[] = [
  becomes('model', 'model', ''),
  becomes('messages', 'turns', 'blocks that only Anthropic knows are told in words'),
  becomes(
    'system',
    'turns',
    'one message, its blocks joined by empty lines; parts of their own where one is marked for the cache and the host takes marks',
  ),
  becomes('stream', 'stream', ''),
  becomes('max_tokens', 'output_limit', ''),
  becomes('temperature', 'temperature', ''),
  becomes('top_p', 'top_p', ''),
  becomes('top_k', 'top_k', ''),
  becomes('stop_sequences', 'stop', ''),
  becomes('tools', 'tools', 'server tools and typed tools go to Anthropic only'),
  becomes('tool_choice', 'tool_choice', ''),
  becomes('tool_choice.disable_parallel_tool_use', 'parallel_tool_calls', 'true means at most one call'),
  becomes('thinking', 'reasoning', ''),
  becomes('output_config.effort', 'reasoning', ''),
  becomes('output_config.format', 'output_format', 'refused beside output_format'),
  becomes('output_format', 'output_format', 'the older name of output_config.format; refused beside it'),
  becomes('cache_control', 'cache_marks', 'on the request, on blocks and on tools'),
  becomes('metadata.user_id', 'end_user', ''),
  becomes('service_tier', 'service_tier', ''),
  dropped('output_config.task_budget', 'only Anthropic knows a budget of a task'),
  dropped('speed', 'only Anthropic has it; `standard` asks for nothing'),
  dropped('betas', 'betas are of Anthropic only'),
  dropped('context_management', 'only Anthropic edits the context of a call'),
  dropped('diagnostics', 'only Anthropic says why its cache missed'),
  dropped('inference_geo', 'only Anthropic takes it'),
  dropped('user_profile_id', 'only Anthropic takes it'),
  dropped('tags', 'only Anthropic takes them'),
  refused('container', "runs code in Anthropic's own container"),
  refused('mcp_servers', "has Anthropic's host call MCP servers"),
  refused('compaction', "has Anthropic's host shorten the conversation"),
  refused('thread', 'continues a conversation that Anthropic keeps'),
  refused('fallbacks', 'lets Anthropic answer with other models'),
  refused('fallback_credit_token', 'is a credit for an answer of Anthropic'),
  refused('billing_policy', 'steers what Anthropic bills'),
  refused('safeguards', 'safeguards are checks that Anthropic runs'),
];
