/**
 * Keeps what is known of one target: its breaker and that of its origin, its credentials, its retry budget and its
 * times. Allocates nothing per attempt.
 */
import type { Upstream } from '../../providers/provider.ts';
import { Breaker, type Sent } from './breaker.ts';
import type { CoolDown, CredentialHealth } from './credential-health.ts';
import { FAILURES, type FailureClass } from './failure-table.ts';
import type { ProviderStats } from './provider-health.ts';
import { FirstBytes, PeakAverage, WindowCounts } from './window-counts.ts';

/**
 * What the state allows for a call with one credential of a target. `open`: only if nothing else can be used;
 * `cooling`, `benched`: not before a time.
 */
export type Verdict = 'usable' | 'probe' | 'open' | 'cooling' | 'benched';

/** An attempt as the states see it. */
export interface AttemptFacts extends Sent {
  readonly isStream: boolean;
  readonly requestBytes: number;
  /** The index in `upstream.credentials`. */
  readonly credential: number;
  /** It went to a target that was not usable, because no other was. */
  readonly isLimp: boolean;
  readonly probes: Probes;
  /** It was overdue, which counted as its fault. */
  readonly isOverdue: boolean;
  /** The call failed at another target before, so that its faults move no state. */
  readonly isSuspect: boolean;
}

/** The states that an attempt probes, as bits. */
export type Probes = number;
const PROBES_TARGET = 1;
const PROBES_ORIGIN = 2;
const PROBES_CREDENTIAL = 4;

/** What a change of a state is told as. */
export type Change = 'opened' | 'closed' | 'benched' | 'restored';
/** `credential`: the index of the credential that changed, of a target: for its model alone; null: none did. */
export type NoteChange = (
  scope: 'target' | 'origin' | 'credential',
  change: Change,
  why: FailureClass | null,
  credential: number | null,
) => void;

const BUDGET_SECONDS = 10;
const BUDGET_MIN = 10;
const BUDGET_SHARE = 0.2;
const BUDGET_SHARE_DOWN = 0.05;
/** Faults of the last hundred from which on the smaller share holds: fewer where they have already opened it. */
const DOWN_FAULTS = 90;
const DOWN_FAULTS_OPEN = 60;
const FIRSTS = 0;
const RETRIES = 1;

const CONFIG_BENCH_MS = 300_000;
/** A requested pause longer than this means that the quota of the model is used up. */
const QUOTA_FROM_MS = 3_600_000;
/** A time limit above this was set by hand for a slow model: its calls are never overdue. */
const OVERDUE_FIRST_BYTE_MAX_MS = 300_000;
const FAULT_COST_MIN_MS = 5_000;

/** What all upstreams with the same key share. */
export class TargetHealth {
  readonly key: string;
  readonly provider: string;
  readonly model: string;
  readonly breaker: Breaker;
  readonly origin: Breaker;
  readonly providerStats: ProviderStats;
  readonly firstBytes = new FirstBytes();
  readonly latency = new PeakAverage();
  /** By the credential's key. */
  readonly coolDowns = new Map<string, CoolDown>();
  readonly #budget = new WindowCounts(1_000, BUDGET_SECONDS, 2);
  /** Attempts under way, and those of them that are overdue. */
  open = 0;
  overdue = 0;
  lastFailure: FailureClass | null = null;

  constructor(
    upstream: Pick<Upstream, 'key' | 'provider' | 'model'>,
    origin: Breaker,
    stats: ProviderStats,
    random: () => number,
  ) {
    this.key = upstream.key;
    this.provider = upstream.provider;
    this.model = upstream.model;
    this.origin = origin;
    this.providerStats = stats;
    this.breaker = new Breaker(random);
  }

  /** Whether calls reach it without a probe or a need. */
  get isClosed(): boolean {
    return this.breaker.isClosed && this.origin.isClosed;
  }

  /** Whether it has been switched off since then, even if it is back. */
  hasChangedSince(atMs: number): boolean {
    return this.breaker.hasChangedSince(atMs) || this.origin.hasChangedSince(atMs);
  }

  /** The part of its usual share that it gets: less than 1 in the seconds after it closed. */
  share(nowMs: number): number {
    return Math.min(this.breaker.share(nowMs), this.origin.share(nowMs));
  }

  /** Retries that the budget of the last ten seconds still pays for. */
  retriesLeft(nowMs: number): number {
    const isDown = [this.breaker, this.origin].some(isMostlyFailing);
    const share = isDown ? BUDGET_SHARE_DOWN : BUDGET_SHARE;
    const most = Math.max(BUDGET_MIN, Math.floor(share * this.#budget.sum(FIRSTS, nowMs)));
    return most - this.#budget.sum(RETRIES, nowMs);
  }

  /** Spends one retry of the budget; false: none is left. */
  takeRetry(nowMs: number): boolean {
    if (this.retriesLeft(nowMs) < 1) return false;
    this.#budget.add(RETRIES, nowMs);
    return true;
  }

  countFirst(nowMs: number): void {
    this.#budget.add(FIRSTS, nowMs);
  }
}

function isMostlyFailing({ faults, isClosed }: Breaker): boolean {
  return faults >= (isClosed ? DOWN_FAULTS : DOWN_FAULTS_OPEN);
}

/** A target as one upstream reaches it: with the credentials of its pool, by their index. */
export class UpstreamHealth {
  readonly target: TargetHealth;
  readonly #credentials: readonly { readonly health: CredentialHealth; readonly coolDown: CoolDown }[];
  readonly #hasOverdue: boolean;
  readonly #changed: NoteChange;

  constructor(
    target: TargetHealth,
    credentials: readonly { readonly health: CredentialHealth; readonly coolDown: CoolDown }[],
    upstream: Pick<Upstream, 'timeouts'>,
    changed: NoteChange,
  ) {
    this.target = target;
    this.#credentials = credentials;
    this.#hasOverdue = (upstream.timeouts?.firstByteMs ?? 0) <= OVERDUE_FIRST_BYTE_MAX_MS;
    this.#changed = changed;
  }

  verdict(credential: number, nowMs: number): Verdict {
    const { target } = this;
    const { breaker, origin } = target;
    const { health, coolDown } = this.#at(credential);
    if (breaker.isClosed && origin.isClosed && health.why === null) {
      return nowMs < coolDown.untilMs ? 'cooling' : 'usable';
    }
    if (breaker.state(nowMs) === 'benched' || health.isBenched(nowMs)) return 'benched';
    if (nowMs < coolDown.untilMs) return 'cooling';
    const takesProbes = [breaker, origin].every((one) => one.isClosed || one.takesProbe(nowMs));
    return takesProbes ? 'probe' : 'open';
  }

  /** When the pause of the credential ends, after the verdicts `open`, `cooling` and `benched`. */
  untilMs(credential: number): number {
    const { health, coolDown } = this.#at(credential);
    const { breaker, origin } = this.target;
    const untilMs = health.why === null ? coolDown.untilMs : Math.max(coolDown.untilMs, health.untilMs);
    const open = [breaker, origin].flatMap((one) => (one.isClosed ? [] : one.untilMs));
    return Math.max(untilMs, ...open);
  }

  /** The part of its usual share that it gets: less than 1 in the seconds after it closed. */
  share(nowMs: number): number {
    return this.target.share(nowMs);
  }

  /** For how long it has been closed; Infinity: since the start. 0: it is not closed. */
  closedForMs(nowMs: number): number {
    const { breaker, origin } = this.target;
    return Math.min(breaker.closedForMs(nowMs), origin.closedForMs(nowMs));
  }

  /** The share of faults in its last hundred outcomes. */
  faultShare(): number {
    const { faults, outcomes } = this.target.breaker;
    return outcomes === 0 ? 0 : faults / outcomes;
  }

  /** The expected time to first content, which decays without calls; null: unknown. */
  expectedMs(nowMs: number): number | null {
    return this.target.latency.read(nowMs);
  }

  /** Attempts under way. */
  get open(): number {
    return this.target.open;
  }

  /** Why the state keeps calls away, as the class of failure that would tell it. */
  reason(credential: number, nowMs: number): FailureClass {
    const { health } = this.#at(credential);
    if (health.isBenched(nowMs) && health.why !== null) return health.why;
    if (this.target.breaker.state(nowMs) === 'benched') return 'config';
    return this.target.breaker.isClosed && this.target.origin.isClosed ? 'rate' : 'fault';
  }

  /** Whether the pause of a cooling or benched candidate is our guess, and one call may find out now. */
  takesTrial(credential: number, nowMs: number): boolean {
    const { health, coolDown } = this.#at(credential);
    if (!coolDown.trials.isDue(nowMs) || !health.trials.isDue(nowMs)) return false;
    const waits = nowMs < coolDown.untilMs && !coolDown.isGuess;
    return !waits && !(health.isBenched(nowMs) && !health.isGuess);
  }

  /** Begins an attempt; returns the states that it probes. `isRetry`: `takeRetry` paid for it. */
  begin(credential: number, verdict: Verdict, isRetry: boolean, nowMs: number): Probes {
    const { target } = this;
    const { health, coolDown } = this.#at(credential);
    target.open += 1;
    if (!isRetry) target.countFirst(nowMs);
    health.open += 1;
    if (verdict === 'usable') return 0;
    let probes = 0;
    const isTrial = verdict === 'cooling' || verdict === 'benched';
    if (isTrial) {
      coolDown.trials.begin(nowMs);
      health.trials.begin(nowMs);
    }
    const { breaker, origin } = target;
    if (isTrial ? !breaker.isClosed : breaker.takesProbe(nowMs)) {
      breaker.beginProbe();
      probes |= PROBES_TARGET;
    }
    if (origin.takesProbe(nowMs)) {
      origin.beginProbe();
      probes |= PROBES_ORIGIN;
    }
    if (health.takesProbe(nowMs)) {
      health.beginProbe();
      probes |= PROBES_CREDENTIAL;
    }
    return probes;
  }

  /** After how many milliseconds an attempt without a first byte is overdue; Infinity: never. */
  overdueMs(facts: Pick<AttemptFacts, 'isStream' | 'requestBytes'>, nowMs: number): number {
    if (!this.#hasOverdue) return Number.POSITIVE_INFINITY;
    return this.target.firstBytes.overdueMs(facts.isStream, facts.requestBytes, nowMs);
  }

  /** Notes that an attempt is overdue: a fault, although it goes on. Returns the outcome's number. */
  noteOverdue(facts: AttemptFacts, nowMs: number): number {
    this.target.overdue += 1;
    return this.#noteFault('target', 'timeout', facts, nowMs);
  }

  /** Notes the first content of an attempt, `ttfbMs` after it began. */
  noteAnswer(facts: AttemptFacts, ttfbMs: number, nowMs: number): void {
    const { target } = this;
    const { health, coolDown } = this.#at(facts.credential);
    target.firstBytes.add(ttfbMs, facts.isStream, facts.requestBytes, nowMs);
    target.latency.add(nowMs - facts.begunMs, nowMs);
    coolDown.noteOk(facts, nowMs);
    if (health.noteOk(facts, nowMs)) this.#changed('credential', 'restored', null, facts.credential);
    if (target.origin.noteOk(facts, (facts.probes & PROBES_ORIGIN) !== 0, nowMs))
      this.#changed('origin', 'closed', null, null);
    if (target.breaker.noteOk(facts, (facts.probes & PROBES_TARGET) !== 0, nowMs))
      this.#changed('target', 'closed', null, null);
  }

  /** Notes the complete end of an answer. */
  noteComplete(facts: AttemptFacts, ttfbMs: number, nowMs: number): void {
    this.target.providerStats.note(false, facts.isStream ? ttfbMs : null, nowMs);
  }

  /**
   * Notes the failure of an attempt before its first content, or its `cut` afterwards. `pauseMs`: the pause that the
   * provider named; null: none. Returns the number of the target's outcome for `takeBack`; -1: none was noted.
   */
  noteFailure(failure: FailureClass, pauseMs: number | null, facts: AttemptFacts, nowMs: number): number {
    const { target } = this;
    const { health, coolDown } = this.#at(facts.credential);
    if (failure === 'client') return this.#endProbes(facts);
    const { effect } = FAILURES[failure];
    target.providerStats.note(effect !== 'none', null, nowMs);
    if (effect !== 'none') target.lastFailure = failure;
    if (effect === 'origin_fault') {
      this.#endProbes(facts, PROBES_TARGET | PROBES_CREDENTIAL);
      this.#noteFault('origin', failure, facts, nowMs);
      return -1;
    }
    if (effect === 'target_fault') {
      this.#noteReached(facts, nowMs);
      this.#endProbes(facts, PROBES_CREDENTIAL);
      return facts.isOverdue && failure !== 'cut' ? -1 : this.#noteFault('target', failure, facts, nowMs);
    }
    // A stale connection says nothing about the origin.
    if (failure === 'reset') return this.#endProbes(facts);
    this.#noteReached(facts, nowMs);
    if (effect === 'target_bench') {
      this.#endProbes(facts, PROBES_CREDENTIAL);
      const isProbe = (facts.probes & PROBES_TARGET) !== 0;
      if (target.breaker.bench(CONFIG_BENCH_MS, facts, isProbe, nowMs))
        this.#changed('target', 'benched', failure, null);
      return -1;
    }
    if (effect === 'credential_bench') {
      this.#endProbes(facts, PROBES_TARGET);
      const why = failure === 'credential' ? 'credential' : 'quota';
      if (health.noteRefusal(why, pauseMs, facts, nowMs)) this.#changed('credential', 'benched', why, facts.credential);
      return -1;
    }
    if (effect === 'cool_down') {
      const wasUsedUp = coolDown.untilMs - nowMs > QUOTA_FROM_MS;
      coolDown.set(pauseMs, facts, nowMs);
      // Other models of the credential go on, and an operator has to know.
      if (!wasUsedUp && pauseMs !== null && pauseMs > QUOTA_FROM_MS)
        this.#changed('target', 'benched', 'quota', facts.credential);
    }
    return this.#endProbes(facts, PROBES_TARGET | PROBES_CREDENTIAL);
  }

  /** Ends everything that keeps calls away. */
  close(nowMs: number): void {
    const { breaker, origin } = this.target;
    if (!breaker.isClosed) breaker.close(nowMs, false);
    if (!origin.isClosed) origin.close(nowMs, false);
    for (const { health, coolDown } of this.#credentials) {
      health.restore();
      coolDown.end(nowMs);
    }
  }

  /** Ends the account of an attempt, whatever its outcome. */
  end(credential: number, wasOverdue: boolean): void {
    this.target.open -= 1;
    if (wasOverdue) this.target.overdue -= 1;
    this.#at(credential).health.open -= 1;
  }

  #noteFault(scope: 'target' | 'origin', failure: FailureClass, facts: AttemptFacts, nowMs: number): number {
    const { target } = this;
    target.latency.add(Math.max(FAULT_COST_MIN_MS, 2 * (nowMs - facts.begunMs)), nowMs);
    const breaker = scope === 'target' ? target.breaker : target.origin;
    const isProbe = (facts.probes & (scope === 'target' ? PROBES_TARGET : PROBES_ORIGIN)) !== 0;
    const { trips } = breaker;
    const outcome = breaker.noteFault(facts, isProbe, !facts.isLimp && !facts.isSuspect, nowMs);
    if (breaker.trips > trips) this.#changed(scope, 'opened', failure, null);
    return outcome;
  }

  /** Anything that came back shows that the origin is there. */
  #noteReached(facts: AttemptFacts, nowMs: number): void {
    const isProbe = (facts.probes & PROBES_ORIGIN) !== 0;
    if (this.target.origin.noteOk(facts, isProbe, nowMs)) this.#changed('origin', 'closed', null, null);
  }

  #endProbes(facts: AttemptFacts, which: Probes = PROBES_TARGET | PROBES_ORIGIN | PROBES_CREDENTIAL): -1 {
    const probes = facts.probes & which;
    if (probes === 0) return -1;
    if ((probes & PROBES_TARGET) !== 0) this.target.breaker.endProbe();
    if ((probes & PROBES_ORIGIN) !== 0) this.target.origin.endProbe();
    if ((probes & PROBES_CREDENTIAL) !== 0) this.#at(facts.credential).health.endProbe();
    return -1;
  }

  #at(credential: number) {
    const at = this.#credentials[credential];
    if (at === undefined) throw new Error(`${this.target.key} has no credential ${credential}`);
    return at;
  }
}
