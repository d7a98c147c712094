/**
 * Owns what every client library is asked to do for a test and what it says of it: the one view that they share. The
 * libraries are a package of their own; a checkout without them still has these types.
 */

/** Where a call goes. */
export interface Target {
  /** The gateway's address without a path. */
  readonly url: string;
  readonly key: string;
  readonly model: string;
}

/** What the library made of an answer. Token counts as it tells them; `inputTokens` counts cached ones as well. */
export interface ClientAnswer {
  readonly text: string;
  /** Empty where there was none, or where the library does not read it. */
  readonly reasoning: string;
  /** In the library's own words. */
  readonly finishReason: string | undefined;
  readonly inputTokens: number | undefined;
  readonly cacheReadTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

/** A loop in which the library ran the weather tool as often as it was called and then answered. */
export interface ToolRun {
  readonly text: string;
  /** The cities that were asked for, in order. */
  readonly cities: readonly string[];
  /** Calls of the model. */
  readonly steps: number;
}

/** A client library, set up as its users do. Every function rejects with the library's own error where the call fails. */
export interface ClientDriver {
  /** Its word for an answer that ended by itself. */
  readonly finished: string;
  readonly readsReasoning: boolean;
  /** Takes a stream's input tokens from its first event, and adds the output tokens that stand there to the final count. */
  readonly countsAtStart: boolean;
  /** Takes the error for a prompt that is too long, or, where it has no word for that, for one not to be sent again. */
  seesOverflow(error: unknown): boolean;
  ask(target: Target, question: string): Promise<ClientAnswer>;
  /** `pieces`: the text as it came. */
  askStreamed(target: Target, question: string): Promise<ClientAnswer & { readonly pieces: readonly string[] }>;
  /** Gives the model the tool `get_weather`, which says `sunny in ‹city›`. */
  runTools(target: Target, question: string, streamed: boolean): Promise<ToolRun>;
  /** Asks for an object `{city: string, degrees: integer}`. */
  fillSchema(target: Target, question: string): Promise<unknown>;
}
