/** Waits for request bodies within their time limits, and knows all that are arriving. */
import type { Limits } from '../../config/limits.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { type Deadline, UNWATCHED, unwatchDeadline, watchDeadline, watchedDeadlines } from '../../lib/deadlines.ts';
import type { CallOrigin } from '../call.ts';

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
  readonly #origin: Pick<CallOrigin, 'address'>;
  readonly #limits: BodyTimeLimits;
  #reject: ((failure: CallFailure) => void) | null = null;
  #isOver = false;

  constructor(limits: BodyTimeLimits, origin: Pick<CallOrigin, 'address'>) {
    this.#limits = limits;
    this.#origin = origin;
    this.dueMs = this.startMs + limits.bodyTimeoutMs;
  }

  /** The client's address; null: unknown. */
  address(): string | null {
    return this.#origin.address();
  }

  /**
   * Resolves with the bytes, or rejects if they take too long or are given up. Runs on every call, so it costs only one
   * promise.
   */
  wait(bytes: Promise<ArrayBuffer | Buffer>): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      watchDeadline(this);
      bytes.then(
        (whole) => {
          unwatchDeadline(this);
          resolve(this.finish(whole));
        },
        (error: unknown) => {
          unwatchDeadline(this);
          reject(this.failureOf(error));
        },
      );
    });
  }

  /** The body of the bytes that arrived. */
  protected finish(bytes: ArrayBuffer | Buffer): Buffer | Promise<Buffer> {
    return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes);
  }

  /** The reason why it did not arrive. */
  protected failureOf(error: unknown): unknown {
    return error;
  }

  /**
   * Like `wait`, for a body that is counted as it arrives. `onCount` gets the bytes so far; if it throws, the body is
   * refused.
   */
  gather(body: ReadableStream<Uint8Array>, onCount: (byteCount: number, added: number) => void): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    const take = (chunk: Uint8Array) => {
      onCount(this.byteCount, chunk.length);
      chunks.push(chunk);
    };
    return this.receive(body, take, () => Buffer.concat(chunks, this.byteCount));
  }

  /** Like `wait`, for a body that `take` gets as it arrives, at its pace; if it throws, the body is refused. */
  protected async receive(
    body: ReadableStream<Uint8Array>,
    take: (chunk: Uint8Array) => void | Promise<void>,
    whole: () => Buffer,
  ): Promise<Buffer> {
    const reader = body.getReader();
    const takeAll = async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done || this.#isOver) return whole();
        this.byteCount += value.length;
        const taken = take(value);
        if (taken instanceof Promise) await taken;
      }
    };
    try {
      return await this.wait(takeAll());
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
