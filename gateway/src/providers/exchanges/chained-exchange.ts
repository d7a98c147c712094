/**
 * Runs several exchanges as one attempt: one after the other, behind one tap, for one listener. Also holds a refusal
 * back until it is known whether another exchange follows it.
 */
import type { UpstreamFailure } from '../../upstream/connection.ts';
import type { ExchangeListener, UpstreamTap } from '../../upstream/exchange.ts';
import type { ResponseHead } from '../../upstream/response-head.ts';

/** Starts one exchange. */
export type OpenExchange = (listener: ExchangeListener) => UpstreamTap;

/** The exchanges of one attempt, one at a time. After `abort` no listener is called. */
export class ChainedExchange implements UpstreamTap {
  /** Of the response whose head went to the outer listener. */
  headAtMs = 0;
  dropped: readonly string[] = [];
  door?: string;
  #earlier = 0;
  #firstSentAtMs = 0;
  #tap: UpstreamTap | null = null;
  #isPaused = false;
  #isAborted = false;

  get isAborted(): boolean {
    return this.#isAborted;
  }

  /** Starts the first exchange, or the next one after the end of another. */
  open(open: OpenExchange, listener: ExchangeListener): void {
    if (this.#isAborted) return;
    this.#firstSentAtMs = this.sentAtMs;
    this.#earlier = this.exchanges;
    const tap = open(listener);
    this.#tap = tap;
    if (this.#isPaused) tap.pause();
  }

  /** To be called before a head goes to the outer listener. */
  noteHead(): void {
    this.headAtMs = performance.now();
  }

  /** The last exchange sent nothing, and those before it were refused: the provider bills nothing. */
  noteUnsent(): void {
    this.#firstSentAtMs = 0;
  }

  get sentAtMs(): number {
    return this.#firstSentAtMs > 0 ? this.#firstSentAtMs : (this.#tap?.sentAtMs ?? 0);
  }

  get lastByteAtMs(): number {
    return this.#tap?.lastByteAtMs ?? 0;
  }

  get exchanges(): number {
    return this.#earlier + (this.#tap === null ? 0 : (this.#tap.exchanges ?? 1));
  }

  pause(): void {
    this.#isPaused = true;
    this.#tap?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#tap?.resume();
  }

  abort(): void {
    this.#isAborted = true;
    this.#tap?.abort();
  }
}

/** A whole response with another status than 200. */
export interface Refusal {
  readonly head: ResponseHead;
  readonly body: Buffer;
}

/** The end of an exchange without an answer; a failure before the head. */
export type Ending = Refusal | UpstreamFailure;

/** Decides what follows: another exchange, or the end of the attempt. */
export type AfterEnding = (ending: Ending) => OpenExchange | Ending;

/** A longer body is not an error that can be read: it passes. */
const REFUSAL_BYTES_MAX = 64 * 1024;

/**
 * Starts an attempt whose exchanges without an answer `after` judges. A response of status 200 passes as it comes, as
 * does the last ending. Nothing of an earlier one reaches the listener.
 */
export function openResending(open: OpenExchange, after: AfterEnding, listener: ExchangeListener): ChainedExchange {
  const chain = new ChainedExchange();
  const start = (next: OpenExchange) => {
    const settle = (ending: Ending) => {
      const follows = after(ending);
      if (typeof follows === 'function') {
        start(follows);
        return null;
      }
      if (!('head' in follows) && !follows.sent) chain.noteUnsent();
      return follows;
    };
    chain.open(next, new EndingHolder(chain, listener, settle));
  };
  start(open);
  return chain;
}

/** Passes a response on; an ending only once it is complete, and `settle` returns what of it the listener gets. */
class EndingHolder implements ExchangeListener {
  readonly #chain: ChainedExchange;
  readonly #listener: ExchangeListener;
  readonly #settle: (ending: Ending) => Ending | null;
  #hasHead = false;
  /** Null: the response passes. */
  #held: { readonly head: ResponseHead; readonly spans: Uint8Array[]; bytes: number } | null = null;

  constructor(chain: ChainedExchange, listener: ExchangeListener, settle: (ending: Ending) => Ending | null) {
    this.#chain = chain;
    this.#listener = listener;
    this.#settle = settle;
  }

  onHead(head: ResponseHead): void {
    this.#hasHead = true;
    if (head.status === 200) this.#pass(head, []);
    else this.#held = { head, spans: [], bytes: 0 };
  }

  onBody(span: Uint8Array): void {
    const held = this.#held;
    if (held === null) {
      this.#listener.onBody(span);
      return;
    }
    held.spans.push(span);
    held.bytes += span.length;
    if (held.bytes > REFUSAL_BYTES_MAX) this.#release();
  }

  onEnd(): void {
    const held = this.#held;
    if (held === null) this.#listener.onEnd();
    else this.#end(this.#settle({ head: held.head, body: Buffer.concat(held.spans) }));
  }

  onFailure(failure: UpstreamFailure): void {
    this.#release();
    if (this.#chain.isAborted) return;
    if (this.#hasHead) this.#listener.onFailure(failure);
    else this.#end(this.#settle(failure));
  }

  #end(ending: Ending | null): void {
    if (ending === null) return;
    if (!('head' in ending)) {
      this.#listener.onFailure(ending);
      return;
    }
    this.#pass(ending.head, [ending.body]);
    if (!this.#chain.isAborted) this.#listener.onEnd();
  }

  #release(): void {
    const held = this.#held;
    if (held === null) return;
    this.#held = null;
    this.#pass(held.head, held.spans);
  }

  /** The listener may abort at each call. */
  #pass(head: ResponseHead, spans: readonly Uint8Array[]): void {
    this.#chain.noteHead();
    this.#listener.onHead(head);
    for (const span of spans) if (!this.#chain.isAborted) this.#listener.onBody(span);
  }
}
