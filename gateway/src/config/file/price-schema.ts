/** Defines the schema of a price in the configuration file: rates, tiers, fees, multipliers and the start of each. */
import { z } from 'zod';
import { parseUsdPerUnit, USD_PER_MILLION_MAX, USD_PER_THOUSAND_MAX, USD_PER_UNIT_MAX } from '../../billing/money.ts';
import { IMAGE_KIND, TIER_WORD, TOOL_KIND } from '../../generation/usage.ts';
import { parseInstantMs } from '../../lib/quantity.ts';
import { choice, EXPRESSION_PATTERN, parseOrUnfit, scalar, UNFIT, Unfit, wholeNumber } from './scalar-schema.ts';

/** A tier with a greater factor is a mistake. */
const MULTIPLIER_MAX = 1_000;

const decimal = (unit: string, json: { readonly title: string; readonly maximum: number }) =>
  scalar({
    expected: `${unit}: a number from 0 to ${json.maximum} with at most 6 decimals, such as 0.25`,
    advice: 'Correct the number.',
    json: {
      type: ['number', 'string'],
      minimum: 0,
      pattern: `^\\d{1,9}(\\.\\d{1,6})?$|${EXPRESSION_PATTERN}`,
      ...json,
    },
    parse: (text) => (/^\d{1,9}(\.\d{1,6})?$/.test(text) && Number(text) <= json.maximum ? text : UNFIT),
  });

/** USD per million tokens, as written. */
const priceText = decimal('USD per million tokens', { title: 'price', maximum: USD_PER_MILLION_MAX });

/** USD per 1,000 requests, as written. */
const feeText = decimal('USD per 1,000 requests', { title: 'fee', maximum: USD_PER_THOUSAND_MAX });

/** USD per unit, as written. */
const unitText = scalar({
  expected: `USD per unit: a number from 0 to ${USD_PER_UNIT_MAX} with at most 12 decimals, such as 0.04`,
  advice: 'Correct the number.',
  json: {
    title: 'unit price',
    type: ['number', 'string'],
    minimum: 0,
    maximum: USD_PER_UNIT_MAX,
    pattern: `^\\d{1,4}(\\.\\d{1,12})?$|${EXPRESSION_PATTERN}`,
  },
  parse: (text) => {
    const price = parseOrUnfit(() => parseUsdPerUnit(text, 'per_unit'));
    return price instanceof Unfit ? price : text;
  },
});

const imageKind = z
  .string()
  .regex(IMAGE_KIND, 'a size and quality of images as their answer states them, such as 1024x1024/high');

/** A factor of a price, as written. */
const multiplierText = decimal('a factor', { title: 'factor', maximum: MULTIPLIER_MAX });

/** A word for a tier, as used in requests and responses. */
const tierWord = z
  .string()
  .regex(TIER_WORD, 'a word for a tier: 1 to 40 letters, digits, _, . and -, such as priority');

/** The kind of a tool that runs upstream, as used in usage counts. */
const toolKind = z
  .string()
  .regex(
    TOOL_KIND,
    'a kind of tool as the provider counts it: 1 to 40 lower-case letters, digits and _, such as web_search',
  );

/** A day or an instant, as written. */
const instant = scalar({
  expected: 'a day such as 2026-12-01 (its first moment in UTC), or a moment such as 2026-12-01T08:00:00Z',
  advice: 'Correct the date.',
  json: { title: 'date', type: 'string', pattern: `^\\d{4}-\\d{2}-\\d{2}(T.+)?$|${EXPRESSION_PATTERN}` },
  parse: (text) => {
    const moment = parseOrUnfit(() => parseInstantMs(text));
    return moment instanceof Unfit ? moment : text;
  },
});

const rate = (description: string) => priceText.meta({ description });

const rates = {
  input: rate('Input.'),
  output: rate('Output.'),
  cache_read: rate('Input read from a cache; default: as input.').optional(),
  cache_write: rate('Input written to a cache; default: as input.').optional(),
  cache_write_5m: rate('Written for five minutes; default: as cache_write.').optional(),
  cache_write_1h: rate('Written for an hour; default: as cache_write_5m.').optional(),
  reasoning: rate('Reasoning output; default: as output.').optional(),
  audio_input: rate('Audio in the input; default: as input.').optional(),
  audio_cache_read: rate('Audio read from a cache; default: as cache_read, else as audio_input.').optional(),
  audio_output: rate('Audio in the output; default: as output.').optional(),
  image_input: rate('Images in the input; default: as input.').optional(),
  image_output: rate('Images in the output; default: as output.').optional(),
  cache_write_30m: rate('Written for 30 minutes (OpenAI); default: as cache_write_5m.').optional(),
};

const modifierWords = (description: string) => z.record(tierWord, multiplierText).meta({ description }).optional();

const tierSchema = z.strictObject({
  above: wholeNumber(1).meta({
    description: 'Input tokens including caches: a request with more has these prices as a whole.',
  }),
  ...rates,
});

const pricePeriodSchema = z.strictObject({
  ...rates,
  tiers: z
    .array(tierSchema)
    .min(1)
    .meta({ description: 'Other prices for long input, ascending; missing rates default within each tier.' })
    .optional(),
  per_1000_requests: z
    .record(toolKind, feeText)
    .meta({
      description:
        'USD per 1,000 requests of tools that the provider runs, by kind as the provider counts them: `web_search: 10`. A kind without a fee is not charged, and the record and the log say so.',
    })
    .optional(),
  per_unit: z
    .strictObject({
      image: z
        .union([unitText, z.record(imageKind, unitText)])
        .meta({
          description:
            'An image, or images by size and quality: `{ 1024x1024/high: 0.17, 1024x1024/low: 0.011 }`; one of the two may stand alone. Others cost as the dearest.',
        })
        .optional(),
      second: unitText.meta({ description: 'A second of sound.' }).optional(),
      character: unitText.meta({ description: 'A character of text to speak.' }).optional(),
      search: unitText.meta({ description: 'A search unit of a reranking.' }).optional(),
    })
    .meta({
      description:
        'USD per unit, for endpoints that are not billed by tokens; write `input: 0` and `output: 0` with it. Applies where the answer, or without usage the request, counts such units.',
    })
    .optional(),
  modifiers: z
    .strictObject({
      service_tier: modifierWords('A service tier: `{ priority: 2, flex: 0.5 }`.'),
      speed: modifierWords('A speed: `{ fast: 2 }`.'),
      inference_geo: modifierWords('A place of inference: `{ us: 1.1 }`.'),
    })
    .meta({
      description:
        'Multipliers of all token rates for answers that state such a tier. If a balance or a budget pays, a request for a tier without one is refused.',
    })
    .optional(),
  from: instant
    .meta({
      description: 'Start of this price; before it, the previous price of the list applies, else the catalogue.',
    })
    .optional(),
});

/** A model's price: one, or a list of several with their start dates. */
export const priceSchema = z.union([choice(['free']), pricePeriodSchema, z.array(pricePeriodSchema).min(1)]).meta({
  description:
    'USD per million tokens, or the word `free`; or a list of such mappings, all but one with `from`. The price at the arrival of a request applies. Default: the catalogue.',
});

export type PriceShape = z.output<typeof priceSchema>;
export type PricePeriodShape = z.output<typeof pricePeriodSchema>;
