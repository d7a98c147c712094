/**
 * Owns what happens while a model answers, event by event. Parts are numbered in the order in which they begin; several may
 * be open at once, and every delta says to which it belongs.
 */
import type { Citation, Native, OpaquePart } from './part.ts';
import type { ToldUsage, Usage, UsageFlag } from './usage.ts';

/** Why the model stopped. `other`: for a reason that the source names in a word of its own. */
export type FinishReason =
  | 'stop'
  | 'stop_sequence'
  | 'length'
  | 'context_window'
  | 'tool_calls'
  | 'refusal'
  | 'pause'
  | 'other';

/** What begins. An `opaque` part comes whole with its beginning. */
export type PartOpening =
  | { readonly kind: 'text' }
  | { readonly kind: 'refusal' }
  | { readonly kind: 'reasoning'; readonly redacted: boolean; readonly issuer: string | null }
  | { readonly kind: 'tool_call'; readonly id: string; readonly name: string; readonly tool: 'function' | 'custom' }
  | { readonly kind: 'opaque'; readonly part: OpaquePart };

export type GenerationEvent =
  /** First, once. `id` and `model` are the source's. */
  | { readonly kind: 'start'; readonly id: string | null; readonly model: string | null }
  | { readonly kind: 'part_start'; readonly part: number; readonly opening: PartOpening }
  /** Of a text, refusal or reasoning part. Never empty. */
  | { readonly kind: 'text_delta'; readonly part: number; readonly text: string }
  /** Of a tool call: a piece of its JSON, or of its free text. Never empty. */
  | { readonly kind: 'arguments_delta'; readonly part: number; readonly text: string }
  /** Of a reasoning part; replaces an earlier one. */
  | { readonly kind: 'signature'; readonly part: number; readonly signature: string }
  | { readonly kind: 'citation'; readonly part: number; readonly citation: Citation }
  /** Of a tool call: what its host wants back with it. May come after the part's end. */
  | { readonly kind: 'host_data'; readonly part: number; readonly native: Native }
  | { readonly kind: 'part_end'; readonly part: number }
  /** All counters so far; a later one replaces an earlier one. `flags`: what is odd about them; left out: nothing. */
  | { readonly kind: 'usage'; readonly usage: Usage; readonly flags?: readonly UsageFlag[] }
  /** Once, after every part has ended. `reported` is the source's own word; `explanation` what it says of a refusal. */
  | {
      readonly kind: 'finish';
      readonly finish_reason: FinishReason;
      readonly stop_sequence: string | null;
      readonly reported: string | null;
      readonly explanation: string | null;
    }
  /** The source said in its own way that nothing more comes. After it there is nothing. */
  | { readonly kind: 'end' }
  /** The source failed in the middle. After it there is nothing. `status` where the words stand for one. */
  | { readonly kind: 'error'; readonly type: string; readonly message: string; readonly status: number | null }
  /** The source sent what its own format does not know. After it there is nothing. */
  | { readonly kind: 'nonsense'; readonly message: string };

/** Events through a machine that heals, restores or checks; `finish` gives what was held back. */
export interface EventFilter {
  push(event: GenerationEvent): readonly GenerationEvent[];
}

/** The event of counters as upstream told them. */
export function usageEvent({ usage, flags }: ToldUsage): GenerationEvent {
  return flags.length === 0 ? { kind: 'usage', usage } : { kind: 'usage', usage, flags };
}
