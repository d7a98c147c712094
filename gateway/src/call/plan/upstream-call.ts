/** Defines how a call is sent upstream and how its answer is read. plan-call.ts and translate.ts implement it. */

import type { StreamRecord } from '../../framing/framing.ts';
import type { GenerationEvent } from '../../generation/event.ts';
import type { Generation } from '../../generation/generation.ts';
import type { Usage } from '../../generation/usage.ts';
import type { AnswerContext, GenerationClient } from '../../protocols/client-protocol.ts';
import { findRefusedMember } from '../../protocols/refused-member.ts';
import type { StreamObserver, UpstreamProtocol } from '../../protocols/upstream-protocol.ts';
import type { UpstreamTraits } from '../../protocols/upstream-traits.ts';
import type { RequestForm } from '../../upstream/request-form.ts';
import type { CollectedAnswer } from '../attempt/collect-answer.ts';
import { omissible } from './refused-members.ts';

export interface UpstreamCall {
  /** Upstream's format. */
  readonly protocol: UpstreamProtocol;
  readonly body: Uint8Array;
  /** The path below that of the format's endpoint; absent: that endpoint. */
  readonly below?: string | undefined;
  /** What differs from a request and an answer in JSON; absent or null: nothing. */
  readonly form?: RequestForm | null;
  /** Null: the answer is not translated. */
  readonly translation: Translation | null;
  /** The client's answer, made of upstream's body of a 200 in one piece; null: upstream's bytes, or a translation. */
  readonly renderAnswer: ((body: Buffer) => Buffer | string) | null;
  /** Members that could not be carried, in the caller's terms. */
  readonly dropped: readonly string[];
  /** Starts observing, or rewriting, one stream. */
  startObserver(): StreamObserver;
  /** Reads the streamed answer for a client that gets one piece. Null: no folding needed. */
  readonly startFolding: (() => Folding) | null;
  /**
   * Another way to send the call if upstream's refusal shows that this one cannot work, and why; null: the refusal is
   * final.
   */
  nextAttemptAfter(answer: CollectedAnswer): NextAttempt | null;
}

/** Another way to send a call. */
export interface NextAttempt {
  readonly call: UpstreamCall;
  readonly why: string;
  /** Facts about the upstream that the refusal shows; absent: none that another attempt needs. */
  readonly learned?: { readonly traits: UpstreamTraits; readonly refuses: readonly string[] };
  /** The member that upstream does not know: remembered if this way succeeds. */
  readonly unknownMember?: string | undefined;
}

/** Folds one stream into a non-streamed answer. */
export interface Folding {
  readonly observer: StreamObserver;
  /** Takes a record after the observer. */
  take(record: StreamRecord): void;
  /**
   * The answer in the client's format. `cut`: the usage to report if the stream was stopped early; what arrived becomes
   * the answer. Throws CallFailure `upstream_malformed` if it is not a valid answer.
   */
  finish(cut: Usage | null): FoldedAnswer;
}

export interface FoldedAnswer {
  readonly json: string;
  readonly finish_reason: string | null;
  /** States of the answer that could not be carried. */
  readonly dropped: readonly string[];
}

/** How a translated non-streamed answer is read: its events, filtered like those of a stream. */
export interface Translation {
  readonly client: GenerationClient;
  readonly context: AnswerContext;
  readAnswer(body: Buffer): readonly GenerationEvent[];
  /** Losses in the answer, for `x-tollgate-dropped`. */
  lossesIn(generation: Generation): readonly string[];
  /** Called when the answer goes to the client. */
  listen(generation: Generation): void;
}

/**
 * Whether upstream refused because its host or model does not stream; the client did not ask for a stream, the gateway
 * did.
 */
export function refusesStream({ head, body }: CollectedAnswer): boolean {
  return head.status >= 400 && head.status < 500 && /\bstream(?:ing|ed|s)?\b/i.test(body.toString('latin1'));
}

/** Reported to the caller as dropped when an answer came without the usage that the gateway requested. */
export const USAGE_OPTION = 'stream_options.include_usage';

const ONLY_OPTION: ReadonlySet<string> = new Set(['stream_options']);

/** `stream_options`, if the refusal says that upstream does not know it; undefined for any other refusal. */
export function unknownOption(upstream: UpstreamProtocol, { head, body }: CollectedAnswer): string | undefined {
  const known = upstream.translates ? omissible(upstream) : ONLY_OPTION;
  const refused = findRefusedMember(upstream.readError(body, head.headers), known);
  return refused?.member === 'stream_options' && refused.why === 'unknown' ? refused.member : undefined;
}

/** The gateway added the option, not the caller: a host that refuses it must not fail the caller's request. */
export function refusesUsageOption({ head, body }: CollectedAnswer): boolean {
  return (head.status === 400 || head.status === 422) && /stream_options|include_usage/.test(body.toString('latin1'));
}
