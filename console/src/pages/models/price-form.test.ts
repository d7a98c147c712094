/** Tests which prices can be typed, and what is sent. */
import { expect, test } from 'bun:test';
import type { PriceView } from './model-facts.ts';
import { formErrors, losses, type PriceForm, priceBody, startForm } from './price-form.ts';
import { addKind } from './unit-prices.ts';

const NOW = Date.parse('2026-11-21T14:00:00Z');
const ZONE = 'America/New_York';
const form = (given: Partial<PriceForm['rates']>, more: Partial<PriceForm> = {}): PriceForm => {
  const empty = startForm(null, []);
  return { ...empty, rates: { ...empty.rates, ...given }, ...more };
};

test('requires input and output rates only', () => {
  expect(Object.keys(formErrors(form({}), NOW, ZONE))).toEqual(['input', 'output']);
  expect(formErrors(form({ input: '3', output: '0.25' }), NOW, ZONE)).toEqual({});
});

test('a free model needs and sends no rates', () => {
  expect(formErrors(form({ input: 'much' }, { isFree: true }), NOW, ZONE)).toEqual({});
  expect(priceBody(form({ input: '3' }, { isFree: true }), ZONE)).toMatchObject({ free: true, input: null });
});

test('reports an invalid price with the typed text', () => {
  expect(formErrors(form({ input: '3', output: '15', cache_read: '0.1234567' }), NOW, ZONE).cache_read).toContain(
    '0.1234567',
  );
});

test('rejects a start in the past', () => {
  const at = (from: string) => Object.keys(formErrors(form({ input: '3', output: '15' }, { from }), NOW, ZONE));
  expect([at(''), at('2020-01-01T00:00'), at('2999-01-01T00:00')]).toEqual([[], ['from'], []]);
});

test('interprets the start in the zone', () => {
  const price = form({ input: '3', output: '15' }, { from: '2026-12-01T00:00' });
  expect(priceBody(price, ZONE).from).toBe('2026-12-01T05:00:00.000Z');
});

test('sends typed rates trimmed and others as null', () => {
  expect(priceBody(form({ input: ' 3 ', output: '15.10' }), ZONE)).toEqual({
    from: null,
    free: false,
    input: '3',
    output: '15.10',
    cache_read: null,
    cache_write_5m: null,
    cache_write_1h: null,
    reasoning: null,
  });
});

const RATES = { cache_read: '0.3', cache_write_5m: '3.75', cache_write_1h: '6', reasoning: '15' };
const WHOLE: PriceView = {
  version: 'v',
  from: null,
  free: false,
  source: 'catalogue',
  input: '3',
  output: '15',
  ...RATES,
  audio_input: '40',
  per_1000_requests: { web_fetch: '0', web_search: '10' },
  tiers: [{ above: 200_000, ...RATES, input: '6', output: '22.5' }],
};

test('an unchanged form sends the whole current price', () => {
  const begun = startForm(WHOLE, ['web_search', 'search_low']);
  const { version, source, ...same } = WHOLE;
  expect(priceBody(begun, ZONE)).toEqual(same);
  expect(begun.fees).toEqual({ web_search: '10', search_low: '', web_fetch: '0' });
  expect([formErrors(begun, NOW, ZONE), losses(WHOLE, begun)]).toEqual([{}, []]);
});

test('describes each removed part of the price', () => {
  const begun = startForm(WHOLE, []);
  const less = {
    ...begun,
    rates: { ...begun.rates, audio_input: ' ' },
    tiers: [],
    fees: { web_fetch: '0', web_search: '' },
  };
  expect(losses(WHOLE, less).map((sentence) => sentence.split(' ')[0])).toEqual(['Audio', 'Requests', 'Web']);
  expect(losses(WHOLE, { ...less, isFree: true })).toEqual([]);
  const body = priceBody(less, ZONE);
  expect([body.audio_input, body.tiers, body.per_1000_requests]).toEqual([undefined, undefined, { web_fetch: '0' }]);
});

test('validates fees and tiers by member', () => {
  const begun = startForm(WHOLE, []);
  const [tier] = begun.tiers;
  if (tier === undefined) throw new Error('expected a tier');
  const worse = {
    ...begun,
    fees: { web_search: 'x' },
    tiers: [tier, { above: '200,000', rates: { ...tier.rates, input: '' } }],
  };
  expect(Object.keys(formErrors(worse, NOW, ZONE)).sort()).toEqual([
    'per_1000_requests.web_search',
    'tiers.1.above',
    'tiers.1.input',
  ]);
});

test('prices per unit are sent nested, by size and quality, and named where they go', () => {
  const per_unit = { image: { '1024x1024/high': '0.17' }, second: '0.0001' };
  const price = { ...WHOLE, per_unit };
  const { units } = startForm(price, []);
  expect(units).toEqual({ image: '', 'image 1024x1024/high': '0.17', second: '0.0001', character: '', search: '' });
  expect(priceBody(startForm(price, []), ZONE).per_unit).toEqual(per_unit);
  expect(priceBody(startForm(null, []), ZONE).per_unit).toBeUndefined();
  const without = { ...startForm(price, []), units: { ...units, second: ' ' } };
  expect(losses(price, without)).toEqual([
    'Second will no longer have a price per unit, and its units won’t be billed.',
  ]);
  const wrong = { ...startForm(price, []), units: { ...units, image: '1', character: '0.0000000000001' } };
  expect(Object.keys(formErrors(wrong, NOW, ZONE))).toEqual(['per_unit.character', 'per_unit.image']);
  expect(addKind(units, ' 512x512/LOW ')).toHaveProperty('image 512x512/low', '');
  expect([addKind(units, '1024x1024/high'), addKind(units, 'a b')]).toEqual([null, null]);
});
