/**
 * Owns what a format's renderer is told of the model and host that a request goes to. `null` everywhere means that nobody
 * knows; then nothing is refused for it. Where the facts come from is the routing's.
 */

export interface UpstreamTraits {
  /** The provider's name, for messages. */
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
}

/** What a chat-completions host takes. */
export interface ChatTraits {
  readonly outputLimitMember: 'max_completion_tokens' | 'max_tokens';
  /** How instructions are sent. */
  readonly systemRole: 'system' | 'developer';
  /** Takes `temperature` and `top_p`. */
  readonly sampling: boolean;
  /** Takes `top_k`. */
  readonly top_k: boolean;
  /** Values of `reasoning_effort` that it takes; empty: the member is refused; null: unknown, so it is sent. */
  readonly efforts: readonly string[] | null;
  /** How many `stop` texts; 0: it takes none. */
  readonly stopMax: number;
  /** Form of tool call ids: any, at most 40 characters of `[A-Za-z0-9_-]`, or exactly nine alphanumerics. */
  readonly toolIds: 'any' | 'forty' | 'nine';
  /** Takes image parts in a tool message. */
  readonly mediaInToolMessages: boolean;
  /** Takes `file` parts (PDF). */
  readonly files: boolean;
  /** What an assistant's message at the end (a beginning of the answer) needs. */
  readonly prefill: 'refused' | 'plain' | 'prefix' | 'continue_final_message';
  /** Takes `prompt_cache_breakpoint` on parts. */
  readonly cacheMarks: boolean;
  /** The member in which reasoning goes back in history; null: none is sent back. */
  readonly reasoningInHistory: 'reasoning_content' | 'reasoning' | null;
  /** Takes `content: null` beside tool calls; else an empty text is sent. */
  readonly nullContent: boolean;
  /** Takes the members that only OpenAI itself has: `safety_identifier`, `service_tier`, `verbosity`, `parallel_tool_calls: false` on every model. */
  readonly openaiMembers: boolean;
  readonly parallelToolCalls: boolean;
  /** Takes `strict` in tools and formats. */
  readonly strictSchemas: boolean;
  /** Takes `stream_options.include_usage`. */
  readonly usageOption: boolean;
}

export interface MessagesTraits {
  /** Takes `temperature`, `top_p`, `top_k`. */
  readonly sampling: boolean;
  /** Takes `temperature` and `top_p` together. */
  readonly samplingPair: boolean;
  /** Values of `thinking.type` that it takes; `enabled` is the one with a budget; null: unknown. */
  readonly thinking: readonly string[] | null;
  /** Values of `output_config.effort`; empty: the member is refused; null: unknown. */
  readonly effort: readonly string[] | null;
  readonly effortMaxWhenDisabled: string | null;
  /** Takes `tool_choice` of type `any` or `tool`. */
  readonly forcedToolChoice: boolean;
  /** Takes turns of the role `system` between others. */
  readonly systemTurns: boolean;
  /** Is Anthropic itself, whose server tools can be asked for. */
  readonly firstParty: boolean;
}
