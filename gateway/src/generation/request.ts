/** Owns what a caller asks of a model, in the words of no wire format. Holds no rule of what a model can do. */
import type { CacheMark, JsonText, Native, Part } from './part.ts';

/** One message as its sender wrote it; nothing is joined or moved. Tool results are parts of a user's turn. */
export interface Turn {
  readonly role: 'system' | 'developer' | 'user' | 'assistant';
  /** Which of several users or assistants spoke. */
  readonly name: string | null;
  readonly parts: readonly Part[];
  /** Where it stood, for messages about it: `messages.3`. */
  readonly path: string;
}

/** A tool that the model may call. `opaque`: one that only its own format knows (run by the host, or with a built-in schema). */
export type Tool =
  | {
      readonly kind: 'function';
      readonly name: string;
      readonly description: string | null;
      /** JSON Schema of the arguments; null: it takes none. */
      readonly parameters: JsonText | null;
      readonly strict: boolean | null;
      readonly cache_mark: CacheMark | null;
    }
  | {
      /** Takes free text. `grammar` bounds it. */
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

/** How much the model is to think. `mode` null: only the effort was named; `effort` null: only the mode. */
export interface ReasoningWish {
  readonly mode: 'off' | 'adaptive' | 'budget' | 'between_tools' | null;
  /** With mode `budget` only. */
  readonly budgetTokens: number | null;
  readonly effort: ReasoningEffort | null;
  /** How reasoning is to be shown. */
  readonly display: 'summarized' | 'omitted' | null;
}

/** The form of the answer; null stands for plain text. */
export type OutputFormat =
  | { readonly kind: 'json' }
  | {
      readonly kind: 'json_schema';
      readonly name: string | null;
      readonly description: string | null;
      readonly schema: JsonText;
      readonly strict: boolean | null;
    };

export interface WebSearchWish {
  readonly context_size: string | null;
  /** Of `{city, country, region, timezone}`. */
  readonly location: JsonText | null;
}

/** All that a request can ask beside its turns. Each is carried, emulated, dropped or refused by every format: see its tables. */
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
] as const;

export type Feature = (typeof FEATURES)[number];

export interface GenerationRequest {
  /** The name that the caller gave. */
  readonly model: string;
  readonly stream: boolean;
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly tool_choice: ToolChoice | null;
  /** Null: not said. */
  readonly parallel_tool_calls: boolean | null;
  readonly outputTokensMax: number | null;
  readonly stop: readonly string[];
  readonly temperature: number | null;
  readonly top_p: number | null;
  readonly top_k: number | null;
  readonly frequency_penalty: number | null;
  readonly presence_penalty: number | null;
  readonly seed: number | null;
  readonly reasoning: ReasoningWish | null;
  readonly output_format: OutputFormat | null;
  readonly verbosity: string | null;
  /** The caller's own user, in whatever words it names him. */
  readonly end_user: string | null;
  readonly service_tier: string | null;
  /** A mark on the whole prompt, beside those on parts and tools. */
  readonly cache_mark: CacheMark | null;
  readonly web_search: WebSearchWish | null;
  /** By which member of its own the caller asked for a feature, for messages about it; only of those it named. */
  readonly named: { readonly [feature in Feature]?: string };
}
