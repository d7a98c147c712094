/**
 * Limits the open calls of each target with `max_concurrency`. Calls beyond it wait, no more of them than may be open,
 * and get their places in turn by workspace, so that one workspace's burst does not delay another's single call.
 */
import type { Target } from '../route.ts';

/** A call waits this long for a place; then it goes to its next target. */
const QUEUE_WAIT_MS = 2_000;

/** A call that waits for a place. */
export interface PlaceListener {
  /** It has the place now, and must leave it. Called within another call's `leave`. */
  onPlace(): void;
}

/** The share of a call in a target: a place, or the wait for one. */
export class TargetPlace {
  state: 'waiting' | 'open' | 'over';
  /** Until when the call waits. */
  readonly untilMs: number;
  readonly #queue: TargetQueue;
  readonly workspaceId: string;
  readonly listener: PlaceListener;

  constructor(
    queue: TargetQueue,
    state: 'waiting' | 'open',
    untilMs: number,
    workspaceId: string,
    listener: PlaceListener,
  ) {
    this.#queue = queue;
    this.state = state;
    this.untilMs = untilMs;
    this.workspaceId = workspaceId;
    this.listener = listener;
  }

  /** Gives the place back, or ends the wait. Safe to call more than once. */
  leave(): void {
    const { state } = this;
    this.state = 'over';
    if (state === 'open') this.#queue.passOn();
    else if (state === 'waiting') this.#queue.drop(this);
  }
}

class TargetQueue {
  cap: number;
  openCalls = 0;
  waitingCalls = 0;
  /** By workspace, the next one first; a workspace without waiting calls is absent. */
  readonly #waiting = new Map<string, TargetPlace[]>();

  constructor(cap: number) {
    this.cap = cap;
  }

  enter(workspaceId: string, nowMs: number, listener: PlaceListener): TargetPlace | null {
    if (this.openCalls < this.cap && this.waitingCalls === 0) {
      this.openCalls += 1;
      return new TargetPlace(this, 'open', nowMs, workspaceId, listener);
    }
    if (this.waitingCalls >= this.cap) return null;
    const place = new TargetPlace(this, 'waiting', nowMs + QUEUE_WAIT_MS, workspaceId, listener);
    const line = this.#waiting.get(workspaceId);
    if (line === undefined) this.#waiting.set(workspaceId, [place]);
    else line.push(place);
    this.waitingCalls += 1;
    return place;
  }

  passOn(): void {
    this.openCalls -= 1;
    this.admit();
  }

  /** Gives free places to waiting calls: one to each workspace in turn. */
  admit(): void {
    while (this.openCalls < this.cap && this.waitingCalls > 0) {
      const [next] = this.#waiting;
      if (next === undefined) return;
      const [workspaceId, line] = next;
      const place = line.shift();
      this.#waiting.delete(workspaceId);
      if (line.length > 0) this.#waiting.set(workspaceId, line);
      if (place === undefined) continue;
      this.waitingCalls -= 1;
      this.openCalls += 1;
      place.state = 'open';
      place.listener.onPlace();
    }
  }

  drop(place: TargetPlace): void {
    const line = this.#waiting.get(place.workspaceId);
    const at = line?.indexOf(place) ?? -1;
    if (line === undefined || at === -1) return;
    line.splice(at, 1);
    this.waitingCalls -= 1;
    if (line.length === 0) this.#waiting.delete(place.workspaceId);
  }
}

/** The places of all targets. Targets without `max_concurrency` are not counted here. */
export class TargetQueues {
  readonly #queues = new Map<string, TargetQueue>();

  /**
   * Takes a place, or waits for one (`state` says which); the caller ends the wait at `untilMs` by `leave`. Null: the
   * target and its queue are full. Only for a target with `maxConcurrency`.
   */
  enter(target: Target, workspaceId: string, nowMs: number, listener: PlaceListener): TargetPlace | null {
    return this.#queueOf(target)?.enter(workspaceId, nowMs, listener) ?? null;
  }

  /** Whether one more call would neither get a place nor wait for one. */
  isFull({ upstream, maxConcurrency }: Target): boolean {
    const queue = maxConcurrency === null ? undefined : this.#queues.get(upstream.key);
    if (queue === undefined || maxConcurrency === null) return false;
    return queue.waitingCalls >= maxConcurrency && queue.openCalls >= maxConcurrency;
  }

  /** The calls that wait for a place at the target. */
  waitingAt({ upstream }: Target): number {
    return this.#queues.get(upstream.key)?.waitingCalls ?? 0;
  }

  #queueOf({ upstream, maxConcurrency }: Target): TargetQueue | null {
    if (maxConcurrency === null) return null;
    const known = this.#queues.get(upstream.key);
    if (known === undefined) {
      const queue = new TargetQueue(maxConcurrency);
      this.#queues.set(upstream.key, queue);
      return queue;
    }
    // A reload may have changed it.
    if (known.cap !== maxConcurrency) {
      known.cap = maxConcurrency;
      known.admit();
    }
    return known;
  }
}
