/** Shows what may be typed as a price, and what is sent. */
import { expect, test } from 'bun:test';
import { beginForm, formErrors, type PriceForm, priceBody } from './price-form.ts';

const NOW = Date.parse('2026-11-21T14:00:00Z');
const form = (given: Partial<PriceForm['rates']>, more: Partial<PriceForm> = {}): PriceForm => {
  const empty = beginForm(null);
  return { ...empty, rates: { ...empty.rates, ...given }, ...more };
};

test('input and output are needed, the rest may stay empty', () => {
  expect(Object.keys(formErrors(form({}), NOW))).toEqual(['input', 'output']);
  expect(formErrors(form({ input: '3', output: '0.25' }), NOW)).toEqual({});
});

test('a free model needs no rate and sends none', () => {
  expect(formErrors(form({ input: 'much' }, { isFree: true }), NOW)).toEqual({});
  expect(priceBody(form({ input: '3' }, { isFree: true }))).toMatchObject({ free: true, input: null });
});

test('what is not a price is named with what was found', () => {
  expect(formErrors(form({ input: '3', output: '15', cache_read: '0.1234567' }), NOW).cache_read).toContain(
    '0.1234567',
  );
});

test('a price does not begin in the past', () => {
  const at = (from: string) => Object.keys(formErrors(form({ input: '3', output: '15' }, { from }), NOW));
  expect([at(''), at('2020-01-01T00:00'), at('2999-01-01T00:00')]).toEqual([[], ['from'], []]);
});

test('the body keeps what was typed, trimmed, and null for what was not', () => {
  expect(priceBody(form({ input: ' 3 ', output: '15.10' }))).toEqual({
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
