/**
 * Does the ten daily jobs as a person does them, and counts the interactions: each click, choice, key and typed text is one, and
 * no job takes more than four.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import type { Reply } from '../../src/console-api/contract/contract.ts';
import { must } from '../console-api/api-visitor.ts';
import { eventually } from '../harness/eventually.ts';
import { createKey } from '../http-contract/make-key.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { openPage } from './console-pages.ts';
import { openSeededConsole } from './open-console.ts';
import type { SeededGateway } from './seeded-gateway.ts';
import type { Visitor } from './visitor.ts';

const INTERACTIONS_MAX = 4;
let seeded: Omit<SeededGateway, 'stop'>;
let visitor: Visitor;
let page: Page;
let interactions = 0;

/** The only way in which a job acts. */
const act = {
  async click(target: Locator): Promise<void> {
    interactions += 1;
    await target.click();
  },
  async choose(target: Locator, label: string): Promise<void> {
    interactions += 1;
    await target.selectOption({ label });
  },
  async type(target: Locator, text: string): Promise<void> {
    interactions += 1;
    await target.fill(text);
  },
  async press(key: string): Promise<void> {
    interactions += 1;
    await page.keyboard.press(key);
  },
};

openSeededConsole(async (opened) => {
  ({ seeded, visitor } = opened);
  page = visitor.page;
});

const link = (name: string | RegExp) => page.getByRole('link', { name, exact: typeof name === 'string' });
const button = (name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' });

describe.skipIf(!HAS_BROWSER)('daily jobs in at most four interactions (needs Chromium for Linux on x64)', () => {
  beforeEach(async () => {
    await openPage(page, `${seeded.gateway.url}/app`);
    interactions = 0;
  });
  afterEach(() => {
    expect(interactions).toBeGreaterThan(0);
    expect(interactions).toBeLessThanOrEqual(INTERACTIONS_MAX);
  });

  test('slowest requests: sorted by duration', async () => {
    await act.click(link('Logs'));
    await act.click(button('Duration (ms)'));
    const table = page.getByRole('table', { name: 'Requests', exact: true });
    await rowsOf(table).first().waitFor();
    const heads = await table.getByRole('columnheader').allInnerTexts();
    const nth = heads.findIndex((head) => head.startsWith('Duration'));
    const shown = await Promise.all((await rowsOf(table).all()).slice(0, 20).map((row) => textOf(row, nth)));
    const durations = shown.map((text) => Number(text.replaceAll(',', '')));
    expect(durations.length).toBeGreaterThan(3);
    expect(durations).toEqual(durations.toSorted((one, other) => other - one));
  });

  test('why was it refused: the reason of a request in one sentence', async () => {
    const { key } = await createKey(seeded.gateway, { name: 'refused job', models: ['gpt-5'] });
    expect((await call(key)).status).toBe(403);
    await act.click(link('Logs'));
    const row = page.getByRole('row').filter({ hasText: 'refused job' }).first();
    await act.click(row.getByRole('cell').first());
    await page.getByRole('dialog').getByText('ok isn’t included').first().waitFor();
  });

  test('which key spent most last calendar week: usage by key', async () => {
    await act.click(link('Usage'));
    await act.choose(page.getByLabel('Group by'), 'API key');
    await act.click(button('Custom'));
    const [from, to] = lastWeek(Date.now());
    // The reply for the days before may still be under way.
    const asked = `from=${encodeURIComponent(from)}`;
    const replied = page.waitForResponse((reply) => reply.url().includes('by=key') && reply.url().includes(asked));
    await act.click(button('Last week'));
    const reply = (await (await replied).json()) as Reply<'GET /accounts/{account}/usage'>;
    const query = `from=${from}&to=${to}&by=key`;
    const expected = await must(seeded.owner.ask(`GET /accounts/default/usage?${query}`));
    const [top] = (expected as unknown as typeof reply).groups;
    expect(reply.groups[0]?.values).toEqual(top?.values ?? []);
    const table = page.getByRole('table', { name: 'Usage by group' });
    await rowsOf(table).first().waitFor();
    expect(await rowsOf(table).first().innerText()).toContain(top?.labels[0] ?? 'no key');
  });

  test('replay: a request that failed, on another model, beside the original', async () => {
    await must(seeded.owner.ask('PATCH /accounts/default/workspaces/default', { body: { bodies: 'all' } }));
    const { key } = await createKey(seeded.gateway, { name: 'replayed job' });
    // The upstream of these tests doesn't have the model. Its target is paused then, also for other suites in this process.
    expect((await call(key, {}, 'gpt-4.1')).status).toBe(500);
    await act.click(link('Logs'));
    await act.click(page.getByRole('row').filter({ hasText: 'replayed job' }).first().getByRole('cell').first());
    const other = 'ok';
    await act.choose(page.getByLabel('Replay on another model'), other);
    await page.getByRole('region', { name: 'Original response' }).waitFor();
    await act.click(button('Send'));
    await page.getByRole('region', { name: `Response from ${other}` }).waitFor();
    const replayed = await eventually('the record of the replay', async () => {
      const [newest] = await seeded.gateway.calls('--limit', '1');
      return newest?.model === other ? newest : null;
    });
    expect(replayed).toMatchObject({ status: 200, protocol: 'chat', key_name: 'Playground' });
    await must(seeded.owner.ask('PATCH /accounts/default/workspaces/default', { body: { bodies: null } }));
  });

  test('alert: when a budget is 80% used', async () => {
    await act.click(link(/^Alerts/));
    await act.click(button('Create alert'));
    expect(await page.getByRole('dialog').getByLabel('Event').inputValue()).toBe('budget');
    expect(await page.getByRole('dialog').getByLabel('Percent of the budget').inputValue()).toBe('80');
    await act.click(page.getByRole('dialog').getByRole('button', { name: 'Create alert' }));
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { rules } = await must(seeded.owner.ask('GET /accounts/default/alerts'));
    expect(rules).toContainEqual(expect.objectContaining({ event: 'budget', threshold: '80' }));
  });

  test('find a session: all its requests, on its page', async () => {
    const { key } = await createKey(seeded.gateway, { name: 'session job' });
    const session = 'ses_daily_job';
    expect((await call(key, { 'x-session-id': session })).status).toBe(200);
    expect((await call(key, { 'x-session-id': session })).status).toBe(200);
    await act.click(link('Sessions'));
    await act.type(page.getByLabel('Query', { exact: true }), `session:${session}`);
    await act.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('q') === `session:${session}`);
    await act.click(page.getByRole('row').filter({ hasText: session }).getByRole('cell').first());
    await page.waitForURL((url) => url.pathname.endsWith(`/sessions/${session}`));
    await rowsOf(page.getByRole('table', { name: 'Requests of the session' }))
      .nth(1)
      .waitFor();
  });

  test('rotate: a new secret, and the old one goes on for a day', async () => {
    const { key } = await createKey(seeded.gateway, { name: 'rotated job' });
    await act.click(link('API keys'));
    await act.click(button('Actions for rotated job'));
    await act.click(page.getByRole('menuitem', { name: 'Rotate…' }));
    await act.click(button('Rotate key'));
    const secret = page
      .getByRole('dialog')
      .getByText(/tg_\w{20,}/)
      .first();
    await secret.waitFor();
    const text = /tg_\w+/.exec(await secret.innerText())?.[0] ?? '';
    expect(text).not.toBe(key);
    expect([(await call(text)).status, (await call(key)).status]).toEqual([200, 200]);
  });

  test('add a provider: the beginning of its key says which', async () => {
    await act.click(link('Providers'));
    await act.click(button('Add provider'));
    await act.type(page.getByRole('dialog').getByLabel('API key', { exact: true }), 'sk-ant-api03-not-a-key');
    await act.press('Enter');
    await page.getByRole('button', { name: 'Actions for anthropic' }).waitFor();
  });

  test('live tail: a request appears while the page is open', async () => {
    const { key } = await createKey(seeded.gateway, { name: 'tailed job' });
    await act.click(link('Logs'));
    await act.click(button('Live tail'));
    expect((await call(key)).status).toBe(200);
    await page.getByRole('row').filter({ hasText: 'tailed job' }).first().waitFor();
  });

  test('invoice: a month on paper and as a file', async () => {
    await page.evaluate('window.print = () => { window.printed = true; }');
    await act.click(link('Billing'));
    await act.click(link('Monthly statement'));
    const month = page.getByLabel('Month', { exact: true });
    await month.waitFor();
    const now = new Date();
    await act.choose(month, now.toLocaleDateString('en-US', { month: 'long', year: 'numeric', timeZone: 'UTC' }));
    const charges = page.getByRole('table', { name: 'Charges' });
    await charges.waitFor();
    await act.click(button('Print'));
    expect(await page.evaluate('window.printed')).toBe(true);
    const href = (await link('Statement CSV').getAttribute('href')) ?? '';
    expect(href).toContain(`month=${now.toISOString().slice(0, 7)}`);
    const text = await page.evaluate((address) => fetch(address).then((reply) => reply.text()), href);
    const total = await charges.getByRole('row', { name: /^Total/ }).innerText();
    const rows = text
      .trim()
      .split('\r\n')
      .filter((line) => line.startsWith('charges,'));
    expect(rows.length).toBeGreaterThan(1);
    const nano = rows.reduce((sum, row) => sum + nanoOf(row.split(',').at(-3) ?? ''), 0n);
    expect(nanoOf(total.replace(/^Total\s*\$/, '').replaceAll(',', ''))).toBe(nano);
    // On paper there is the statement only.
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('navigation', { name: 'Pages' }).isVisible()).toBe(false);
    expect(await button('Print').isVisible()).toBe(false);
    expect(await charges.isVisible()).toBe(true);
    await page.emulateMedia({ media: 'screen' });
  });
});

const rowsOf = (table: Locator) => table.locator('tbody tr');
const textOf = (row: Locator, cell: number) => row.getByRole('cell').nth(cell).innerText();

function call(key: string, headers: Readonly<Record<string, string>> = {}, model = 'ok'): Promise<Response> {
  return fetch(`${seeded.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
  });
}

/** From Monday to Monday, in UTC. */
function lastWeek(nowMs: number): readonly [from: string, to: string] {
  const dayMs = 86_400_000;
  const today = Math.floor(nowMs / dayMs);
  const monday = today - ((new Date(nowMs).getUTCDay() + 6) % 7);
  return [new Date((monday - 7) * dayMs).toISOString(), new Date(monday * dayMs).toISOString()];
}

function nanoOf(usd: string): bigint {
  const [whole = '', fraction = ''] = usd.split('.');
  return BigInt(`${whole}${fraction.padEnd(9, '0')}`);
}
