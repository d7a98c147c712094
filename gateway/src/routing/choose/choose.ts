/**
 * Chooses among the targets of a route: in which order they are tried for a call, and why the others are not. Pure: the
 * state is only read; clock and seed are arguments. Source: design of routing, sections 1, 2 and 8.
 */
import type { Route, Target } from '../route.ts';
import { Affinity, type Pin } from './affinity.ts';
import type { Candidate, FilterReason, HealthView, SkipReason, TargetHealthView, TryReason } from './candidate.ts';
import { type CredentialChoice, chooseCredentials } from './credentials/choose-credentials.ts';
import { Headroom } from './credentials/headroom.ts';
import { AnswerLengths, type ExpectedCost, expectCost, paysToReturn } from './expected-cost.ts';
import { countMisfits, filterReason, isTooLong, noTarget } from './filter-target.ts';
import { Hedging } from './hedging.ts';
import { hasIssuer } from './issuer.ts';
import { usualCandidates } from './prepared-candidates.ts';
import { Dice } from './random.ts';
import { type Ranked, rankTargets } from './rank-targets.ts';
import type { RoutedRequest } from './routed-request.ts';
import { TargetQueues } from './target-queues.ts';

/** What the choice has learned in this process. */
export class ChoiceState {
  readonly health: HealthView;
  readonly affinity = new Affinity();
  readonly headroom = new Headroom();
  readonly queues = new TargetQueues();
  readonly answerLengths = new AnswerLengths();
  readonly hedging = new Hedging();

  constructor(health: HealthView) {
    this.health = health;
  }

  /** Follows a change of the configuration: what belongs to targets and models that went is forgotten. */
  reload(routes: readonly Route[]): void {
    this.queues.reload(routes);
    this.headroom.keepOnly(new Set(routes.flatMap(({ targets }) => targets.map(({ upstream }) => upstream.key))));
    this.hedging.keepOnly(new Set(routes.map(({ model }) => model)));
  }
}

/**
 * Every target of the route exactly once: first those to try, in order; then the skipped and the filtered ones. Without
 * one to try, no target can take the call now. `nowMs` is on the clock of the health; `seed` is an integer from 0 to
 * 2^53 − 1, another for each call.
 * @throws CallFailure if no target can carry the request: 400 that names the feature, 403 for a tag, 500 for a price.
 */
export function choose(
  route: Route,
  request: RoutedRequest,
  state: ChoiceState,
  nowMs: number,
  seed: number,
): readonly Candidate[] {
  const usual = usualCandidates(route, request, state, nowMs);
  if (usual !== null) return usual;
  const { judged, failed } = judgeTargets(route, request, state, nowMs, seed);
  if (failed !== null) throw noTarget(route, request, failed);
  return judged.map(({ candidate }) => candidate);
}

/** What the choice found, for explanations. */
export interface Judgement {
  /** As `choose` orders them. */
  readonly judged: readonly JudgedTarget[];
  /** Why no target can carry the request; null: some can. */
  readonly failed: readonly FilterReason[] | null;
  /** The name of the target that the conversation is pinned to, also if it is not chosen. Null: none is live. */
  readonly pinnedTo: string | null;
  /** The issuer of the conversation so far; null: unknown. */
  readonly issuer: string | null;
}

/** As `choose`, with what it found. Throws nothing. */
export function judgeTargets(
  route: Route,
  request: RoutedRequest,
  state: ChoiceState,
  nowMs: number,
  seed: number,
): Judgement {
  const call = openChoice(route, request, state, nowMs, seed);
  const found = route.targets.map((target, index) => new JudgedTarget(call, target, index));
  const carrying = found.filter(({ filtered }) => filtered === null);
  const usable = carrying.filter(({ isFull, credentials }) => !isFull && credentials.usable.length > 0);
  // The last usable target is never switched off: without one, those with an open breaker are tried, by weight.
  const limps = usable.length === 0;
  const tried = limps ? carrying.filter(({ isFull, credentials }) => !isFull && credentials.open.length > 0) : usable;
  const ordered = orderTargets(tried, limps, call, request.conversation ?? seed);
  const [first] = ordered;
  const why = first === undefined || limps ? 'limp' : reasonOf(first, carrying, call.strategy);
  for (const one of ordered) one.candidate = triedCandidate(one, limps, one === first ? why : null);
  const others = found.filter((one) => !ordered.includes(one));
  for (const one of others) one.candidate = refusedCandidate(one);
  return {
    judged: others.length === 0 ? ordered : [...ordered, ...others],
    failed: carrying.length > 0 ? null : found.flatMap(({ filtered }) => filtered ?? []),
    pinnedTo: found.find(({ isPinned }) => isPinned)?.name ?? null,
    issuer: call.issuer,
  };
}

type Strategy = Route['routing']['strategy'];

/** One choice while it is made. */
interface Choice {
  readonly route: Route;
  readonly strategy: Strategy;
  readonly request: RoutedRequest;
  readonly state: ChoiceState;
  readonly headroom: Headroom;
  readonly nowMs: number;
  readonly dice: Dice;
  /** Null: the conversation is not pinned. */
  readonly pin: Pin | null;
  /** The issuer of the conversation so far, which binds longer than its pin; null: unknown. */
  readonly issuer: string | null;
}

function openChoice(route: Route, request: RoutedRequest, state: ChoiceState, nowMs: number, seed: number): Choice {
  const last = request.conversation === null ? undefined : state.affinity.find(request.conversation);
  const pin = last !== undefined && last.untilMs > nowMs ? last : null;
  const { headroom } = state;
  const { strategy } = route.routing;
  const dice = new Dice(seed);
  return { route, strategy, request, state, headroom, nowMs, dice, pin, issuer: last?.issuer ?? null };
}

/** A target with everything that the choice finds of it. */
export class JudgedTarget implements Ranked {
  readonly target: Target;
  readonly index: number;
  /** Null: it can carry the request. */
  readonly filtered: FilterReason | null;
  readonly credentials: CredentialChoice;
  /** The conversation's pin is to this target. */
  readonly isPinned: boolean;
  /** Its places and its queue are taken. */
  readonly isFull: boolean;
  readonly isTooLong: boolean;
  readonly isSlowed: boolean;
  readonly misfits: number;
  /** Set once its place in the order is known. */
  candidate!: Candidate;
  readonly #call: Choice;
  readonly #health: TargetHealthView;

  constructor(call: Choice, target: Target, index: number) {
    const { request, state, nowMs, dice, pin, issuer } = call;
    const { upstream } = target;
    const health = state.health.of(target);
    const pinned = pin !== null && pin.upstream === upstream.key ? pin.credential : null;
    const share = health.share(nowMs);
    const isElsewhere = issuer !== null && !hasIssuer(upstream, issuer);
    this.target = target;
    this.index = index;
    this.filtered = filterReason(target, request, isElsewhere);
    this.credentials = chooseCredentials(target, health, request.inputTokens, pinned, call);
    this.isPinned = pinned !== null;
    this.isFull = state.queues.isFull(target);
    this.isTooLong = isTooLong(target, request);
    this.isSlowed = share < 1 && dice.roll() >= share;
    this.misfits = countMisfits(target, request) + Number(isElsewhere && request.marks.signed);
    this.#call = call;
    this.#health = health;
  }

  get name(): string {
    return this.target.name;
  }

  get priority(): number {
    return this.target.priority;
  }

  get weight(): number {
    return this.target.weight ?? 1;
  }

  get faultShare(): number {
    return this.#health.faultShare();
  }

  get expectedMs(): number | null {
    return this.#health.expectedMs(this.#call.nowMs);
  }

  get open(): number {
    return this.#health.open;
  }

  /** For how long it has been closed. */
  get closedForMs(): number {
    return this.#health.closedForMs(this.#call.nowMs);
  }

  /** What the call is expected to cost here; null: the target has no price. */
  get cost(): ExpectedCost | null {
    const { state, route, request } = this.#call;
    const outputTokens = state.answerLengths.expected(route.model, request.keyId, request.outputTokensMax);
    return expectCost(this.target, request, outputTokens);
  }
}

function orderTargets(
  tried: readonly JudgedTarget[],
  limps: boolean,
  { strategy, dice }: Choice,
  key: number,
): readonly JudgedTarget[] {
  if (limps) return rankTargets('weight', tried, key, dice);
  const ranked = rankTargets(strategy, tried, key, dice);
  const head = headOfConversation(ranked, strategy);
  return head === null || head === ranked[0] ? ranked : [head, ...ranked.filter((one) => one !== head)];
}

/** An earlier target counts as back after this time without a trip. */
const BACK_AFTER_MS = 60_000;

/**
 * The target that a pinned conversation goes to: its own, or an earlier one that is back, if the return pays. Null: it
 * has no usable pin, and the strategy decides.
 */
function headOfConversation(ranked: readonly JudgedTarget[], strategy: Strategy): JudgedTarget | null {
  const pinned = ranked.find(({ isPinned }) => isPinned);
  if (pinned === undefined || pinned.isTooLong || pinned.isSlowed) return null;
  const back = ranked.find(
    (one) =>
      isBefore(one, pinned, strategy) &&
      !one.isTooLong &&
      !one.isSlowed &&
      one.closedForMs >= BACK_AFTER_MS &&
      paysToReturn(pinned.cost, one.cost),
  );
  return back ?? pinned;
}

/** Whether the configuration prefers `one`: by its group, or by its place where places count. */
function isBefore(one: JudgedTarget, other: JudgedTarget, strategy: Strategy): boolean {
  if (one.priority !== other.priority) return one.priority < other.priority;
  if ((one.weight === 0) !== (other.weight === 0)) return other.weight === 0;
  return strategy === 'order' && one.index < other.index;
}

function reasonOf(first: JudgedTarget, carrying: readonly JudgedTarget[], strategy: Strategy): TryReason {
  if (first.credentials.probes) return 'probe';
  if (first.isPinned) return 'pin';
  if (carrying.some(({ isPinned, credentials }) => isPinned && credentials.blocked?.verdict === 'cooling')) {
    return 'pin_cooling';
  }
  return carrying.some((one) => isBefore(one, first, strategy)) ? 'fallback' : strategy;
}

/** `why` null: it is not the first. */
function triedCandidate({ target, credentials }: JudgedTarget, limps: boolean, why: TryReason | null): Candidate {
  const used = limps ? credentials.open : credentials.usable;
  const [credential = 0] = used;
  return {
    target,
    credential,
    credentials: used,
    verdict: why === null ? 'fallback' : 'chosen',
    why: why ?? (limps ? 'limp' : 'fallback'),
    notBeforeMs: credentials.notBeforeMs,
  };
}

function refusedCandidate({ target, filtered, isFull, credentials: { blocked } }: JudgedTarget): Candidate {
  if (filtered !== null) return { target, verdict: 'filtered', why: filtered };
  if (isFull || blocked === null) return { target, verdict: 'skipped', why: 'full', untilMs: null };
  return { target, verdict: 'skipped', why: SKIPPED[blocked.verdict], untilMs: blocked.untilMs };
}

const SKIPPED: { readonly [verdict in NonNullable<CredentialChoice['blocked']>['verdict']]: SkipReason } = {
  open: 'breaker',
  cooling: 'cooling',
  benched: 'benched',
};
