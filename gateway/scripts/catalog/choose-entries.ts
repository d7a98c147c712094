/**
 * Selects the entries of the price list that are current chat models with a trustworthy price. Pure; every refusal has
 * a reason.
 */
import { renderFees } from '../../src/billing/price.ts';
import type { CatalogProvider } from '../../src/catalog/catalog-model.ts';
import { type ModelFacts, modelKey, type Release } from './model-facts.ts';
import type { PriceListEntry } from './price-list-facts.ts';

interface Rule {
  readonly provider: CatalogProvider;
  readonly ids: RegExp;
  readonly reason: string;
}

/** Entries in the price list that clients cannot, or should not, request by that name. */
const REFUSED: readonly Rule[] = [
  { provider: 'openai', ids: /^ft:/, reason: 'is a price class of fine-tuned models, not a model' },
  { provider: 'google', ids: /^(gemini-exp-|learnlm-|gemini-gemma-)/, reason: 'is a closed experiment' },
  { provider: 'google', ids: /(-tts$|^lyria)/, reason: 'is made for audio' },
  { provider: 'groq', ids: /guard/, reason: 'classifies and does not chat' },
  { provider: 'fireworks', ids: /^(?!accounts\/)/, reason: 'is a short form that the API does not accept' },
  { provider: 'deepseek', ids: /^deepseek\//, reason: 'is a prefixed form that the API does not accept' },
  { provider: 'mistral', ids: /-fim-/, reason: 'completes code and does not chat' },
];

/** Names whose price has no page but is that of another name of the same model. */
const SAME_MODEL: ReadonlyMap<string, string> = new Map([['openai/gpt-5.6', 'openai/gpt-5.6-sol']]);

/**
 * Prices without a page that are kept anyway: the list has them together with a cache price, which the other source, a
 * year older, does not know yet.
 */
const KEPT_WITHOUT_PAGE: ReadonlySet<string> = new Set(['groq/openai/gpt-oss-20b', 'groq/openai/gpt-oss-120b']);

export interface Choice {
  readonly chosen: readonly ModelFacts[];
  /** `provider/id reason`, in the list's order. */
  readonly refused: readonly string[];
}

/**
 * The entries to keep: not shut down by `today` (ISO), not refused above, and with a price that names its page, is
 * confirmed by the second source, or is that of a sourced entry for another name of the same model.
 */
export function chooseEntries(
  entries: readonly PriceListEntry[],
  releases: ReadonlyMap<string, Release>,
  today: string,
): Choice {
  const chosen: ModelFacts[] = [];
  const refused: string[] = [];
  const sourced = new Map<string, ModelFacts>();
  for (const { facts } of entries) {
    if (facts?.sourced) sourced.set(modelKey(facts.provider, facts.id), facts);
  }
  for (const { provider, id, facts, unusable } of entries) {
    const reason = facts === null ? unusable : reasonToRefuse(facts, releases, sourced, today);
    if (facts !== null && reason === null) chosen.push(facts);
    else refused.push(`${modelKey(provider, id)} ${reason}`);
  }
  return { chosen, refused };
}

function reasonToRefuse(
  facts: ModelFacts,
  releases: ReadonlyMap<string, Release>,
  sourced: ReadonlyMap<string, ModelFacts>,
  today: string,
): string | null {
  const key = modelKey(facts.provider, facts.id);
  const rule = REFUSED.find(({ provider, ids }) => provider === facts.provider && ids.test(facts.id));
  if (rule !== undefined) return rule.reason;
  if (facts.shutdown !== null && facts.shutdown <= today) return `was shut down on ${facts.shutdown}`;
  // Fireworks publishes a cache price for each model it serves by the token; the others are rented by the hour.
  if (facts.provider === 'fireworks' && facts.price.cache_read === undefined) return 'is not charged per token';
  if (facts.sourced || KEPT_WITHOUT_PAGE.has(key)) return null;
  const release = releases.get(key);
  if (release?.input === facts.price.input && release.output === facts.price.output) return null;
  const twin = sourced.get(SAME_MODEL.get(key) ?? modelKey(facts.provider, undatedName(facts.id)));
  if (twin !== undefined && samePrices(twin, facts)) return null;
  return 'names no page for its price, and nothing confirms it';
}

/** `gpt-4.1-2025-04-14` and `claude-sonnet-4-5-20250929` without their date; any other name unchanged. */
export function undatedName(id: string): string {
  return id.replace(/-20[0-9]{2}-[0-9]{2}-[0-9]{2}$|-20[0-9]{6}$/, '');
}

export function samePrices(one: ModelFacts, other: ModelFacts): boolean {
  return priceText(one) === priceText(other);
}

function priceText({ price, tiers, fees }: ModelFacts): string {
  const steps = [{ above: 0, price }, ...tiers].map((tier) => `${tier.above}: ${Object.values(tier.price).join(' ')}`);
  return steps.join('; ') + renderFees(fees);
}
