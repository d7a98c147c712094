/**
 * Defines the usage counters of one call, which are disjoint except those documented as parts of others, and the words
 * of the tier that answered. Knows no wire format and no price.
 */

/**
 * Tokens of one call. `input` excludes cache reads and writes; `reasoning` is part of `output`. All are integers ≥ 0.
 */
export interface Usage {
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write_5m: number;
  readonly cache_write_1h: number;
  readonly output: number;
  readonly reasoning: number;
  /** Counters that few calls have; absent from the others. */
  readonly extras?: MediaAndToolUsage;
}

/**
 * Source of a record's counters: `upstream` its final numbers; `partial` its numbers up to where the stream ended;
 * `counted` our own estimate; `void` nothing was used; `checkpoint` and `cache` belong to recovery and replay.
 */
export type UsageSource = 'upstream' | 'partial' | 'counted' | 'checkpoint' | 'void' | 'cache';

/**
 * Anomalies in upstream's numbers, which count nevertheless. `sum`: the parts do not add up to the total; `cached`:
 * more cached tokens than the total that includes them; `reasoning`: more than the whole output; `inner_steps`: the
 * counters restart at each step of a server tool, so that they may be incomplete; `far_input`, `far_output`: far from our
 * own estimate; `other_model`: they are those of another model than the requested one. `held_amount`: there are no such
 * numbers; the amount that was held is charged.
 */
export type UsageFlag =
  | 'sum'
  | 'cached'
  | 'reasoning'
  | 'inner_steps'
  | 'far_input'
  | 'far_output'
  | 'other_model'
  | 'held_amount';

/** Counters as upstream reported them, with their anomalies. */
export interface ReportedUsage {
  readonly usage: Usage;
  readonly flags: readonly UsageFlag[];
}

export const NO_FLAGS: readonly UsageFlag[] = [];

export const ZERO_USAGE: Usage = {
  input: 0,
  cache_read: 0,
  cache_write_5m: 0,
  cache_write_1h: 0,
  output: 0,
  reasoning: 0,
};

/**
 * Maps each counter that few calls have to the `Usage` counter that includes it: audio, images, and cache writes without a
 * duration of their own, which OpenAI keeps for 30 minutes.
 */
export const EXTRA_PARTS = {
  audio_input: 'input',
  audio_cache_read: 'cache_read',
  audio_output: 'output',
  image_input: 'input',
  image_output: 'output',
  cache_write_30m: 'cache_write_5m',
} as const;

export type ExtraCounter = keyof typeof EXTRA_PARTS;

export const EXTRA_COUNTERS = Object.keys(EXTRA_PARTS) as readonly ExtraCounter[];

/** Requests by kind, as upstream names them: `web_search`, `web_fetch`; each > 0. */
export type ServerTools = { readonly [kind: string]: number };

/** Units that are priced one by one, not part of the token counters. Seconds are of sound, rounded up. */
export const UNIT_COUNTERS = ['images', 'seconds', 'characters', 'search_units'] as const;

export type UnitCounter = (typeof UNIT_COUNTERS)[number];

/** A member is present only if it is above 0. */
export type UnitUsage = { readonly [Counter in UnitCounter]?: number } & {
  /** The size and quality of the images, by which they are priced: `1024x1024/high`. Absent: unknown. */
  readonly image_kind?: string;
};

/** Valid form of the size and quality of images. */
export const IMAGE_KIND = /^[a-z0-9][a-z0-9._-]{0,39}(?:\/[a-z0-9][a-z0-9._-]{0,39})?$/;

/**
 * A member is present only if it is above 0. `audio_output` and `image_output` are parts of `output` that do not
 * overlap each other or `reasoning`; `audio_input` and `image_input` are parts of `input` that do not overlap;
 * `cache_write_30m` is part of `cache_write_5m`.
 */
export type MediaAndToolUsage = { readonly [Counter in ExtraCounter]?: number } & UnitUsage & {
    readonly server_tools?: ServerTools;
    /** The tier that the response states, if its price differs from the list price. */
    readonly tier?: TierWords;
    /** Usage of each model run, if the response took several or named another model; the runs add up to the counters. */
    readonly parts?: readonly UsagePart[];
  };

/** The tokens of one run of a model. */
export interface UsagePart {
  /** As upstream names it; absent: the requested model. */
  readonly model?: string;
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write_5m: number;
  readonly cache_write_1h: number;
  readonly output: number;
  readonly reasoning: number;
  /** Its media, priced with it; absent: none. */
  readonly extras?: { readonly [Counter in ExtraCounter]?: number };
  /** The price version that was charged, if parts were charged at several; absent: they were charged as one. */
  readonly price_version?: string;
}

/** Valid name of a server tool kind; other reported names are ignored. */
export const TOOL_KIND = /^[a-z][a-z0-9_]{0,39}$/;

/** More kinds than any provider has (three in 2026); the rest of a malformed list is ignored. */
const KINDS_MAX = 16;

/** The counters of two answers together: tokens with their media, and units of the kind of the second. */
export function addUsage(one: Usage, other: Usage): Usage {
  const extras: Record<string, unknown> = { ...one.extras, ...other.extras };
  for (const counter of [...EXTRA_COUNTERS, ...UNIT_COUNTERS]) {
    const sum = (one.extras?.[counter] ?? 0) + (other.extras?.[counter] ?? 0);
    if (sum > 0) extras[counter] = sum;
  }
  if (one.extras?.parts !== undefined || other.extras?.parts !== undefined) {
    extras.parts = [...partsOf(one), ...partsOf(other)];
  }
  return {
    ...addCounters(one, other),
    ...(Object.keys(extras).length > 0 && { extras }),
  };
}

type Counters = Omit<Usage, 'extras'>;

/** Adds the counters of tokens alone. */
export function addCounters(one: Counters, other: Counters): Counters {
  return {
    input: one.input + other.input,
    cache_read: one.cache_read + other.cache_read,
    cache_write_5m: one.cache_write_5m + other.cache_write_5m,
    cache_write_1h: one.cache_write_1h + other.cache_write_1h,
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
  };
}

function partsOf({ extras, ...counters }: Usage): readonly UsagePart[] {
  if (extras?.parts !== undefined) return extras.parts;
  const media = EXTRA_COUNTERS.flatMap((name) => (extras?.[name] === undefined ? [] : [[name, extras[name]]]));
  return [media.length === 0 ? counters : { ...counters, extras: Object.fromEntries(media) }];
}

/** Omits the members that are 0; undefined if none remain. */
export function extrasOf(
  media: { readonly [Counter in ExtraCounter]?: number },
  tools: Iterable<readonly [kind: string, requests: number]> = [],
): MediaAndToolUsage | undefined {
  const extras: { [Counter in ExtraCounter]?: number } & { server_tools?: ServerTools } = {};
  for (const counter of EXTRA_COUNTERS) {
    const count = media[counter];
    if (count !== undefined && count > 0) extras[counter] = count;
  }
  const kinds = [...tools].filter(([kind, requests]) => requests > 0 && TOOL_KIND.test(kind)).slice(0, KINDS_MAX);
  if (kinds.length > 0) extras.server_tools = Object.fromEntries(kinds);
  return Object.keys(extras).length === 0 ? undefined : extras;
}

/** Members of a request or response whose values name a tier. */
export const TIER_MEMBERS = ['service_tier', 'speed', 'inference_geo'] as const;

export type TierMember = (typeof TIER_MEMBERS)[number];

/** The value of each member that is present. */
export type TierWords = { readonly [member in TierMember]?: string };

/**
 * Values charged at the list price. `batch` is not one of them. `not_available`: Anthropic's value for models that run
 * in one place only (recorded traffic, 2026). `on_demand` is Groq's default:
 * https://console.groq.com/docs/service-tiers (2026-11-22).
 */
const STANDARD: { readonly [member in TierMember]: ReadonlySet<string> } = {
  service_tier: new Set(['auto', 'default', 'standard', 'standard_only', 'on_demand']),
  speed: new Set(['standard']),
  inference_geo: new Set(['global', 'not_available']),
};

/** Valid form of a tier value; anything else is ignored, whatever its source. */
export const TIER_WORD = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/;

/** Whether the value asks for, or states, only the list price. */
export function isStandard(member: TierMember, word: string): boolean {
  return STANDARD[member].has(word);
}

export function isTierWord(text: string): boolean {
  return TIER_WORD.test(text);
}

/**
 * The tier values that a response object states; undefined if it states none. Ignores anything that is not a valid
 * value.
 */
export function readTierWords(stated: { readonly [member: string]: unknown }): TierWords | undefined {
  let found: { [member in TierMember]?: string } | undefined;
  for (const member of TIER_MEMBERS) {
    const word = stated[member];
    if (typeof word !== 'string' || !isTierWord(word)) continue;
    found ??= {};
    found[member] = word;
  }
  return found;
}

/** The values that are not charged at the list price; undefined if none remain. */
export function chargedTier(words: TierWords | undefined): TierWords | undefined {
  let found: { [member in TierMember]?: string } | undefined;
  for (const member of TIER_MEMBERS) {
    const word = words?.[member];
    if (word === undefined || isStandard(member, word)) continue;
    found ??= {};
    found[member] = word;
  }
  return found;
}

/** The counters with `extras` and the charged values of a `tier`, if there are any. */
export function withExtras(counters: Usage, extras: MediaAndToolUsage | undefined, tier?: TierWords): Usage {
  const charged = chargedTier(tier);
  if (extras === undefined && charged === undefined) return counters;
  return { ...counters, extras: { ...extras, ...(charged && { tier: charged }) } };
}

/** Renders values such as `speed "fast"` for people. */
export function tierText(words: TierWords): string {
  const stated = TIER_MEMBERS.flatMap((member) =>
    words[member] === undefined ? [] : [`${member} "${words[member]}"`],
  );
  return stated.join(', ');
}

/** A body is about 4 bytes of text per token: this is four times the upstream count, above about 1,000 tokens. */
const BYTES_PER_TOKEN_TOLD = 16;
const BYTES_MIN = 4_000;

/** True if upstream reported no usage, or far less than the size of the body suggests. */
export function isTextCounted(usage: Usage | null, bodyBytes: number): boolean {
  return usage === null || (bodyBytes > BYTES_MIN && bodyBytes > usage.output * BYTES_PER_TOKEN_TOLD);
}

/** All tokens that were read and written. */
export function totalTokens({ input, cache_read, cache_write_5m, cache_write_1h, output }: Usage): number {
  return input + cache_read + cache_write_5m + cache_write_1h + output;
}
