/**
 * Collects the answers of calls for the cache, and stores those that are complete. An answer that cannot be stored is not
 * cached; its call is not affected.
 */
import { Gauge } from '../../admission/capacity.ts';
import type { AnswerFacts } from '../../protocols/upstream-protocol.ts';
import type { Target } from '../../routing/route.ts';
import type { AnswerCacheStore, CachedAnswer, CachedAnswerName } from '../../store/ports/cache/answer-cache.ts';
import { GatheredAnswer, storedHeaders } from '../deliver/gathered-answer.ts';

/** Process-wide, in bytes: answers that are collected, wait for the disk, or are given out. */
const ANSWER_BYTES_MAX = 128 * 1024 * 1024;
/** Of these, in bytes, those that wait for the disk: a look-up waits until they are stored. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;
/** Minimum time between two warnings to the operator. */
const REPORT_EVERY_MS = 60_000;

export interface AnswerCache {
  readonly store: Pick<AnswerCacheStore, 'find' | 'save'>;
  readonly bytes: Gauge;
  readonly waitingBytes: Gauge;
  /** Counts an answer that could not be read or stored. */
  failed(cause: unknown): void;
}

/** `warn` tells the operator how many answers could not be read or stored. */
export function createAnswerCache(
  store: AnswerCache['store'],
  warn: (failed: number, cause: string) => void,
): AnswerCache {
  let unreported = 0;
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  return {
    store,
    bytes: new Gauge(ANSWER_BYTES_MAX),
    waitingBytes: new Gauge(WAITING_BYTES_MAX),
    failed(cause) {
      unreported += 1;
      const nowMs = performance.now();
      if (nowMs < reportedAtMs + REPORT_EVERY_MS) return;
      reportedAtMs = nowMs;
      warn(unreported, cause instanceof Error ? cause.message : String(cause));
      unreported = 0;
    },
  };
}

/** The call's own data, as far as it is known when its answer ends. */
interface CollectedCall {
  readonly requestId: string;
  readonly atMs: number;
  readonly facts: { readonly stream: boolean } | null;
  readonly target: Target | null;
  readonly cut: boolean;
  /** Null: it ended with its answer. */
  readonly detached: unknown;
  /** Null: its response is not kept for later requests. */
  readonly ended: unknown;
}

/** How the call ended. */
interface AnswerOutcome {
  readonly status: number;
  readonly failure: string | null;
  readonly facts: AnswerFacts | null;
}

/** Collects the answer of one call, and stores it if it is complete. */
export class CachedCall {
  readonly #call: CollectedCall;
  readonly #cache: AnswerCache;
  readonly #name: CachedAnswerName;
  /** The target that the name says. */
  readonly #target: Target | null;
  readonly #gathered: GatheredAnswer;

  constructor(call: CollectedCall, name: CachedAnswerName, cache: AnswerCache) {
    this.#call = call;
    this.#cache = cache;
    this.#name = name;
    this.#target = call.target;
    this.#gathered = new GatheredAnswer(cache.bytes);
  }

  /** Copies bytes of a stream on their way to the client. */
  gather(bytes: Uint8Array): void {
    this.#gathered.gather(bytes);
  }

  /**
   * The call is settled, and its client gets the collected bytes, then `last`. Stores them if they are a complete answer;
   * the call does not wait for that.
   */
  keep(outcome: AnswerOutcome, last: Uint8Array, headers: Headers): void {
    if (this.#mayKeep(outcome)) this.#gathered.gather(last);
    else this.#gathered.drop();
    const body = this.#gathered.take();
    if (body === null) return;
    const call = this.#call;
    const cache = this.#cache;
    const { heldBytes } = body;
    if (!cache.waitingBytes.take(heldBytes)) {
      cache.bytes.give(heldBytes);
      cache.failed('too many answers wait for the disk');
      return;
    }
    const answer: CachedAnswer = {
      ...this.#name,
      requestId: call.requestId,
      atMs: call.atMs,
      stream: call.facts?.stream === true,
      headers: storedHeaders(headers),
      servedModel: outcome.facts?.model ?? call.target?.upstream.model ?? null,
      provider: call.target?.upstream.provider ?? null,
      finishReason: outcome.facts?.finish_reason ?? null,
      body: body.bytes,
    };
    cache.store
      .save(answer)
      .catch((cause: unknown) => cache.failed(cause))
      .finally(() => {
        cache.bytes.give(heldBytes);
        cache.waitingBytes.give(heldBytes);
      });
  }

  /** The call ends without an answer that may be cached. */
  drop(): void {
    this.#gathered.drop();
  }

  /** The answer is complete, and of the target that the name says; no tools of the provider were used for it. */
  #mayKeep({ status, failure, facts }: AnswerOutcome): boolean {
    const { target, cut, detached, ended } = this.#call;
    if (status !== 200 || failure !== null || cut || detached !== null || ended !== null) return false;
    if (facts?.usage?.extras?.server_tools !== undefined) return false;
    return this.#target?.name === target?.name && this.#target?.upstream === target?.upstream;
  }
}
