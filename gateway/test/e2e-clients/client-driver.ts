/**
 * Defines the interface through which tests use every client library. The libraries are a separate package; a checkout
 * without them still has these types.
 */

/** The target of a call. */
export interface Target {
  /** The gateway's address without a path. */
  readonly url: string;
  readonly key: string;
  readonly model: string;
}

/** An answer as the library parsed it, with the token counts that it reports; `inputTokens` includes cached ones. */
export interface ClientAnswer {
  readonly text: string;
  /** Empty if there was none or the library does not support it. */
  readonly reasoning: string;
  /** In the library's own terms. */
  readonly finishReason: string | undefined;
  readonly inputTokens: number | undefined;
  readonly cacheReadTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

/** A loop in which the library ran the weather tool for each call and then answered. */
export interface ToolRun {
  readonly text: string;
  /** The requested cities, in order. */
  readonly cities: readonly string[];
  /** Number of model calls. */
  readonly steps: number;
}

/** A client library, set up as its users do. Every function rejects with the library's own error if the call fails. */
export interface ClientDriver {
  /** Its finish reason for an answer that ended normally; undefined: it has none. */
  readonly finished: string | undefined;
  readonly readsReasoning: boolean;
  /** Takes a stream's input tokens from its first event, and adds the output tokens there to the final count. */
  readonly countsAtStart: boolean;
  /**
   * Whether the library recognizes the error as a prompt that is too long or, without such a category, as not
   * retryable.
   */
  seesOverflow(error: unknown): boolean;
  ask(target: Target, question: string): Promise<ClientAnswer>;
  /** `pieces`: the text as it arrived. */
  askStreamed(target: Target, question: string): Promise<ClientAnswer & { readonly pieces: readonly string[] }>;
  /** Gives the model the tool `get_weather`, which returns `sunny in ‹city›`. */
  runTools(target: Target, question: string, streamed: boolean): Promise<ToolRun>;
  /** Requests an object `{city: string, degrees: integer}`. */
  fillSchema(target: Target, question: string): Promise<unknown>;
}
