/**
 * Limits how often one address may send unauthenticated requests. Counts in memory, for a bounded number of addresses.
 */
import { type Bucket, followClock, levelAt, newBucket, take, waitMs } from '../../admission/gcra.ts';
import { ConsoleFailure } from './console-failure.ts';

export interface AddressRate {
  /** Counts one request. Null: all unknown addresses share one count. Throws `too_many` above the limit. */
  take(address: string | null, nowMs: number): void;
}

const ADDRESSES_MAX = 10_000;

/** `perMinute`: requests per minute from one address. */
export function createAddressRate(perMinute: number): AddressRate {
  const buckets = new Map<string, Bucket>();
  return {
    take(address, nowMs) {
      const name = address ?? '';
      const bucket = buckets.get(name) ?? newBucket(perMinute, nowMs);
      followClock(bucket, nowMs);
      const wait = waitMs(levelAt(bucket, perMinute, nowMs), perMinute, 1) ?? 0;
      if (wait > 0) {
        const retryAfterSeconds = Math.ceil(wait / 1000);
        throw new ConsoleFailure('too_many', `at most ${perMinute} lookups per minute; try again later`, {
          retryAfterSeconds,
        });
      }
      take(bucket, perMinute, 1, nowMs);
      // Reinserted so that the first entry of the map is the least recently used.
      buckets.delete(name);
      buckets.set(name, bucket);
      if (buckets.size > ADDRESSES_MAX) buckets.delete(buckets.keys().next().value ?? '');
    },
  };
}
