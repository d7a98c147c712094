/** Owns what a key is told of its own usage: sums over today and over this month, by its account's clock. */
import { windowAt } from '../admission/window.ts';
import { EVERY_CALL } from '../console-api/call-condition.ts';
import type { Principal } from '../identity/principal.ts';
import { type UsageQuestion, type UsageReader, UsageRefusal, type UsageSums } from '../store/usage-port.ts';

/** The counters do not overlap, save `reasoning`, which is part of `output`. */
export type KeySums = Pick<
  UsageSums,
  'requests' | 'input' | 'cache_read' | 'cache_write_5m' | 'cache_write_1h' | 'output' | 'reasoning' | 'cost'
>;

/** Calls of a key from a moment on, unix ms. */
interface UsageSince {
  readonly sinceMs: number;
  readonly sums: KeySums;
}

export interface KeyUsage {
  readonly day: UsageSince;
  readonly month: UsageSince;
}

/** Null: it could not be summed up in time. Rejects where the store cannot be read. */
export type ReadKeyUsage = (principal: Principal) => Promise<KeyUsage | null>;

/** A key may ask often, and one thread answers for all. */
const TIME_MS_MAX = 500;

/** A reader of usage: one question of a key runs at a time, and whoever asks meanwhile shares its answer. */
export function createKeyUsageReader(usage: Pick<UsageReader, 'readUsage'>, nowMs: () => number): ReadKeyUsage {
  const running = new Map<string, Promise<KeyUsage | null>>();
  return (principal) => {
    const begun = running.get(principal.keyId);
    if (begun !== undefined) return begun;
    const reading = readUsage(usage, principal, nowMs()).finally(() => running.delete(principal.keyId));
    running.set(principal.keyId, reading);
    return reading;
  };
}

async function readUsage(
  usage: Pick<UsageReader, 'readUsage'>,
  { keyId, account }: Principal,
  nowMs: number,
): Promise<KeyUsage | null> {
  const { timeZone } = account;
  const { startMs: monthMs } = windowAt('month', timeZone, nowMs);
  const { startMs: dayMs } = windowAt('day', timeZone, nowMs);
  const question: UsageQuestion = {
    tenant: { account: account.id, workspaces: null },
    condition: { ...EVERY_CALL, keys: [keyId] },
    fromMs: monthMs,
    toMs: nowMs + 1,
    buckets: dayMs > monthMs ? [monthMs, dayMs] : [monthMs],
    timeZone,
    by: [],
    owners: null,
    latencies: 'none',
    rankedBy: 'cost',
    drawn: 0,
    timeMsMax: TIME_MS_MAX,
  };
  try {
    const { month } = await usage.readUsage({ month: question });
    return {
      day: { sinceMs: dayMs, sums: month.totals.at(-1) ?? NONE },
      month: { sinceMs: monthMs, sums: month.total },
    };
  } catch (fault) {
    if (fault instanceof UsageRefusal) return null;
    throw fault;
  }
}

const NONE: KeySums = {
  requests: 0,
  input: 0,
  cache_read: 0,
  cache_write_5m: 0,
  cache_write_1h: 0,
  output: 0,
  reasoning: 0,
  cost: 0n,
};
