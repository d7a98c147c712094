/** Parses models.dev's data as its package of provider modules ships it: names, release dates, prices to compare. */
import { join } from 'node:path';
import { parseUsdPerMillion } from '../../src/billing/money.ts';
import type { CatalogProvider } from '../../src/catalog/catalog-model.ts';
import { modelKey, type Release } from './model-facts.ts';

/** Our name of a provider, and the name of its module. */
const MODULES: readonly (readonly [CatalogProvider, string])[] = [
  ['alibaba', 'alibaba'],
  ['anthropic', 'anthropic'],
  ['cerebras', 'cerebras'],
  ['deepseek', 'deepseek'],
  ['fireworks', 'fireworks-ai'],
  ['google', 'google'],
  ['groq', 'groq'],
  ['mistral', 'mistral'],
  ['moonshot', 'moonshotai'],
  ['openai', 'openai'],
  ['perplexity', 'perplexity'],
  ['together', 'togetherai'],
  ['xai', 'xai'],
  ['zai', 'zai'],
];

const DATE = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

interface Listed {
  readonly name: string;
  readonly release_date?: string;
  readonly cost?: { readonly input?: number; readonly output?: number };
}

interface ProviderModule {
  readonly models: Readonly<Record<string, Listed>>;
}

/**
 * Releases by `modelKey`, from the unpacked package's folder. Prices with more digits than ours can hold are an error.
 */
export async function loadReleases(folder: string): Promise<ReadonlyMap<string, Release>> {
  const releases = new Map<string, Release>();
  for (const [provider, module] of MODULES) {
    const exported: Record<string, ProviderModule> = await import(join(folder, 'dist', 'providers', `${module}.js`));
    for (const { models } of Object.values(exported)) {
      for (const [id, listed] of Object.entries(models)) releases.set(modelKey(provider, id), readRelease(listed, id));
    }
  }
  return releases;
}

function readRelease(listed: Listed, id: string): Release {
  const price = (written: number | undefined) => (written === undefined ? null : parseUsdPerMillion(written, id));
  return {
    name: listed.name,
    released: listed.release_date !== undefined && DATE.test(listed.release_date) ? listed.release_date : null,
    input: price(listed.cost?.input),
    output: price(listed.cost?.output),
  };
}
