/** Owns what a call cost, line by line: the tokens and requests of each kind at the price that its record names, and what the ledger did about it. */
import { chooseRates, type Price, readPriceVersion } from '../billing/price.ts';
import { PRICE_MEMBERS } from '../billing/rates.ts';
import type { Usage } from '../generation/usage.ts';
import { MEDIA_COUNTERS, MEDIA_PARTS, type UsagePart } from '../generation/usage-apart.ts';
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
  const parts = usage.apart?.parts ?? [usage];
  const lines: CostLine[] = [];
  for (const part of parts) {
    const version = 'price_version' in part ? part.price_version : undefined;
    const own = version === undefined ? price : readPriceVersion(version);
    if (own !== null) addTokens(lines, part, own);
  }
  for (const [tool, requests] of Object.entries(usage.apart?.server_tools ?? {})) {
    addLine(lines, { kind: tool, unit: 'request', count: requests }, (price.fees?.get(tool) ?? 0n) * PICO_PER_NANO);
  }
  if (price.markUpPpm === 0n) return lines;
  const whole = lines.reduce((sum, line) => sum + BigInt(line.cost_pico_usd), 0n);
  const markUp = (whole * price.markUpPpm) / PPM;
  return [...lines, { kind: 'mark_up', unit: null, count: 0, pico_usd_each: '0', cost_pico_usd: markUp.toString() }];
}

/** The tokens of a call, or of one of the runs of models that it took, by kind. */
function addTokens(lines: CostLine[], usage: Usage | UsagePart, price: Price): void {
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
  const apart = 'apart' in usage ? usage.apart : undefined;
  for (const counter of MEDIA_COUNTERS) {
    const count = apart?.[counter] ?? 0;
    counts[counter] = count;
    counts[MEDIA_PARTS[counter]] = (counts[MEDIA_PARTS[counter]] ?? 0) - count;
  }
  for (const kind of [...PRICE_MEMBERS, ...MEDIA_COUNTERS]) {
    addLine(lines, { kind, unit: 'token', count: counts[kind] ?? 0 }, rates[kind]);
  }
}

/** What is of one kind at one price is one line. */
function addLine(
  lines: CostLine[],
  { kind, unit, count }: Pick<CostLine, 'kind' | 'unit' | 'count'>,
  picoUsd: bigint,
): void {
  if (count === 0) return;
  const pico_usd_each = picoUsd.toString();
  const at = lines.findIndex(
    (line) => line.kind === kind && line.unit === unit && line.pico_usd_each === pico_usd_each,
  );
  const all = count + (lines[at]?.count ?? 0);
  const line = { kind, unit, count: all, pico_usd_each, cost_pico_usd: (BigInt(all) * picoUsd).toString() };
  if (at === -1) lines.push(line);
  else lines[at] = line;
}
