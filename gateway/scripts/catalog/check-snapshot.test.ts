/** Tests how a snapshot is read, which ones are refused, and that the one that ships is valid. */
import { describe, expect, test } from 'bun:test';
import { parsePriceVersion } from '../../src/billing/price.ts';
import type { CatalogModel } from '../../src/catalog/catalog-model.ts';
import shipped from '../../src/catalog/models.generated.json' with { type: 'json' };
import { checkSnapshot } from './check-snapshot.ts';

const MODEL = {
  provider: 'openai',
  id: 'm-1',
  modalities: ['text'],
  capabilities: ['tools'],
  price: { input: '2', output: '8' },
};

function parseModel(changes: object): CatalogModel {
  const [model] = checkSnapshot({ version: '2026-11-20', sources: [], models: [{ ...MODEL, ...changes }] }).models;
  if (model === undefined) throw new Error('the snapshot of one model was read as none');
  return model;
}

describe('checkSnapshot', () => {
  test('reads absent facts of a model as null or empty', () => {
    expect(parseModel({})).toMatchObject({
      aliases: [],
      name: null,
      released: null,
      shutdown: null,
      inputTokensMax: null,
      outputTokensMax: null,
      feesBeside: [],
      gates: null,
    });
  });

  test('gives prices a version that names date, provider and model and can be parsed back', () => {
    const { price } = parseModel({});
    expect(price.version).toBe('catalog:2026-11-20/openai/m-1@2_2_2_2_8_8');
    expect(parsePriceVersion(price.version)).toEqual(price);
  });

  test('gives each long-context tier rates filled from itself, and the version all of them', () => {
    const { price } = parseModel({ tiers: [{ above: 200_000, input: '4', cache_read: '0.4', output: '12' }] });
    expect(price.version).toBe('catalog:2026-11-20/openai/m-1@2_2_2_2_8_8;>200000=4_0.4_4_4_12_12');
    expect(price.tiers).toEqual([
      {
        inputTokensAbove: 200_000,
        rates: {
          input: 4_000_000n,
          cache_read: 400_000n,
          cache_write_5m: 4_000_000n,
          cache_write_1h: 4_000_000n,
          output: 12_000_000n,
          reasoning: 12_000_000n,
          audio_input: 4_000_000n,
          audio_cache_read: 400_000n,
          audio_output: 12_000_000n,
          image_input: 4_000_000n,
          image_output: 12_000_000n,
          cache_write_30m: 4_000_000n,
        },
      },
    ]);
  });

  test('gives audio its own rates, and upstream tools their fees', () => {
    const { price } = parseModel({
      price: { input: '2', output: '8', audio_input: '32', audio_output: '64' },
      per_1000_requests: { web_search: '10', web_fetch: '0' },
    });
    expect(price.version).toEndWith(
      '@2_2_2_2_8_8,audio_input=32,audio_cache_read=32,audio_output=64;web_fetch=0/1000;web_search=10/1000',
    );
    expect(parsePriceVersion(price.version)).toEqual(price);
  });

  test.each<[object, string]>([
    [{ per_1000_requests: { web_search: 10 } }, 'per_1000_requests'],
    [{ per_1000_requests: ['10'] }, 'per_1000_requests'],
    [{ provider: 'nobody' }, 'provider'],
    [{ id: '' }, 'id'],
    [{ colour: 1 }, 'colour'],
    [{ modalities: ['smell'] }, 'modalities'],
    [{ capabilities: 'tools' }, 'capabilities'],
    [{ released: '2026' }, 'released'],
    [{ input_max: 1.5 }, 'input_max'],
    [{ price: { input: '2' } }, 'output'],
    [{ price: { input: 2, output: '8' } }, 'input'],
    [{ price: { input: '-2', output: '8' } }, 'input: found "-2", expected a decimal number'],
    [{ price: { input: '2', output: '8', cached: '1' } }, 'cached'],
    [{ tiers: [{ input: '2', output: '8' }] }, 'above'],
    [{ messages: { sampling: 'no' } }, 'sampling'],
  ])('refuses %j and names the member', (changes, member) => {
    expect(() => parseModel(changes)).toThrow(member);
  });

  test.each<[unknown, string]>([
    [null, 'expected object'],
    [[], 'expected object'],
    [{ version: 'today', sources: [], models: [] }, 'version'],
    [{ version: '2026-11-20', sources: [], models: {} }, 'models'],
  ])('refuses the snapshot %j', (snapshot, message) => {
    expect(() => checkSnapshot(snapshot)).toThrow(message);
  });
});

test('the snapshot that ships is valid', () => {
  expect(checkSnapshot(shipped).models.length).toBe(shipped.models.length);
});
