/** Tests which models of clouds have prices of the catalogue: those whose name and place settle them. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Price } from '../billing/price.ts';
import { priceAt } from '../billing/price-book.ts';
import { findModel } from '../catalog/catalog.ts';
import { buildRouteTable } from '../routing/route.ts';
import { loadConfig } from './load-config.ts';
import { listServedModels } from './served-models.ts';

let cwd = '';
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'tollgate-clouds-'));
});
afterAll(() => rmSync(cwd, { recursive: true }));

/** The price of a model at a cloud. `members`: more of the target. */
function priceOf(cloud: string, model: string, members = ''): Price | null {
  const target = `{ provider: cloud, model: "${model}"${members} }`;
  writeFileSync(join(cwd, 'f.yaml'), `providers: { cloud: ${cloud} }\nmodels: { m: { targets: [${target}] } }\n`);
  const { config, problems } = loadConfig({ file: 'f.yaml', environment: {}, cwd });
  if (config === null) throw new Error(JSON.stringify(problems));
  const route = buildRouteTable(
    listServedModels(config, () => []),
    findModel,
  ).get('m');
  return route === undefined ? null : priceAt(route.targets[0].prices, Date.now());
}

const bedrock = (more = '') => `{ kind: bedrock, region: eu-central-1, api_key: x${more} }`;
const vertex = (location: string) => `{ kind: vertex, project: p-123456, location: ${location}, credentials: adc }`;
const CLAUDE = 'anthropic.claude-opus-4-8';
const LIST = findModel('anthropic', 'claude-opus-4-8')?.price;
const GEMINI = findModel('google', 'gemini-3.5-flash')?.price;

/** The percentage of the list price that each rate costs. */
function percent(price: Price | null, list: Price | undefined): readonly bigint[] {
  if (price === null || list === undefined) return [];
  const members = ['input', 'output', 'cache_read', 'cache_write_5m', 'cache_write_1h'] as const;
  return [...new Set(members.map((member) => (price[member] * 100n) / list[member]))];
}

test.each([
  ['global', bedrock(), `global.${CLAUDE}`, LIST, 100n],
  ['a geography', bedrock(), `eu.${CLAUDE}`, LIST, 110n],
  ['government', bedrock(), `us-gov.${CLAUDE}`, LIST, 120n],
  ['global', vertex('global'), 'claude-opus-4-8@default', LIST, 100n],
  ['a multi-region', vertex('eu'), 'claude-opus-4-8', LIST, 110n],
  ['global', vertex('global'), 'gemini-3.5-flash', GEMINI, 100n],
  ['a region', vertex('europe-west4'), 'gemini-3.5-flash', GEMINI, 110n],
] as const)('%s: %s %s', (_, cloud, model, list, expected) => {
  const price = priceOf(cloud, model);
  expect(percent(price, list)).toEqual([expected]);
  // With its date, its cloud and its name.
  expect(price?.version).toMatch(/^catalog:\d{4}-\d{2}-\d{2}\/(?:bedrock|vertex|vertex-regional)\//);
  expect(price?.version).toContain(`/${model}@`);
});

test.each([
  ['a bare id, whose price depends on the region', bedrock(), CLAUDE],
  ['an ARN, which may have a contract', bedrock(), `arn:aws:bedrock:eu-central-1:1:inference-profile/eu.${CLAUDE}`],
  ['a service tier', bedrock(', service_tier: flex'), `eu.${CLAUDE}`],
  ['an optimized latency', bedrock(', latency: optimized'), `eu.${CLAUDE}`],
  ['another vendor', bedrock(), 'eu.amazon.nova-pro-v1:0'],
  ['another publisher', vertex('global'), 'meta/llama-5-maas'],
  ['a deployment', '{ kind: azure, resource: acme, api_key: x }', 'gpt-4.1'],
])('%s has none', (_, cloud, model) => {
  expect(priceOf(cloud, model)).toBeNull();
});

test('a price of the file takes precedence', () => {
  const price = priceOf(bedrock(), `eu.${CLAUDE}`, ', price: { input: 1, output: 2 }');
  expect([price?.input, price?.output]).toEqual([1_000_000n, 2_000_000n]);
});
