/**
 * Sends exports of one signal to a collector, one at a time, with retries within a time limit
 * (https://opentelemetry.io/docs/specs/otlp/#otlphttp-response, read 2026-11-22). Never rejects.
 */
import { gzipSync } from 'node:zlib';
import type { OtlpConfig, OtlpDestination } from '../../config/telemetry-config.ts';

/** Rejects where no answer came. `retryAfterMs` null: none was named. */
export type PostBytes = (
  url: string,
  headers: readonly (readonly [name: string, value: string])[],
  body: Uint8Array,
  timeoutMs: number,
) => Promise<{ readonly status: number; readonly retryAfterMs: number | null; readonly body: Uint8Array }>;

/** Statuses after which the same export may succeed. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const BACKOFF_MS = 1_000;
const BACKOFF_MS_MAX = 5_000;

interface SenderParts extends Pick<OtlpConfig, 'format' | 'gzip' | 'timeoutMs'> {
  readonly destination: OtlpDestination;
  readonly post: PostBytes;
  /** Told once when exports begin to fail, with the reason, and once when they work again (null). */
  onChange(problem: string | null): void;
  /** Told the answer to each export that the collector took, perhaps without a part of it. */
  onTaken(answer: Uint8Array): void;
}

export class OtlpSender {
  readonly #parts: SenderParts;
  readonly #headers: readonly (readonly [string, string])[];
  #isHurried = false;
  /** Ends the wait for a retry. */
  #endWait: () => void = () => {};
  #isFailing = false;

  constructor(parts: SenderParts) {
    this.#parts = parts;
    this.#headers = [
      ['content-type', parts.format === 'json' ? 'application/json' : 'application/x-protobuf'],
      ...(parts.gzip ? [['content-encoding', 'gzip'] as const] : []),
      ...parts.destination.headers.map(([name, value]) => [name, value.reveal()] as const),
    ];
  }

  /** Whether the collector took the export. */
  async send(body: Uint8Array): Promise<boolean> {
    const { gzip, timeoutMs } = this.#parts;
    const sent = gzip ? gzipSync(body) : body;
    const endMs = performance.now() + timeoutMs;
    for (let backoffMs = BACKOFF_MS; ; backoffMs = Math.min(backoffMs * 2, BACKOFF_MS_MAX)) {
      const result = await this.#post(sent, endMs - performance.now());
      const waitMs = result.retryAfterMs ?? backoffMs * (0.8 + 0.4 * Math.random());
      if (result.problem === null || !result.mayRetry || performance.now() + waitMs >= endMs) {
        this.#report(result.problem);
        return result.problem === null;
      }
      await this.#wait(waitMs);
      if (this.#isHurried) {
        this.#report(result.problem);
        return false;
      }
    }
  }

  /** Ends the wait for a retry, and begins none. */
  hurry(): void {
    this.#isHurried = true;
    this.#endWait();
  }

  async #post(body: Uint8Array, timeoutMs: number) {
    const { post, destination, onTaken } = this.#parts;
    try {
      const { status, retryAfterMs, body: answer } = await post(destination.url, this.#headers, body, timeoutMs);
      const isTaken = status >= 200 && status < 300;
      if (isTaken) onTaken(answer);
      const problem = isTaken ? null : `the collector answered ${status}`;
      return { problem, mayRetry: RETRYABLE.has(status), retryAfterMs };
    } catch (fault) {
      return { problem: fault instanceof Error ? fault.message : String(fault), mayRetry: true, retryAfterMs: null };
    }
  }

  #wait(ms: number): Promise<void> {
    if (this.#isHurried) return Promise.resolve();
    return new Promise((resolve) => {
      this.#endWait = resolve;
      setTimeout(resolve, ms).unref();
    });
  }

  #report(problem: string | null): void {
    if ((problem !== null) === this.#isFailing) return;
    this.#isFailing = problem !== null;
    this.#parts.onChange(problem);
  }
}
