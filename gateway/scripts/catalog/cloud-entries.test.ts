/** Tests which prices of clouds the catalogue takes from the price list. */
import { expect, test } from 'bun:test';
import { NO_FEES } from '../../src/billing/price.ts';
import { chooseCloudEntries } from './cloud-entries.ts';
import type { FoldedModel } from './model-facts.ts';

const MODEL: FoldedModel = {
  provider: 'anthropic',
  id: 'claude-tide-9',
  aliases: ['claude-tide-9-20260102'],
  name: 'Tide',
  released: null,
  shutdown: '2027-01-01',
  inputMax: 1000,
  outputMax: 100,
  modalities: ['text'],
  capabilities: ['tools'],
  price: { input: 3_000_000n, output: 15_000_000n, cache_write_1h: 6_000_000n },
  tiers: [],
  fees: NO_FEES,
  feesBeside: [],
  sourced: true,
};
const GEMINI: FoldedModel = { ...MODEL, provider: 'google', id: 'gemini-9', aliases: [] };

const entry = (litellm_provider: string, factor: number, more: object = {}) => ({
  litellm_provider,
  mode: 'chat',
  input_cost_per_token: 3e-6 * factor,
  output_cost_per_token: 15e-6 * factor,
  ...more,
});
const choose = (list: Record<string, object>, vendors: readonly FoldedModel[] = [MODEL, GEMINI]) =>
  chooseCloudEntries(list as Record<string, Record<string, unknown>>, vendors, '2026-11-20');
const shown = (list: Record<string, object>) =>
  choose(list).chosen.map(({ provider, id, price, shutdown }) => [
    provider,
    id,
    price.input,
    price.cache_write_1h,
    shutdown,
  ]);

test('profiles of Bedrock at the list price, and that times the factor of their geography', () => {
  const listed = {
    'global.anthropic.claude-tide-9': entry('bedrock_converse', 1),
    'eu.anthropic.claude-tide-9-20260102-v1:0': entry('bedrock', 1.1, { deprecation_date: '2027-05-06' }),
    'us-gov.anthropic.claude-tide-9': entry('bedrock_converse', 1.2),
  };
  expect(shown(listed)).toEqual([
    ['bedrock', 'global.anthropic.claude-tide-9', 3_000_000n, 6_000_000n, null],
    ['bedrock', 'eu.anthropic.claude-tide-9-20260102-v1:0', 3_300_000n, 6_600_000n, '2027-05-06'],
    ['bedrock', 'us-gov.anthropic.claude-tide-9', 3_600_000n, 7_200_000n, null],
  ]);
});

test('models of Vertex at the list price, and with the multiplier of the list elsewhere than at the global location', () => {
  const listed = {
    'vertex_ai/claude-tide-9@default': entry('vertex_ai-anthropic_models', 1, {
      regional_endpoint_uplift_multiplier: 1.1,
    }),
    'gemini-9': entry('vertex_ai-language-models', 1, { cache_read_input_token_cost: 3e-7 }),
  };
  expect(shown(listed)).toEqual([
    ['vertex', 'claude-tide-9@default', 3_000_000n, 6_000_000n, null],
    ['vertex-regional', 'claude-tide-9@default', 3_300_000n, 6_600_000n, null],
    ['vertex', 'gemini-9', 3_000_000n, 6_000_000n, null],
  ]);
  expect(choose(listed).chosen[2]?.price.cache_read).toBe(300_000n);
});

test('tiers are those of the cloud, times its factor', () => {
  const above = { input_cost_per_token_above_200k_tokens: 6e-6, output_cost_per_token_above_200k_tokens: 2e-5 };
  const listed = {
    'vertex_ai/gemini-9': entry('vertex_ai', 1, { ...above, regional_endpoint_uplift_multiplier: 1.1 }),
  };
  expect(choose(listed).chosen.map(({ tiers }) => tiers[0]?.price.input)).toEqual([6_000_000n, 6_600_000n]);
  const [tier] = choose(listed).chosen[0]?.tiers ?? [];
  const tiered = { ...GEMINI, tiers: tier === undefined ? [] : [tier] };
  expect(choose({ 'gemini-9': entry('vertex_ai', 1) }, [tiered])).toEqual({
    chosen: [],
    refused: ['vertex/gemini-9 lacks the tiers of its vendor'],
  });
});

test.each([
  ['eu.anthropic.claude-tide-9', entry('bedrock_converse', 1), 'has another price than its vendor'],
  ['global.anthropic.claude-tide-9', entry('bedrock_converse', 1.1), 'has another price than its vendor'],
  ['eu.anthropic.claude-shore', entry('bedrock_converse', 1.1), 'is no model of the catalogue at its vendor'],
  [
    'eu.anthropic.claude-tide-9',
    entry('bedrock', 1.1, { deprecation_date: '2026-11-20' }),
    'was shut down on 2026-11-20',
  ],
])('%# is left out with its reason', (key, listed, reason) => {
  expect(choose({ [key]: listed })).toEqual({ chosen: [], refused: [`bedrock/${key} ${reason}`] });
});

test('ids whose price depends on the region, on a contract or on another cloud are not read', () => {
  const listed = {
    'anthropic.claude-tide-9': entry('bedrock_converse', 1),
    'bedrock/eu-central-1/anthropic.claude-tide-9': entry('bedrock', 1),
    'azure/gemini-9': entry('azure', 1),
    'vertex_ai/meta/gemini-9': entry('vertex_ai-llama_models', 1),
    'eu.amazon.nova-9': entry('bedrock_converse', 1),
    'gemini-9': entry('gemini', 1),
  };
  expect(choose(listed)).toEqual({ chosen: [], refused: [] });
});
