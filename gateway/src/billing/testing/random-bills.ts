/**
 * Owns random calls with their bills, and the exact fractions they are compared with. The fractions are made from the
 * digits of the price texts, apart from the parser and the formula under test.
 */
import type { Usage } from '../../generation/usage.ts';
import { parseConfigPrice } from '../config-price.ts';
import { costNanoUsd } from '../cost.ts';
import { parsePriceVersion, withMarkUp } from '../price.ts';

/** A decimal as its whole part and its millionths. */
type Digits = readonly [whole: number, millionths: number];

const RATES = ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output', 'reasoning'] as const;
type Written = Readonly<Record<(typeof RATES)[number], Digits>>;

/** What billing so many calls came to. Parts of a USD × 10⁻¹⁸ are what a rate in pico-USD and a ppm make. */
export interface BillTally {
  /** The first few bills that are not the exact fraction rounded half up, or not recomputed from their version. */
  readonly faults: readonly string[];
  /** Bills whose fraction lay exactly between two nano-dollars. */
  readonly ties: number;
  readonly tiered: number;
  readonly markedUp: number;
  /** Sum of the bills − sum of the fractions, and the most it may be: half a nano-dollar each. USD × 10⁻¹⁸. */
  readonly drift: bigint;
  readonly driftMax: bigint;
}

const NANO = 1_000_000_000n;
const HALF_NANO = NANO / 2n;

/** Bills `calls` random calls; the same ones for the same seed on every machine. */
export function billRandomCalls(calls: number, seed: number): BillTally {
  const random = randomNumbers(seed);
  const faults: string[] = [];
  let [ties, tiered, markedUp, drift] = [0, 0, 0, 0n];
  for (let call = 0; call < calls; call++) {
    const [base, long] = [writeRates(random), writeRates(random)];
    const above = 1 + random(6_000_000);
    const ppm = random(3) === 0 ? random(2_000_000) - 1_000_000 : 0;
    const tiers = [{ above, ...renderRates(long) }];
    const price = withMarkUp(parseConfigPrice({ ...renderRates(base), tiers }), ppm);
    const usage = randomUsage(random);
    const inTier = usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h > above;
    const nano = costNanoUsd(usage, price);
    const exact = exactCost(usage, inTier ? long : base, ppm);
    const error = nano * NANO - exact;
    if (error <= -HALF_NANO || error > HALF_NANO)
      faults.push(`call ${call}: ${nano} nano-USD for ${exact} × 10⁻¹⁸ USD`);
    if (costNanoUsd(usage, parsePriceVersion(price.version)) !== nano) faults.push(`call ${call}: ${price.version}`);
    if (faults.length > 5) break;
    ties += error === HALF_NANO ? 1 : 0;
    tiered += inTier ? 1 : 0;
    markedUp += ppm === 0 ? 0 : 1;
    drift += error;
  }
  return { faults, ties, tiered, markedUp, drift, driftMax: HALF_NANO * BigInt(calls) };
}

function exactCost(usage: Usage, rates: Written, ppm: number): bigint {
  const counts = { ...usage, output: usage.output - usage.reasoning };
  const pico = RATES.reduce((sum, member) => {
    const [whole, millionths] = rates[member];
    return sum + BigInt(counts[member]) * (BigInt(whole) * 1_000_000n + BigInt(millionths));
  }, 0n);
  return pico * BigInt(1_000_000 + ppm);
}

/** Every eighth call is tiny: there the rounding is most of the bill. */
function randomUsage(random: (below: number) => number): Usage {
  const most = random(8) === 0 ? 10 : 2_000_000;
  const [plain, reasoning] = [random(most / 10), random(most / 40)];
  return {
    input: random(most),
    cache_read: random(most),
    cache_write_5m: random(most),
    cache_write_1h: random(most),
    output: plain + reasoning,
    reasoning,
  };
}

function writeRates(random: (below: number) => number): Written {
  const digits = (): Digits => [random(100), random(1_000_000)];
  return {
    input: digits(),
    cache_read: digits(),
    cache_write_5m: digits(),
    cache_write_1h: digits(),
    output: digits(),
    reasoning: digits(),
  };
}

function renderRates(rates: Written) {
  const text = (member: (typeof RATES)[number]) => `${rates[member][0]}.${String(rates[member][1]).padStart(6, '0')}`;
  return {
    input: text('input'),
    cache_read: text('cache_read'),
    cache_write_5m: text('cache_write_5m'),
    cache_write_1h: text('cache_write_1h'),
    output: text('output'),
    reasoning: text('reasoning'),
  };
}

/** xorshift32, over the whole part of `below`: the same numbers on every run and machine. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % (below | 0 || 1);
  };
}
