/**
 * Keeps what the process has learned of its targets and credentials, by their keys, so that it survives reloads of the
 * configuration. In memory: a restart begins with everything closed.
 */
import type { Upstream } from '../../providers/provider.ts';
import { Breaker, type BreakerState } from './breaker.ts';
import { CoolDown, CredentialHealth } from './credential-health.ts';
import type { FailureClass } from './failure-table.ts';
import { type HealthView, NEVER_CALLED, ProviderStats } from './provider-health.ts';
import { type Change, TargetHealth, UpstreamHealth } from './target-health.ts';

/** What the states need of an upstream. */
export type WatchedUpstream = Pick<Upstream, 'key' | 'provider' | 'model' | 'origin' | 'timeouts' | 'credentials'>;

export interface WatchedTarget {
  readonly upstream: WatchedUpstream;
}

/** A change of a state, for the log, metrics and alarms. */
export type HealthEvent =
  | {
      readonly kind: Change;
      readonly scope: 'target' | 'origin' | 'credential';
      readonly provider: string;
      /** Null: the change concerns all models. */
      readonly model: string | null;
      readonly credential: string | null;
      readonly why: FailureClass | null;
      /** An operator has to act: the provider refuses our credential, our account or our model. */
      readonly isAlarm: boolean;
    }
  /** No target of a model has been closed for a minute. */
  | { readonly kind: 'limp'; readonly route: string; readonly isAlarm: true };

/** The state of a target, times on the clock of `snapshot`. */
export interface TargetSnapshot {
  readonly key: string;
  readonly provider: string;
  readonly model: string;
  readonly state: BreakerState;
  /** When it may be probed; null: it is closed. */
  readonly untilMs: number | null;
  /** How often it opened after being closed, since the start. */
  readonly trips: number;
  /** Faults among the last outcomes, up to a hundred. */
  readonly faults: number;
  readonly outcomes: number;
  readonly lastFailure: FailureClass | null;
  readonly share: number;
  readonly open: number;
  readonly overdue: number;
  readonly retriesLeft: number;
  /** Null: unknown. */
  readonly latencyMs: number | null;
}

export interface CredentialSnapshot {
  readonly key: string;
  readonly provider: string;
  readonly name: string;
  readonly state: 'usable' | 'benched';
  readonly why: 'credential' | 'quota' | null;
  readonly untilMs: number | null;
  readonly open: number;
  /** The models at which it pauses. */
  readonly cooling: readonly { readonly model: string; readonly untilMs: number; readonly isGuess: boolean }[];
}

export interface RoutingSnapshot {
  readonly targets: readonly TargetSnapshot[];
  readonly credentials: readonly CredentialSnapshot[];
  /** The public models without a closed target. */
  readonly limping: readonly { readonly route: string; readonly sinceMs: number }[];
}

const LIMP_ALARM_MS = 60_000;

export class RoutingState {
  readonly #random: () => number;
  readonly #note: (event: HealthEvent) => void;
  readonly #upstreams = new WeakMap<WatchedUpstream, UpstreamHealth>();
  readonly #targets = new Map<string, TargetHealth>();
  readonly #credentials = new Map<string, CredentialHealth>();
  readonly #origins = new Map<string, Breaker>();
  readonly #providers = new Map<string, ProviderStats>();
  readonly #limping = new Map<string, { readonly sinceMs: number; told: boolean }>();

  /** `random`: uniform in [0, 1), for all jitter; `note` gets each change of a state, at once. */
  constructor(note: (event: HealthEvent) => void = () => {}, random: () => number = Math.random) {
    this.#note = note;
    this.#random = random;
  }

  /** A random number in [0, 1). */
  draw(): number {
    return this.#random();
  }

  /** The state of a target, shared by all with its upstream's key. */
  of({ upstream }: WatchedTarget): UpstreamHealth {
    return this.#upstreams.get(upstream) ?? this.#watch(upstream);
  }

  #watch(upstream: WatchedUpstream): UpstreamHealth {
    const { key, provider, model } = upstream;
    const origin = getOrMake(this.#origins, upstream.origin, () => new Breaker(this.#random));
    const stats = this.statsOf(provider);
    const target = getOrMake(this.#targets, key, () => new TargetHealth(upstream, origin, stats, this.#random));
    const credentials = upstream.credentials.map((credential) => ({
      health: getOrMake(this.#credentials, credential.key, () => new CredentialHealth(provider, credential.name)),
      coolDown: getOrMake(target.coolDowns, credential.key, () => new CoolDown(this.#random)),
    }));
    const health = new UpstreamHealth(target, credentials, upstream, (scope, kind, why, credential) => {
      const name = credential === null ? null : (upstream.credentials[credential]?.name ?? null);
      const at = { provider, model: scope === 'target' ? model : null, credential: name };
      this.#note({ kind, scope, ...at, why, isAlarm: kind === 'benched' });
    });
    this.#upstreams.set(upstream, health);
    return health;
  }

  /**
   * Follows a change of the configuration: what is known of targets that stay is kept, benches may be probed at once,
   * and everything else is forgotten.
   */
  reload(kept: Iterable<WatchedTarget>, nowMs: number): void {
    const targets = new Set<string>();
    const credentials = new Set<string>();
    const origins = new Set<string>();
    for (const { upstream } of kept) {
      targets.add(upstream.key);
      origins.add(upstream.origin);
      for (const { key } of upstream.credentials) credentials.add(key);
    }
    for (const [key, target] of this.#targets) {
      if (!targets.has(key)) this.#targets.delete(key);
      target.breaker.endBench(nowMs);
      for (const name of target.coolDowns.keys()) if (!credentials.has(name)) target.coolDowns.delete(name);
    }
    for (const [key, credential] of this.#credentials) {
      if (!credentials.has(key)) this.#credentials.delete(key);
      credential.endBench(nowMs);
    }
    for (const origin of this.#origins.keys()) if (!origins.has(origin)) this.#origins.delete(origin);
    // The next call to each model shows again whether any of its targets works.
    this.#limping.clear();
  }

  /** Closes the breakers of a target and its origin by hand, and ends benches and pauses of its credentials. */
  close(target: WatchedTarget, nowMs: number): void {
    this.of(target).close(nowMs);
  }

  /** Notes whether a call to a route found no closed target; after a minute of such calls it is an alarm. */
  noteLimp(route: string, isLimp: boolean, nowMs: number): void {
    if (!isLimp) {
      if (this.#limping.size > 0) this.#limping.delete(route);
      return;
    }
    const limping = getOrMake(this.#limping, route, () => ({ sinceMs: nowMs, told: false }));
    if (limping.told || nowMs - limping.sinceMs < LIMP_ALARM_MS) return;
    limping.told = true;
    this.#note({ kind: 'limp', route, isAlarm: true });
  }

  /** The statistics of a provider, of all its models. */
  statsOf(provider: string): ProviderStats {
    return getOrMake(this.#providers, provider, () => new ProviderStats());
  }

  /** How a provider did in the last 15 minutes; one that was never called is idle. */
  provider(provider: string, nowMs: number): HealthView {
    return this.#providers.get(provider)?.read(nowMs) ?? NEVER_CALLED;
  }

  /** All states, in the order in which they were first used. */
  snapshot(nowMs: number): RoutingSnapshot {
    const targets = [...this.#targets.values()];
    return {
      targets: targets.map((target) => snapshotTarget(target, nowMs)),
      credentials: [...this.#credentials].map(([key, credential]) =>
        snapshotCredential(key, credential, targets, nowMs),
      ),
      limping: [...this.#limping].map(([route, { sinceMs }]) => ({ route, sinceMs })),
    };
  }
}

function snapshotTarget(target: TargetHealth, nowMs: number): TargetSnapshot {
  const { key, provider, model, breaker, origin, lastFailure, open, overdue } = target;
  const worse = breaker.isClosed ? origin : breaker;
  const { faults, outcomes, trips, untilMs } = worse.isClosed ? breaker : worse;
  const state = worse.state(nowMs);
  return {
    key,
    provider,
    model,
    state,
    untilMs: state === 'closed' ? null : untilMs,
    trips,
    faults,
    outcomes,
    lastFailure,
    share: target.share(nowMs),
    open,
    overdue,
    retriesLeft: target.retriesLeft(nowMs),
    latencyMs: target.latency.read(nowMs),
  };
}

function snapshotCredential(
  key: string,
  credential: CredentialHealth,
  targets: readonly TargetHealth[],
  nowMs: number,
): CredentialSnapshot {
  const { provider, name, why, untilMs, open } = credential;
  const cooling = targets.flatMap(({ model, coolDowns }) => {
    const coolDown = coolDowns.get(key);
    if (coolDown === undefined || coolDown.untilMs <= nowMs) return [];
    return [{ model, untilMs: coolDown.untilMs, isGuess: coolDown.isGuess }];
  });
  const state = why === null ? 'usable' : 'benched';
  return { key, provider, name, state, why, untilMs: why === null ? null : untilMs, open, cooling };
}

function getOrMake<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}
