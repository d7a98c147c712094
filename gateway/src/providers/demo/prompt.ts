/** Owns what the demo model understands of a request, free of either wire format. Holds no behaviour. */
import type { JsonObject } from './json-value.ts';

export interface Media {
  readonly kind: 'image' | 'document' | 'sound';
  /** A media type such as `image/png`; null where the request does not say it. */
  readonly mediaType: string | null;
  /** Decoded size in bytes; null where the content stands elsewhere (a URL, a file id). */
  readonly bytes: number | null;
}

export interface ToolResult {
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** `free`: takes one text instead of arguments. */
  readonly input: 'schema' | 'free';
  /** The JSON Schema of the arguments; true accepts anything. */
  readonly schema: JsonObject | boolean;
  /** Where the schema stands in the body, for refusals. */
  readonly path: readonly (string | number)[];
}

export type ToolChoice =
  | { readonly mode: 'none' | 'auto' | 'required' }
  | { readonly mode: 'named'; readonly name: string };

export interface AnswerFormat {
  /** Null: any JSON object. */
  readonly schema: JsonObject | boolean | null;
  readonly path: readonly (string | number)[];
}

/** The conversation's side of a request. */
export interface Conversation {
  /** The last text that the user wrote; empty where the user wrote none. */
  readonly lastUserText: string;
  readonly userTurns: number;
  /** What the last user turn carried beside text. */
  readonly media: readonly Media[];
  /** Results of tools that stand at the very end and wait for an answer. */
  readonly results: readonly ToolResult[];
}

/** A whole request as the demo model sees it. */
export interface Prompt extends Conversation {
  readonly model: string;
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  readonly parallelTools: boolean;
  readonly thinking: 'none' | 'shown' | 'hidden';
  readonly format: AnswerFormat | null;
  /** Null: no limit. */
  readonly tokensMax: number | null;
  readonly stops: readonly string[];
  readonly stream: boolean;
}

export interface ToolCall {
  readonly name: string;
  readonly input: Tool['input'];
  /** JSON text of the arguments, or the plain text of a `free` tool. */
  readonly arguments: string;
}

/** What the model says, in the order in which it says it: thinking, text, calls. */
export interface Answer {
  /** Null: no thinking. Empty where it was asked to be hidden or no token was left for it. */
  readonly thinking: string | null;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly end: 'done' | 'calls' | 'length' | 'stop';
  /** The stop text that ended the answer. */
  readonly stop: string | null;
  readonly outputTokens: number;
  /** The part of `outputTokens` that went into thinking. */
  readonly thinkingTokens: number;
}
