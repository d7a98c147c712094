/**
 * Does daily jobs as a person does them, and counts the interactions: each click, choice, key and typed text is one, and
 * no job takes more than four.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
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
  /** Text and the Enter after it. */
  async type(target: Locator, text: string, key?: string): Promise<void> {
    interactions += 1;
    await target.fill(text);
    if (key !== undefined) await target.press(key);
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

function nanoOf(usd: string): bigint {
  const [whole = '', fraction = ''] = usd.split('.');
  return BigInt(`${whole}${fraction.padEnd(9, '0')}`);
}
