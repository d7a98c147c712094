/** Owns the one formula of what a call costs. Knows neither where the counters nor where the price come from. */
import type { Usage } from '../generation/usage.ts';
import type { NanoUsd } from './money.ts';
import type { Price } from './price.ts';

const PICO_PER_NANO = 1000n;
const HALF_NANO = 500n;

/**
 * What `usage` costs at `price`, in nano-USD: the exact sum in pico-USD, rounded once at the end, half up. Reasoning
 * tokens are part of `output` and priced apart from the rest of it.
 * @throws RangeError where a counter is not an integer ≥ 0 or `reasoning` exceeds `output`: whoever parses upstream's
 * numbers decides what such numbers mean, and a bill is never made from them by accident.
 */
export function costNanoUsd(usage: Usage, price: Price): NanoUsd {
  const picoUsd =
    tokens(usage.input, 'input') * price.input +
    tokens(usage.cache_read, 'cache_read') * price.cache_read +
    tokens(usage.cache_write_5m, 'cache_write_5m') * price.cache_write_5m +
    tokens(usage.cache_write_1h, 'cache_write_1h') * price.cache_write_1h +
    tokens(usage.output - usage.reasoning, 'output - reasoning') * price.output +
    tokens(usage.reasoning, 'reasoning') * price.reasoning;
  return (picoUsd + HALF_NANO) / PICO_PER_NANO;
}

function tokens(count: number, counter: string): bigint {
  if (count === 0) return 0n;
  if (!Number.isSafeInteger(count) || count < 0) {
    throw new RangeError(`usage ${counter}: found ${count}, expected a whole number of tokens, 0 or more`);
  }
  return BigInt(count);
}
