/** Lists how the messages format, as upstream, treats each feature of a request. Source: wire reference C.1 and C.5. */
import type { FeatureFates } from '../../request/fates.ts';

/** The tests check this table against `renderRequest`. */
export const RENDERED_FEATURES: FeatureFates = {
  tools: {
    fate: 'carried',
    note: 'free-text tools as functions with one text; the schema of a strict tool like that of an answer; grammars and tools of other formats are refused',
  },
  tool_choice: { fate: 'carried', note: 'refused if the model cannot be forced to call a tool' },
  parallel_tool_calls: { fate: 'carried', note: 'as disable_parallel_tool_use' },
  output_limit: {
    fate: 'carried',
    note: "capped at the model's maximum, and named; without one, the model's maximum, or 8192 where it is unknown",
  },
  stop: { fate: 'carried', note: 'the gateway searches for texts of white space only' },
  temperature: {
    fate: 'carried',
    note: 'lowered to 1 above 1, and named; dropped if the model does not support it or thinks',
  },
  top_p: { fate: 'carried', note: 'dropped if the model does not support it; with thinking only from 0.95 on' },
  top_k: { fate: 'carried', note: 'dropped if the model does not support it or thinks' },
  frequency_penalty: { fate: 'dropped', note: '0 has no effect' },
  presence_penalty: { fate: 'dropped', note: '0 has no effect' },
  seed: { fate: 'dropped', note: '0 has no effect' },
  reasoning: {
    fate: 'carried',
    note: 'as adaptive thinking with an effort, or a budget, whichever the model supports',
  },
  output_format: {
    fate: 'carried',
    note: 'a schema as output_config.format, or through a tool: its objects are closed, and keywords that Anthropic refuses become words in descriptions, and are named; plain JSON by an instruction, and taken out of what the model wrote around it',
  },
  verbosity: { fate: 'dropped', note: '`medium` has no effect' },
  end_user: { fate: 'carried', note: 'as metadata.user_id' },
  service_tier: { fate: 'carried', note: 'auto, and default as standard_only; others are dropped' },
  cache_marks: { fate: 'carried', note: 'the last four; up to 5 minutes, or an hour' },
  web_search: { fate: 'emulated', note: "by Anthropic's own search tool; refused at other providers" },
};
