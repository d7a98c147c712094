/** Lists how each feature of a canonical request is sent to a chat-completions upstream. */
import type { FeatureFates } from '../../request/fates.ts';

/** The note says what depends on the provider or model; the files `render-*.ts` in this folder implement it. */
export const RENDERED_FEATURES: FeatureFates = {
  tools: {
    fate: 'carried',
    note: 'functions and free-text tools; refused: tools that only another format or its host knows, and models without tools',
  },
  tool_choice: {
    fate: 'carried',
    note: 'a choice among some tools: the others are left out where the host has no such form',
  },
  parallel_tool_calls: { fate: 'carried', note: 'false is dropped where the host always allows it' },
  output_limit: { fate: 'carried', note: 'more than the model can is lowered to what it can, and named; 0 is refused' },
  stop: { fate: 'carried', note: 'emulated where the host takes none; more than it takes are refused' },
  temperature: { fate: 'carried', note: 'dropped where the model samples in its own way' },
  top_p: { fate: 'carried', note: 'dropped where the model samples in its own way' },
  top_k: { fate: 'carried', note: 'dropped where the host does not take it' },
  frequency_penalty: { fate: 'carried', note: 'dropped where the model samples in its own way' },
  presence_penalty: { fate: 'carried', note: 'dropped where the model samples in its own way' },
  seed: { fate: 'carried', note: '' },
  reasoning: {
    fate: 'emulated',
    note: 'as reasoning_effort, a budget as the effort next to it; an effort that the model lacks becomes the nearest, and is named; dropped for a model that is not known to reason; earlier reasoning goes back only where the host wants it',
  },
  output_format: {
    fate: 'carried',
    note: 'strict where the schema keeps the strict rules; a schema is refused where the model takes none',
  },
  verbosity: { fate: 'carried', note: 'dropped where the host does not take it' },
  end_user: {
    fate: 'emulated',
    note: 'as safety_identifier, hashed where it holds ids of devices; dropped where the host does not take it',
  },
  service_tier: { fate: 'carried', note: 'dropped where the host has no tiers' },
  cache_marks: {
    fate: 'carried',
    note: 'as prompt_cache_breakpoint; dropped where the host does not take it, and on tools, on calls and on the whole request',
  },
  web_search: { fate: 'carried', note: 'refused where the host cannot search' },
};
