/** Owns what the gateway asks of a wire format where both sides speak it. Each protocol's folder implements it. */
import type { CallFailure } from '../errors/call-failure.ts';
import type { SseRecord } from '../framing/sse-record.ts';
import type { TierWords } from '../generation/tier-words.ts';
import type { Usage, UsageFlag } from '../generation/usage.ts';
import type { Codec } from './codec.ts';
import type { RequestCheck } from './request/request-facts.ts';

export type ProtocolName = 'chat' | 'messages';

/** What an answer tells of itself. `usage` is null where upstream gave none that holds, or none of the whole. */
export interface AnswerFacts {
  readonly usage: Usage | null;
  /** What is odd about `usage`, as far as its own numbers tell. */
  readonly usageFlags: readonly UsageFlag[];
  /** What upstream had counted so far, for a stream that ends early; null: nothing. */
  readonly usageSoFar: Usage | null;
  readonly finish_reason: string | null;
  readonly model: string | null;
  /** The tier that the answer states, standard words too; absent: it states none, or was translated. */
  readonly tier?: TierWords | undefined;
  /** The token of a refusal that makes the retry on another model cheaper; absent: none. */
  readonly retryToken?: string | undefined;
  /** UTF-8 bytes of generated text, arguments and reasoning; of an answer in one piece 0 where `isTextCounted` says no. */
  readonly outputBytes: number;
  /** Of them, those of reasoning. */
  readonly reasoningBytes: number;
  /** More than these `outputBytes` cannot be, counted or not: all of the body of an answer in one piece. */
  readonly outputBytesMax: number;
  /** Of them, those that had come when upstream told `usageSoFar`, where it told it in the middle of a stream. */
  readonly outputBytesTold?: number;
}

/**
 * What a 200 in one piece really is: an answer, an error in disguise with the status it names, or nonsense. `facts` of the last
 * two: it tells its usage all the same, and upstream will bill it.
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
 * What becomes of one record of a stream: `pass` it on; `silent`: pass it on, it carries nothing (a ping); `withhold` it
 * (the usage chunk that the client did not ask for, or what makes no event in the client's format); `replace` it by
 * `replacement`; `terminal`: the protocol's own end; `error`: upstream failed in mid-stream.
 */
export type RecordVerdict = 'pass' | 'silent' | 'withhold' | 'replace' | 'terminal' | 'error' | 'nonsense';

/** Watches the records of one stream. Changes nothing but by its verdicts. */
export interface StreamObserver {
  /** The client gets none of upstream's bytes, only what `replacement` holds: the two sides speak different formats. */
  readonly rewrites: boolean;
  /**
   * Where records that need no look end, one behind the other from `start` on (the beginning of a record); `start` where
   * there is none. They are passed on; where the observer rewrites, as `replacement`.
   */
  skim(bytes: Uint8Array, start: number): number;
  /** Looks at a record that has data. */
  observe(record: SseRecord): RecordVerdict;
  /** What to send in the place of the last record, where the verdict was `replace`; where it rewrites, at `terminal` too. */
  readonly replacement: Buffer | null;
  /** Upstream's status or type of error, where the verdict was `error`. */
  readonly failure: { readonly type: string; readonly message: string; readonly status: number | null } | null;
  /** Asked once, where the bytes ended in good order without the protocol's own end: what completes the stream; null: it was cut. */
  endOfBytes(): Buffer | null;
  /** Events in an order that upstream's format does not have, as far as they were looked at. */
  readonly disorders: number;
  facts(): AnswerFacts;
}

export interface ObserverSettings {
  /** The client did not ask for usage, we did: the chunk that carries it is withheld. */
  readonly withholdUsage: boolean;
  /** The id to give to a stream whose chunks carry none. */
  readonly fallbackId: string;
}

/**
 * Puts the records of a stream together as the answer in one piece that the same call would have got. Carries members that
 * nobody here knows. Numbers that a double cannot hold are rounded, save within arguments and untouched blocks of messages.
 */
export interface AnswerFold {
  /** Takes a record that the observer of the same stream found to be no error. */
  push(record: SseRecord): void;
  /**
   * JSON of the answer. `cut`: the stream was stopped before its end; then its reason is the format's word for a limit of
   * tokens, and these are its counters. Throws CallFailure `upstream_nonsense` where what came is no answer.
   */
  finish(cut: Usage | null): string;
}

export interface Protocol {
  readonly name: ProtocolName;
  /** How it is translated to and from the other formats. */
  readonly codec: Codec;
  checkRequest: RequestCheck;
  /** `bodyBytes`: the length of what `answer` was parsed from. */
  readAnswer(answer: unknown, bodyBytes: number): AnswerReading;
  /** The body of a 200 in one piece as the records of the stream that was asked for; null: it is no answer. */
  streamOfAnswer(body: Buffer): Buffer | null;
  startObserver(settings: ObserverSettings): StreamObserver;
  /** `fallbackId` as for an observer. */
  startFold(fallbackId: string): AnswerFold;
  /** Its word for an answer that a limit of tokens cut. */
  readonly cutReason: string;
  /** The error body of a reply, JSON. */
  renderError(failure: CallFailure, requestId: string): string;
  /** The record that ends a stream which failed after its first byte. */
  renderStreamError(failure: CallFailure, requestId: string): Buffer;
  /** What is sent into a silent stream; clients skip it. */
  readonly keepAlive: Buffer;
}
