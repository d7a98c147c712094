/** Tracks one run under an idempotency key, from its start to its one stored end. Does not replay. */
import type { Gauge } from '../../admission/capacity.ts';
import type { IdempotencyStore, NotStoredReason, RunName } from '../../store/ports/idempotency.ts';
import type { CallLog } from '../call-log.ts';
import { Backlog } from '../stream/outbox.ts';
import type { AnswerSeal, RunHasher, StoredHead } from './idempotency-seal.ts';

/** The largest answer that is stored. Runs with larger answers are stored without them. */
export const KEPT_ANSWER_BYTES_MAX = 8 * 1024 * 1024;

/** The dependencies of idempotent runs. */
export interface Idempotency {
  readonly store: IdempotencyStore;
  readonly hasher: RunHasher;
  readonly seal: AnswerSeal;
  /** Process-wide bytes held for answers: streams while they are collected, replays until clients have taken them. */
  readonly answerBytes: Gauge;
}

/** Memory is reserved in steps of this size, as needed. */
const PIECE_BYTES = 16 * 1024;

/** Headers that describe the answer itself; all others belong to a single delivery. */
const KEPT_HEADERS = new Set([
  'content-type',
  'cache-control',
  'x-accel-buffering',
  'x-should-retry',
  'openai-processing-ms',
  'openai-version',
  'x-tollgate-provider',
  'x-tollgate-model',
  'x-tollgate-attempts',
  'x-tollgate-route',
  'x-tollgate-dropped',
  'x-tollgate-cut',
  'x-tollgate-cost-usd',
]);

/** Ends once; later calls do nothing. Ending never throws: the call continues without idempotency. */
export class IdempotencyRun {
  readonly #name: RunName;
  readonly #parts: Idempotency;
  readonly #log: CallLog;
  readonly #gathered = new Backlog();
  #heldBytes = 0;
  /** Why the collected bytes were dropped. */
  #lost: NotStoredReason | null = null;
  #ended = false;

  constructor(name: RunName, parts: Idempotency, log: CallLog) {
    this.#name = name;
    this.#parts = parts;
    this.#log = log;
  }

  /** Copies bytes of a stream on their way to the client, if there is room. */
  gather(bytes: Uint8Array): void {
    if (this.#ended || this.#lost !== null) return;
    const after = this.#gathered.byteCount + bytes.length;
    const needed = Math.ceil(after / PIECE_BYTES) * PIECE_BYTES - this.#heldBytes;
    if (after > KEPT_ANSWER_BYTES_MAX) this.#lost = 'too_large';
    else if (!this.#parts.answerBytes.take(needed)) this.#lost = 'no_room';
    if (this.#lost !== null) {
      this.#release();
      return;
    }
    this.#heldBytes += needed;
    this.#gathered.append(bytes);
  }

  /**
   * The client gets a complete answer: the collected bytes, then `last`. Resolves when it is durable, or could not be
   * stored.
   */
  async keep(head: Omit<StoredHead, 'headers'>, headers: Headers, last: Uint8Array): Promise<void> {
    if (this.#ended) return;
    const { store, seal } = this.#parts;
    const isTooLarge = this.#gathered.byteCount + last.length > KEPT_ANSWER_BYTES_MAX;
    const lost = this.#lost ?? (isTooLarge ? 'too_large' : null);
    if (lost !== null) return this.#finish(() => store.end(this.#name, lost));
    const kept = [...headers].filter(([name]) => KEPT_HEADERS.has(name));
    const body = [...takeAll(this.#gathered), last];
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
      this.#release();
    }
  }

  #release(): void {
    this.#gathered.clear();
    this.#parts.answerBytes.give(this.#heldBytes);
    this.#heldBytes = 0;
  }
}

function takeAll(backlog: Backlog): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let next = backlog.shift(); next !== undefined; next = backlog.shift()) pieces.push(next);
  return pieces;
}
