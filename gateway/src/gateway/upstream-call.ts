/** Owns the shape of one way of sending a call upstream and of reading what comes back. Two make it: pass-through and translate. */
import type { GenerationEvent } from '../generation/event.ts';
import type { Generation } from '../generation/generation.ts';
import type { AnswerContext } from '../protocols/codec.ts';
import type { Protocol, StreamObserver } from '../protocols/protocol.ts';
import type { CollectedAnswer } from './collect-answer.ts';

export interface UpstreamCall {
  /** Upstream's format. */
  readonly protocol: Protocol;
  readonly body: Uint8Array;
  /** Null: both sides speak the same format. */
  readonly translation: Translation | null;
  /** Members that could not be carried, in the caller's words. */
  readonly dropped: readonly string[];
  /** Watches, or rewrites, one stream. */
  startObserver(): StreamObserver;
  /** Another way to send it where upstream's refusal shows that this one cannot work, and why; null: the refusal stands. */
  insteadAfter(answer: CollectedAnswer): { readonly call: UpstreamCall; readonly why: string } | null;
}

/** How a translated answer in one piece is read: its events, filtered as those of a stream are. */
export interface Translation {
  readonly client: Protocol;
  readonly context: AnswerContext;
  readAnswer(body: Buffer): readonly GenerationEvent[];
  /** The answer went to the client. */
  listen(generation: Generation): void;
}

/** We put the option in, the caller did not: a host that refuses it must not be the caller's fault. */
export function refusesUsageOption({ head, body }: CollectedAnswer): boolean {
  return (head.status === 400 || head.status === 422) && /stream_options|include_usage/.test(body.toString('latin1'));
}
