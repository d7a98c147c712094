/**
 * Chooses among the targets of a route: in which order they are tried for a call, and why the others are not. Pure: the
 * state is only read; clock and seed are arguments. Source: design of routing, sections 1, 2 and 8.
 */
import type { Route, Target } from '../route.ts';
import { Affinity } from './affinity.ts';
import type { Candidate, FilterReason, HealthView, SkipReason, TargetHealthView, TryReason } from './candidate.ts';
import { type CredentialChoice, chooseCredentials } from './credentials/choose-credentials.ts';
import { Headroom } from './credentials/headroom.ts';
import { AnswerLengths, expectCost, paysToReturn } from './expected-cost.ts';
import { countMisfits, filterReason, hasIssuer, isTooLong, noTarget } from './filter-target.ts';
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

  constructor(health: HealthView) {
    this.health = health;
  }
}

const prepared = new WeakMap<Target, readonly [Candidate]>();

/**
 * The candidates of a route with one target and one credential; null: there is something to choose. The same object
 * every time. Only for a call that requires no tags.
 */
export function onlyCandidate({ targets }: Route): readonly [Candidate] | null {
  const [target] = targets;
  if (targets.length > 1 || target.upstream.credentials.length > 1) return null;
  const known = prepared.get(target);
  if (known !== undefined) return known;
  const candidates: readonly [Candidate] = [
    { target, credential: 0, credentials: [0], verdict: 'chosen', why: 'order', notBeforeMs: 0 },
  ];
  prepared.set(target, candidates);
  return candidates;
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
  const { judged, failed } = judgeTargets(route, request, state, nowMs, seed);
  if (failed !== null) throw noTarget(route, request, failed);
  return judged.map(({ candidate }) => candidate);
}

/** A target with everything that the choice found of it. */
export interface JudgedTarget extends Ranked {
  readonly target: Target;
  readonly candidate: Candidate;
}

export interface Judgement {
  readonly judged: readonly JudgedTarget[];
  /** Why no target can carry the request; null: some can. */
  readonly failed: readonly FilterReason[] | null;
  /** The conversation's pin: its target's name, also if it is not chosen. Null: none is live. */
  readonly pinnedTo: string | null;
  /** The issuer of the conversation so far; null: unknown. */
  readonly issuer: string | null;
}

/** As `choose`, with what it found; for explanations also with the costs that it does not need. */
export function judgeTargets(
  route: Route,
  request: RoutedRequest,
  state: ChoiceState,
  nowMs: number,
  seed: number,
  explains = false,
): Judgement {
  const dice = new Dice(seed);
  const { strategy } = route.routing;
  const last = request.conversation === null ? undefined : state.affinity.find(request.conversation);
  const pin = last !== undefined && last.untilMs > nowMs ? last : null;
  const issuer = last?.issuer ?? null;
  const needsCosts = explains || strategy === 'price' || pin !== null;
  const { inputTokens, marks } = request;
  const outputTokens = needsCosts
    ? state.answerLengths.expected(route.model, request.keyId, request.outputTokensMax)
    : 0;

  const found = route.targets.map((target, index): Found => {
    const { upstream, name, priority, weight } = target;
    const health = state.health.of(target);
    const pinned = pin !== null && pin.upstream === upstream.key ? pin.credential : null;
    const share = health.share(nowMs);
    const isElsewhere = marks.signed && issuer !== null && !hasIssuer(upstream, issuer);
    return {
      target,
      name,
      index,
      priority,
      weight: weight ?? 1,
      filtered: filterReason(target, request, issuer),
      credentials: chooseCredentials(
        target,
        health,
        { inputTokens, pinned },
        { headroom: state.headroom, nowMs, dice },
      ),
      isPinned: pinned !== null,
      isFull: state.queues.isFull(target),
      isTooLong: isTooLong(target, request),
      isSlowed: share < 1 && dice.roll() >= share,
      misfits: countMisfits(target, request) + Number(isElsewhere),
      cost: needsCosts ? expectCost(target, request, outputTokens) : null,
      faultShare: health.faultShare(),
      expectedMs: health.expectedMs(nowMs),
      open: health.open,
      health,
    };
  });

  const carrying = found.filter(({ filtered }) => filtered === null);
  const usable = carrying.filter(({ isFull, credentials }) => !isFull && credentials.usable.length > 0);
  // The last usable target is never switched off: without one, those with an open breaker are tried, by weight.
  const limps = usable.length === 0;
  const tried = limps ? carrying.filter(({ isFull, credentials }) => !isFull && credentials.open.length > 0) : usable;
  const ranked = rankTargets(limps ? 'weight' : strategy, tried, request.conversation ?? seed, dice);
  const head = limps ? null : headOfConversation(ranked, strategy, nowMs);
  const ordered = head === null ? ranked : [head, ...ranked.filter((one) => one !== head)];
  const first = ordered[0];
  const why = first === undefined || limps ? 'limp' : reasonOf(first, carrying, strategy);

  const judged = [
    ...ordered.map((one, place) => ({ ...one, candidate: triedCandidate(one, limps, place === 0 ? why : null) })),
    ...found.flatMap((one) => (ordered.includes(one) ? [] : [{ ...one, candidate: refusedCandidate(one) }])),
  ];
  const failed = carrying.length > 0 ? null : found.flatMap(({ filtered }) => filtered ?? []);
  return { judged, failed, pinnedTo: found.find(({ isPinned }) => isPinned)?.name ?? null, issuer };
}

/** A target before it has a place in the order. */
interface Found extends Ranked {
  readonly target: Target;
  readonly health: TargetHealthView;
  readonly filtered: FilterReason | null;
  readonly credentials: CredentialChoice;
  /** The conversation's pin is to this target. */
  readonly isPinned: boolean;
  /** Its places and its queue are taken. */
  readonly isFull: boolean;
}

/** An earlier target counts as back after this time without a trip. */
const BACK_AFTER_MS = 60_000;

/**
 * The target that a pinned conversation goes to: its own, or an earlier one that is back, if the return pays. Null: it
 * has no usable pin, and the strategy decides.
 */
function headOfConversation(ranked: readonly Found[], strategy: Strategy, nowMs: number): Found | null {
  const pinned = ranked.find(({ isPinned }) => isPinned);
  if (pinned === undefined || pinned.isTooLong || pinned.isSlowed) return null;
  const back = ranked.find(
    (one) =>
      isBefore(one, pinned, strategy) &&
      !one.isTooLong &&
      !one.isSlowed &&
      one.health.closedForMs(nowMs) >= BACK_AFTER_MS &&
      paysToReturn(pinned.cost, one.cost),
  );
  return back ?? pinned;
}

type Strategy = Route['routing']['strategy'];

/** Whether the configuration prefers `one`: by its group, or by its place where places count. */
function isBefore(one: Found, other: Found, strategy: Strategy): boolean {
  if (one.priority !== other.priority) return one.priority < other.priority;
  return strategy === 'order' && one.index < other.index;
}

function reasonOf(first: Found, carrying: readonly Found[], strategy: Strategy): TryReason {
  if (first.credentials.probes) return 'probe';
  if (first.isPinned) return 'pin';
  if (carrying.some(({ isPinned, credentials }) => isPinned && credentials.blocked?.verdict === 'cooling')) {
    return 'pin_cooling';
  }
  return carrying.some((one) => isBefore(one, first, strategy)) ? 'fallback' : strategy;
}

/** `why` null: it is not the first. */
function triedCandidate({ target, credentials }: Found, limps: boolean, why: TryReason | null): Candidate {
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

function refusedCandidate({ target, filtered, isFull, credentials: { blocked } }: Found): Candidate {
  if (filtered !== null) return { target, verdict: 'filtered', why: filtered };
  if (isFull || blocked === null) return { target, verdict: 'skipped', why: 'full', untilMs: null };
  const untilMs = Number.isFinite(blocked.untilMs) ? blocked.untilMs : null;
  return { target, verdict: 'skipped', why: SKIPPED[blocked.verdict], untilMs };
}

const SKIPPED: { readonly [verdict in NonNullable<CredentialChoice['blocked']>['verdict']]: SkipReason } = {
  open: 'breaker',
  cooling: 'cooling',
  benched: 'benched',
  out: 'out',
};
