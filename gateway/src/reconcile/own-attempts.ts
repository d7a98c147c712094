/** Lists the attempts of records as a provider bills them: without mark-ups, those that did not answer included. */

import { type Price, readPriceVersion } from '../billing/price.ts';
import { chargedNanoUsd } from '../billing/price-book.ts';
import type { Usage } from '../generation/usage.ts';
import type { AttemptRecord, CallRecord } from '../store/ports/records.ts';
import type { Tokens } from './invoice-line.ts';
import { attemptModelKey } from './model-names.ts';

export interface OwnAttempt {
  readonly requestId: string;
  /** From 1. */
  readonly attempt: number;
  readonly atMs: number;
  /** The day of its start in the zone of the comparison. */
  readonly day: string;
  /** As sent to the provider. */
  readonly model: string;
  readonly modelKey: string;
  readonly upstreamRequestId: string | null;
  readonly tokens: Tokens;
  /** At list prices of its record, in nano-USD; null: no price is known. */
  readonly cost: bigint | null;
  /** `lost`: it did not answer its request; the operator pays it. */
  readonly role: 'answered' | 'lost';
  /** The counters are an estimate. */
  readonly isEstimated: boolean;
  readonly tier: string | null;
  /** Many requests in one record. */
  readonly isBatch: boolean;
  readonly price: Price | null;
}

export type DayOf = (atMs: number) => string;

/** The attempts of a record at these providers that a provider may have billed. */
export function ownAttempts(record: CallRecord, providers: ReadonlySet<string>, dayOf: DayOf): readonly OwnAttempt[] {
  const isBatch = record.protocol === 'batches';
  const attempts = isBatch ? attemptsOfBatch(record) : record.attempts;
  const answered = findAnswered(record.provider, attempts);
  return attempts.flatMap((attempt, at): OwnAttempt[] => {
    if (!providers.has(attempt.provider)) return [];
    const isAnswer = attempt === answered;
    const isLost = attempt.billed !== undefined;
    if (!isAnswer && !isLost) return [];
    // Nothing was used, or the answer came from our own cache.
    if (isAnswer && (record.usage_source === 'void' || record.usage_source === 'cache')) return [];
    const usage = isAnswer ? record.usage : attempt.usage;
    if (usage === undefined) return [];
    const price = priceOf(isAnswer ? record.price_version : (attempt.price_version ?? null));
    const atMs = record.at_ms + (attempt.start_ms ?? 0);
    return [
      {
        requestId: record.request_id,
        attempt: attempt.n ?? at + 1,
        atMs,
        day: dayOf(atMs),
        model: attempt.model,
        modelKey: attemptModelKey(attempt.model),
        upstreamRequestId: attempt.upstream_request_id ?? null,
        tokens: tokensOf(usage),
        cost: isAnswer ? costOf(usage, price) : lostCost(attempt),
        role: isAnswer ? 'answered' : 'lost',
        isEstimated: isAnswer ? record.usage_source !== 'upstream' : attempt.billed === 'maybe',
        tier: isBatch ? 'batch' : (usage.extras?.tier?.service_tier ?? null),
        isBatch,
        price,
      },
    ];
  });
}

/** The record of a batch has no attempts: all of its answers count as one. */
function attemptsOfBatch({ provider, served_model: model, status }: CallRecord): readonly AttemptRecord[] {
  if (provider === null || model === null) return [];
  return [{ provider, model, status, error: null, duration_ms: 0 }];
}

/** The attempt whose usage is the record's: the last one at the provider that served it. */
function findAnswered(provider: string | null, attempts: readonly AttemptRecord[]): AttemptRecord | undefined {
  return attempts.findLast((attempt) => attempt.provider === provider && attempt.billed === undefined);
}

function tokensOf({ input, cache_read, cache_write_5m, cache_write_1h, output }: Usage): Tokens {
  return { input, cache_read, cache_write: cache_write_5m + cache_write_1h, output };
}

/** The list price of a record; null: none is known. */
function priceOf(version: string | null): Price | null {
  const price = version === null ? null : readPriceVersion(version);
  return price === null ? null : { ...price, markUpPpm: 0n };
}

function costOf(usage: Usage, price: Price | null): bigint | null {
  if (price === null) return null;
  return chargedNanoUsd(usage, price, (version) => priceOf(version) ?? price);
}

function lostCost({ cost_nano_usd }: AttemptRecord): bigint | null {
  return cost_nano_usd === undefined || cost_nano_usd === null ? null : BigInt(cost_nano_usd);
}
