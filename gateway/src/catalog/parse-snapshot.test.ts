/** Tests how a snapshot is read, and what is refused in one. */
import { describe, expect, test } from 'bun:test';
import { parsePriceVersion } from '../billing/price.ts';
import { parseSnapshot } from './catalog.ts';
import type { CatalogModel } from './catalog-model.ts';

const MODEL = {
  provider: 'openai',
  id: 'm-1',
  modalities: ['text'],
  capabilities: ['tools'],
  price: { input: '2', output: '8' },
};

function parseModel(changes: object): CatalogModel {
  const [model] = parseSnapshot({ version: '2026-11-20', sources: [], models: [{ ...MODEL, ...changes }] }).models;
  if (model === undefined) throw new Error('the snapshot of one model was read as none');
  return model;
}

describe('parseSnapshot', () => {
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
    [{ per_1000_requests: { web_search: 10 } }, 'per_1000_requests web_search: found 10, expected a text'],
    [{ per_1000_requests: ['10'] }, 'per_1000_requests: found ["10"], expected an object'],
    [{ provider: 'nobody' }, 'models[0].provider: found "nobody", expected one of alibaba, '],
    [{ id: '' }, 'models[0].id: found "", expected a text'],
    [{ colour: 1 }, 'models[0]: found "colour", expected only the members provider, id, '],
    [{ modalities: ['smell'] }, 'openai/m-1 modalities: found "smell", expected one of text, image, pdf, audio'],
    [{ capabilities: 'tools' }, 'openai/m-1 capabilities: found "tools", expected an array'],
    [{ released: '2026' }, 'openai/m-1 released: found "2026", expected a date YYYY-MM-DD'],
    [{ input_max: 1.5 }, 'openai/m-1 input_max: found 1.5, expected a whole number > 0'],
    [{ price: { input: '2' } }, 'openai/m-1 output: found undefined, expected a text'],
    [{ price: { input: 2, output: '8' } }, 'openai/m-1 input: found 2, expected a text'],
    [{ price: { input: '-2', output: '8' } }, 'input: found "-2", expected a decimal number'],
    [{ price: { input: '2', output: '8', cached: '1' } }, 'openai/m-1 price: found "cached", expected only'],
    [{ tiers: [{ input: '2', output: '8' }] }, 'openai/m-1 tier above: found undefined'],
    [{ messages: { sampling: 'no' } }, 'openai/m-1 messages sampling: found "no", expected true or false'],
  ])('refuses %j', (changes, message) => {
    expect(() => parseModel(changes)).toThrow(message);
  });

  test.each<[unknown, string]>([
    [null, 'snapshot: found null, expected an object'],
    [[], 'snapshot: found [], expected an object'],
    [{ version: 'today', models: [] }, 'version: found "today", expected a date YYYY-MM-DD'],
    [{ version: '2026-11-20', models: {} }, 'models: found {}, expected an array'],
  ])('refuses the snapshot %j', (snapshot, message) => {
    expect(() => parseSnapshot(snapshot)).toThrow(message);
  });
});
