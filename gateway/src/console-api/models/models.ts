/**
 * Serves the routes that show models: the served models, their prices, and the keys that may call them. Setting a price
 * is in `prices.ts`, the routing preview in `dry-run.ts`.
 */

import { KNOWN_KINDS } from '../../billing/price.ts';
import { type PriceBook, type PricePeriod, priceAt } from '../../billing/price-book.ts';
import { findRetirement } from '../../catalog/retirements.ts';
import { sourceOfModel } from '../../config/console-entries.ts';
import type { ServedModel } from '../../config/served-models.ts';
import { type ModelMatcher, mayUseModel } from '../../identity/principal.ts';
import type { Reply } from '../contract/contract.ts';
import type { Tenancy } from '../kernel/actor.ts';
import type { Handlers } from '../kernel/handlers.ts';
import type { ModelDeps, Running } from './model-deps.ts';
import { renderPeriod, renderPrices, setPrice } from './prices.ts';

type ModelView = Reply<'GET /accounts/{account}/models'>['models'][number];

/** The handlers of all model routes. */
export function modelHandlers(parts: ModelDeps) {
  return {
    'GET /accounts/{account}/models': async ({ tenancy }) => ({
      models: listModels(parts, tenancy),
      tool_kinds: [...KNOWN_KINDS],
    }),
    'PUT /accounts/{account}/models/{model}/price': (call) => parts.inTurn(() => setPrice(parts, call)),
  } satisfies Partial<Handlers>;
}

function listModels(parts: ModelDeps, tenancy: Tenancy): ModelView[] {
  const running = parts.running();
  const groups = groupKeys(parts, tenancy);
  return [...new Set(running.models.values())].map((model) => renderModel(model, running, parts, groups));
}

function renderModel(model: ServedModel, running: Running, parts: ModelDeps, groups: readonly KeyGroup[]): ModelView {
  const route = running.settings.routes.get(model.name);
  if (route === undefined) throw new Error(`the model ${model.name} is served and has no route`);
  const [target] = route.targets;
  const known = target.catalog === null ? null : parts.describe(target.catalog);
  const source = sourceOfModel(model, running);
  const definedIn = source === 'console' ? source : 'file';
  const fixedIn = (model.targets[0].price ?? model.price) === null ? null : definedIn;
  const inForce = periodAt(target.prices, parts.nowMs());
  return {
    name: model.name,
    aliases: model.alias.map(({ name }) => name),
    protocols: [...route.protocols],
    targets: model.targets.map((target) => ({ provider: target.provider.name, model: target.model })),
    display_name: known?.name ?? null,
    context_tokens: known?.inputTokensMax ?? null,
    output_tokens_max: known?.outputTokensMax ?? null,
    capabilities: known === null ? [] : [...known.modalities.filter((one) => one !== 'text'), ...known.capabilities],
    retires: findRetirement(model.targets[0].provider, model.targets[0].model),
    price: renderPeriod(inForce, fixedIn),
    prices: [...renderPrices(target.prices, fixedIn)],
    source,
    keys: groups.reduce((sum, group) => sum + (mayUseModel(group, route.names) ? group.keys : 0), 0),
  };
}

/** The current period, chosen as for calls. */
function periodAt(book: PriceBook, nowMs: number): PricePeriod {
  const price = priceAt(book, nowMs);
  return book.findLast((period) => period.fromMs <= nowMs && period.price === price) ?? book[0];
}

/** Keys with the same model permissions; there are usually few groups. */
interface KeyGroup {
  readonly keyAllows: ModelMatcher;
  readonly workspaceAllows: ModelMatcher;
  keys: number;
}

/** The account's keys that may currently call models, within the caller's rights. */
function groupKeys({ directory, nowMs }: ModelDeps, { account, workspaces }: Tenancy): readonly KeyGroup[] {
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
