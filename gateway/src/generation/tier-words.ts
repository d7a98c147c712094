/**
 * Reads the values by which a request asks for, or a response states, a tier with its own price: service tier, speed,
 * place of inference. Computes no price.
 */

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

/** Renders values such as `speed "fast"` for people. */
export function tierText(words: TierWords): string {
  const stated = TIER_MEMBERS.flatMap((member) =>
    words[member] === undefined ? [] : [`${member} "${words[member]}"`],
  );
  return stated.join(', ');
}
