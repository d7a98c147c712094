/** Owns the shape of one way of sending a call upstream and of reading what comes back. Two make it: pass-through and translate. */

import type { SseRecord } from '../../framing/sse-record.ts';
import type { GenerationEvent } from '../../generation/event.ts';
import type { Generation } from '../../generation/generation.ts';
import type { Usage } from '../../generation/usage.ts';
import type { AnswerContext } from '../../protocols/codec.ts';
import type { Protocol, StreamObserver } from '../../protocols/protocol.ts';
import { findRefusedMember } from '../../protocols/refused-member.ts';
import type { UpstreamTraits } from '../../protocols/upstream-traits.ts';
import type { CollectedAnswer } from '../attempt/collect-answer.ts';
import { DROPPABLE } from './leave-out.ts';

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
  /** The answer is asked for as a stream, for a client that gets one piece: reads it. Null: both have the same form. */
  readonly startFolding: (() => Folding) | null;
  /** Another way to send it where upstream's refusal shows that this one cannot work, and why; null: the refusal stands. */
  insteadAfter(answer: CollectedAnswer): Instead | null;
}

/** Another way to send a call. */
export interface Instead {
  readonly call: UpstreamCall;
  readonly why: string;
  /** What the refusal shows of the upstream; absent: nothing that another attempt must know. */
  readonly shown?: { readonly traits: UpstreamTraits; readonly refuses: readonly string[] };
  /** The member that upstream does not know: remembered if this way succeeds. */
  readonly unknown?: string | undefined;
}

/** Reads one stream that is to be an answer in one piece. */
export interface Folding {
  readonly observer: StreamObserver;
  /** Takes a record that the observer has passed. */
  take(record: SseRecord): void;
  /**
   * The answer, in the client's format. `cut`: the stream was stopped before its end; what came is the answer then, and these are its
   * counters. Throws CallFailure `upstream_nonsense` where what came is no answer.
   */
  finish(cut: Usage | null): FoldedAnswer;
}

export interface FoldedAnswer {
  readonly json: string;
  readonly finish_reason: string | null;
  /** States of the answer that could not be carried. */
  readonly dropped: readonly string[];
}

/** How a translated answer in one piece is read: its events, filtered as those of a stream are. */
export interface Translation {
  readonly client: Protocol;
  readonly context: AnswerContext;
  readAnswer(body: Buffer): readonly GenerationEvent[];
  /** What the answer leaves unmet or unsaid, for `x-tollgate-dropped`. */
  lossesIn(generation: Generation): readonly string[];
  /** The answer went to the client. */
  listen(generation: Generation): void;
}

/** It was asked for a stream, which its client did not ask for, and its host or model does not stream. */
export function refusesStream({ head, body }: CollectedAnswer): boolean {
  return head.status >= 400 && head.status < 500 && /\bstream(?:ing|ed|s)?\b/i.test(body.toString('latin1'));
}

/** How the caller is told that an answer came without the usage that we had asked for. */
export const USAGE_OPTION = 'stream_options.include_usage';

/** `stream_options`, where the refusal says that upstream does not know it; undefined: it says something else. */
export function unknownOption({ codec }: Protocol, { body }: CollectedAnswer): string | undefined {
  const refused = findRefusedMember(codec.readError(body), DROPPABLE.chat);
  return refused?.member === 'stream_options' && refused.why === 'unknown' ? refused.member : undefined;
}

/** We put the option in, the caller did not: a host that refuses it must not be the caller's fault. */
export function refusesUsageOption({ head, body }: CollectedAnswer): boolean {
  return (head.status === 400 || head.status === 422) && /stream_options|include_usage/.test(body.toString('latin1'));
}
