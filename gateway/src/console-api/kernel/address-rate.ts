/** Owns how often one address may ask something that strangers may ask. In memory; bounded, however many addresses ask. */
import { type Bucket, followClock, levelAt, newBucket, take, waitMs } from '../../admission/gcra.ts';
import { ConsoleFailure } from './console-failure.ts';

export interface AddressRate {
  /** Counts one request. Throws `too_many` where the address has asked too often. Null: all whose address is not known. */
  take(address: string | null, nowMs: number): void;
}

const ADDRESSES_MAX = 10_000;

/** At most so many requests a minute from one address. */
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
        throw new ConsoleFailure('too_many', `at most ${perMinute} look-ups a minute; try again later`, {
          retryAfterSeconds,
        });
      }
      take(bucket, perMinute, 1, nowMs);
      // Set anew, so that the first of the map is the one that has asked nothing for the longest.
      buckets.delete(name);
      buckets.set(name, bucket);
      if (buckets.size > ADDRESSES_MAX) buckets.delete(buckets.keys().next().value ?? '');
    },
  };
}
