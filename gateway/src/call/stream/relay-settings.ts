/** Defines the inputs of a stream's relay, and the form of its start. */

import type { Limits } from '../../config/limits.ts';
import type { CallFailure } from '../../errors/call-failure.ts';
import type { Framing } from '../../framing/framing.ts';
import type { ClientProtocol } from '../../protocols/client-protocol.ts';
import type { StreamObserver } from '../../protocols/upstream-protocol.ts';
import type { CollectedAnswer } from '../attempt/collect-answer.ts';
import type { Outcome } from '../money/settle.ts';
import type { Outbox, OutboxListener } from './outbox.ts';

/**
 * The inputs of the relay. `settle` is called once and resolves when the record is durable. `last`: the bytes that end
 * a stream.
 */
export interface RelaySettings {
  /** The client's protocol. */
  readonly protocol: ClientProtocol;
  readonly observer: StreamObserver;
  /** Upstream's framing. */
  readonly framing: Framing;
  readonly requestId: string;
  readonly limits: Limits;
  settle(outcome: Outcome, last: Uint8Array | null): Promise<void>;
  /** Opens the outbox to the client, with the relay as its listener. */
  openOutbox(listener: OutboxListener): Outbox;
  /** Removes secrets from upstream's messages. */
  scrub(bytes: Buffer): Buffer;
  /** The failure for a non-streamed answer that came after the client was promised a stream. */
  failureOfLate(answer: CollectedAnswer): CallFailure;
  onFirstByte(): void;
  /** Upstream's answer is a stream: called before any of its content is processed. */
  onStarted(): void;
  onFailure(failure: CallFailure): void;
  onClosed(): void;
}

/** How a streamed call began: as a stream, or with a non-streamed answer (an error body). */
export type RelayStart = { readonly kind: 'stream' } | { readonly kind: 'collected'; readonly answer: CollectedAnswer };
