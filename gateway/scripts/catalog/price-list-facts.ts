/**
 * Parses LiteLLM's price list (one JSON object, USD per token as JSON numbers) into facts. Interprets its members only;
 * does not decide which entries belong in the catalog.
 */

import { type PicoUsdPerToken, parseUsdPerMillion } from '../../src/billing/money.ts';
import { type Fees, NO_FEES, type PublishedPrice, parseFees } from '../../src/billing/price.ts';
import type { Capability, CatalogProvider, FeeBeside, Modality } from '../../src/catalog/catalog-model.ts';
import type { ModelFacts, TierFacts } from './model-facts.ts';

export type Entry = Readonly<Record<string, unknown>>;

/** The price list's name of a provider, the prefix that it puts before ids, and our name. */
const PROVIDERS: readonly { readonly theirs: string; readonly prefix: string; readonly ours: CatalogProvider }[] = [
  { theirs: 'openai', prefix: '', ours: 'openai' },
  { theirs: 'anthropic', prefix: '', ours: 'anthropic' },
  { theirs: 'gemini', prefix: 'gemini/', ours: 'google' },
  { theirs: 'mistral', prefix: 'mistral/', ours: 'mistral' },
  { theirs: 'deepseek', prefix: '', ours: 'deepseek' },
  { theirs: 'xai', prefix: 'xai/', ours: 'xai' },
  { theirs: 'groq', prefix: 'groq/', ours: 'groq' },
  { theirs: 'together_ai', prefix: 'together_ai/', ours: 'together' },
  { theirs: 'fireworks_ai', prefix: 'fireworks_ai/', ours: 'fireworks' },
  { theirs: 'cerebras', prefix: 'cerebras/', ours: 'cerebras' },
  { theirs: 'moonshot', prefix: 'moonshot/', ours: 'moonshot' },
  { theirs: 'zai', prefix: 'zai/', ours: 'zai' },
  { theirs: 'dashscope', prefix: 'dashscope/', ours: 'alibaba' },
  { theirs: 'perplexity', prefix: 'perplexity/', ours: 'perplexity' },
];

const CAPABILITY_MEMBERS: readonly (readonly [string, Capability])[] = [
  ['supports_function_calling', 'tools'],
  ['supports_parallel_function_calling', 'parallel_tools'],
  ['supports_response_schema', 'structured_output'],
  ['supports_reasoning', 'reasoning'],
  ['supports_prompt_caching', 'prompt_cache'],
];

const TIER_MEMBER = /^input_cost_per_token_above_([0-9]+)k_tokens$/;

export interface PriceListEntry {
  readonly facts: ModelFacts | null;
  /** Why there are no facts; empty if there are. */
  readonly unusable: string;
  readonly provider: CatalogProvider;
  readonly id: string;
}

/** The entries of known providers that answer in text over chat completions or messages, in the list's order. */
export function readPriceList(list: Readonly<Record<string, Entry>>): readonly PriceListEntry[] {
  const entries: PriceListEntry[] = [];
  for (const [key, entry] of Object.entries(list)) {
    const host = PROVIDERS.find(({ theirs, prefix }) => theirs === entry.litellm_provider && key.startsWith(prefix));
    if (host === undefined || entry.mode !== 'chat') continue;
    const id = key.slice(host.prefix.length);
    const facts = readFacts(entry, host.ours, id);
    entries.push(
      typeof facts === 'string'
        ? { provider: host.ours, id, facts: null, unusable: facts }
        : { provider: host.ours, id, facts, unusable: '' },
    );
  }
  return entries;
}

/** The facts of one entry; a text says why the entry cannot be used. */
export function readFacts(entry: Entry, provider: CatalogProvider, id: string): ModelFacts | string {
  const outputs = readWords(entry.supported_output_modalities);
  if (outputs.includes('video') || (outputs.includes('audio') && entry.output_cost_per_audio_token === undefined))
    return `answers in ${outputs.join(', ')}, which has no price`;
  const steps = Array.isArray(entry.tiered_pricing) ? readSteps(entry.tiered_pricing) : readTiers(entry);
  const [base, ...tiers] = steps;
  if (base === undefined) return 'has no price of input and output';
  if (base.price.input === 0n || base.price.output === 0n) return 'has a price of 0, which may mean unknown';
  const fees = readFees(entry, provider, id);
  return {
    provider,
    id,
    shutdown: typeof entry.deprecation_date === 'string' ? entry.deprecation_date : null,
    inputMax: readTokens(entry.max_input_tokens),
    outputMax: readTokens(entry.max_output_tokens),
    modalities: readModalities(entry),
    capabilities: CAPABILITY_MEMBERS.filter(([member]) => entry[member] === true).map(([, capability]) => capability),
    price: base.price,
    tiers,
    fees,
    feesBeside: readFeesBeside(entry, id, fees),
    sourced: typeof entry.source === 'string',
  };
}

/** The base price first, then the prices of `…_above_<n>k_tokens` members, ascending. */
function readTiers(entry: Entry): readonly TierFacts[] {
  const base = readPrice(entry, '');
  if (base === null) return [];
  const bounds = Object.keys(entry).flatMap((member) => TIER_MEMBER.exec(member)?.[1] ?? []);
  const tiers = bounds.flatMap((bound) => {
    const price = readPrice(entry, `_above_${bound}k_tokens`);
    return price === null ? [] : [{ above: Number(bound) * 1000, price }];
  });
  return [{ above: 0, price: base }, ...tiers.sort((one, other) => one.above - other.above)];
}

/** The steps of a `tiered_pricing` array: each has its own range of input tokens and its own price members. */
function readSteps(steps: readonly Entry[]): readonly TierFacts[] {
  return steps.flatMap((step) => {
    const price = readPrice(step, '');
    const above: unknown = Array.isArray(step.range) ? step.range[0] : undefined;
    return price === null || typeof above !== 'number' ? [] : [{ above, price }];
  });
}

function readPrice(entry: Entry, suffix: string): PublishedPrice | null {
  const input = readPerToken(entry[`input_cost_per_token${suffix}`]);
  const output = readPerToken(entry[`output_cost_per_token${suffix}`]);
  if (input === undefined || output === undefined) return null;
  return {
    input,
    output,
    cache_read: readPublished(entry[`cache_read_input_token_cost${suffix}`]),
    cache_write_5m: readPublished(entry[`cache_creation_input_token_cost${suffix}`]),
    cache_write_1h: readPublished(entry[`cache_creation_input_token_cost_above_1hr${suffix}`]),
    reasoning: readPublished(entry[`output_cost_per_reasoning_token${suffix}`]),
    audio_input: readPublished(entry[`input_cost_per_audio_token${suffix}`]),
    audio_cache_read: readPublished(entry[`cache_read_input_audio_token_cost${suffix}`]),
    audio_output: readPublished(entry[`output_cost_per_audio_token${suffix}`]),
    image_input: readPublished(entry[`input_cost_per_image_token${suffix}`]),
    image_output: readPublished(entry[`output_cost_per_image_token${suffix}`]),
  };
}

/** A 0 next to a charged input means "no surcharge" or "not known" in this list, never that such tokens are free. */
function readPublished(usdPerToken: unknown): PicoUsdPerToken | undefined {
  const price = readPerToken(usdPerToken);
  return price === 0n ? undefined : price;
}

/** USD per token, a JSON number, as an exact price: moves the decimal point of its shortest text six places. */
function readPerToken(usdPerToken: unknown): PicoUsdPerToken | undefined {
  return typeof usdPerToken === 'number' ? parseUsdPerMillion(movePoint(usdPerToken, 6), 'cost per token') : undefined;
}

function movePoint(number: number, places: number): string {
  const [mantissa, exponent = '0'] = String(number).split('e');
  return `${mantissa}e${Number(exponent) + places}`;
}

function readModalities(entry: Entry): readonly Modality[] {
  const inputs = readWords(entry.supported_modalities);
  const modalities: Modality[] = ['text'];
  if (entry.supports_vision === true || inputs.includes('image')) modalities.push('image');
  if (entry.supports_pdf_input === true) modalities.push('pdf');
  if (entry.supports_audio_input === true || inputs.includes('audio')) modalities.push('audio');
  return modalities;
}

/**
 * Search fees, if the provider's responses report how many searches there were. Anthropic counts them, at one price for
 * all models (the list has it for the newer ones), and charges nothing for fetching pages. Perplexity names the class
 * of each request, and counts the searches of deep research. https://docs.anthropic.com/en/docs/about-claude/pricing
 * (2025-2026).
 */
function readFees(entry: Entry, provider: CatalogProvider, id: string): Fees {
  const listed = entry.search_context_cost_per_query;
  const perQuery = (size: string): string | undefined => {
    const usd = typeof listed === 'object' && listed !== null && (listed as Entry)[`search_context_size_${size}`];
    return typeof usd === 'number' ? movePoint(usd, 3) : undefined;
  };
  if (provider === 'anthropic') return parseFees({ web_search: perQuery('medium') ?? '10', web_fetch: '0' });
  if (provider !== 'perplexity') return NO_FEES;
  const fees = id.includes('deep-research')
    ? { web_search: perQuery('medium') }
    : { search_low: perQuery('low'), search_medium: perQuery('medium'), search_high: perQuery('high') };
  return parseFees(Object.fromEntries(Object.entries(fees).filter(([, fee]) => fee !== undefined)));
}

function readFeesBeside(entry: Entry, id: string, fees: Fees): readonly FeeBeside[] {
  const beside: FeeBeside[] = [];
  const searches = entry.litellm_provider === 'perplexity' || id.includes('-search-');
  if (searches && fees.size === 0) beside.push('search');
  if (entry.citation_cost_per_token !== undefined) beside.push('citations');
  if (entry.cache_creation_input_token_cost_above_12hr !== undefined) beside.push('cache_write_12h');
  return beside;
}

function readTokens(count: unknown): number | null {
  return Number.isSafeInteger(count) && Number(count) > 0 ? Number(count) : null;
}

function readWords(words: unknown): readonly string[] {
  return Array.isArray(words) ? words.filter((word) => typeof word === 'string') : [];
}
