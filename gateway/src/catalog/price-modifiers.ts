/**
 * Lists how catalogue prices change with the tier that answers. Maintained by hand: the snapshot's sources have these
 * facts for some models only. Where LiteLLM 1.109.1 has them too, they were compared (2026-11-22).
 */
import type { PriceModifier } from '../billing/price.ts';
import type { TierMember } from '../generation/usage.ts';
import type { CatalogProvider } from './catalog-model.ts';

interface Row {
  readonly provider: CatalogProvider;
  readonly member: TierMember;
  readonly words: readonly string[];
  /** A fraction of the list price. */
  readonly times: readonly [numerator: bigint, denominator: bigint];
  /** Ids of the catalogue; null: every model of the provider. */
  readonly models: ReadonlySet<string> | null;
}

const OPENAI_TIERS =
  'gpt-5 gpt-5.1 gpt-5.2 gpt-5.4 gpt-5.4-mini gpt-5.6 gpt-5.6-luna gpt-5.6-sol gpt-5.6-terra gpt-6-astra gpt-6-luna gpt-6-sol gpt-6.1-sol gpt-6.1-terra';

const ROWS: readonly Row[] = [
  // https://platform.claude.com/docs/en/build-with-claude/fast-mode and
  // https://code.claude.com/docs/en/fast-mode (2026-11-22).
  row('anthropic', 'speed', ['fast'], [2n, 1n], 'claude-opus-4-8 claude-opus-5 claude-opus-5-5'),
  // From Opus 4.6 on: https://platform.claude.com/docs/en/manage-claude/data-residency (2026-11-22).
  row(
    'anthropic',
    'inference_geo',
    ['us'],
    [11n, 10n],
    'claude-fable-5 claude-fable-5-1 claude-haiku-5-5 claude-mythos-5 claude-mythos-5-1 claude-opus-4-6 claude-opus-4-7 claude-opus-4-8 claude-opus-5 claude-opus-5-5 claude-sonnet-4-6 claude-sonnet-5 claude-sonnet-5-5',
  ),
  // Sold as a commitment, counted down in the proportions of the list prices:
  // https://platform.claude.com/docs/en/api/service-tiers (2026-11-22).
  row('anthropic', 'service_tier', ['priority'], [1n, 1n], null),
  // https://openai.com/api-priority-processing and https://developers.openai.com/api/docs/pricing (2026-11-22). A
  // request for `fast` is answered by `priority`.
  row('openai', 'service_tier', ['priority', 'fast'], [2n, 1n], OPENAI_TIERS),
  row('openai', 'service_tier', ['priority', 'fast'], [5n, 2n], 'gpt-5.5'),
  row('openai', 'service_tier', ['priority', 'fast'], [9n, 5n], 'gpt-5-mini'),
  row('openai', 'service_tier', ['priority', 'fast'], [7n, 4n], 'gpt-4.1 gpt-4.1-mini o3'),
  row('openai', 'service_tier', ['priority', 'fast'], [17n, 10n], 'gpt-4o'),
  row('openai', 'service_tier', ['priority', 'fast'], [5n, 3n], 'gpt-4o-mini'),
  row('openai', 'service_tier', ['flex'], [1n, 2n], `${OPENAI_TIERS} gpt-5.4-nano gpt-5.5 gpt-5-mini gpt-5-nano o3`),
];

function row(
  provider: CatalogProvider,
  member: TierMember,
  words: readonly string[],
  times: readonly [bigint, bigint],
  models: string | null,
): Row {
  return { provider, member, words, times, models: models === null ? null : new Set(models.split(' ')) };
}

/** The modifiers of a model's price, by its catalogue id; undefined where none is known. */
export function findModifiers(provider: CatalogProvider, id: string): readonly PriceModifier[] | undefined {
  const found = ROWS.filter((one) => one.provider === provider && (one.models?.has(id) ?? true));
  if (found.length === 0) return undefined;
  return found.flatMap(({ member, words, times }) => words.map((word) => ({ member, word, times })));
}

/** Every model named in the table, as `provider/id`. */
export function listModifiedModels(): readonly string[] {
  return ROWS.flatMap(({ provider, models }) => [...(models ?? [])].map((id) => `${provider}/${id}`));
}
