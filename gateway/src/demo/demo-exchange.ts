/** Plays the demo model's reply to a listener the way an HTTP exchange with an upstream would. Opens no connection. */
import type { ExchangeListener, UpstreamTap } from '../upstream/exchange.ts';
import { answerDemoCall, type DemoCall, type DemoRecord } from './answer-demo-call.ts';

/** Starts in a microtask, so that the listener can be connected first. */
export class DemoExchange implements UpstreamTap {
  readonly sentAtMs = performance.now();
  headAtMs = 0;
  lastByteAtMs = 0;
  readonly #listener: ExchangeListener;
  #records: Iterator<DemoRecord> | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #isOver = false;
  #isPaused = false;

  constructor(call: DemoCall & { readonly onSent: () => void }, listener: ExchangeListener) {
    this.#listener = listener;
    call.onSent();
    queueMicrotask(() => this.#guard(() => this.#begin(call)));
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    // Deferred, because a listener may resume from inside the call that delivers a record.
    queueMicrotask(() => this.#guard(() => this.#play()));
  }

  /** Stops the reply. The listener is not called afterwards. */
  abort(): void {
    this.#isOver = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #begin(call: DemoCall): void {
    if (this.#isOver) return;
    const { status, contentType, records } = answerDemoCall(call);
    const headers = [['content-type', contentType]] as const;
    this.headAtMs = performance.now();
    this.lastByteAtMs = this.headAtMs;
    this.#listener.onHead({ status, headers, framing: 'close', lengthBytes: 0, keepAlive: false });
    this.#records = records[Symbol.iterator]();
    this.#play();
  }

  /** Delivers records until one has to wait. */
  #play(): void {
    while (this.#records !== null && this.#timer === null && !this.#isPaused && !this.#isOver) {
      const next = this.#records.next();
      if (next.done === true) {
        this.#isOver = true;
        this.#listener.onEnd();
      } else if (next.value.pauseMs === 0) this.#hand(next.value);
      else this.#timer = setTimeout(() => this.#guard(() => this.#goOn(next.value)), next.value.pauseMs);
    }
  }

  #goOn(record: DemoRecord): void {
    this.#timer = null;
    this.#hand(record);
    this.#play();
  }

  #hand({ text }: DemoRecord): void {
    this.lastByteAtMs = performance.now();
    this.#listener.onBody(Buffer.from(text));
  }

  /** A bug in the demo ends its call, not the process. */
  #guard(step: () => void): void {
    try {
      step();
    } catch (error) {
      if (this.#isOver) throw error;
      this.#isOver = true;
      this.#listener.onFailure({ kind: 'fault', message: String(error) });
    }
  }
}
