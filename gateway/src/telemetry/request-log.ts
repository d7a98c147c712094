/**
 * Logs one structured line per ended request, in the form of the other log lines: ids, outcome, tokens, cost and durations;
 * never content or secrets. Lines gather for at most 100 ms or 64 KiB, and leave in one write.
 */
import type { LineWriter } from './line-writer.ts';
import { type EndedRequest, RequestLines } from './request-lines.ts';

const GATHER_MS = 100;

export class RequestLog {
  readonly #writer: LineWriter;
  readonly #lines = new RequestLines();
  #count = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(writer: LineWriter) {
    this.#writer = writer;
    writer.holdBack(this.#write);
  }

  add(ended: EndedRequest): void {
    this.#lines.add(ended);
    this.#count += 1;
    if (this.#lines.isFull) this.#write();
    else this.#timer ??= setTimeout(this.#onTime, GATHER_MS);
  }

  /** The timer is not cleared where lines are written before its time: another would be set at once. */
  readonly #onTime = (): void => {
    this.#timer = null;
    this.#write();
  };

  readonly #write = (): void => {
    if (this.#count === 0) return;
    this.#writer.append(this.#lines.take(), this.#count);
    this.#count = 0;
  };
}
