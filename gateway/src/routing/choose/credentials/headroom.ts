/**
 * Learns how much of its rate limits each credential of a pool has left for a model: what the last answer said, less
 * the estimates sent since. Credentials of one organisation share limits, so they share what is learned.
 */
import type { HeaderLine } from '../../../providers/provider.ts';
import { type Allowance, readAllowances } from './limit-headers.ts';

/** A credential of a pool. */
export interface PooledCredential {
  readonly key: string;
  readonly name: string;
  readonly weight: number;
  readonly organisation: string | null;
}

/** The upstream of a target, with its credentials for the model. */
export interface Pool {
  readonly key: string;
  readonly credentials: readonly PooledCredential[];
}

/** What a limit counts: the organisation, or the credential on its own. */
export function limitOwner({ key, organisation }: PooledCredential): string {
  return organisation ?? key;
}

class Meter {
  openCalls = 0;
  /** Everything ever sent, so that a call knows by its own number what was sent after it. */
  sentRequests = 0;
  sentTokens = 0;
  allowances: readonly Allowance[] = [];
  /** What had been sent, up to and including the call whose answer stated the allowances. */
  #basis: SentCall | null = null;

  /** Keeps what an answer stated, unless that of a call sent later is already known. */
  learn(call: SentCall, allowances: readonly Allowance[]): void {
    if (allowances.length === 0 || (this.#basis !== null && call.requests < this.#basis.requests)) return;
    this.#basis = call;
    this.allowances = allowances;
  }

  /** What remains of an allowance, less the estimates sent since; its limit from the reset on. */
  remainingOf({ counts, limit, remaining, fullAtMs }: Allowance, nowMs: number): number {
    const basis = this.#basis;
    if (basis === null || nowMs >= fullAtMs) return limit;
    return remaining - (counts === 'requests' ? this.sentRequests - basis.requests : this.sentTokens - basis.tokens);
  }

  /** The share that is left of the tightest allowance; null: none was stated. */
  shareOf(nowMs: number): number | null {
    if (this.allowances.length === 0) return null;
    let share = 1;
    for (const allowance of this.allowances) {
      share = Math.min(share, this.remainingOf(allowance, nowMs) / allowance.limit);
    }
    return share;
  }
}

/** A call that went out with a credential of a pool. */
export class SentCall {
  readonly meter: Meter;
  /** Requests and tokens sent with the credential's limits, including this call's. */
  readonly requests: number;
  readonly tokens: number;

  constructor(meter: Meter) {
    this.meter = meter;
    this.requests = meter.sentRequests;
    this.tokens = meter.sentTokens;
  }
}

/** The head of an answer, and its time. */
interface Answered {
  readonly head: { readonly headers: readonly HeaderLine[] };
  readonly nowMs: number;
}

export class Headroom {
  /** By upstream, then by the owner of the limits. */
  readonly #meters = new Map<string, Map<string, Meter>>();
  /** By upstream with one credential, where no call is noted: nothing is chosen, so the answer is read only for people. */
  readonly lastAnswers = new Map<string, Answered>();

  /** Notes a call of about `tokens` tokens that goes out with `pool.credentials[credential]`. */
  send(pool: Pool, credential: number, tokens: number): SentCall {
    const meter = this.#meterOf(pool, credential);
    meter.openCalls += 1;
    meter.sentRequests += 1;
    meter.sentTokens += tokens;
    return new SentCall(meter);
  }

  /** Learns from the head of its answer, whatever its status. `unixMs` is the time of `nowMs`. */
  learn(call: SentCall, headers: readonly HeaderLine[], nowMs: number, unixMs: number): void {
    call.meter.learn(call, readAllowances(headers, nowMs, unixMs));
  }

  /** The call is over; to be called once. */
  end({ meter }: SentCall): void {
    meter.openCalls -= 1;
  }

  /**
   * The share of its tightest limit that a credential has left: at most 1, below 0 where more was sent than remained.
   * Unknown: 1 less its share of the pool's open calls.
   */
  shareOf(pool: Pool, credential: number, nowMs: number): number {
    const meter = this.#find(pool, credential);
    if (meter === undefined) return 1;
    const stated = meter.shareOf(nowMs);
    if (stated !== null) return stated;
    const all = this.#openCallsOf(pool);
    return all === 0 ? 1 : 1 - meter.openCalls / all;
  }

  /** As `shareOf`, for people; null: the provider stated no limit. */
  statedShareOf(pool: Pool, credential: number, nowMs: number): number | null {
    if (pool.credentials.length > 1) return this.#find(pool, credential)?.shareOf(nowMs) ?? null;
    const answered = this.lastAnswers.get(pool.key);
    if (answered === undefined) return null;
    const meter = new Meter();
    const unixMs = Date.now() - (nowMs - answered.nowMs);
    meter.learn(new SentCall(meter), readAllowances(answered.head.headers, answered.nowMs, unixMs));
    return meter.shareOf(nowMs);
  }

  /** Whether a call of about `tokens` tokens goes beyond what the credential is known to have left. */
  isShort(pool: Pool, credential: number, tokens: number, nowMs: number): boolean {
    const meter = this.#find(pool, credential);
    return (
      meter?.allowances.some(
        (allowance) => meter.remainingOf(allowance, nowMs) < (allowance.counts === 'requests' ? 1 : tokens),
      ) ?? false
    );
  }

  /** Forgets the other upstreams. */
  keepOnly(upstreams: ReadonlySet<string>): void {
    for (const known of [this.#meters, this.lastAnswers]) {
      for (const key of known.keys()) if (!upstreams.has(key)) known.delete(key);
    }
  }

  #openCallsOf({ key }: Pool): number {
    let sum = 0;
    for (const meter of this.#meters.get(key)?.values() ?? []) sum += meter.openCalls;
    return sum;
  }

  #find({ key, credentials }: Pool, credential: number): Meter | undefined {
    const found = credentials[credential];
    return found === undefined ? undefined : this.#meters.get(key)?.get(limitOwner(found));
  }

  #meterOf(pool: Pool, credential: number): Meter {
    const found = pool.credentials[credential];
    if (found === undefined) throw new RangeError(`${pool.key} has no credential ${credential}`);
    const meters = this.#meters.get(pool.key) ?? new Map<string, Meter>();
    this.#meters.set(pool.key, meters);
    const owner = limitOwner(found);
    const meter = meters.get(owner) ?? new Meter();
    meters.set(owner, meter);
    return meter;
  }
}
