/** Lists how each feature of a canonical request is sent to a chat-completions upstream. */
import type { FeatureFates } from '../../request/fates.ts';

/** The note says what depends on the provider or model; the files `render-*.ts` in this folder implement it. */
export const RENDERED_FEATURES: FeatureFates = {
  tools: {
    fate: 'carried',
    note: 'functions and free-text tools; refused: tools that only another format or its provider has, and models without tools',
  },
  tool_choice: {
    fate: 'carried',
    note: 'a choice among some tools: the others are omitted if the provider has no such form',
  },
  parallel_tool_calls: { fate: 'carried', note: 'false is dropped if the provider always allows parallel calls' },
  output_limit: { fate: 'carried', note: "lowered to the model's maximum, and named; 0 is refused" },
  stop: { fate: 'carried', note: 'emulated if the provider supports none; more than it supports are refused' },
  temperature: { fate: 'carried', note: 'dropped if the model does not support it' },
  top_p: { fate: 'carried', note: 'dropped if the model does not support it' },
  top_k: { fate: 'carried', note: 'dropped if the provider does not support it' },
  frequency_penalty: { fate: 'carried', note: 'dropped if the model does not support it' },
  presence_penalty: { fate: 'carried', note: 'dropped if the model does not support it' },
  seed: { fate: 'carried', note: '' },
  reasoning: {
    fate: 'emulated',
    note: 'as reasoning_effort, a budget as the effort next to it; an unsupported effort becomes the nearest, and is named; dropped for a model that is not known to reason; earlier reasoning goes back only if the provider wants it',
  },
  output_format: {
    fate: 'carried',
    note: 'strict if the schema follows the strict rules; a schema is refused if the model supports none',
  },
  verbosity: { fate: 'carried', note: 'dropped if the provider does not support it' },
  end_user: {
    fate: 'emulated',
    note: 'as safety_identifier, hashed if it contains device ids; dropped if the provider does not support it',
  },
  service_tier: { fate: 'carried', note: 'dropped if the provider has no tiers' },
  cache_marks: {
    fate: 'carried',
    note: 'as prompt_cache_breakpoint; dropped if the provider does not support it, and on tools, on calls and on the whole request',
  },
  web_search: { fate: 'carried', note: 'refused if the provider cannot search' },
};
