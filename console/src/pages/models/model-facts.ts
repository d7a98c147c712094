/** Formats and searches the facts and prices of models. */
import type { Reply } from '../../../../gateway/src/console-api/contract/contract.ts';
import { counted, wholeNumber } from '../../lib/format.ts';

export type ModelView = Reply<'GET /accounts/{account}/models'>['models'][number];
export type PriceView = ModelView['prices'][number];

export const RATES = [
  ['input', 'Input'],
  ['output', 'Output'],
  ['cache_read', 'Cache read'],
  ['cache_write_5m', 'Cache write (5 min)'],
  ['cache_write_1h', 'Cache write (1 h)'],
  ['reasoning', 'Reasoning'],
] as const satisfies readonly (readonly [keyof PriceView, string])[];
const CACHE_WRITE_30M = ['cache_write_30m', 'Cache write (30 min)'] as const;
type TextRate = (typeof RATES)[number] | typeof CACHE_WRITE_30M;
/** The rates of text, as the price dialog orders them. */
export const TEXT_RATES = RATES.flatMap((rate): readonly TextRate[] =>
  rate[0] === 'cache_write_5m' ? [rate, CACHE_WRITE_30M] : [rate],
);
export const MEDIA_RATES = [
  ['audio_input', 'Audio input'],
  ['audio_cache_read', 'Audio cache read'],
  ['audio_output', 'Audio output'],
  ['image_input', 'Image input'],
  ['image_output', 'Image output'],
] as const satisfies readonly (readonly [keyof PriceView, string])[];
/** Rates that few models have; without one, the tokens cost the rate of the counter that includes them. */
export const EXTRA_RATES = [CACHE_WRITE_30M, ...MEDIA_RATES] as const;
export const ALL_RATES = [...RATES, ...EXTRA_RATES] as const;
export type RateName = (typeof ALL_RATES)[number][0];

/** The rates of a price, or of one of its tiers. */
export type RatesView = Pick<PriceView, RateName>;

export const SOURCE_LABELS: Readonly<Record<ModelView['source'] | PriceView['source'], string>> = {
  file: 'Configuration file',
  environment: 'Environment',
  demo: 'Built in',
  console: 'Console',
  catalogue: 'Catalog',
};

/** `200K`, `1M`: context size in tokens, in rounded units. */
export function contextText(tokens: number | null): string {
  if (tokens === null) return '–';
  if (tokens >= 1_000_000) return `${Number((tokens / 1_000_000).toFixed(2))}M`;
  return tokens >= 1_000 ? `${Number((tokens / 1_000).toFixed(1))}K` : String(tokens);
}

/** A rate in US dollars per million tokens. */
export function rateText(price: (RatesView & { readonly free?: boolean }) | null, rate: RateName): string {
  if (price === null) return 'Unpriced';
  return price.free === true ? 'Free' : (price[rate] ?? '–');
}

/** Sort value of a price column: unpriced first, then free. */
export function rateOrder(price: PriceView | null, rate: RateName): number {
  if (price === null) return -1;
  return price.free ? 0 : Number(price[rate] ?? 0);
}

/** The price version in effect at a time. `prices` is sorted newest first. */
export function versionAt(prices: readonly PriceView[], nowMs: number): PriceView | null {
  return prices.find(({ from }) => from === null || Date.parse(from) <= nowMs) ?? null;
}

/** Models whose name, alias, target or capability contains every word of the text. */
export function findModels(models: readonly ModelView[], text: string): readonly ModelView[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return models;
  return models.filter(({ name, display_name: display, aliases, targets, capabilities }) => {
    const hay = [
      name,
      display ?? '',
      ...aliases,
      ...targets.flatMap((one) => [one.provider, one.model]),
      ...capabilities,
    ]
      .join('\n')
      .toLowerCase();
    return words.every((word) => hay.includes(word));
  });
}

/** `308 models`, or with a filter `12 of 308 models`. */
export function foundText(found: number, all: number): string {
  const models = counted(all, 'model');
  return found === all ? models : `${wholeNumber(found)} of ${models}`;
}
