/**
 * Keeps the conversation of each WebSocket, so that a client can continue its last response by `previous_response_id` and
 * send only what is new. In memory only: `store` plays no part, and no provider is asked. Source: specification of the
 * Responses API, A.3.
 */
import type { Limits } from '../../config/limits.ts';

type HistoryLimits = Pick<Limits, 'websocketHistoryBytesMax' | 'websocketHistoriesBytesMax'>;

/** All conversations that are kept, the least recently used first. */
export class Histories {
  readonly #limits: () => HistoryLimits;
  readonly #kept = new Set<History>();
  #byteCount = 0;

  constructor(limits: () => HistoryLimits) {
    this.#limits = limits;
  }

  /** Bytes of all conversations together. */
  get byteCount(): number {
    return this.#byteCount;
  }

  /** The conversation of one more WebSocket; it is empty. */
  open(): History {
    return new History(this);
  }

  /** Counts a conversation that was replaced, and forgets others where all together are too large. */
  count(history: History, bytesBefore: number): void {
    const { websocketHistoryBytesMax, websocketHistoriesBytesMax } = this.#limits();
    this.#kept.delete(history);
    this.#byteCount += history.byteCount - bytesBefore;
    if (history.byteCount > websocketHistoryBytesMax) history.forget();
    if (history.byteCount > 0) this.#kept.add(history);
    for (const oldest of this.#kept) {
      if (this.#byteCount <= websocketHistoriesBytesMax) return;
      oldest.forget();
    }
  }
}

/** The items up to the last response of one WebSocket. */
export class History {
  readonly #all: Histories;
  #responseId: string | null = null;
  #turns: readonly Buffer[] = [];
  #byteCount = 0;

  constructor(all: Histories) {
    this.#all = all;
  }

  get byteCount(): number {
    return this.#byteCount;
  }

  /** The items up to this response, comma-separated JSON of each turn; null: they are not kept. */
  upTo(responseId: string): readonly Buffer[] | null {
    return responseId === this.#responseId ? this.#turns : null;
  }

  /** Replaces what is kept: the items up to this response. They must not share memory with anything else. */
  keep(responseId: string, turns: readonly Buffer[]): void {
    const before = this.#byteCount;
    this.#responseId = responseId;
    this.#turns = turns;
    this.#byteCount = turns.reduce((sum, turn) => sum + turn.length, 0);
    this.#all.count(this, before);
  }

  forget(): void {
    const before = this.#byteCount;
    this.#responseId = null;
    this.#turns = [];
    this.#byteCount = 0;
    if (before > 0) this.#all.count(this, before);
  }
}
