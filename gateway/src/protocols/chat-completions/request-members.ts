/** Owns the table of what a chat-completions request can hold and what becomes of each member on a translated route. It reads nothing. */
import type { MemberRow } from '../fates.ts';

/**
 * One row for each member of today's body (wire reference A.2), then the extensions that are read. Any other member is dropped
 * and named. `null` counts as absent everywhere.
 */
export const REQUEST_MEMBERS: readonly MemberRow[] = [
  { member: 'model', becomes: 'model', fate: null, note: 'as the operator routes it' },
  { member: 'messages', becomes: 'turns', fate: null, note: 'audio of an earlier answer is refused' },
  { member: 'audio', becomes: null, fate: 'refused', note: 'the answer cannot be sound' },
  { member: 'frequency_penalty', becomes: 'frequency_penalty', fate: null, note: '' },
  { member: 'presence_penalty', becomes: 'presence_penalty', fate: null, note: '' },
  { member: 'function_call', becomes: 'tool_choice', fate: null, note: 'read as tool_choice' },
  { member: 'functions', becomes: 'tools', fate: null, note: 'read as tools of type function' },
  { member: 'logit_bias', becomes: null, fate: 'refused', note: 'the model behind this name cannot weigh tokens' },
  { member: 'logprobs', becomes: null, fate: 'refused', note: 'the model behind this name tells no probabilities' },
  { member: 'top_logprobs', becomes: null, fate: 'refused', note: 'the model behind this name tells no probabilities' },
  { member: 'max_completion_tokens', becomes: 'output_limit', fate: null, note: '' },
  { member: 'max_tokens', becomes: 'output_limit', fate: null, note: 'max_completion_tokens wins where both are set' },
  { member: 'metadata', becomes: null, fate: 'dropped', note: 'it is kept nowhere upstream' },
  { member: 'modalities', becomes: null, fate: 'refused', note: 'only text can be answered' },
  { member: 'moderation', becomes: null, fate: 'dropped', note: 'no moderation is run; refused in mode block' },
  { member: 'n', becomes: null, fate: 'refused', note: 'only one answer can be asked for at a time' },
  { member: 'parallel_tool_calls', becomes: 'parallel_tool_calls', fate: null, note: '' },
  { member: 'prediction', becomes: null, fate: 'dropped', note: 'it only speeds the answer up' },
  { member: 'prompt_cache_key', becomes: null, fate: 'dropped', note: 'it only advises the cache' },
  { member: 'prompt_cache_options', becomes: null, fate: 'dropped', note: 'it only advises the cache' },
  { member: 'prompt_cache_retention', becomes: null, fate: 'dropped', note: 'it only advises the cache' },
  { member: 'reasoning_effort', becomes: 'reasoning', fate: null, note: '' },
  { member: 'response_format', becomes: 'output_format', fate: null, note: '' },
  { member: 'safety_identifier', becomes: 'end_user', fate: null, note: 'wins over user' },
  { member: 'seed', becomes: 'seed', fate: null, note: '' },
  { member: 'service_tier', becomes: 'service_tier', fate: null, note: '' },
  { member: 'stop', becomes: 'stop', fate: null, note: '' },
  { member: 'store', becomes: null, fate: 'dropped', note: 'it is kept nowhere upstream' },
  { member: 'stream', becomes: 'stream', fate: null, note: '' },
  { member: 'stream_options', becomes: 'stream', fate: null, note: 'include_usage is done by the gateway' },
  { member: 'temperature', becomes: 'temperature', fate: null, note: '' },
  { member: 'top_p', becomes: 'top_p', fate: null, note: '' },
  { member: 'tool_choice', becomes: 'tool_choice', fate: null, note: '' },
  { member: 'tools', becomes: 'tools', fate: null, note: '' },
  { member: 'user', becomes: 'end_user', fate: null, note: 'safety_identifier wins where both are set' },
  { member: 'verbosity', becomes: 'verbosity', fate: null, note: '' },
  { member: 'web_search_options', becomes: 'web_search', fate: null, note: '' },
  { member: 'top_k', becomes: 'top_k', fate: null, note: 'an extension of many hosts' },
  {
    member: 'cache_control',
    becomes: 'cache_marks',
    fate: null,
    note: 'an extension; also on parts, messages and tools',
  },
];
