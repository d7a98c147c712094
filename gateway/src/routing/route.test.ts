/** Tests which name leads to which route, and at which endpoints. */
import { expect, test } from 'bun:test';
import { parseConfigPrice } from '../billing/config-price.ts';
import { bookOf, type PricePeriod, priceAt } from '../billing/price-book.ts';
import { findModel } from '../catalog/catalog.ts';
import { DEFAULT_ROUTING, type ModelConfig } from '../config/config.ts';
import { buildRemoteProvider } from '../config/resolve-providers.ts';
import { plainTarget } from '../config/resolve-routing.ts';
import { plainModel, type ServedModel, withCatalog } from '../config/served-models.ts';
import { demo, localProvider } from '../providers/kinds/demo.ts';
import { vertex } from '../providers/kinds/vertex.ts';
import { singleCredential } from '../providers/provider.ts';
import { buildRouteTable } from './route.ts';

const PROVIDER = localProvider('demo', demo);
const TARGET = withCatalog(plainTarget(PROVIDER, 'demo'));

/** The routes of one model, by each of its names. */
function tableOf(protocols: ModelConfig['protocols'], alias: ModelConfig['alias']) {
  const model: ServedModel = { ...plainModel('own', [], TARGET, DEFAULT_ROUTING), alias, protocols };
  const names = ['own', ...alias.map(({ name }) => name)];
  return buildRouteTable(new Map(names.map((name) => [name, model])), () => null);
}

test('every name of a model has the same route, with all of its names', () => {
  const routes = tableOf(['chat', 'messages'], [{ name: 'other', protocols: ['chat', 'messages'] }]);
  expect([...routes.keys()]).toEqual(['own', 'other']);
  expect(routes.get('other')).toBe(routes.get('own'));
  expect(routes.get('own')).toMatchObject({
    model: 'own',
    names: ['own', 'other'],
    protocols: ['chat', 'messages'],
  });
});

test('an alias with fewer endpoints shares names and targets with its model', () => {
  const routes = tableOf(['chat', 'messages'], [{ name: 'claude-own', protocols: ['messages'] }]);
  const [own, alias] = [routes.get('own'), routes.get('claude-own')];
  if (own === undefined) throw new Error('expected a route for the model');
  expect(own.protocols).toEqual(['chat', 'messages']);
  expect(alias).toEqual({ ...own, protocols: ['messages'] });
  expect(alias?.targets).toBe(own.targets);
});

test('an alias of a model with one endpoint shares its route', () => {
  const routes = tableOf(['messages'], [{ name: 'claude-own', protocols: ['messages'] }]);
  expect(routes.get('claude-own')).toBe(routes.get('own'));
});

test("a configured price applies from its start, and the target's price before that", () => {
  const price = { from: '2026-12-01', input: '1', output: '2' };
  const model: ServedModel = { ...plainModel('m', [], TARGET, DEFAULT_ROUTING), price };
  const prices = buildRouteTable(new Map([['m', model]]), () => null).get('m')?.targets[0].prices ?? bookOf(null);
  const versions = [Date.UTC(2026, 10, 30), Date.UTC(2026, 11, 1)].map((atMs) => priceAt(prices, atMs)?.version);
  expect(versions).toEqual(['free@0_0_0_0_0_0', 'config:2026-12-01@1_1_1_1_2_2']);
});

test('a route has every target of its model, in the order of the file', () => {
  const second = withCatalog(plainTarget(PROVIDER, 'claude-demo'));
  const model: ServedModel = plainModel('m', [TARGET], second, DEFAULT_ROUTING);
  const built = buildRouteTable(new Map([['m', model]]), () => null).get('m')?.targets ?? [];
  expect(built.map(({ name, upstream }) => [name, upstream.model])).toEqual([
    ['demo/demo', 'demo'],
    ['demo/claude-demo', 'claude-demo'],
  ]);
});

test("each target has its own price, else the model's, else the console's, else the catalogue's", () => {
  const targets: ServedModel['targets'] = [
    { ...TARGET, price: { input: '1', output: '2' } },
    withCatalog(plainTarget(PROVIDER, 'claude-demo')),
  ];
  const base = { ...plainModel('m', [], TARGET, DEFAULT_ROUTING), targets };
  const console = [{ fromMs: 0, price: parseConfigPrice({ input: '5', output: '6' }) }];
  const versions = (model: ServedModel, periods: readonly PricePeriod[]) =>
    buildRouteTable(
      new Map([['m', model]]),
      () => null,
      () => periods,
    )
      .get('m')
      ?.targets.map(({ prices }) => priceAt(prices, 1)?.version);
  expect(versions({ ...base, price: { input: '3', output: '4' } }, console)).toEqual([
    'config@1_1_1_1_2_2',
    'config@3_3_3_3_4_4',
  ]);
  expect(versions(base, console)).toEqual(['config@1_1_1_1_2_2', 'config@5_5_5_5_6_6']);
  expect(versions(base, [])).toEqual(['config@1_1_1_1_2_2', 'free@0_0_0_0_0_0']);
});

test('a target keeps its options, and a route its routing', () => {
  const options = { name: 'main', priority: 2, weight: 0, maxConcurrency: 8, tags: ['eu'] };
  const target = { ...TARGET, ...options };
  const route = buildRouteTable(new Map([['m', plainModel('m', [], target, DEFAULT_ROUTING)]]), () => null).get('m');
  expect(route?.targets).toMatchObject([options]);
  expect(route?.routing).toEqual({ ...DEFAULT_ROUTING, strategy: 'weight' });
});

test('another host of a vendor’s model has the facts of the catalog, without its price and what it refuses', () => {
  const address = { url: 'https://aiplatform.googleapis.com', origin: 'https://aiplatform.googleapis.com' };
  const timeouts = { connectMs: 1, firstByteMs: 1, firstBytePlainMs: 1, idleMs: 1, totalMs: 1 };
  const pool = singleCredential({}, 'adc');
  const provider = buildRemoteProvider({ name: 'v', kind: vertex, preset: null, address, pool, timeouts });
  const targetOf = (name: string) => {
    const target = withCatalog(plainTarget(provider, name));
    const models = new Map([['m', plainModel('m', [], target, DEFAULT_ROUTING)]]);
    const built = buildRouteTable(models, findModel).get('m')?.targets[0];
    if (built === undefined) throw new Error('the model has a target');
    return built;
  };
  const known = findModel('anthropic', 'claude-sonnet-4-6');
  expect(known?.price).toBeTruthy();
  const { traits, prices } = targetOf('claude-sonnet-4-6@20260101');
  expect(traits).toMatchObject({ inputTokensMax: known?.inputTokensMax, takes: { structured_output: false } });
  expect([traits.messages.mediaUrls, priceAt(prices, 0)]).toEqual([false, null]);
  const gemini = targetOf('gemini-3.5-flash').traits;
  expect(gemini.takes).toMatchObject({ structured_output: true, reasoning: true });
  expect(gemini.gemini.platform).toBe('vertex');
});
