/** Owns one run under an idempotency key, from its beginning to the one end that is remembered of it. Replays nothing. */
import type { Gauge } from '../../admission/capacity.ts';
import type { IdempotencyStore, RunName, UnkeptReason } from '../../store/ports/idempotency.ts';
import type { CallLog } from '../call-log.ts';
import { Backlog } from '../stream/outbox.ts';
import type { RunHasher } from './idempotency-name.ts';
import type { AnswerSeal, KeptHead } from './idempotency-seal.ts';

/** The largest answer that is kept. What is larger is remembered as a run without an answer. */
export const KEPT_ANSWER_BYTES_MAX = 8 * 1024 * 1024;

/** What the line is given for runs under idempotency keys. */
export interface Idempotency {
  readonly store: IdempotencyStore;
  readonly hasher: RunHasher;
  readonly seal: AnswerSeal;
  /** Bytes of the whole process that are held for answers: of streams as they are gathered, of replays until they are taken. */
  readonly answerBytes: Gauge;
}

/** Memory is taken in such pieces, as it is used. */
const PIECE_BYTES = 16 * 1024;

/** Headers that say something of the answer itself; what is not here belongs to one delivery of it. */
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
  'x-tollgate-dropped',
  'x-tollgate-cut',
  'x-tollgate-cost-usd',
]);

/** Ends once: what is asked of it after its end does nothing. None of its ends throws: the call goes on without it. */
export class IdempotencyRun {
  readonly #name: RunName;
  readonly #parts: Idempotency;
  readonly #log: CallLog;
  readonly #gathered = new Backlog();
  #heldBytes = 0;
  /** Why what was gathered is gone. */
  #lost: UnkeptReason | null = null;
  #ended = false;

  constructor(name: RunName, parts: Idempotency, log: CallLog) {
    this.#name = name;
    this.#parts = parts;
    this.#log = log;
  }

  /** Copies bytes of a stream on their way to the client, as far as there is room. */
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

  /** The client gets a whole answer: what was gathered, and `last`. Resolves when it is durable, or could not be kept. */
  async keep(head: Omit<KeptHead, 'headers'>, headers: Headers, last: Uint8Array): Promise<void> {
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

  /** The client got no whole answer. Where nothing was charged the name is free again; else it must not be charged twice. */
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
