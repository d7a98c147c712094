/** Tests the fetching of exports: pages, requests as their vendors expect them, and faults without the credential. */
import { describe, expect, test } from 'bun:test';
import { Secret } from '../lib/secret.ts';
import { fetchInvoice, type Get } from './fetch-invoice.ts';

const KEY = 'sk-ant-admin-1234';
const RANGE = { firstDay: '2026-11-20', lastDay: '2026-11-21', secret: new Secret(KEY) };

const cost = (day: string) => ({
  starting_at: `${day}T00:00:00Z`,
  results: [{ amount: '100', currency: 'USD', model: 'claude-opus-4-8', cost_type: 'tokens' }],
});

function answers(...pages: readonly (object | Response)[]) {
  const asked: { readonly url: URL; readonly headers: Readonly<Record<string, string>> }[] = [];
  const get: Get = async (url, { headers }) => {
    asked.push({ url: new URL(url), headers });
    const page = pages[Math.min(asked.length, pages.length) - 1];
    return page instanceof Response ? page : Response.json(page);
  };
  return { asked, get };
}

describe('fetchInvoice', () => {
  test('reads all pages of the days, and nothing beyond them', async () => {
    const { asked, get } = answers(
      { data: [cost('2026-11-20'), cost('2026-11-21')], has_more: true, next_page: 'p&2' },
      { data: [cost('2026-11-22')], has_more: false, next_page: null },
    );
    const { format, lines, digest } = await fetchInvoice('anthropic-costs', { ...RANGE, get });
    expect([format.name, lines.map(({ day }) => day)]).toEqual(['anthropic-costs', ['2026-11-20', '2026-11-21']]);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(asked.map(({ url }) => [url.origin, url.pathname, url.searchParams.get('page')])).toEqual([
      ['https://api.anthropic.com', '/v1/organizations/cost_report', null],
      ['https://api.anthropic.com', '/v1/organizations/cost_report', 'p&2'],
    ]);
    expect(asked[0]?.url.searchParams.get('ending_at')).toBe('2026-11-22T00:00:00Z');
    expect(asked[0]?.headers).toMatchObject({ 'x-api-key': KEY, 'anthropic-version': '2023-06-01' });
  });

  test('asks OpenAI in unix seconds with a bearer token', async () => {
    const bucket = {
      start_time: Date.parse('2026-11-20') / 1_000,
      results: [{ num_model_requests: 1, input_tokens: 2, output_tokens: 3, model: 'm' }],
    };
    const { asked, get } = answers({ data: [bucket], has_more: false });
    const { lines } = await fetchInvoice('openai-usage', { ...RANGE, get });
    expect(lines.length).toBe(1);
    const params = asked[0]?.url.searchParams;
    expect([params?.get('start_time'), params?.get('end_time')]).toEqual(['1795132800', '1795305600']);
    expect(params?.getAll('group_by[]')).toEqual(['model', 'service_tier', 'batch']);
    expect(asked[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  test('a refusal is explained, and never shows the credential', async () => {
    const { get } = answers(new Response(`{"error":"bad key ${KEY}"}`, { status: 401 }));
    const failure = String(await fetchInvoice('openai-costs', { ...RANGE, get }).catch((fault: unknown) => fault));
    expect(failure).toContain('answered 401');
    expect(failure).toContain('admin key of the organization');
    expect(failure).not.toContain(KEY);
  });

  for (const [name, given, message] of [
    ['an unknown API', ['mistral', RANGE.firstDay, RANGE.lastDay], 'expected one of openai-costs'],
    ['a day that is none', ['openai-costs', '2026-13-01', RANGE.lastDay], 'expected a day such as'],
    ['days in the wrong order', ['openai-costs', '2026-11-22', '2026-11-20'], 'expected from 1 to 366'],
    ['too many days', ['openai-costs', '2020-01-01', '2026-11-20'], 'expected from 1 to 366'],
  ] as const) {
    test(`refuses ${name} before it asks`, async () => {
      const { asked, get } = answers({});
      const [api, firstDay, lastDay] = given;
      const work = fetchInvoice(api, { ...RANGE, firstDay, lastDay, get });
      expect(String(await work.catch((fault: unknown) => fault))).toContain(message);
      expect(asked).toEqual([]);
    });
  }

  test('ends where an API repeats a page', async () => {
    const { asked, get } = answers({ data: [cost('2026-11-20')], has_more: true, next_page: 'same' });
    const failure = String(await fetchInvoice('anthropic-costs', { ...RANGE, get }).catch((fault: unknown) => fault));
    expect(failure).toContain('the same page again');
    expect(asked.length).toBe(2);
  });
});
