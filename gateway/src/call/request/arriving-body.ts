/**
 * Enforces the time limits of an arriving request body, and can end it early. Collects the body if its bytes must be
 * counted.
 */
import type { Limits } from '../../config/limits.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { type Deadline, UNWATCHED, unwatchDeadline, watchDeadline, watchedDeadlines } from '../../lib/deadlines.ts';

export type BodyTimeLimits = Pick<Limits, 'bodyTimeoutMs' | 'bodyTimeoutMaxMs' | 'bodyBytesPerSecondMin'>;

/** The defaults without configuration. */
export const BODY_TIME_LIMITS: BodyTimeLimits = {
  bodyTimeoutMs: 60_000,
  bodyTimeoutMaxMs: 900_000,
  bodyBytesPerSecondMin: 64 * 1024,
};

/** A body that has not fully arrived. */
export class ArrivingBody implements Deadline {
  readonly startMs = performance.now();
  dueMs: number;
  slot = UNWATCHED;
  /** Bytes received so far; 0 if the body is not counted while it arrives. */
  byteCount = 0;
  /** The client's address, called only when needed. */
  readonly address: () => string | null;
  readonly #limits: BodyTimeLimits;
  #reject: ((failure: CallFailure) => void) | null = null;
  #isOver = false;

  constructor(limits: BodyTimeLimits, address: () => string | null) {
    this.#limits = limits;
    this.address = address;
    this.dueMs = this.startMs + limits.bodyTimeoutMs;
  }

  /**
   * Resolves with the bytes, or rejects if they take too long or are given up. Runs on every call, so it costs only one
   * promise.
   */
  wait<Bytes>(bytes: Promise<Bytes>): Promise<Bytes> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      watchDeadline(this);
      bytes.then(
        (whole) => {
          unwatchDeadline(this);
          resolve(whole);
        },
        (error: unknown) => {
          unwatchDeadline(this);
          reject(error);
        },
      );
    });
  }

  /**
   * Like `wait`, for a body that is counted as it arrives. `onCount` gets the bytes so far; if it throws, the body is
   * refused.
   */
  async gather(body: ReadableStream<Uint8Array>, onCount: (byteCount: number, added: number) => void): Promise<Buffer> {
    const reader = body.getReader();
    const gatherAll = async () => {
      const chunks: Uint8Array[] = [];
      for (;;) {
        const { done, value } = await reader.read();
        if (done || this.#isOver) return Buffer.concat(chunks, this.byteCount);
        this.byteCount += value.length;
        onCount(this.byteCount, value.length);
        chunks.push(value);
      }
    };
    try {
      return await this.wait(gatherAll());
    } catch (error) {
      this.#isOver = true;
      // The connection may already be closed.
      reader.cancel().catch(() => {});
      throw error;
    }
  }

  onDue(nowMs: number): void {
    const { bodyTimeoutMs, bodyTimeoutMaxMs, bodyBytesPerSecondMin } = this.#limits;
    const mostMs = Math.max(bodyTimeoutMs, bodyTimeoutMaxMs);
    // The time at which the average rate falls below the minimum.
    const fastEnoughMs = (this.byteCount / bodyBytesPerSecondMin) * 1_000;
    this.dueMs = this.startMs + Math.min(Math.max(bodyTimeoutMs, fastEnoughMs), mostMs);
    if (nowMs < this.dueMs) return;
    const message =
      fastEnoughMs < mostMs
        ? `the body did not arrive within ${bodyTimeoutMs} ms, nor at ${bodyBytesPerSecondMin} bytes per second`
        : `the body did not arrive within ${mostMs} ms`;
    this.end(new CallFailure('body_timeout', message, { closeConnection: true }));
  }

  /** Stops waiting for the rest of the body. */
  end(failure: CallFailure): void {
    unwatchDeadline(this);
    this.#reject?.(failure);
  }
}

/** All bodies that are arriving now. */
export function arrivingBodies(): ArrivingBody[] {
  return watchedDeadlines().filter((deadline) => deadline instanceof ArrivingBody);
}
