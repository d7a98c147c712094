/**
 * Simulates calls to the targets of a route on a clock of its own: real choice, real plans, real states; only the
 * upstreams are made up. The same seed always gives the same run.
 */
import { AttemptPlan } from '../attempt-plan.ts';
import { ChoiceState, choose } from '../choose/choose.ts';
import { onlyCandidate } from '../choose/prepared-candidates.ts';
import { makeRequest } from '../choose/testing/routes.ts';
import type { FailureClass } from '../health/failure-table.ts';
import { type HealthEvent, RoutingState } from '../health/routing-state.ts';
import type { AttemptFailure, Step } from '../planned-call.ts';
import type { Route } from '../route.ts';

/** Draws numbers in [0, 1) from a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What an upstream does with a request; times from its arrival. `null`: it answers never. */
export interface Behavior {
  readonly afterMs: number | null;
  /** Absent: an answer. */
  readonly failure?: FailureClass;
  readonly pauseMs?: number;
}

/** Decides what the upstream of a target does with a request that arrives at `nowMs`. */
export type FakeUpstream = (nowMs: number, random: () => number, credential: number) => Behavior;

export interface SimulatedCall {
  readonly workspace: string;
  readonly begunMs: number;
  endedMs: number;
  attempts: number;
  /** The target that answered; null: it was not. */
  answeredBy: string | null;
  /** The client's failure; null: it was answered. `refused`: no attempt was made. */
  failure: FailureClass | 'refused' | null;
}

/** One request to an upstream. */
export interface SimulatedAttempt {
  readonly target: string;
  readonly credential: number;
  readonly begunMs: number;
}

export interface Load {
  readonly perSecond: number;
  readonly seconds: number;
  readonly workspaces?: number;
}

/** The time limit of the first byte. */
const FIRST_BYTE_MS = 120_000;
const CALL_MS = 3_600_000;
const STREAM_MS_MEDIAN = 400;
const STREAM_SIGMA = 0.5;

/** Times are spread as those of real models: log-normal. */
export function logNormal(random: () => number, medianMs = STREAM_MS_MEDIAN, sigma = STREAM_SIGMA): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return medianMs * Math.exp(sigma * normal);
}

export class Simulation {
  nowMs = 0;
  readonly random: () => number;
  readonly state: RoutingState;
  readonly events: HealthEvent[] = [];
  readonly calls: SimulatedCall[] = [];
  readonly attempts: SimulatedAttempt[] = [];
  /** The most calls that were open at once. */
  openMax = 0;
  readonly #queue = new EventQueue();
  readonly #route: Route;
  readonly #choice: ChoiceState;
  readonly #upstreams: Readonly<Record<string, FakeUpstream>>;
  #open = 0;
  #poison: { readonly workspace: string; readonly upstream: FakeUpstream } | null = null;

  /** `upstreams`: by the name of their target. */
  constructor(seed: number, route: Route, upstreams: Readonly<Record<string, FakeUpstream>>) {
    this.random = randomOf(seed);
    this.state = new RoutingState((event) => this.events.push(event), this.random);
    this.#route = route;
    this.#upstreams = upstreams;
    this.#choice = new ChoiceState(this.state);
  }

  /** Gives the calls of one workspace an upstream of their own at every target. */
  poison(workspace: string, upstream: FakeUpstream): void {
    this.#poison = { workspace, upstream };
  }

  /** Lets calls arrive at random for so long, and runs until the last one has ended. */
  run({ perSecond, seconds, workspaces = 10 }: Load): void {
    const endMs = this.nowMs + seconds * 1_000;
    const arrive = (): void => {
      this.#call(`workspace-${Math.floor(this.random() * workspaces)}`);
      const nextMs = this.nowMs - (Math.log(1 - this.random()) * 1_000) / perSecond;
      if (nextMs < endMs) this.#queue.add(nextMs, arrive);
    };
    this.#queue.add(this.nowMs, arrive);
    for (let next = this.#queue.take(); next !== null; next = this.#queue.take()) {
      this.nowMs = next.atMs;
      next.act();
    }
  }

  #call(workspace: string): void {
    const call: SimulatedCall = {
      workspace,
      begunMs: this.nowMs,
      endedMs: 0,
      attempts: 0,
      answeredBy: null,
      failure: null,
    };
    this.calls.push(call);
    this.#open += 1;
    this.openMax = Math.max(this.openMax, this.#open);
    const seed = Math.floor(this.random() * 2 ** 53);
    const candidates = onlyCandidate(this.#route) ?? choose(this.#route, makeRequest(), this.#choice, this.nowMs, seed);
    const plan = new AttemptPlan<AttemptFailure>(this.state, candidates, {
      route: this.#route,
      routing: this.#route.routing,
      workspace,
      isStream: true,
      requestBytes: 2_000,
      endMs: this.nowMs + CALL_MS,
    });
    this.#follow(call, plan, plan.begin(this.nowMs));
  }

  #follow(call: SimulatedCall, plan: AttemptPlan, step: Step): void {
    if (step === 'wait') {
      this.#queue.add(plan.untilMs, () => this.#follow(call, plan, plan.resume(this.nowMs)));
    } else if (step === 'end') {
      this.#end(call);
      call.failure = plan.best?.class ?? 'refused';
    } else this.#attempt(call, plan);
  }

  #end(call: SimulatedCall): void {
    call.endedMs = this.nowMs;
    this.#open -= 1;
  }

  #attempt(call: SimulatedCall, plan: AttemptPlan): void {
    const { target, credential, begunMs } = plan;
    if (target === null) throw new Error('an attempt without a target');
    call.attempts += 1;
    this.attempts.push({ target: target.name, credential, begunMs });
    const poison = this.#poison?.workspace === call.workspace ? this.#poison.upstream : undefined;
    const upstream = poison ?? this.#upstreams[target.name];
    if (upstream === undefined) throw new Error(`no upstream for ${target.name}`);
    const { afterMs, failure, pauseMs = null } = upstream(this.nowMs, this.random, credential);
    const firstByteMs = plan.limpFirstByteMs(begunMs) ?? FIRST_BYTE_MS;
    let isOver = false;
    const fail = (name: FailureClass): void => {
      isOver = true;
      this.#follow(call, plan, plan.failed({ class: name, pauseMs, atRisk: null }, this.nowMs));
    };
    const answer = (): void => {
      isOver = true;
      plan.answered(this.nowMs - begunMs, this.nowMs);
      plan.ended(false, this.nowMs);
      call.answeredBy = target.name;
      this.#end(call);
    };
    const end =
      afterMs === null || afterMs > firstByteMs ? () => fail('timeout') : failure ? () => fail(failure) : answer;
    this.#queue.add(begunMs + Math.min(afterMs ?? firstByteMs, firstByteMs), () => {
      if (!isOver) end();
    });
    const watch = (): void => {
      if (isOver) return;
      const againMs = plan.overdue(null, this.nowMs);
      if (againMs === null) fail('timeout');
      else if (Number.isFinite(againMs)) this.#queue.add(againMs, watch);
    };
    const overdueAtMs = plan.overdueAtMs(begunMs);
    if (overdueAtMs < begunMs + (afterMs ?? Number.POSITIVE_INFINITY)) this.#queue.add(overdueAtMs, watch);
  }
}

interface QueuedEvent {
  readonly atMs: number;
  readonly act: () => void;
}

/** A binary heap by time; events of one time keep no order. */
class EventQueue {
  readonly #heap: QueuedEvent[] = [];

  add(atMs: number, act: () => void): void {
    const heap = this.#heap;
    let place = heap.length;
    const event = { atMs, act };
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || parent.atMs <= atMs) break;
      heap[place] = parent;
      place = above;
    }
    heap[place] = event;
  }

  /** The earliest event; null: none is left. */
  take(): QueuedEvent | null {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined) return null;
    if (heap.length === 0) return first;
    let place = 0;
    for (;;) {
      const left = 2 * place + 1;
      const child = (heap[left + 1]?.atMs ?? Number.POSITIVE_INFINITY) < (heap[left]?.atMs ?? 0) ? left + 1 : left;
      const below = heap[child];
      if (below === undefined || below.atMs >= last.atMs) break;
      heap[place] = below;
      place = child;
    }
    heap[place] = last;
    return first;
  }
}
