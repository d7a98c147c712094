/** Keeps access keys that were found, and renews them before they expire; all requests share one renewal. */
import type { FoundKeys } from './aws-sts.ts';
import type { AwsKeys } from './sigv4.ts';
import type { Surroundings } from './surroundings.ts';

/** Renewed in the background from here, and waited for from there (botocore). */
const ADVISORY_MS = 15 * 60_000;
const MANDATORY_MS = 10 * 60_000;
/** A source that failed, or that gave keys which soon expire, is not asked again at once while the keys are valid. */
const PAUSE_MS = 30_000;

export class AwsKeyCache {
  readonly #find: () => Promise<FoundKeys>;
  readonly #surroundings: Pick<Surroundings, 'nowMs' | 'warn'>;
  #keys: FoundKeys | null = null;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #renewal: Promise<FoundKeys> | null = null;
  #warned: unknown = null;

  constructor(find: () => Promise<FoundKeys>, surroundings: Pick<Surroundings, 'nowMs' | 'warn'>) {
    this.#find = find;
    this.#surroundings = surroundings;
  }

  /** Rejects if no keys can be had and none are valid. */
  get(): AwsKeys | Promise<AwsKeys> {
    const keys = this.#keys;
    const nowMs = this.#surroundings.nowMs();
    const leftMs = leftOf(keys, nowMs);
    if (keys === null || leftMs <= 0) return this.#renew();
    if (leftMs > ADVISORY_MS) return keys;
    const mayAsk = this.#renewal !== null || nowMs - this.#askedAtMs >= PAUSE_MS;
    if (!mayAsk) return keys;
    const renewal = this.#renew().catch((error: unknown) => this.#warn(error, keys));
    return leftMs > MANDATORY_MS ? keys : renewal;
  }

  /** AWS refused these keys as expired or unknown: the next request gets others. */
  discard(accessKeyId: string): void {
    if (this.#keys?.accessKeyId === accessKeyId) this.#keys = null;
  }

  #renew(): Promise<FoundKeys> {
    if (this.#renewal !== null) return this.#renewal;
    this.#askedAtMs = this.#surroundings.nowMs();
    const renewal = this.#find()
      .then((found) => {
        if (leftOf(found, this.#surroundings.nowMs()) <= 0) throw new Error(`${found.from} gave expired credentials`);
        this.#keys = found;
        return found;
      })
      .finally(() => {
        this.#renewal = null;
      });
    this.#renewal = renewal;
    return renewal;
  }

  /** Warns once for each renewal that failed, however many requests waited for it. */
  #warn(error: unknown, keys: FoundKeys): FoundKeys {
    if (this.#warned !== error) {
      this.#warned = error;
      const why = error instanceof Error ? error.message : String(error);
      this.#surroundings.warn(`AWS credentials from ${keys.from} could not be renewed, and are still valid: ${why}`);
    }
    return keys;
  }
}

function leftOf(keys: FoundKeys | null, nowMs: number): number {
  return keys === null ? 0 : (keys.expiresMs ?? Number.POSITIVE_INFINITY) - nowMs;
}
