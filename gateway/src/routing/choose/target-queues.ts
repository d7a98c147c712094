/**
 * Limits the open calls of each target with `max_concurrency`. Calls beyond it wait, no more of them than may be open,
 * and get their places in turn by workspace, so that one workspace's burst does not delay another's single call. Targets
 * of several models with the same upstream share its open calls, and each keeps its own limit of them.
 */
import type { Route, Target } from '../route.ts';

/** A call waits this long for a place; then it goes to its next target. */
const QUEUE_WAIT_MS = 2_000;

/** A call that waits for a place. */
export interface PlaceListener {
  /** It has the place now, and must leave it. Called within another call's `leave`. */
  onPlace(): void;
}

/** The limit of a target, which a reload may change while calls wait. */
interface Limit {
  cap: number;
}

/** The share of a call in a target: a place, or the wait for one. */
export class TargetPlace {
  state: 'waiting' | 'open' | 'over';
  /** Until when the call waits. */
  readonly untilMs: number;
  readonly #queue: TargetQueue;
  readonly limit: Limit;
  readonly workspaceId: string;
  readonly listener: PlaceListener;

  constructor(
    queue: TargetQueue,
    state: 'waiting' | 'open',
    untilMs: number,
    limit: Limit,
    workspaceId: string,
    listener: PlaceListener,
  ) {
    this.#queue = queue;
    this.state = state;
    this.untilMs = untilMs;
    this.limit = limit;
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

/** The calls at one upstream. None waits whose target takes one more. */
class TargetQueue {
  openCalls = 0;
  waitingCalls = 0;
  readonly #limits = new Map<string, Limit>();
  /** By workspace, the next one first; a workspace without waiting calls is absent. */
  readonly #waiting = new Map<string, TargetPlace[]>();

  /** The limit of a target: as the last reload set it, else as the target has it. */
  limitOf(target: string, cap: number): Limit {
    let limit = this.#limits.get(target);
    if (limit === undefined) {
      limit = { cap };
      this.#limits.set(target, limit);
    }
    return limit;
  }

  /** False: no call and no limit needs the queue. */
  get isUsed(): boolean {
    return this.openCalls > 0 || this.waitingCalls > 0 || this.#limits.size > 0;
  }

  /**
   * Sets the limits of all targets, and lifts those of the others. A lifted one is forgotten at the next reload: calls with
   * the routes before this one may still come.
   */
  setLimits(caps: ReadonlyMap<string, number>): void {
    for (const [target, limit] of this.#limits) {
      if (limit.cap === Number.POSITIVE_INFINITY) this.#limits.delete(target);
      limit.cap = Number.POSITIVE_INFINITY;
    }
    for (const [target, cap] of caps) this.limitOf(target, cap).cap = cap;
    while (this.#admitNext());
  }

  enter(limit: Limit, workspaceId: string, nowMs: number, listener: PlaceListener): TargetPlace | null {
    if (this.openCalls < limit.cap) {
      this.openCalls += 1;
      return new TargetPlace(this, 'open', nowMs, limit, workspaceId, listener);
    }
    if (this.waitingCalls >= limit.cap) return null;
    const place = new TargetPlace(this, 'waiting', nowMs + QUEUE_WAIT_MS, limit, workspaceId, listener);
    const line = this.#waiting.get(workspaceId);
    if (line === undefined) this.#waiting.set(workspaceId, [place]);
    else line.push(place);
    this.waitingCalls += 1;
    return place;
  }

  passOn(): void {
    this.openCalls -= 1;
    this.#admitNext();
  }

  /** Gives a free place to a waiting call: one to each workspace in turn. False: no call may have one. */
  #admitNext(): boolean {
    for (const [workspaceId, line] of this.#waiting) {
      const place = line.find(({ limit }) => limit.cap > this.openCalls);
      if (place === undefined) continue;
      this.drop(place);
      // Behind the other workspaces.
      if (this.#waiting.delete(workspaceId)) this.#waiting.set(workspaceId, line);
      this.openCalls += 1;
      place.state = 'open';
      place.listener.onPlace();
      return true;
    }
    return false;
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

/** The places of all targets, by the keys of their upstreams. Targets without `max_concurrency` are not counted here. */
export class TargetQueues {
  readonly #queues = new Map<string, TargetQueue>();

  /**
   * Takes a place at a target of the model, or waits for one (`state` says which); the caller ends the wait at `untilMs`
   * by `leave`. Null: the target and its queue are full. Only for a target with `maxConcurrency`.
   */
  enter(
    model: string,
    { name, upstream, maxConcurrency }: Target,
    workspaceId: string,
    nowMs: number,
    listener: PlaceListener,
  ): TargetPlace | null {
    if (maxConcurrency === null) return null;
    const queue = this.#queueOf(upstream.key);
    return queue.enter(queue.limitOf(`${model} ${name}`, maxConcurrency), workspaceId, nowMs, listener);
  }

  /** Applies the limits of new routes to calls that wait and to those that still come by the routes before. */
  reload(routes: Iterable<Route>): void {
    const limits = new Map<TargetQueue, Map<string, number>>();
    for (const { model, targets } of routes) {
      for (const { name, upstream, maxConcurrency } of targets) {
        if (maxConcurrency === null) continue;
        const queue = this.#queueOf(upstream.key);
        limits.set(queue, (limits.get(queue) ?? new Map()).set(`${model} ${name}`, maxConcurrency));
      }
    }
    for (const [key, queue] of this.#queues) {
      queue.setLimits(limits.get(queue) ?? new Map());
      if (!queue.isUsed) this.#queues.delete(key);
    }
  }

  #queueOf(key: string): TargetQueue {
    const queue = this.#queues.get(key) ?? new TargetQueue();
    this.#queues.set(key, queue);
    return queue;
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
}
