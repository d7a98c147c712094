/** Owns the one formula of what a call costs. Knows neither where the counters nor where the price come from. */
import { MEDIA_COUNTERS, MEDIA_PARTS, type Usage, type UsageApart } from '../generation/usage.ts';
import type { NanoUsd } from './money.ts';
import { chooseRates, type Fees, type Price, type Rates } from './price.ts';

const PICO_PER_NANO = 1000n;
const HALF_NANO = 500n;
const PPM = 1_000_000n;

/**
 * What `usage` costs at `price`, in nano-USD: the exact sum in pico-USD at the rates of the call's tier, the mark-up on
 * that, and one rounding at the end, half up. Reasoning tokens are part of `output` and priced apart from the rest of it;
 * sound and images are priced apart from the rest of what they are parts of. Requests of a tool without a fee
 * (`unpricedTools`) are not in it.
 * @throws RangeError where a counter is not an integer ≥ 0 or parts such as `reasoning` exceed their whole: whoever parses upstream's
 * numbers decides what such numbers mean, and a bill is never made from them by accident.
 */
export function costNanoUsd(usage: Usage, price: Price): NanoUsd {
  const picoUsd = tokenPicoUsd(usage, price) + (usage.apart === undefined ? 0n : feePicoUsd(usage.apart, price.fees));
  if (price.markUpPpm === 0n) return (picoUsd + HALF_NANO) / PICO_PER_NANO;
  return (picoUsd * (PPM + price.markUpPpm) + HALF_NANO * PPM) / (PICO_PER_NANO * PPM);
}

/**
 * What usage costs of which a record states the prices: `price` is that of the whole, or of the model that answered where each
 * part names its own (`priceOf` reads it); then `price` has the fees. One rounding, as above.
 * @throws RangeError also where the parts do not come to the counters.
 */
export function chargedNanoUsd(usage: Usage, price: Price, priceOf: (version: string) => Price): NanoUsd {
  const parts = usage.apart?.parts;
  if (parts === undefined) return costNanoUsd(usage, price);
  for (const counter of PART_COUNTERS) {
    const sum = parts.reduce((total, part) => total + part[counter], 0);
    if (sum !== usage[counter])
      throw new RangeError(`usage ${counter}: found ${usage[counter]}, its parts come to ${sum}`);
  }
  let scaled = feePicoUsd(usage.apart ?? {}, price.fees) * (PPM + price.markUpPpm);
  for (const { price_version, ...counters } of parts) {
    const own = price_version === undefined ? price : priceOf(price_version);
    scaled += tokenPicoUsd(counters, own) * (PPM + own.markUpPpm);
  }
  return (scaled + HALF_NANO * PPM) / (PICO_PER_NANO * PPM);
}

const PART_COUNTERS = ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output', 'reasoning'] as const;

/** The tokens at the rates of their tier of length. */
function tokenPicoUsd(usage: Usage, price: Price): bigint {
  const { input, cache_read, cache_write_5m, cache_write_1h } = usage;
  const rates =
    price.tiers.length === 0 ? price : chooseRates(price, input + cache_read + cache_write_5m + cache_write_1h);
  const picoUsd =
    tokens(input, 'input') * rates.input +
    tokens(cache_read, 'cache_read') * rates.cache_read +
    tokens(cache_write_5m, 'cache_write_5m') * rates.cache_write_5m +
    tokens(cache_write_1h, 'cache_write_1h') * rates.cache_write_1h +
    tokens(usage.output - usage.reasoning, 'output - reasoning') * rates.output +
    tokens(usage.reasoning, 'reasoning') * rates.reasoning;
  return usage.apart === undefined ? picoUsd : picoUsd + mediaPicoUsd(usage, usage.apart, rates);
}

/** What sound and images cost on top of a sum that took all tokens at the rates of their whole; below 0 where they cost less. */
function mediaPicoUsd(usage: Usage, apart: UsageApart, rates: Rates): bigint {
  const { audio_input = 0, audio_cache_read = 0, audio_output = 0, image_input = 0, image_output = 0 } = apart;
  tokens(usage.input - audio_input - image_input, 'input - audio_input - image_input');
  tokens(usage.cache_read - audio_cache_read, 'cache_read - audio_cache_read');
  tokens(
    usage.output - usage.reasoning - audio_output - image_output,
    'output - reasoning - audio_output - image_output',
  );
  let picoUsd = 0n;
  for (const counter of MEDIA_COUNTERS) {
    const count = apart[counter];
    if (count !== undefined) picoUsd += tokens(count, counter) * (rates[counter] - rates[MEDIA_PARTS[counter]]);
  }
  return picoUsd;
}

function feePicoUsd({ server_tools = {} }: UsageApart, fees: Fees | null): bigint {
  let picoUsd = 0n;
  for (const kind in server_tools) {
    const requests = tokens(server_tools[kind] ?? 0, `server_tools.${kind}`);
    picoUsd += requests * (fees?.get(kind) ?? 0n) * PICO_PER_NANO;
  }
  return picoUsd;
}

/** A sum of pico-USD with the price's mark-up, in nano-USD, rounded up: what is held must cover what is charged. */
export function ceilNanoUsd(picoUsd: bigint, price: Price): NanoUsd {
  if (price.markUpPpm === 0n) return (picoUsd + PICO_PER_NANO - 1n) / PICO_PER_NANO;
  const units = PICO_PER_NANO * PPM;
  return (picoUsd * (PPM + price.markUpPpm) + units - 1n) / units;
}

function tokens(count: number, counter: string): bigint {
  if (count === 0) return 0n;
  if (!Number.isSafeInteger(count) || count < 0) {
    throw new RangeError(`usage ${counter}: found ${count}, expected a whole number of tokens, 0 or more`);
  }
  return BigInt(count);
}
