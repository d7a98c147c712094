/** Builds the record row of one attempt while it runs: its outcome and the time of each of its marks. */
import { FAILURE_KINDS, type FailureKind } from '../../errors/failure-kinds.ts';
import type { StreamObserver } from '../../protocols/upstream-protocol.ts';
import type { AttemptRecord } from '../../store/ports/records.ts';
import type { ExchangeListener, UpstreamMarks } from '../../upstream/exchange.ts';
import type { Routed } from '../call.ts';

type Row = { -readonly [Member in keyof AttemptRecord]: AttemptRecord[Member] };

export class AttemptRow {
  /** The upstream side; null: not connected yet. */
  marks: UpstreamMarks | null = null;
  readonly #call: Routed;
  readonly #startMs = performance.now();
  #row: Row | null = null;
  /** On the `performance.now()` clock; 0: not yet. */
  #firstTokenAtMs = 0;

  constructor(call: Routed) {
    this.#call = call;
  }

  /** Adds the row to the call's attempts: once, when upstream's answer begins, and before the call is settled. */
  note(status: number | null, error: FailureKind | null): void {
    const { route, attempts, startMs } = this.#call;
    if (this.#row !== null) return;
    const { provider, model } = route.upstream;
    this.#row = { provider, model, status, error, start_ms: Math.round(this.#startMs - startMs), duration_ms: 0 };
    attempts.push(this.#row);
    this.#mark(error === null && status !== null);
  }

  /** Wraps the listener to note the first output that the observer behind it reads. */
  listen(listener: ExchangeListener, observer: Pick<StreamObserver, 'facts'>): ExchangeListener {
    return {
      onHead: (head) => listener.onHead(head),
      onBody: (span) => {
        listener.onBody(span);
        if (this.#firstTokenAtMs === 0) this.#noteToken(observer.facts().outputBytes);
      },
      onEnd: () => listener.onEnd(),
      onFailure: (failure) => listener.onFailure(failure),
    };
  }

  /** Completes the row of a stream at its end. `failure`: the call's failure; null: a complete answer. */
  end(failure: FailureKind | null, outputBytes: number): void {
    const row = this.#row;
    if (row === null) return;
    // For an answer that came and ended in one read, the first token is detected only here.
    if (this.#firstTokenAtMs === 0) this.#noteToken(outputBytes);
    if (failure !== null && FAILURE_KINDS[failure].origin === 'upstream') row.error ??= failure;
    this.#mark(failure === null);
  }

  /** `whole`: the attempt ends with upstream's last byte; otherwise it ended now. */
  #mark(whole: boolean): void {
    const row = this.#row;
    const { marks } = this;
    if (row === null) return;
    const lastByteAtMs = whole ? (marks?.lastByteAtMs ?? 0) : 0;
    const endMs = lastByteAtMs === 0 ? performance.now() : lastByteAtMs;
    row.connect_ms = this.#since(marks?.sentAtMs ?? 0);
    row.ttfb_ms = this.#since(marks?.headAtMs ?? 0);
    row.ttft_ms = this.#since(this.#firstTokenAtMs);
    row.duration_ms = Math.round(endMs - this.#startMs);
  }

  #noteToken(outputBytes: number): void {
    if (outputBytes > 0) this.#firstTokenAtMs = performance.now();
  }

  #since(atMs: number): number | null {
    return atMs === 0 ? null : Math.round(atMs - this.#startMs);
  }
}
