/** Owns what a call cost, line by line: the tokens and requests of each kind at the price that its record names, and what the ledger did about it. */
import { chooseRates, readPriceVersion } from '../billing/price.ts';
import { PRICE_MEMBERS } from '../billing/rates.ts';
import { MEDIA_COUNTERS, MEDIA_PARTS } from '../generation/usage-apart.ts';
import type { CallDetail, CallEntry } from '../store/usage-port.ts';
import type { Reply } from './contract.ts';

type CallCost = Reply<'GET /accounts/{account}/logs/{request}'>['cost'];
type CostLine = NonNullable<CallCost>['lines'][number];

const PPM = 1_000_000n;
const PICO_PER_NANO = 1_000n;

/** Null: the call has no price. Lines are exact pico-USD; their sum is rounded once, half up, to what was settled and absorbed. */
export function callCost({ call, entries }: CallDetail): CallCost {
  if (call.cost_nano_usd === null) return null;
  const sum = (...kinds: readonly CallEntry['kind'][]) =>
    entries.filter(({ kind }) => kinds.includes(kind)).reduce((total, { amount }) => total + amount, 0n);
  return {
    lines: linesOf(call),
    held_nano_usd: sum('hold', 'extend').toString(),
    settled_nano_usd: sum('post').toString(),
    absorbed_nano_usd: sum('absorb').toString(),
  };
}

/** None where nothing was charged by tokens: a call whose usage is void, one answered from a cache, one without a price then. */
function linesOf({ price_version, usage_source, usage }: CallDetail['call']): CostLine[] {
  if (price_version === null || usage_source === 'void' || usage_source === 'cache') return [];
  const price = readPriceVersion(price_version);
  if (price === null) return [];
  const { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning } = usage;
  const rates = chooseRates(price, input + cache_read + cache_write_5m + cache_write_1h);
  const counts: Record<string, number> = {
    input,
    cache_read,
    cache_write_5m,
    cache_write_1h,
    output: output - reasoning,
    reasoning,
  };
  for (const counter of MEDIA_COUNTERS) {
    const count = usage.apart?.[counter] ?? 0;
    counts[counter] = count;
    counts[MEDIA_PARTS[counter]] = (counts[MEDIA_PARTS[counter]] ?? 0) - count;
  }
  const lines: CostLine[] = [];
  let whole = 0n;
  const add = (kind: string, unit: CostLine['unit'], count: number, picoUsd: bigint) => {
    if (count === 0) return;
    const cost = BigInt(count) * picoUsd;
    whole += cost;
    lines.push({ kind, unit, count, pico_usd_each: picoUsd.toString(), cost_pico_usd: cost.toString() });
  };
  for (const kind of [...PRICE_MEMBERS, ...MEDIA_COUNTERS]) add(kind, 'token', counts[kind] ?? 0, rates[kind]);
  for (const [tool, requests] of Object.entries(usage.apart?.server_tools ?? {})) {
    add(tool, 'request', requests, (price.fees?.get(tool) ?? 0n) * PICO_PER_NANO);
  }
  if (price.markUpPpm === 0n) return lines;
  const markUp = (whole * price.markUpPpm) / PPM;
  return [...lines, { kind: 'mark_up', unit: null, count: 0, pico_usd_each: '0', cost_pico_usd: markUp.toString() }];
}
