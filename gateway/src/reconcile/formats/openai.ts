/**
 * Reads OpenAI's exports: the Costs API and the usage API (`/v1/organization/costs`, `/v1/organization/usage/…`), and the
 * CSV files of its dashboard, which have the same values in flat columns.
 */
import { dayOf, InvoiceError, type InvoiceLine, parseAmount, parseCount } from '../invoice-line.ts';
import type { Entry, InvoiceFormat } from './format.ts';

const SOURCE = 'https://platform.openai.com/docs/api-reference/usage (2026-11-23)';

export const openaiCosts: InvoiceFormat = {
  name: 'openai-costs',
  title: 'OpenAI, costs',
  source: SOURCE,
  recognizes: (members) => (members.has('amount.value') || members.has('amount_value')) && members.has('line_item'),
  read(entry) {
    const amount = entry.first('amount.value', 'amount_value');
    if (amount === null) return [];
    const currency = entry.first('amount.currency', 'amount_currency') ?? 'usd';
    if (currency.toLowerCase() !== 'usd') {
      throw new InvoiceError(`${entry.at}: amount.currency: found ${currency}, expected usd`);
    }
    // `gpt-5.2-2026-01-15, cached input`: the model, and which of its tokens.
    const item = entry.get('line_item');
    if (item === null) throw new InvoiceError(`${entry.at}: line_item: found nothing; group the export by line_item`);
    const model = item.includes(', ') ? item.slice(0, item.lastIndexOf(', ')) : item;
    return [
      { ...wholeDay(entry), model, requests: null, tokens: null, amount: parseAmount(amount, entry.at), tier: null },
    ];
  },
};

export const openaiUsage: InvoiceFormat = {
  name: 'openai-usage',
  title: 'OpenAI, usage',
  source: SOURCE,
  recognizes: (members) => members.has('num_model_requests') && members.has('input_tokens'),
  read(entry) {
    const model = entry.get('model');
    const requests = entry.get('num_model_requests');
    if (requests === null) return [];
    if (model === null) throw new InvoiceError(`${entry.at}: model: found nothing; group the export by model`);
    const input = parseCount(entry.get('input_tokens'), entry.at);
    const cached = parseCount(entry.get('input_cached_tokens'), entry.at);
    if (cached > input) throw new InvoiceError(`${entry.at}: input_cached_tokens: found more than input_tokens`);
    const tokens = {
      input: input - cached,
      cache_read: cached,
      cache_write: 0,
      output: parseCount(entry.get('output_tokens'), entry.at),
    };
    const isBatch = entry.get('batch')?.toLowerCase() === 'true';
    const tier = isBatch ? 'batch' : entry.get('service_tier');
    return [{ ...wholeDay(entry), model, requests: parseCount(requests, entry.at), tokens, amount: null, tier }];
  },
};

function wholeDay(entry: Entry): Pick<InvoiceLine, 'place' | 'day' | 'atMs' | 'requestId'> {
  const start = entry.first('start_time_iso', 'start_time');
  if (start === null) throw new InvoiceError(`${entry.at}: start_time: found nothing, expected the start of its day`);
  return { place: entry.place, day: dayOf(start, entry.at), atMs: null, requestId: null };
}
