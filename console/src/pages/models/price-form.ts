/** Owns what is typed into the price dialog, and the body that it makes. Prices stay text: no float touches them. */
import type { Body } from '../../../../gateway/src/console-api/contract.ts';
import { parsePrice } from '../../lib/pico.ts';
import { type PriceView, RATES, type RateName } from './model-facts.ts';

export interface PriceForm {
  readonly isFree: boolean;
  /** As typed: US dollars per million tokens; empty where it is as input or output. */
  readonly rates: Readonly<Record<RateName, string>>;
  /** Of a `datetime-local` field; empty: now. */
  readonly from: string;
}

export function beginForm(price: PriceView | null): PriceForm {
  return {
    isFree: price?.free ?? false,
    rates: {
      input: price?.input ?? '',
      output: price?.output ?? '',
      cache_read: price?.cache_read ?? '',
      cache_write_5m: price?.cache_write_5m ?? '',
      cache_write_1h: price?.cache_write_1h ?? '',
      reasoning: price?.reasoning ?? '',
    },
    from: '',
  };
}

/** What is wrong with each member, in words; empty: nothing. */
export function formErrors({ isFree, rates, from }: PriceForm, nowMs: number): Readonly<Record<string, string>> {
  const errors: Record<string, string> = {};
  for (const [rate] of isFree ? [] : RATES) {
    const text = rates[rate].trim();
    const isNeeded = rate === 'input' || rate === 'output';
    if (text === '' && isNeeded)
      errors[rate] = 'Expected US dollars per million tokens, such as 0.25. For nothing, choose “free”.';
    else if (text !== '' && parsePrice(text) === null) {
      errors[rate] = `Found “${text}”, expected a number with at most six decimal places, such as 0.25.`;
    }
  }
  if (from !== '' && !(Date.parse(from) > nowMs))
    errors.from = 'A price cannot begin in the past: calls are charged already. Leave it empty for now.';
  return errors;
}

export function priceBody({ isFree, rates, from }: PriceForm): Body<'PUT /accounts/{account}/models/{model}/price'> {
  const rate = (name: RateName) => (isFree || rates[name].trim() === '' ? null : rates[name].trim());
  return {
    from: from === '' ? null : new Date(from).toISOString(),
    free: isFree,
    input: rate('input'),
    output: rate('output'),
    cache_read: rate('cache_read'),
    cache_write_5m: rate('cache_write_5m'),
    cache_write_1h: rate('cache_write_1h'),
    reasoning: rate('reasoning'),
  };
}
