/** Owns playing the demo model's reply to a listener as an upstream's exchange would come. Makes no content. */
import type { DemoCall, DemoReply } from '../providers/demo/demo-call.ts';
import { renderDemoAnswer, renderDemoTokenCount } from '../providers/demo/render-demo-answer.ts';
import type { ExchangeListener } from '../upstream/exchange.ts';
import type { ResponseHead } from '../upstream/response-head.ts';
import type { UpstreamTap } from './relay-settings.ts';

/** Starts at the next turn, so that the listener can be connected first. */
export class DemoExchange implements UpstreamTap {
  readonly sentAtMs = performance.now();
  headAtMs = 0;
  lastByteAtMs = 0;
  readonly #listener: ExchangeListener;
  readonly #call: DemoCall;
  readonly #countOnly: boolean;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #over = false;
  #paused = false;
  #goOn: (() => void) | null = null;

  constructor(call: DemoCall, countOnly: boolean, listener: ExchangeListener) {
    this.#call = call;
    this.#countOnly = countOnly;
    this.#listener = listener;
    queueMicrotask(() => this.#begin());
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    const goOn = this.#goOn;
    this.#goOn = null;
    goOn?.();
  }

  abort(): void {
    this.#over = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #begin(): void {
    if (this.#over) return;
    const { protocol } = this.#call;
    const reply =
      this.#countOnly && protocol === 'messages'
        ? renderDemoTokenCount({ ...this.#call, protocol })
        : renderDemoAnswer(this.#call);
    this.headAtMs = performance.now();
    this.lastByteAtMs = this.headAtMs;
    this.#listener.onHead(headOf(reply));
    if (reply.kind === 'stream') this.#play(reply.records[Symbol.iterator]());
    else {
      this.#listener.onBody(Buffer.from(reply.body));
      if (!this.#over) this.#listener.onEnd();
    }
  }

  #play(records: Iterator<{ readonly bytes: Uint8Array; readonly pauseMs: number }>): void {
    if (this.#over) return;
    if (this.#paused) {
      this.#goOn = () => this.#play(records);
      return;
    }
    const next = records.next();
    if (next.done === true) {
      this.#over = true;
      this.#listener.onEnd();
      return;
    }
    const { bytes, pauseMs } = next.value;
    this.#timer = setTimeout(() => {
      if (this.#over) return;
      this.lastByteAtMs = performance.now();
      this.#listener.onBody(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
      this.#play(records);
    }, pauseMs);
  }
}

function headOf(reply: DemoReply): ResponseHead {
  return { status: reply.status, headers: reply.headers, framing: 'close', lengthBytes: 0, keepAlive: false };
}
