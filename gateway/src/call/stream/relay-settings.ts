/** Owns what a stream's relay is given and how it says that it began. Holds no logic. */
import type { Limits } from '../../config/limits.ts';
import type { CallFailure } from '../../errors/call-failure.ts';
import type { Protocol, StreamObserver } from '../../protocols/protocol.ts';
import type { CollectedAnswer } from '../attempt/collect-answer.ts';
import type { Outcome } from '../money/settle.ts';
import type { Outbox, OutboxListener } from './outbox.ts';

/** When an exchange passed its marks, on the `performance.now()` clock; 0: not yet. */
export interface UpstreamMarks {
  /** The request began to go out. */
  readonly sentAtMs: number;
  readonly headAtMs: number;
  /** The last bytes that came so far. */
  readonly lastByteAtMs: number;
}

/** The upstream side of a relay: an HTTP exchange or the demo. */
export interface UpstreamTap extends UpstreamMarks {
  pause(): void;
  resume(): void;
  abort(): void;
}

/** What the relay is given. `settle` is called once and resolves when the record is durable. `last`: the bytes that end a stream. */
export interface RelaySettings {
  /** The client's. */
  readonly protocol: Protocol;
  readonly observer: StreamObserver;
  readonly requestId: string;
  readonly limits: Limits;
  settle(outcome: Outcome, last: Uint8Array | null): Promise<void>;
  /** The way to the client, told to the relay. */
  openOutbox(listener: OutboxListener): Outbox;
  /** Upstream's words, without secrets. */
  scrub(bytes: Buffer): Buffer;
  /** What an answer in one piece means that came after the client had been promised a stream. */
  failureOfLate(answer: CollectedAnswer): CallFailure;
  onFirstByte(): void;
  /** Upstream's answer begins as a stream: said before anything else comes of it. */
  onStarted(): void;
  onFailure(failure: CallFailure): void;
  onClosed(): void;
}

/** How a streamed call began: as a stream, or with an answer in one piece (an error body). */
export type RelayStart = { readonly kind: 'stream' } | { readonly kind: 'collected'; readonly answer: CollectedAnswer };
