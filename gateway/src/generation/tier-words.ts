/**
 * Owns the words by which a request asks for, and an answer states, a tier that has a price of its own: the service tier, the
 * speed, the place of inference. Prices nothing.
 */

/** Members of a request, and of an answer, whose words name a tier. */
export const TIER_MEMBERS = ['service_tier', 'speed', 'inference_geo'] as const;

export type TierMember = (typeof TIER_MEMBERS)[number];

/** A word for each member that was given. */
export type TierWords = { readonly [member in TierMember]?: string };

/**
 * Words that stand for the price of the list. `batch` is not among them. `not_available`: what Anthropic states for models
 * that run in one place only (recorded traffic, 2026). `on_demand` is Groq's default: https://console.groq.com/docs/service-tiers
 * (2026-11-22).
 */
const STANDARD: { readonly [member in TierMember]: ReadonlySet<string> } = {
  service_tier: new Set(['auto', 'default', 'standard', 'standard_only', 'on_demand']),
  speed: new Set(['standard']),
  inference_geo: new Set(['global', 'not_available']),
};

/** What any such word looks like; anything else is not one, whoever wrote it. */
export const TIER_WORD = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/;

/** Whether the word asks for, or states, nothing that has another price. */
export function isStandard(member: TierMember, word: string): boolean {
  return STANDARD[member].has(word);
}

export function isTierWord(text: string): boolean {
  return TIER_WORD.test(text);
}

/** The words that an answer states in such members of an object; undefined where it states none. Anything but a word is not read. */
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

/** Those of the words that do not stand for the price of the list; undefined where none is left. */
export function specialTier(words: TierWords | undefined): TierWords | undefined {
  let found: { [member in TierMember]?: string } | undefined;
  for (const member of TIER_MEMBERS) {
    const word = words?.[member];
    if (word === undefined || isStandard(member, word)) continue;
    found ??= {};
    found[member] = word;
  }
  return found;
}

/** `speed "fast"` and the like, for people. */
export function tierText(words: TierWords): string {
  const told = TIER_MEMBERS.flatMap((member) => (words[member] === undefined ? [] : [`${member} "${words[member]}"`]));
  return told.join(', ');
}
