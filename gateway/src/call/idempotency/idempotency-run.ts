/** Tracks one run under an idempotency key, from its start to its one stored end. Does not replay. */
import type { Gauge } from '../../admission/capacity.ts';
import type { IdempotencyStore, RunName } from '../../store/ports/idempotency.ts';
import type { CallLog } from '../call-log.ts';
import { GatheredAnswer, KEPT_ANSWER_BYTES_MAX, storedHeaders } from '../deliver/gathered-answer.ts';
import type { AnswerSeal, RunHasher, StoredHead } from './idempotency-seal.ts';

/** The dependencies of idempotent runs. */
export interface Idempotency {
  readonly store: IdempotencyStore;
  readonly hasher: RunHasher;
  readonly seal: AnswerSeal;
  /** Process-wide bytes held for answers: streams while they are collected, replays until clients have taken them. */
  readonly answerBytes: Gauge;
}

/** Ends once; later calls do nothing. Ending never throws: the call continues without idempotency. */
export class IdempotencyRun {
  readonly #name: RunName;
  readonly #parts: Idempotency;
  readonly #log: CallLog;
  readonly #gathered: GatheredAnswer;
  #ended = false;

  constructor(name: RunName, parts: Idempotency, log: CallLog) {
    this.#name = name;
    this.#parts = parts;
    this.#log = log;
    this.#gathered = new GatheredAnswer(parts.answerBytes);
  }

  /** Copies bytes of a stream on their way to the client, if there is room. */
  gather(bytes: Uint8Array): void {
    this.#gathered.gather(bytes);
  }

  /**
   * The client gets a complete answer: the collected bytes, then `last`. Resolves when it is durable, or could not be
   * stored.
   */
  async keep(head: Omit<StoredHead, 'headers'>, headers: Headers, last: Uint8Array): Promise<void> {
    if (this.#ended) return;
    const { store, seal } = this.#parts;
    const isTooLarge = this.#gathered.byteCount + last.length > KEPT_ANSWER_BYTES_MAX;
    const lost = this.#gathered.lost ?? (isTooLarge ? 'too_large' : null);
    if (lost !== null) return this.#finish(() => store.end(this.#name, lost));
    const kept = storedHeaders(headers);
    const body = [...this.#gathered.pieces(), last];
    return this.#finish(async () =>
      store.keep(this.#name, await seal.seal(this.#name, { ...head, headers: kept }, body)),
    );
  }

  /**
   * The client got no complete answer. If nothing was charged, the idempotency key is free again; otherwise the key
   * stays used, so that the request is not charged twice.
   */
  async end(isFree: boolean): Promise<void> {
    const { store } = this.#parts;
    return this.#finish(() => (isFree ? store.forget(this.#name) : store.end(this.#name, 'incomplete')));
  }

  async #finish(write: () => Promise<unknown>): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    try {
      await write();
    } catch (cause) {
      this.#log.fault(this.#name.callId, 'the end of a call with an idempotency key could not be kept', cause);
    } finally {
      this.#gathered.drop();
    }
  }
}
