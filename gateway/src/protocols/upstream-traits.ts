/**
 * Defines the traits of the target model and provider that a format's renderer needs. `null` always means unknown; then
 * nothing is refused for it. Routing supplies the values.
 */

export interface UpstreamTraits {
  /** The provider's name, for error messages. */
  readonly provider: string;
  /** The model's name there. */
  readonly model: string;
  readonly inputTokensMax: number | null;
  readonly outputTokensMax: number | null;
  readonly takes: {
    readonly image: boolean | null;
    readonly pdf: boolean | null;
    readonly audio: boolean | null;
    readonly tools: boolean | null;
    readonly structured_output: boolean | null;
    readonly reasoning: boolean | null;
  };
  readonly chat: ChatTraits;
  readonly messages: MessagesTraits;
  readonly gemini: GeminiTraits;
  readonly converse: ConverseTraits;
}

/** What a chat-completions provider accepts. */
export interface ChatTraits {
  readonly outputLimitMember: 'max_completion_tokens' | 'max_tokens';
  /** The role for instructions. */
  readonly systemRole: 'system' | 'developer';
  /** Takes instructions only as the first message, and no two messages of the user in a row. */
  readonly strictTurns: boolean;
  /** Wants the assistant's word between the results of calls and the user. */
  readonly answersResults: boolean;
  /** Accepts `temperature` and `top_p`. */
  readonly sampling: boolean;
  /** Accepts `top_k`. */
  readonly top_k: boolean;
  /** Accepted values of `reasoning_effort`; empty: the member is refused; null: unknown, so it is sent. */
  readonly efforts: readonly string[] | null;
  /** The member that turns reasoning on and off: none, `thinking: {type}`, or `enable_thinking` and `thinking_budget`. */
  readonly thinkingSwitch: 'none' | 'type' | 'enable';
  /** Accepts a request that forces a call of a tool while it reasons. */
  readonly forcedWhileReasoning: boolean;
  /** An answer may begin with its reasoning between `<think>` tags. */
  readonly thinkTags: boolean;
  /** Maximum number of `stop` sequences; 0: none accepted. */
  readonly stopMax: number;
  /** Format of tool call ids: any, at most 40 characters of `[A-Za-z0-9_-]`, or exactly nine alphanumerics. */
  readonly toolIds: 'any' | 'forty' | 'nine';
  /** Accepts image parts in a tool message. */
  readonly mediaInToolMessages: boolean;
  /** Accepts `file` parts (PDF). */
  readonly files: boolean;
  /** How to send a trailing assistant message (a prefill of the answer). */
  readonly prefill: 'refused' | 'plain' | 'prefix' | 'partial' | 'continue_final_message';
  /** Accepts `prompt_cache_breakpoint` on parts. */
  readonly cacheMarks: boolean;
  /** The member for earlier reasoning in the history; null: it is not sent back. */
  readonly reasoningInHistory: 'reasoning_content' | 'reasoning' | null;
  /** The earlier answers without reasoning that a model which reasons refuses: none, those with calls, or all. */
  readonly unreasonedRefused: 'none' | 'calls' | 'all';
  /** Accepts `content: null` with tool calls; else an empty string is sent. */
  readonly nullContent: boolean;
  /**
   * Accepts OpenAI's own members: `safety_identifier`, `service_tier`, `verbosity`, and `parallel_tool_calls: false` on
   * every model.
   */
  readonly openaiMembers: boolean;
  readonly parallelToolCalls: boolean;
  /** Accepts the name of a tool as `tool_choice`. */
  readonly namedToolChoice: boolean;
  /** Accepts `strict` in tools and formats. */
  readonly strictSchemas: boolean;
  /** Schemas need an object at their root, one schema for the items of an array, and no `type` beside `anyOf`. */
  readonly plainSchemas: boolean;
  /** Accepts `stream_options.include_usage`. */
  readonly usageOption: boolean;
}

export interface MessagesTraits {
  /** Accepts `temperature`, `top_p`, `top_k`. */
  readonly sampling: boolean;
  /** Accepts `temperature` and `top_p` together. */
  readonly samplingPair: boolean;
  /** Accepted values of `thinking.type`; `enabled` is the one with a budget; null: unknown. */
  readonly thinking: readonly string[] | null;
  /** Accepted values of `output_config.effort`; empty: the member is refused; null: unknown. */
  readonly effort: readonly string[] | null;
  readonly effortMaxWhenDisabled: string | null;
  /** Accepts `tool_choice` of type `any` or `tool`. */
  readonly forcedToolChoice: boolean;
  /** Accepts turns of the role `system` between others. */
  readonly systemTurns: boolean;
  /** Anthropic itself, which has server tools. */
  readonly firstParty: boolean;
  /** Fetches images and documents from their addresses. */
  readonly mediaUrls: boolean;
}

/** How Google's two doors to Gemini differ. What a model accepts follows from its name. */
export interface GeminiTraits {
  /** Google AI Studio or Vertex AI. */
  readonly platform: 'ai_studio' | 'vertex';
}

/** The operator's settings for models reached through Bedrock's Converse; null: not set. */
export interface ConverseTraits {
  readonly guardrail: {
    readonly identifier: string;
    readonly version: string;
    readonly trace: 'enabled' | 'disabled' | 'enabled_full' | null;
    readonly streamProcessing: 'sync' | 'async' | null;
  } | null;
  readonly serviceTier: 'priority' | 'default' | 'flex' | 'reserved' | null;
  readonly latency: 'standard' | 'optimized' | null;
}

export const NO_CONVERSE_SETTINGS: ConverseTraits = { guardrail: null, serviceTier: null, latency: null };
