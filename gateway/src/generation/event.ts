/**
 * Defines the events of a model's response, and filters on them. Parts are numbered in the order in which they begin;
 * several may be open at once, and every delta names its part.
 */
import type { Citation, Native, OpaquePart } from './part.ts';
import type { ReportedUsage, Usage, UsageFlag } from './usage.ts';

/** Why the model stopped. `other`: for a reason that only the source's own term names. */
export type FinishReason =
  | 'stop'
  | 'stop_sequence'
  | 'length'
  | 'context_window'
  | 'tool_calls'
  | 'refusal'
  | 'pause'
  | 'other';

/** Whether the response ended before the model was done, so that its last tool call may be cut off. */
export function isCut(finish: FinishReason): boolean {
  return finish === 'length' || finish === 'context_window' || finish === 'refusal';
}

/** The content that begins. An `opaque` part is complete when it begins. */
export type PartOpening =
  | { readonly kind: 'text' }
  | { readonly kind: 'refusal' }
  | { readonly kind: 'reasoning'; readonly redacted: boolean; readonly issuer: string | null }
  | { readonly kind: 'tool_call'; readonly id: string; readonly name: string; readonly tool: 'function' | 'custom' }
  | { readonly kind: 'opaque'; readonly part: OpaquePart };

/** A token of an answer with its natural log probability, and the likeliest tokens in its place. */
export interface TokenLogprob {
  readonly token: string;
  readonly logprob: number;
  readonly top: ReadonlyArray<{ readonly token: string; readonly logprob: number }>;
}

export type GenerationEvent =
  /** First, once. `id` and `model` come from the source. */
  | { readonly kind: 'start'; readonly id: string | null; readonly model: string | null }
  | { readonly kind: 'part_start'; readonly part: number; readonly opening: PartOpening }
  /** Text of a text, refusal or reasoning part. Never empty. */
  | { readonly kind: 'text_delta'; readonly part: number; readonly text: string }
  /** A piece of a tool call's JSON or free text. Never empty. */
  | { readonly kind: 'arguments_delta'; readonly part: number; readonly text: string }
  /** Signature of a reasoning part; replaces an earlier one. */
  | { readonly kind: 'signature'; readonly part: number; readonly signature: string }
  | { readonly kind: 'citation'; readonly part: number; readonly citation: Citation }
  /**
   * Provider data of a text or tool call that the provider expects back with it. Of a call: before its arguments, if it
   * is known then. May come after the part's end.
   */
  | { readonly kind: 'host_data'; readonly part: number; readonly native: Native }
  | { readonly kind: 'part_end'; readonly part: number }
  /** The next tokens of the answer, where they were requested. Not empty. */
  | { readonly kind: 'logprobs'; readonly tokens: readonly TokenLogprob[] }
  /**
   * All counters so far; a later event replaces an earlier one. `flags`: anomalies in the counters; absent if there are
   * none.
   */
  | { readonly kind: 'usage'; readonly usage: Usage; readonly flags?: readonly UsageFlag[] }
  /** Once, after every part has ended. `reported` is the source's own term; `explanation` its text about a refusal. */
  | {
      readonly kind: 'finish';
      readonly finish_reason: FinishReason;
      readonly stop_sequence: string | null;
      readonly reported: string | null;
      readonly explanation: string | null;
    }
  /** The source signaled the end in its own way. No event follows. */
  | { readonly kind: 'end' }
  /** The source failed midway. No event follows. `status` is set if the error corresponds to an HTTP status. */
  | { readonly kind: 'error'; readonly type: string; readonly message: string; readonly status: number | null }
  /** Heals, restores or checks events. Events that a filter holds back are released at `finish` or an error. */
  | { readonly kind: 'malformed'; readonly message: string };

/** Heals, restores or checks events. A filter releases events that it holds back when `finish` arrives. */
export interface EventFilter {
  push(event: GenerationEvent): readonly GenerationEvent[];
}

/** The event for counters as upstream reported them. */
export function usageEvent({ usage, flags }: ReportedUsage): GenerationEvent {
  return flags.length === 0 ? { kind: 'usage', usage } : { kind: 'usage', usage, flags };
}

/** Takes events as they arrive and returns those that remain. */
export type EventPipe = (events: readonly GenerationEvent[]) => readonly GenerationEvent[];

/** Applies the filters in order, the first nearest to upstream. Without a filter the events are returned unchanged. */
export function chainFilters(filters: readonly EventFilter[]): EventPipe {
  if (filters.length === 0) return (events) => events;
  return (events) => {
    let current = events;
    for (const filter of filters) current = pushAll(filter, current);
    return current;
  };
}

function pushAll(filter: EventFilter, events: readonly GenerationEvent[]): readonly GenerationEvent[] {
  const [only] = events;
  if (only === undefined) return events;
  if (events.length === 1) return filter.push(only);
  const passed: GenerationEvent[] = [];
  for (const event of events) for (const left of filter.push(event)) passed.push(left);
  return passed;
}
