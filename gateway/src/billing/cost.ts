/** Computes the cost of a call from its usage and price. */
import { MEDIA_COUNTERS, MEDIA_PARTS, type MediaAndToolUsage, type Usage } from '../generation/usage.ts';
import type { NanoUsd } from './money.ts';
import { chooseRates, type Fees, type Price, type Rates } from './price.ts';

const PICO_PER_NANO = 1000n;
const HALF_NANO = 500n;
const PPM = 1_000_000n;

/**
 * The cost of `usage` at `price`, in nano-USD: the exact sum in pico-USD at the rates of the call's tier, plus the
 * mark-up, rounded once at the end, half up. Reasoning tokens are part of `output` and priced apart from the rest of
 * it; audio and images are priced apart from the counters they are part of. Requests of a tool without a fee
 * (`unpricedTools`) are not included.
 * @throws RangeError where a counter is not an integer ≥ 0 or a part such as `reasoning` exceeds its whole: the parser
 * of upstream's numbers decides what such numbers mean, so that no bill is made from them by accident.
 */
export function costNanoUsd(usage: Usage, price: Price): NanoUsd {
  const picoUsd = tokenPicoUsd(usage, price) + (usage.extras === undefined ? 0n : feePicoUsd(usage.extras, price.fees));
  if (price.markUpPpm === 0n) return (picoUsd + HALF_NANO) / PICO_PER_NANO;
  return (picoUsd * (PPM + price.markUpPpm) + HALF_NANO * PPM) / (PICO_PER_NANO * PPM);
}

/**
 * The cost of usage whose prices a record states: `price` is that of the whole, or of the model that answered where
 * each part names its own (`priceOf` parses it); then the fees come from `price`. One rounding, as above.
 * @throws RangeError also where the parts do not add up to the counters.
 */
export function chargedNanoUsd(usage: Usage, price: Price, priceOf: (version: string) => Price): NanoUsd {
  const parts = usage.extras?.parts;
  if (parts === undefined) return costNanoUsd(usage, price);
  for (const counter of PART_COUNTERS) {
    const sum = parts.reduce((total, part) => total + part[counter], 0);
    if (sum !== usage[counter])
      throw new RangeError(`usage ${counter}: found ${usage[counter]}, its parts come to ${sum}`);
  }
  let scaled = feePicoUsd(usage.extras ?? {}, price.fees) * (PPM + price.markUpPpm);
  for (const { price_version, ...counters } of parts) {
    const own = price_version === undefined ? price : priceOf(price_version);
    scaled += tokenPicoUsd(counters, own) * (PPM + own.markUpPpm);
  }
  return (scaled + HALF_NANO * PPM) / (PICO_PER_NANO * PPM);
}

const PART_COUNTERS = ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output', 'reasoning'] as const;

/** Token cost at the rates of their length tier. */
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
  return usage.extras === undefined ? picoUsd : picoUsd + mediaPicoUsd(usage, usage.extras, rates);
}

/** The extra cost of audio and images over a sum at the rates of their whole; below 0 where they cost less. */
function mediaPicoUsd(usage: Usage, extras: MediaAndToolUsage, rates: Rates): bigint {
  const { audio_input = 0, audio_cache_read = 0, audio_output = 0, image_input = 0, image_output = 0 } = extras;
  tokens(usage.input - audio_input - image_input, 'input - audio_input - image_input');
  tokens(usage.cache_read - audio_cache_read, 'cache_read - audio_cache_read');
  tokens(
    usage.output - usage.reasoning - audio_output - image_output,
    'output - reasoning - audio_output - image_output',
  );
  let picoUsd = 0n;
  for (const counter of MEDIA_COUNTERS) {
    const count = extras[counter];
    if (count !== undefined) picoUsd += tokens(count, counter) * (rates[counter] - rates[MEDIA_PARTS[counter]]);
  }
  return picoUsd;
}

function feePicoUsd({ server_tools = {} }: MediaAndToolUsage, fees: Fees | null): bigint {
  let picoUsd = 0n;
  for (const kind in server_tools) {
    const requests = tokens(server_tools[kind] ?? 0, `server_tools.${kind}`);
    picoUsd += requests * (fees?.get(kind) ?? 0n) * PICO_PER_NANO;
  }
  return picoUsd;
}

/** A sum of pico-USD with the price's mark-up, in nano-USD, rounded up: a hold must cover the charge. */
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
