/**
 * Reads Anthropic's exports: the cost report and the usage report of its Admin API, and CSV files with the same values in
 * flat columns. Amounts of the cost report are hundredths of a dollar, as decimal texts.
 */
import { dayOf, InvoiceError, type InvoiceLine, parseAmount, parseCount } from '../invoice-line.ts';
import type { Entry, InvoiceFormat } from './format.ts';

export const anthropicCosts: InvoiceFormat = {
  name: 'anthropic-costs',
  title: 'Anthropic, cost report',
  source: 'https://platform.claude.com/docs/en/api/admin/cost_report (2026-11-23)',
  recognizes: (members) => members.has('starting_at') && members.has('amount') && members.has('currency'),
  read(entry) {
    const amount = entry.get('amount');
    if (amount === null) return [];
    const currency = entry.get('currency') ?? 'USD';
    if (currency !== 'USD') throw new InvoiceError(`${entry.at}: currency: found ${currency}, expected USD`);
    // Web searches and code execution have no model.
    const model = entry.first('model', 'cost_type', 'description');
    if (model === null) throw new InvoiceError(`${entry.at}: model: found nothing; group the report by description`);
    const tier = entry.get('service_tier');
    return [
      { ...wholeDay(entry), model, requests: null, tokens: null, amount: parseAmount(amount, entry.at, true), tier },
    ];
  },
};

export const anthropicUsage: InvoiceFormat = {
  name: 'anthropic-usage',
  title: 'Anthropic, usage report',
  source: 'https://platform.claude.com/docs/en/api/admin/usage_report (2026-11-23)',
  recognizes: (members) => members.has('uncached_input_tokens') && members.has('output_tokens'),
  read(entry) {
    const model = entry.get('model');
    if (model === null) throw new InvoiceError(`${entry.at}: model: found nothing; group the report by model`);
    const count = (...members: readonly string[]) => parseCount(entry.first(...members), entry.at);
    const tokens = {
      input: count('uncached_input_tokens'),
      cache_read: count('cache_read_input_tokens'),
      cache_write:
        count('cache_creation.ephemeral_5m_input_tokens', 'ephemeral_5m_input_tokens') +
        count('cache_creation.ephemeral_1h_input_tokens', 'ephemeral_1h_input_tokens'),
      output: count('output_tokens'),
    };
    return [{ ...wholeDay(entry), model, requests: null, tokens, amount: null, tier: entry.get('service_tier') }];
  },
};

function wholeDay(entry: Entry): Pick<InvoiceLine, 'place' | 'day' | 'atMs' | 'requestId'> {
  const start = entry.get('starting_at');
  if (start === null) throw new InvoiceError(`${entry.at}: starting_at: found nothing, expected the start of its day`);
  return { place: entry.place, day: dayOf(start, entry.at), atMs: null, requestId: null };
}
