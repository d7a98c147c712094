/**
 * Serves the routes that show models: the served models, their prices, the keys that may call them, and the routing
 * preview. Setting a price is in `prices.ts`.
 */

import { KNOWN_KINDS } from '../../billing/price.ts';
import { type PriceBook, type PricePeriod, priceAt, priceWords } from '../../billing/price-book.ts';
import { chooseRoute } from '../../call/request/identify.ts';
import { sourceOfModel } from '../../config/console-entries.ts';
import type { ServedModel } from '../../config/served-models.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { authorize, type ModelMatcher, type ModelRights, mayUseModel } from '../../identity/principal.ts';
import { type ClientProtocolName, speaks } from '../../protocols/names.ts';
import type { Route, Target } from '../../routing/route.ts';
import type { Reply } from '../contract/contract.ts';
import type { Tenancy } from '../kernel/actor.ts';
import type { ConsoleCall, Handlers } from '../kernel/handlers.ts';
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
    'GET /accounts/{account}/models/{model}/dry-run': async (call) => ({ steps: dryRun(parts, call) }),
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
  const fromFile = (model.targets[0].price ?? model.price) !== null;
  const inForce = periodAt(target.prices, parts.nowMs());
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
    prices: [...renderPrices(target.prices, fromFile)],
    source: sourceOfModel(model, running),
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

type DryRunRoute = 'GET /accounts/{account}/models/{model}/dry-run';
type Step = Reply<DryRunRoute>['steps'][number];
type Asked = Pick<ConsoleCall<DryRunRoute>, 'tenancy' | 'path' | 'query'>;

/** A key with all permissions. */
const ANY_KEY: ModelRights = { keyAllows: () => true, workspaceAllows: () => true };

/** The steps of the routing preview. Throws `not_found` for a key that the caller may not see. */
export function dryRun(parts: ModelDeps, { tenancy, path, query }: Asked): Step[] {
  const rights = query.key === undefined ? ANY_KEY : rightsOfKey(parts, tenancy, query.key);
  if ('outcome' in rights) return [rights];
  try {
    const route = chooseRoute(parts.running().settings, rights, path.model, query.protocol);
    return explainRoute(parts, route, path.model, query.protocol);
  } catch (fault) {
    if (fault instanceof CallFailure) return [stops(`Refused: ${fault.message}.`)];
    throw fault;
  }
}

function stops(text: string): Step {
  return { outcome: 'stops', text };
}

/** The model permissions of a key, or the step at which its calls are refused before a model is chosen. */
function rightsOfKey(
  { directory, nowMs }: ModelDeps,
  { account, workspaces }: Asked['tenancy'],
  id: string,
): ModelRights | Step {
  const key = directory.keys.get(id);
  const isSeen = key?.accountId === account && (workspaces === null || workspaces.includes(key.workspaceId));
  const entry = key === undefined ? undefined : directory.byHash.get(key.hash);
  if (!isSeen || entry === undefined) throw new ConsoleFailure('not_found', 'there is no such key', { member: 'key' });
  if (entry.status !== 'active') return stops(`Refused: the key is ${entry.status}.`);
  if (nowMs() >= entry.endsAtMs) return stops('Refused: the key has expired.');
  const { principal } = entry;
  // The address of the future call is unknown, so it is assumed to be allowed.
  const answer = authorize({ ...principal, ranges: null }, { scope: 'inference', address: null, modelNames: null });
  return answer === 'allowed' ? principal : stops('Refused: the key lacks the scope inference.');
}

function explainRoute(parts: ModelDeps, route: Route, requested: string, protocol: ClientProtocolName): Step[] {
  const [target] = route.targets;
  const { upstream } = target;
  const { models } = parts.running();
  const targets = models.get(requested)?.targets ?? [];
  const named = requested === route.model ? '' : `${requested} is another name of ${route.model}. `;
  const place = targets.length > 1 ? `the first of ${targets.length} targets` : 'the only target';
  const spoken = speaks(upstream.protocols, protocol)
    ? `it supports ${protocol}, so requests pass through unchanged`
    : `requests are translated from ${protocol} to ${upstream.protocols.join(' or ')}`;
  const goes = `${nameOf(upstream)}: ${place}; ${spoken}. ${named}${sayHealth(parts, upstream.provider)}${sayPrice(parts, target)}`;
  const [, ...others] = targets;
  if (others.length === 0) return [{ outcome: 'goes', text: goes }];
  const waiting = others
    .map((target) => nameOf({ provider: target.provider.name, model: target.model }))
    .join(', then ');
  return [
    { outcome: 'goes', text: goes },
    stops(
      `If ${upstream.provider} fails, the request fails: only the first of several targets is used. Next: ${waiting}.`,
    ),
  ];
}

function nameOf({ provider, model }: { readonly provider: string; readonly model: string }): string {
  return `${provider} as ${model}`;
}

function sayHealth({ readHealth }: ModelDeps, provider: string): string {
  const { state, calls, errors } = readHealth(provider);
  return state === 'failing' ? `It is failing: ${errors} of ${calls} requests in the last 15 minutes. ` : '';
}

function sayPrice({ nowMs }: ModelDeps, { prices }: Target): string {
  const price = priceAt(prices, nowMs());
  return price === null
    ? 'It has no price: a request is refused if a balance or a budget applies to it.'
    : `It costs ${priceWords(price)}.`;
}
