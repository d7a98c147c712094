/** Owns the routes that show models: what is served, by whom, at what price, and which names patterns match. Changes nothing. */
import { KNOWN_KINDS } from '../billing/fees.ts';
import { type PriceBook, type PricePeriod, priceAt } from '../billing/price-book.ts';
import type { ServedModel } from '../config/served-models.ts';
import { mayUseModel } from '../identity/authorize.ts';
import type { ModelMatcher } from '../identity/model-patterns.ts';
import type { Tenancy } from './actor.ts';
import type { Reply } from './contract.ts';
import { dryRun } from './dry-run.ts';
import type { Handlers } from './handlers.ts';
import type { ModelDesk, Running } from './model-desk.ts';
import { renderPeriod, renderPrices } from './price-view.ts';
import { setPrice } from './set-price.ts';

type ModelView = Reply<'GET /accounts/{account}/models'>['models'][number];

/** The handlers of everything about models. */
export function modelHandlers(
  desk: ModelDesk,
): Handlers<
  | 'GET /accounts/{account}/models'
  | 'GET /accounts/{account}/models/{model}/dry-run'
  | 'PUT /accounts/{account}/models/{model}/price'
> {
  return {
    'GET /accounts/{account}/models': async ({ tenancy }) => ({
      models: listModels(desk, tenancy),
      tool_kinds: [...KNOWN_KINDS],
    }),
    'GET /accounts/{account}/models/{model}/dry-run': async (call) => ({ steps: dryRun(desk, call) }),
    'PUT /accounts/{account}/models/{model}/price': (call) => desk.inTurn(() => setPrice(desk, call)),
  };
}

function listModels(desk: ModelDesk, tenancy: Tenancy): ModelView[] {
  const running = desk.running();
  const groups = groupKeys(desk, tenancy);
  return [...new Set(running.served.values())].map((model) => renderModel(model, running, desk, groups));
}

function renderModel(model: ServedModel, running: Running, desk: ModelDesk, groups: readonly KeyGroup[]): ModelView {
  const route = running.settings.routes.get(model.name);
  if (route === undefined) throw new Error(`the model ${model.name} is served and has no route`);
  const known = route.catalog === null ? null : desk.describe(route.catalog);
  const fromFile = model.price !== null;
  const inForce = periodAt(route.prices, desk.nowMs());
  return {
    name: model.name,
    aliases: model.alias.map(({ name }) => name),
    protocols: [...model.protocols],
    targets: model.targets.map((target) => ({ provider: target.provider.name, model: target.model })),
    display_name: known?.name ?? null,
    context_tokens: known?.inputTokensMax ?? null,
    output_tokens_max: known?.outputTokensMax ?? null,
    capabilities: known === null ? [] : [...known.modalities.filter((one) => one !== 'text'), ...known.capabilities],
    price: renderPeriod(inForce, fromFile),
    prices: [...renderPrices(route.prices, fromFile)],
    source: sourceOfModel(model, running),
    keys: groups.reduce((sum, group) => sum + (mayUseModel(group, route.names) ? group.keys : 0), 0),
  };
}

/** The period in force, by the same choice as of calls. */
function periodAt(book: PriceBook, nowMs: number): PricePeriod {
  const price = priceAt(book, nowMs);
  return book.findLast((period) => period.fromMs <= nowMs && period.price === price) ?? book[0];
}

/** Where a model is defined. Without models in the file they are where their first provider is. */
export function sourceOfModel(model: ServedModel, { settings: { config }, added }: Running): ModelView['source'] {
  const [{ provider }] = model.targets;
  if (added.some((one) => one.provider === provider)) return 'console';
  return config.models?.has(model.name) === true ? 'file' : sourceOfConfigured(config.providersFrom);
}

/** What the configuration's own providers are called, by where they came from. */
export function sourceOfConfigured(from: 'file' | 'environment' | 'built-in'): 'file' | 'environment' | 'demo' {
  return from === 'built-in' ? 'demo' : from;
}

/** Keys with the same rights over models; there are seldom many groups. */
interface KeyGroup {
  readonly keyAllows: ModelMatcher;
  readonly workspaceAllows: ModelMatcher;
  keys: number;
}

/** The keys of the account that may call models at all now, within what the caller sees. */
function groupKeys({ directory, nowMs }: ModelDesk, { account, workspaces }: Tenancy): readonly KeyGroup[] {
  const groups = new Map<string, KeyGroup>();
  for (const key of directory.keys.values()) {
    const entry = directory.byHash.get(key.hash);
    if (key.accountId !== account || entry === undefined) continue;
    if (workspaces !== null && !workspaces.includes(key.workspaceId)) continue;
    if (entry.status !== 'active' || nowMs() >= entry.endsAtMs || !key.scopes.includes('inference')) continue;
    const name = JSON.stringify([key.workspaceId, key.models]);
    const group = groups.get(name);
    const { keyAllows, workspaceAllows } = entry.principal;
    if (group === undefined) groups.set(name, { keyAllows, workspaceAllows, keys: 1 });
    else group.keys += 1;
  }
  return [...groups.values()];
}
