/** Reads OpenRouter's exports: the CSV file of its activity page (one row for each generation) and its activity API (days). */
import { dayOf, type InvoiceLine, parseAmount, parseCount, parseTime } from '../invoice-line.ts';
import type { Entry, InvoiceFormat } from './format.ts';

const SOURCE = 'https://openrouter.ai/docs/guides/guides/activity-export (2026-11-23)';

export const openrouterGenerations: InvoiceFormat = {
  name: 'openrouter-generations',
  title: 'OpenRouter, generations',
  source: SOURCE,
  recognizes: (members) => members.has('generation_id') && members.has('cost_total'),
  read(entry) {
    const time = entry.get('created_at') ?? '';
    return [
      {
        place: entry.place,
        day: dayOf(time, `${entry.at}: created_at`),
        atMs: parseTime(time, `${entry.at}: created_at`),
        model: modelOf(entry),
        requestId: entry.get('generation_id'),
        requests: 1,
        tokens: tokensOf(entry, 'tokens_prompt', 'tokens_completion', 'tokens_cached'),
        amount: parseAmount(entry.get('cost_total') ?? '0', `${entry.at}: cost_total`),
        tier: null,
      },
    ];
  },
};

export const openrouterActivity: InvoiceFormat = {
  name: 'openrouter-activity',
  title: 'OpenRouter, activity by day',
  source: SOURCE,
  recognizes: (members) => members.has('date') && members.has('usage') && members.has('completion_tokens'),
  read(entry) {
    return [
      {
        place: entry.place,
        day: dayOf(entry.get('date') ?? '', `${entry.at}: date`),
        atMs: null,
        model: modelOf(entry),
        requestId: null,
        requests: parseCount(entry.get('requests'), `${entry.at}: requests`),
        tokens: tokensOf(entry, 'prompt_tokens', 'completion_tokens', 'cached_tokens'),
        amount: parseAmount(entry.get('usage') ?? '0', `${entry.at}: usage`),
        tier: null,
      },
    ];
  },
};

function modelOf(entry: Entry): string {
  return entry.first('model', 'model_permaslug') ?? 'unknown';
}

/** Reasoning is part of the completion; cached tokens are part of the prompt. */
function tokensOf(entry: Entry, prompt: string, completion: string, cached: string): InvoiceLine['tokens'] {
  const cache_read = parseCount(entry.get(cached), entry.at);
  const input = Math.max(0, parseCount(entry.get(prompt), entry.at) - cache_read);
  return { input, cache_read, cache_write: 0, output: parseCount(entry.get(completion), entry.at) };
}
