/** Defines a generation request, independent of any wire format. Contains no rules about model capabilities. */
import type { CacheMark, JsonText, Native, Part } from './part.ts';

/**
 * One message as its sender wrote it; messages are not joined or reordered. Tool results are parts of a user's turn.
 */
export interface Turn {
  readonly role: 'system' | 'developer' | 'user' | 'assistant';
  /** Identifies the speaker among several users or assistants. */
  readonly name: string | null;
  readonly parts: readonly Part[];
  /** Position in the request, for error messages: `messages.3`. */
  readonly path: string;
}

/**
 * A tool that the model may call. `opaque`: one that only its own format knows (run by the provider, or with a built-in
 * schema).
 */
export type Tool =
  | {
      readonly kind: 'function';
      readonly name: string;
      readonly description: string | null;
      /** JSON Schema of the arguments; null if it takes none. */
      readonly parameters: JsonText | null;
      readonly strict: boolean | null;
      readonly cache_mark: CacheMark | null;
    }
  | {
      /** Takes free text, which `grammar` restricts. */
      readonly kind: 'custom';
      readonly name: string;
      readonly description: string | null;
      readonly grammar: JsonText | null;
    }
  | { readonly kind: 'opaque'; readonly type: string; readonly name: string | null; readonly native: Native };

export type ToolChoice =
  | { readonly kind: 'auto' | 'none' | 'required' }
  | { readonly kind: 'tool'; readonly name: string }
  | { readonly kind: 'allowed'; readonly mode: 'auto' | 'required'; readonly names: readonly string[] };

export const EFFORT_ORDER = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type ReasoningEffort = (typeof EFFORT_ORDER)[number];

/** How much the model should reason. `mode` null: only the effort was named; `effort` null: only the mode. */
export interface ReasoningRequest {
  readonly mode: 'off' | 'adaptive' | 'budget' | 'between_tools' | null;
  /** With mode `budget` only. */
  readonly budgetTokens: number | null;
  readonly effort: ReasoningEffort | null;
  /** How reasoning should be shown. */
  readonly display: 'summarized' | 'omitted' | null;
}

/** The format of the response; null is plain text. */
export type OutputFormat =
  | { readonly kind: 'json' }
  | {
      readonly kind: 'json_schema';
      readonly name: string | null;
      readonly description: string | null;
      readonly schema: JsonText;
      readonly strict: boolean | null;
    };

export interface WebSearchRequest {
  readonly context_size: string | null;
  /** JSON of `{city, country, region, timezone}`. */
  readonly location: JsonText | null;
}

/**
 * All options of a request besides its turns. Each format carries, emulates, drops or refuses each of them: see its
 * tables.
 */
export const FEATURES = [
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'output_limit',
  'stop',
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'seed',
  'reasoning',
  'output_format',
  'verbosity',
  'end_user',
  'service_tier',
  'cache_marks',
  'web_search',
  'logprobs',
] as const;

export type Feature = (typeof FEATURES)[number];

/** How the client's format writes the calls of a tool that it knows by another name, or in another form. */
export type CallForm =
  | { readonly kind: 'namespaced'; readonly namespace: string; readonly name: string }
  /** As items of the type that the format has for the tool. */
  | { readonly kind: 'typed'; readonly type: string };

export interface GenerationRequest {
  /** The model name that the client sent. */
  readonly model: string;
  readonly stream: boolean;
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly tool_choice: ToolChoice | null;
  /** Null: not specified. */
  readonly parallel_tool_calls: boolean | null;
  readonly outputTokensMax: number | null;
  readonly stop: readonly string[];
  readonly temperature: number | null;
  readonly top_p: number | null;
  readonly top_k: number | null;
  readonly frequency_penalty: number | null;
  readonly presence_penalty: number | null;
  readonly seed: number | null;
  readonly reasoning: ReasoningRequest | null;
  readonly output_format: OutputFormat | null;
  readonly verbosity: string | null;
  /** The client's own end-user identifier, in any format. */
  readonly end_user: string | null;
  readonly service_tier: string | null;
  /** A mark on the whole prompt, in addition to those on parts and tools. */
  readonly cache_mark: CacheMark | null;
  readonly web_search: WebSearchRequest | null;
  /** Log probabilities of the answer's tokens, each with the `top` likeliest in its place; null: not requested. */
  readonly logprobs: { readonly top: number } | null;
  /** The client's own member name for each feature it requested, for messages about it. */
  readonly named: { readonly [feature in Feature]?: string };
  /** The client gets none of the model's reasoning; absent: it gets what there is. */
  readonly hidesReasoning?: true;
  /** By the name of the tool; absent: calls of all tools are written by their names. */
  readonly callForms?: ReadonlyMap<string, CallForm>;
  /** The answer must be a summary that stands for the conversation (`summaryRequest`). Absent: an ordinary answer. */
  readonly summarizes?: true;
}

/** Whether the answer must call a tool. */
export function forcesTool(choice: ToolChoice | null): boolean {
  return (
    choice?.kind === 'required' || choice?.kind === 'tool' || (choice?.kind === 'allowed' && choice.mode === 'required')
  );
}
