/** Owns the shape of a price in the configuration file, and its description. What must hold between members is in resolve-price.ts. */
import { z } from 'zod';
import {
  choice,
  feeText,
  instant,
  multiplierText,
  priceText,
  tierWord,
  toolKind,
  wholeNumber,
} from './scalar-schema.ts';

const rate = (description: string) => priceText.meta({ description });

const rates = {
  input: rate('Input.'),
  output: rate('Output.'),
  cache_read: rate('Input read from a cache; default: as input.').optional(),
  cache_write: rate('Input written to a cache; default: as input.').optional(),
  cache_write_5m: rate('Written for five minutes; default: as cache_write.').optional(),
  cache_write_1h: rate('Written for an hour; default: as cache_write_5m.').optional(),
  reasoning: rate('Reasoning output; default: as output.').optional(),
  audio_input: rate('Sound in the input; default: as input.').optional(),
  audio_cache_read: rate('Sound read from a cache; default: as cache_read, else as audio_input.').optional(),
  audio_output: rate('Sound in the output; default: as output.').optional(),
  image_input: rate('Images in the input; default: as input.').optional(),
  image_output: rate('Images in the output; default: as output.').optional(),
};

const modifierWords = (description: string) => z.record(tierWord, multiplierText).meta({ description }).optional();

const tierSchema = z.strictObject({
  above: wholeNumber(1).meta({
    description: 'Tokens of input, those of caches included: a call with more is at these prices as a whole.',
  }),
  ...rates,
});

const pricePeriodSchema = z.strictObject({
  ...rates,
  tiers: z
    .array(tierSchema)
    .min(1)
    .meta({ description: 'Other prices for long input, ascending; each is filled from itself as a price is.' })
    .optional(),
  per_1000_requests: z
    .record(toolKind, feeText)
    .meta({
      description:
        'USD per 1,000 requests of tools that run upstream, by kind as upstream counts them: `web_search: 10`. A kind without a fee is billed nothing, and the record and the log say so.',
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
        'By how much all rates per token are multiplied where the answer states such a tier. A request for a tier without one is refused where a balance or a budget pays.',
    })
    .optional(),
  from: instant
    .meta({
      description: 'When it begins to be in force; before that, the price of the list before it, else the catalogue.',
    })
    .optional(),
});

/** A model's price: one, or a list of several with their beginnings. */
export const priceSchema = z.union([choice(['free']), pricePeriodSchema, z.array(pricePeriodSchema).min(1)]).meta({
  description:
    'USD per million tokens, or the word `free`; or a list of such mappings, each but one with `from`. The price in force when a call arrives counts. Default: the catalogue.',
});

export type PriceShape = z.output<typeof priceSchema>;
export type PricePeriodShape = z.output<typeof pricePeriodSchema>;
