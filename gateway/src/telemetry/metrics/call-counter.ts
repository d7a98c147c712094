/**
 * Counts ended calls. Runs on every call, so it allocates nothing once a label set was seen: series are found by strings
 * that the configuration or a closed list gives, and never by what a caller sent.
 */
import type { Payer } from '../../billing/who-pays.ts';
import type { CountRecord } from '../../call/call-observer.ts';
import type { FailureKind } from '../../errors/failure-kinds.ts';
import { forClientProtocols, PROTOCOLS, type ProtocolFamily } from '../../protocols/names.ts';
import type { AttemptRecord, CallRecord } from '../../store/ports/records.ts';
import {
  ABSORBED,
  ATTEMPTS,
  CACHED,
  CLIENT_DURATION,
  CLIENT_FIRST_CHUNK,
  CLIENT_TOKENS,
  COST,
  FALLBACKS,
  MASKED,
  QUEUE_WAIT,
  REFUSALS,
  REQUESTS,
  SERVER_DURATION,
  SERVER_FIRST_TOKEN,
  TOKENS,
} from './call-metrics.ts';
import type { Family, MetricRegistry } from './registry.ts';

/** The vendor behind a configured provider, in the words of the GenAI conventions. */
export type NameVendor = (provider: string) => string;

/** The protocol of a call, a token count, or a request about a stored object. */
type Operation = (CallRecord | CountRecord)['protocol'];
/** The conventions' words for what calls of a family do, as far as they have any. */
const FAMILY_OPERATIONS: { readonly [family in ProtocolFamily]: string } = {
  generation: 'chat',
  embeddings: 'embeddings',
  completions: 'text_completion',
  moderations: 'moderations',
  rerank: 'rerank',
  images: 'image_generation',
  audio: 'audio',
};

/** What a call of a protocol does; the conventions have no word for the last three. */
export const OPERATIONS: { readonly [protocol in Operation]: string } = {
  ...forClientProtocols((name) => FAMILY_OPERATIONS[PROTOCOLS[name].family]),
  gemini: 'generate_content',
  batches: 'batches',
  count_tokens: 'count_tokens',
  stored: 'stored',
};

const NANO = 1e9;
const MS = 1_000;
const USED = ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output', 'reasoning'] as const;

export class CallCounter {
  readonly #vendorOf: NameVendor;
  readonly #serverDuration: Family;
  readonly #serverFirstToken: Family;
  readonly #clientDuration: Family;
  readonly #clientFirstChunk: Family;
  readonly #clientTokens: Family;
  readonly #requests: Family;
  readonly #refusals: Family;
  readonly #tokens: Family;
  readonly #cost: Family;
  readonly #attempts: Family;
  readonly #fallbacks: Family;
  readonly #absorbed: Family;
  readonly #cached: Family;
  readonly #masked: Family;
  readonly #queueWait: Family;
  readonly #routes = new Map<string, Map<Operation, RouteSeries>>();
  readonly #targets = new Map<string, Map<string, Map<string, Map<Operation, TargetSeries>>>>();
  readonly #refusalsOf = new Map<string, number>();

  constructor(registry: MetricRegistry, vendorOf: NameVendor) {
    this.#vendorOf = vendorOf;
    this.#requests = registry.family(REQUESTS);
    this.#refusals = registry.family(REFUSALS);
    this.#serverDuration = registry.family(SERVER_DURATION);
    this.#serverFirstToken = registry.family(SERVER_FIRST_TOKEN);
    this.#tokens = registry.family(TOKENS);
    this.#cost = registry.family(COST);
    this.#attempts = registry.family(ATTEMPTS);
    this.#fallbacks = registry.family(FALLBACKS);
    this.#absorbed = registry.family(ABSORBED);
    this.#cached = registry.family(CACHED);
    this.#masked = registry.family(MASKED);
    this.#queueWait = registry.family(QUEUE_WAIT);
    this.#clientDuration = registry.family(CLIENT_DURATION);
    this.#clientFirstChunk = registry.family(CLIENT_FIRST_CHUNK);
    this.#clientTokens = registry.family(CLIENT_TOKENS);
  }

  /** `model`: the operator's name of the call's route; null: it got none. */
  count(record: CallRecord, model: string | null, payer: Payer): void {
    const { attempts, protocol, ttfb_ms } = record;
    const route = this.#countEnd(record, model);
    if (record.cached_from !== undefined) this.#cached.add(this.#cached.series(route.model), 1);
    if (record.masked !== undefined) this.#masked.add(this.#masked.series(route.model), 1);
    if (record.stream && ttfb_ms !== null) this.#serverFirstToken.observe(route.firstToken, ttfb_ms / MS);
    let before: AttemptRecord | null = null;
    for (const attempt of attempts) {
      this.#countAttempt(attempt, protocol);
      if (before !== null && !isSameTarget(before, attempt)) this.#countFallback(route, before, attempt);
      before = attempt;
    }
    const by = before === null ? answeringBatch(record) : (answering(attempts) ?? before);
    if (by !== null) this.#countUsage(record, route, by, payer);
  }

  /** A request that costs nothing and leaves no record. */
  countUncharged(record: CountRecord, model: string | null): void {
    this.#countEnd(record, model);
    for (const attempt of record.attempts) this.#countAttempt(attempt, record.protocol);
  }

  /** What all requests have in common: their duration, their refusal. */
  #countEnd(record: CallRecord | CountRecord, model: string | null): RouteSeries {
    const { attempts, error, status, duration_ms, protocol } = record;
    const route = this.#routeOf(model ?? '', protocol);
    const ending = this.#endingOf(route, error ?? '', status);
    this.#requests.add(ending.requests, 1);
    this.#serverDuration.observe(ending.duration, duration_ms / MS);
    if (error !== null && attempts.length === 0) this.#countRefusal(error);
    return route;
  }

  /** A request that has no record. */
  countTurnedAway(kind: FailureKind): void {
    this.#countRefusal(kind);
  }

  #countRefusal(kind: string): void {
    let index = this.#refusalsOf.get(kind);
    if (index === undefined) {
      index = this.#refusals.series(kind);
      this.#refusalsOf.set(kind, index);
    }
    this.#refusals.add(index, 1);
  }

  #countAttempt(attempt: AttemptRecord, protocol: Operation): void {
    const target = this.#targetOf(attempt, protocol);
    const { error, ttft_ms, billed, cost_nano_usd, wait_ms } = attempt;
    this.#attempts.add(this.#outcomeOf(target, attempt), 1);
    let duration = target.durations.get(error ?? '');
    if (duration === undefined) {
      duration = this.#clientDuration.series(...target.labels, error ?? '');
      target.durations.set(error ?? '', duration);
    }
    this.#clientDuration.observe(duration, attempt.duration_ms / MS);
    if (ttft_ms != null) this.#clientFirstChunk.observe(target.firstChunk, ttft_ms / MS);
    if (wait_ms !== undefined) {
      this.#queueWait.observe(this.#queueWait.series(attempt.provider, nameOf(attempt)), wait_ms / MS);
    }
    if (billed === undefined || cost_nano_usd == null) return;
    this.#absorbed.add(this.#absorbed.series(attempt.provider, billed), Number(cost_nano_usd) / NANO);
  }

  #outcomeOf(target: TargetSeries, attempt: AttemptRecord): number {
    const failure = attempt.class ?? attempt.error ?? 'ok';
    const why = attempt.why ?? 'order';
    let byWhy = target.outcomes.get(failure);
    if (byWhy === undefined) {
      byWhy = new Map();
      target.outcomes.set(failure, byWhy);
    }
    let index = byWhy.get(why);
    if (index === undefined) {
      index = this.#attempts.series(attempt.provider, nameOf(attempt), failure, why);
      byWhy.set(why, index);
    }
    return index;
  }

  #countFallback({ model }: RouteSeries, from: AttemptRecord, to: AttemptRecord): void {
    this.#fallbacks.add(this.#fallbacks.series(model, nameOf(from), nameOf(to)), 1);
  }

  #countUsage({ usage, cost_nano_usd, protocol }: CallRecord, route: RouteSeries, by: Answering, payer: Payer): void {
    const used = this.#usageOf(route, by.provider);
    let at = 0;
    for (const type of USED) this.#tokens.add(used.tokens[at++] ?? 0, usage[type]);
    if (cost_nano_usd !== null) this.#cost.add(used.cost[payer], Number(cost_nano_usd) / NANO);
    const input = usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h;
    if (input + usage.output === 0) return;
    const target = this.#targetOf(by, protocol);
    this.#clientTokens.observe(target.input, input);
    this.#clientTokens.observe(target.output, usage.output);
  }

  #routeOf(model: string, protocol: Operation): RouteSeries {
    let byProtocol = this.#routes.get(model);
    if (byProtocol === undefined) {
      byProtocol = new Map();
      this.#routes.set(model, byProtocol);
    }
    let route = byProtocol.get(protocol);
    if (route === undefined) {
      const firstToken = this.#serverFirstToken.series(OPERATIONS[protocol], model);
      route = { model, protocol, firstToken, endings: new Map(), usage: new Map() };
      byProtocol.set(protocol, route);
    }
    return route;
  }

  #endingOf({ model, protocol, endings }: RouteSeries, error: string, status: number): EndingSeries {
    let byStatus = endings.get(error);
    if (byStatus === undefined) {
      byStatus = new Map();
      endings.set(error, byStatus);
    }
    let ending = byStatus.get(status);
    if (ending === undefined) {
      ending = {
        requests: this.#requests.series(model, protocol, String(status), error),
        duration: this.#serverDuration.series(OPERATIONS[protocol], model, error),
      };
      byStatus.set(status, ending);
    }
    return ending;
  }

  #usageOf({ model, usage }: RouteSeries, provider: string): UsageSeries {
    let series = usage.get(provider);
    if (series === undefined) {
      series = {
        tokens: USED.map((type) => this.#tokens.series(model, provider, type)),
        cost: {
          account: this.#cost.series(model, provider, 'account'),
          operator: this.#cost.series(model, provider, 'operator'),
        },
      };
      usage.set(provider, series);
    }
    return series;
  }

  #targetOf({ provider, model, target = '' }: Answering, protocol: Operation): TargetSeries {
    let byModel = this.#targets.get(provider);
    if (byModel === undefined) {
      byModel = new Map();
      this.#targets.set(provider, byModel);
    }
    let byTarget = byModel.get(model);
    if (byTarget === undefined) {
      byTarget = new Map();
      byModel.set(model, byTarget);
    }
    let byProtocol = byTarget.get(target);
    if (byProtocol === undefined) {
      byProtocol = new Map();
      byTarget.set(target, byProtocol);
    }
    let series = byProtocol.get(protocol);
    if (series === undefined) {
      const labels = [OPERATIONS[protocol], this.#vendorOf(provider), model, provider] as const;
      series = {
        labels,
        firstChunk: this.#clientFirstChunk.series(...labels),
        input: this.#clientTokens.series(...labels, 'input'),
        output: this.#clientTokens.series(...labels, 'output'),
        durations: new Map(),
        outcomes: new Map(),
      };
      byProtocol.set(protocol, series);
    }
    return series;
  }
}

/** The indexes of one route under one protocol. */
interface RouteSeries {
  readonly model: string;
  readonly protocol: Operation;
  readonly firstToken: number;
  /** By error, then by status. */
  readonly endings: Map<string, Map<number, EndingSeries>>;
  /** By provider. */
  readonly usage: Map<string, UsageSeries>;
}

interface EndingSeries {
  readonly requests: number;
  readonly duration: number;
}

interface UsageSeries {
  /** In the order of `USED`. */
  readonly tokens: readonly number[];
  readonly cost: { readonly [payer in Payer]: number };
}

/** The indexes of one target. */
interface TargetSeries {
  readonly labels: readonly [operation: string, vendor: string, model: string, provider: string];
  readonly firstChunk: number;
  readonly input: number;
  readonly output: number;
  /** By error. */
  readonly durations: Map<string, number>;
  /** By class, then by why. */
  readonly outcomes: Map<string, Map<string, number>>;
}

/** What answered a call, as its labels name it. */
type Answering = Pick<AttemptRecord, 'provider' | 'model' | 'target'>;

/** What answered the requests of a batch, whose record has no attempts; null: nothing did, or it is no batch. */
function answeringBatch({ protocol, provider, served_model: model, usage_source }: CallRecord): Answering | null {
  if (protocol !== 'batches' || usage_source === 'void' || provider === null || model === null) return null;
  return { provider, model };
}

/** The attempt that became the response; null: none did. */
function answering(attempts: readonly AttemptRecord[]): AttemptRecord | null {
  for (const attempt of attempts) if (attempt.error === null && attempt.billed === undefined) return attempt;
  return null;
}

function nameOf({ target, provider, model }: AttemptRecord): string {
  return target ?? `${provider}/${model}`;
}

function isSameTarget(one: AttemptRecord, other: AttemptRecord): boolean {
  return one.target === other.target && one.provider === other.provider && one.model === other.model;
}
