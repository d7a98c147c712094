/** Tests the dates of shutdowns, at a vendor's own host and where a cloud hosts its models, and the warnings of them. */
import { describe, expect, test } from 'bun:test';
import { bedrock } from '../providers/kinds/bedrock.ts';
import { vertex } from '../providers/kinds/vertex.ts';
import { findModel } from './catalog.ts';
import snapshot from './models.generated.json';
import { findRetirement, warnOfRetirements } from './retirements.ts';

const DAY_MS = 86_400_000;
const dated = snapshot.models.filter((model) => 'shutdown' in model);
const [first] = dated;
const PROVIDER = first?.provider ?? '';
const ID = first?.id ?? '';
const lab = { name: 'lab', catalogProvider: PROVIDER, kind: {} };
const served = (name: string) => ({ name, targets: [{ model: ID, provider: lab }] });
const date = findModel(PROVIDER, ID)?.shutdown ?? '';
const atMs = Date.parse(date);

test('the catalogue has dates, and a model is warned of within 60 days of its date', () => {
  expect(warnOfRetirements([served('a')], atMs - 61 * DAY_MS)).toEqual([]);
  expect(warnOfRetirements([served('a'), served('b')], atMs - 59 * DAY_MS)).toEqual([
    `${ID} at lab shuts down on ${date} (catalogue): choose another model for a, b.`,
  ]);
  expect(warnOfRetirements([served('a')], atMs + DAY_MS)).toEqual([
    `${ID} at lab was to shut down on ${date} (catalogue): choose another model for a.`,
  ]);
});

test('a model without a date or a place in the catalogue is not warned of', () => {
  const provider = { name: 'lab', catalogProvider: null, kind: {} };
  const models = [{ name: 'a', targets: [{ model: 'x', provider }] }];
  expect(warnOfRetirements(models, Date.parse('2100-01-01'))).toEqual([]);
});

describe('a cloud without a date of its own has that of the vendor', () => {
  const of = (vendor: string) => dated.find(({ provider }) => provider === vendor);
  const claude = of('anthropic');
  const name = claude?.id ?? '';
  const cases = [
    [bedrock, `anthropic.${name}`, claude],
    [bedrock, `anthropic.${name}-20990101-v1:0`, claude],
    [bedrock, `us.anthropic.${name}-20990101-v1:0`, claude],
    [bedrock, `global.anthropic.${name}-v1`, claude],
    [bedrock, `arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.${name}-20990101-v1:0`, claude],
    [vertex, `${name}@20990101`, claude],
    [vertex, `${name}@default`, claude],
  ] as const;

  test.each(cases)('%#', (kind, model, entry) => {
    const host = { name: 'cloud', catalogProvider: null, kind };
    const on = entry?.shutdown ?? 'no model of this vendor has a date';
    expect(findRetirement(host, model)).toEqual({ on, by: 'vendor' });
    const soon = Date.parse(on) - DAY_MS;
    expect(warnOfRetirements([{ name: 'a', targets: [{ model, provider: host }] }], soon)).toEqual([
      `${model} at cloud shuts down on ${on} at its vendor (catalogue): look up the date of cloud, or choose another model for a.`,
    ]);
  });

  test.each([
    [bedrock, 'bedrock', {}],
    [vertex, 'vertex', {}],
    [vertex, 'vertex-regional', { location: 'eu' }],
  ] as const)('and one with its own has that (%#)', (kind, provider, settings) => {
    const entry = of(provider);
    const found = findRetirement({ catalogProvider: null, settings, kind }, entry?.id ?? '');
    expect(found).toEqual({ on: entry?.shutdown ?? 'no model of this cloud has a date', by: 'provider' });
  });

  test('and none if the vendor of the model is unknown', () => {
    expect(findRetirement({ catalogProvider: null, kind: bedrock }, 'amazon.nova-pro-v1:0')).toBeNull();
    expect(findRetirement({ catalogProvider: null, kind: vertex }, 'meta/llama-5-maas')).toBeNull();
  });
});
