/** Defines the interface of a wire format, which each protocol's folder implements; `Codec` covers translated calls. */
import type { CallFailure } from '../errors/call-failure.ts';
import type { StreamRecord } from '../framing/framing.ts';
import type { TierWords } from '../generation/tier-words.ts';
import type { Usage, UsageFlag } from '../generation/usage.ts';
import type { Codec } from './codec.ts';
import type { RequestCheck } from './request/request-facts.ts';

export type ProtocolName = 'chat' | 'messages';

/** Facts read from an answer. `usage` is null if upstream gave none that is valid, or none for the whole answer. */
export interface AnswerFacts {
  readonly usage: Usage | null;
  /** Anomalies of `usage`, as far as its own numbers show them. */
  readonly usageFlags: readonly UsageFlag[];
  /** Upstream's counts so far, for a stream that ends early; null: none. */
  readonly usageSoFar: Usage | null;
  readonly finish_reason: string | null;
  readonly model: string | null;
  /** The tier that the answer states, including standard tiers; absent: none stated, or a translated answer. */
  readonly tier?: TierWords | undefined;
  /** The token in a refusal that makes the retry on another model cheaper. */
  readonly retryToken?: string | undefined;
  /** UTF-8 bytes of generated text, arguments and reasoning; 0 for a non-streamed answer if not `isTextCounted`. */
  readonly outputBytes: number;
  /** The part of `outputBytes` that is reasoning. */
  readonly reasoningBytes: number;
  /** Upper bound of `outputBytes`, counted or not: for a non-streamed answer the whole body. */
  readonly outputBytesMax: number;
  /** The part of `outputBytes` received when upstream reported `usageSoFar`, if it did so in mid-stream. */
  readonly outputBytesTold?: number;
}

/**
 * What a non-streamed 200 really is: an answer, an error with the status that it names, or nonsense (malformed).
 * `facts` of the last two: the body reports usage anyway, and upstream will bill it.
 */
export type AnswerReading =
  | { readonly kind: 'answer'; readonly facts: AnswerFacts }
  | {
      readonly kind: 'error';
      readonly type: string;
      readonly status: number | null;
      readonly message: string;
      readonly facts?: AnswerFacts | undefined;
    }
  | { readonly kind: 'nonsense'; readonly message: string; readonly facts?: AnswerFacts | undefined };

/**
 * How to handle one record of a stream: `pass` it on; `silent`: pass it on, it carries nothing (a ping); `withhold` it
 * (a usage chunk that the client did not ask for, or a record without an event in the client's format); `replace` it
 * with `replacement`; `terminal`: the protocol's own end; `error`: upstream failed in mid-stream.
 */
export type RecordVerdict = 'pass' | 'silent' | 'withhold' | 'replace' | 'terminal' | 'error' | 'nonsense';

/** Observes the records of one stream. Changes them only through its verdicts. */
export interface StreamObserver {
  /** The client gets only `replacement`, none of upstream's bytes: the two sides use different formats. */
  readonly rewrites: boolean;
  /**
   * The end of the consecutive records from `start` (the beginning of a record) on that need no inspection; `start` if
   * there are none. They are passed on, or sent as `replacement` if the observer rewrites.
   */
  skim(bytes: Uint8Array, start: number): number;
  /** Inspects a record that has data. */
  observe(record: StreamRecord): RecordVerdict;
  /** Sent instead of the last record after the verdict `replace`; if the observer rewrites, after `terminal` too. */
  readonly replacement: Buffer | null;
  /** Upstream's error status, type and message after the verdict `error`. */
  readonly failure: { readonly type: string; readonly message: string; readonly status: number | null } | null;
  /** Called once if the bytes ended normally without the protocol's own end: completes the stream; null: it was cut. */
  endOfBytes(): Buffer | null;
  /** The number of inspected events in an order that the upstream's format does not allow. */
  readonly protocolViolations: number;
  facts(): AnswerFacts;
}

export interface ObserverSettings {
  /** The gateway asked for usage, not the client: the chunk that carries it is withheld. */
  readonly withholdUsage: boolean;
  /** The id for a stream whose chunks carry none. */
  readonly fallbackId: string;
}

/**
 * Folds the records of a stream into the non-streamed answer that the same call would have got. Carries unknown
 * members. Rounds numbers that a double cannot hold, except within arguments and untouched blocks of messages.
 */
export interface AnswerFold {
  /** Adds a record that the observer of the same stream did not find to be an error. */
  push(record: StreamRecord): void;
  /**
   * The JSON of the answer. `cut`: the stream was stopped before its end; then the finish reason is `cutReason`, and
   * these are its counters. Throws CallFailure `upstream_malformed` if the records are not an answer.
   */
  finish(cut: Usage | null): string;
}

export interface Protocol {
  readonly name: ProtocolName;
  /** Translates to and from the other formats. */
  readonly codec: Codec;
  checkRequest: RequestCheck;
  /** `bodyBytes`: the length of the body that `answer` was parsed from. */
  readAnswer(answer: unknown, bodyBytes: number): AnswerReading;
  /** The body of a non-streamed 200 as the records of the requested stream; null: it is not an answer. */
  streamOfAnswer(body: Buffer): Buffer | null;
  startObserver(settings: ObserverSettings): StreamObserver;
  /** `fallbackId`: as in `ObserverSettings`. */
  startFold(fallbackId: string): AnswerFold;
  /** The format's finish reason for an answer that reached its token limit. */
  readonly cutReason: string;
  /** The JSON body of an error response. */
  renderError(failure: CallFailure, requestId: string): string;
  /** The record that ends a stream that failed after its first byte. */
  renderStreamError(failure: CallFailure, requestId: string): Buffer;
  /** Sent into a silent stream; clients ignore it. */
  readonly keepAlive: Buffer;
}
