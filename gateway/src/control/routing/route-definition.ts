/**
 * Defines the shape of a route as operators enter it: the members of a model in the configuration file, as JSON. The
 * rules for their values are those of the file, and apply when a command runs.
 */
import { z } from 'zod';
import type { DefinitionTree, RouteDefinition } from '../../store/ports/providers.ts';

/** A rate in USD, as a number or as its decimal digits. */
const rate = z.union([z.string(), z.number()], { error: 'expected USD as a number or a decimal text' });
const rates = {
  input: rate,
  output: rate,
  cache_read: rate.optional(),
  cache_write: rate.optional(),
  cache_write_5m: rate.optional(),
  cache_write_1h: rate.optional(),
  reasoning: rate.optional(),
  audio_input: rate.optional(),
  audio_cache_read: rate.optional(),
  audio_output: rate.optional(),
  image_input: rate.optional(),
  image_output: rate.optional(),
  cache_write_30m: rate.optional(),
};
const period = z.looseObject({
  ...rates,
  from: z.string().optional(),
  per_1000_requests: z.record(z.string(), rate).optional(),
  per_unit: z.record(z.string(), z.union([rate, z.record(z.string(), rate)])).optional(),
  tiers: z.array(z.looseObject({ above: z.number(), ...rates })).optional(),
});
const price = z.union([z.literal('free'), period, z.array(period)], {
  error: 'expected free, or a mapping with input and output, or a list of such mappings, each but one with from',
});

/** Durations such as `60s`. */
const timeouts = z.looseObject({
  connect: z.string().optional(),
  first_byte: z.string().optional(),
  first_byte_plain: z.string().optional(),
  idle: z.string().optional(),
  total: z.string().optional(),
});

const target = z.looseObject({
  provider: z.string(),
  /** The model's name there. Default: its public name. */
  model: z.string().optional(),
  /** Default: `provider/model`. */
  name: z.string().optional(),
  priority: z.number().optional(),
  weight: z.number().optional(),
  max_concurrency: z.number().optional(),
  tags: z.array(z.string()).optional(),
  timeouts: timeouts.optional(),
  price: price.optional(),
});

const routing = z.looseObject({
  strategy: z.string().optional(),
  affinity: z.string().optional(),
  max_extra_attempts: z.number().optional(),
  uncertain_retry: rate.optional(),
  hedge: z.string().optional(),
  fallback_on: z.array(z.string()).optional(),
});

const alias = z.union([z.string(), z.looseObject({ name: z.string(), protocols: z.array(z.string()).optional() })], {
  error: 'expected a model name, or a mapping with name and protocols',
});

const TARGETS_MAX = 50;
const ALIASES_MAX = 100;

/** The members of a definition that may be left out; null: without it. */
const others = {
  routing: routing.nullable().optional(),
  alias: z.array(alias).max(ALIASES_MAX).nullable().optional(),
  protocols: z.array(z.string()).nullable().optional(),
  capabilities: z
    .looseObject({})
    .catchall(z.union([z.boolean(), z.string(), z.array(z.string())]))
    .nullable()
    .optional(),
  price: price.nullable().optional(),
};
const targets = z.array(target).max(TARGETS_MAX);

/** The members of a new route, and of a change, where omitted members stay. */
export const newDefinition = { targets, ...others };
export const changedDefinition = {
  targets: targets.optional(),
  ...others,
  /** Members as they were read: the change is refused if one differs by now. */
  before: z.strictObject({ targets: targets.optional(), ...others }).optional(),
};

/** A definition as it is shown. */
export const shownDefinition = z.object({ targets, ...others });

type Given = { readonly [member: string]: unknown };

/** The definition after a change: given members replace the former ones, and null removes one. */
export function changeDefinition(before: RouteDefinition, given: Given): RouteDefinition {
  const members = Object.entries({ ...before, ...given }).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(members.map(([member, value]) => [member, treeOf(value)]));
}

/** Omits members without a value. */
function treeOf(value: unknown): DefinitionTree {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map(treeOf);
  const members = Object.entries(value as Given).filter(([, inner]) => inner !== undefined && inner !== null);
  return Object.fromEntries(members.map(([member, inner]) => [member, treeOf(inner)]));
}
