/**
 * Fetches usage and costs from the administrative APIs of providers, page by page, with a credential of the organization.
 */
import type { Secret } from '../lib/secret.ts';
import { InvoiceError } from './invoice-line.ts';
import { type Invoice, readInvoiceText } from './read-invoice.ts';

/** Sends a GET request. Rejects where no answer arrives. */
export type Get = (url: string, init: { readonly headers: Readonly<Record<string, string>> }) => Promise<Response>;

interface Api {
  readonly base: string;
  readonly source: string;
  /** Of the days, from the first to the day after the last one. */
  query(firstDay: string, endDay: string): string;
  headers(secret: Secret): Readonly<Record<string, string>>;
}

const seconds = (day: string): string => String(Date.parse(day) / 1_000);
const bearer = (secret: Secret) => ({ authorization: `Bearer ${secret.reveal()}` });
const anthropic = (secret: Secret) => ({ 'x-api-key': secret.reveal(), 'anthropic-version': '2023-06-01' });
const groups = (...names: readonly string[]) => names.map((name) => `group_by[]=${name}`).join('&');

export const APIS: Readonly<Record<string, Api>> = {
  'openai-costs': {
    base: 'https://api.openai.com/v1/organization/costs',
    source: 'https://platform.openai.com/docs/api-reference/usage/costs (2026-11-23)',
    query: (first, end) => `start_time=${seconds(first)}&end_time=${seconds(end)}&limit=31&${groups('line_item')}`,
    headers: bearer,
  },
  'openai-usage': {
    base: 'https://api.openai.com/v1/organization/usage/completions',
    source: 'https://platform.openai.com/docs/api-reference/usage/completions (2026-11-23)',
    query: (first, end) =>
      `start_time=${seconds(first)}&end_time=${seconds(end)}&bucket_width=1d&limit=7&${groups('model', 'service_tier', 'batch')}`,
    headers: bearer,
  },
  'anthropic-costs': {
    base: 'https://api.anthropic.com/v1/organizations/cost_report',
    source: 'https://platform.claude.com/docs/en/api/admin/cost_report/retrieve (2026-11-23)',
    query: (first, end) => `starting_at=${first}T00:00:00Z&ending_at=${end}T00:00:00Z&limit=7&${groups('description')}`,
    headers: anthropic,
  },
  'anthropic-usage': {
    base: 'https://api.anthropic.com/v1/organizations/usage_report/messages',
    source: 'https://platform.claude.com/docs/en/api/admin/usage_report (2026-11-23)',
    query: (first, end) =>
      `starting_at=${first}T00:00:00Z&ending_at=${end}T00:00:00Z&bucket_width=1d&limit=7&${groups('model', 'service_tier')}`,
    headers: anthropic,
  },
  'openrouter-activity': {
    base: 'https://openrouter.ai/api/v1/activity',
    source: 'https://openrouter.ai/docs/api-reference/analytics (2026-11-23)',
    query: () => '',
    headers: bearer,
  },
};

const PAGES_MAX = 1_000;
const DAYS_MAX = 366;
const WORDS_MAX = 300;
const DAY_MS = 86_400_000;

/** The lines of these days, both included. @throws InvoiceError */
export async function fetchInvoice(
  name: string,
  {
    firstDay,
    lastDay,
    secret,
    get,
  }: { readonly firstDay: string; readonly lastDay: string; readonly secret: Secret; readonly get: Get },
): Promise<Invoice> {
  const api = Object.hasOwn(APIS, name) ? APIS[name] : undefined;
  if (api === undefined)
    throw new InvoiceError(`found ${JSON.stringify(name)}, expected one of ${Object.keys(APIS).join(', ')}`);
  checkDays(firstDay, lastDay);
  const endDay = new Date(Date.parse(lastDay) + DAY_MS).toISOString().slice(0, 10);
  const query = api.query(firstDay, endDay);
  const lines: Invoice['lines'][number][] = [];
  let format: Invoice['format'] | null = null;
  let page: string | null = null;
  for (let pages = 0; ; pages++) {
    if (pages === PAGES_MAX) throw new InvoiceError(`${api.base}: more than ${PAGES_MAX} pages; ask for fewer days`);
    const rest = [query, page === null ? '' : `page=${encodeURIComponent(page)}`]
      .filter((part) => part !== '')
      .join('&');
    const text = await getPage(rest === '' ? api.base : `${api.base}?${rest}`, api, secret, get);
    const read = readInvoiceText(text, api.base);
    format ??= read.format;
    for (const line of read.lines) if (line.day >= firstDay && line.day <= lastDay) lines.push(line);
    const next = nextPage(text);
    if (next === null) break;
    if (next === page) throw new InvoiceError(`${api.base}: the same page again; try later`);
    page = next;
  }
  if (format === null) throw new InvoiceError(`${api.base}: no use from ${firstDay} to ${lastDay}`);
  const digest = new Bun.CryptoHasher('sha256').update(`${name} ${firstDay} ${lastDay}`).digest('hex');
  return { format, lines, digest };
}

function checkDays(firstDay: string, lastDay: string): void {
  for (const day of [firstDay, lastDay]) {
    if (/^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(Date.parse(day))) continue;
    throw new InvoiceError(`found ${JSON.stringify(day.slice(0, 40))}, expected a day such as 2026-11-23`);
  }
  const days = (Date.parse(lastDay) - Date.parse(firstDay)) / DAY_MS + 1;
  if (days < 1 || days > DAYS_MAX) throw new InvoiceError(`found ${days} days, expected from 1 to ${DAYS_MAX}`);
}

async function getPage(url: string, api: Api, secret: Secret, get: Get): Promise<string> {
  let response: Response;
  let text: string;
  try {
    response = await get(url, { headers: { accept: 'application/json', ...api.headers(secret) } });
    text = await response.text();
  } catch (fault) {
    const words = fault instanceof Error ? fault.message : String(fault);
    throw new InvoiceError(`${api.base} could not be reached: ${words}`);
  }
  if (response.status === 200) return text;
  const advice =
    response.status === 401 || response.status === 403
      ? ' Usage and costs need an admin key of the organization, not a key for requests.'
      : '';
  // Some APIs repeat a part of the credential.
  const said = text.replaceAll(secret.reveal(), '[secret]').slice(0, WORDS_MAX);
  throw new InvoiceError(`${api.base} answered ${response.status}: ${said}.${advice}`);
}

function nextPage(text: string): string | null {
  const page = JSON.parse(text) as { readonly has_more?: unknown; readonly next_page?: unknown };
  return page.has_more === true && typeof page.next_page === 'string' && page.next_page !== '' ? page.next_page : null;
}
