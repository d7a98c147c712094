/** Tests the warnings of models that shut down soon. */
import { expect, test } from 'bun:test';
import { findModel } from './catalog.ts';
import snapshot from './models.generated.json';
import { warnOfRetirements } from './retirements.ts';

const DAY_MS = 86_400_000;
const dated = snapshot.models.find((model) => 'shutdown' in model);
const PROVIDER = dated?.provider ?? '';
const ID = dated?.id ?? '';
const served = (name: string) => ({
  name,
  targets: [{ model: ID, provider: { name: 'lab' }, catalog: { provider: PROVIDER, model: ID } }],
});

test('the catalogue has dates, and a model is warned of within 60 days of its date', () => {
  const date = findModel(PROVIDER, ID)?.shutdown ?? '';
  const atMs = Date.parse(date);
  expect(warnOfRetirements([served('a')], atMs - 61 * DAY_MS)).toEqual([]);
  expect(warnOfRetirements([served('a'), served('b')], atMs - 59 * DAY_MS)).toEqual([
    `${ID} at lab shuts down on ${date} (catalogue): choose another model for a, b.`,
  ]);
  expect(warnOfRetirements([served('a')], atMs + DAY_MS)).toEqual([
    `${ID} at lab was to shut down on ${date} (catalogue): choose another model for a.`,
  ]);
});

test('a model without a date or a place in the catalogue is not warned of', () => {
  const targets = [{ model: 'x', provider: { name: 'lab' }, catalog: null }];
  expect(warnOfRetirements([{ name: 'a', targets }], Date.parse('2100-01-01'))).toEqual([]);
});
