/** Checks a snapshot of the catalog: every member is known, of its type and in its range. The gateway trusts the file. */
import { z } from 'zod';
import { PRICE_MEMBERS } from '../../src/billing/price.ts';
import { parseSnapshot } from '../../src/catalog/catalog.ts';
import {
  CAPABILITIES,
  CATALOG_PROVIDERS,
  type Catalog,
  EFFORTS,
  FEES_BESIDE,
  MODALITIES,
  type Snapshot,
  THINKING_TYPES,
} from '../../src/catalog/catalog-model.ts';
import { EXTRA_COUNTERS } from '../../src/generation/usage.ts';

const text = z.string().min(1);
const date = z.string().regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/);
const tokens = z.int().positive();
const optionalRates = Object.fromEntries([...PRICE_MEMBERS, ...EXTRA_COUNTERS].map((name) => [name, text.optional()]));
const rates = { ...optionalRates, input: text, output: text };

const snapshotSchema = z.strictObject({
  version: date,
  sources: z.array(z.object({ name: text, version: text, licence: text })),
  models: z.array(
    z.strictObject({
      provider: z.enum(CATALOG_PROVIDERS),
      id: text,
      aliases: z.array(text).optional(),
      name: text.optional(),
      released: date.optional(),
      shutdown: date.optional(),
      input_max: tokens.optional(),
      output_max: tokens.optional(),
      modalities: z.array(z.enum(MODALITIES)),
      capabilities: z.array(z.enum(CAPABILITIES)),
      price: z.strictObject(rates),
      tiers: z.array(z.strictObject({ ...rates, above: tokens })).optional(),
      per_1000_requests: z.record(z.string(), text).optional(),
      fees_beside: z.array(z.enum(FEES_BESIDE)).optional(),
      messages: z
        .strictObject({
          sampling: z.boolean(),
          thinking: z.array(z.enum(THINKING_TYPES)),
          effort: z.array(z.enum(EFFORTS)),
          effort_max_when_disabled: z.enum(EFFORTS).optional(),
          forced_tool_choice: z.boolean(),
        })
        .optional(),
    }),
  ),
});

/** The catalog of a snapshot. Throws an error that names each invalid member by its path, or a PriceError. */
export function checkSnapshot(found: unknown): Catalog {
  return parseSnapshot(snapshotSchema.parse(found) as Snapshot);
}
