/**
 * Tests the documentation in a browser: readable in both themes, wide and narrow, searched, copied from, small, and the
 * way from a failed request to the page of its error.
 */
import { describe, expect, test } from 'bun:test';
import type { Browser, Request } from 'playwright-core';
import { EXHAUSTIVE } from '../fault/calls.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { openSeededConsole } from './open-console.ts';
import type { SeededGateway } from './seeded-gateway.ts';
import { signedInState } from './sign-in.ts';
import { newVisitor } from './visitor.ts';

const PAGE_BYTES_MAX = 150 * 1024;
const PAGES = ['', '/overview', '/install', '/configuration', '/errors', '/errors/rate_limited', '/comparison'];
const VIEWS = [
  { colorScheme: 'light', viewport: { width: 1440, height: 900 } },
  { colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
  { colorScheme: 'light', viewport: { width: 360, height: 740 } },
  { colorScheme: 'dark', viewport: { width: 360, height: 740 } },
] as const;

let browser: Browser;
let seeded: Omit<SeededGateway, 'stop'>;
let docs = '';
openSeededConsole((opened) => {
  ({ browser, seeded } = opened);
  docs = `${seeded.gateway.url}/docs`;
});

describe.skipIf(!HAS_BROWSER)('the documentation (needs Chromium for Linux on x64)', () => {
  test.each(VIEWS.map((view, nth) => [view, nth] as const))(
    'is accessible and fits the window: %j',
    async (view, nth) => {
      const { page, faults, findBarriers, overhangPx, leave } = await newVisitor(browser, view);
      // The sample is each page in one of the views.
      const pages = PAGES.filter((_, at) => EXHAUSTIVE || at % VIEWS.length === nth);
      for (const path of pages) {
        await page.goto(docs + path);
        const found = { path, barriers: await findBarriers(), overhangPx: await overhangPx(), faults: faults() };
        expect(found).toEqual({ path, barriers: [], overhangPx: 0, faults: [] });
      }
      expect(await page.evaluate('document.documentElement.dataset.theme')).toBe(view.colorScheme);
      await leave();
    },
  );

  test('a search leads to a heading, and an address without a page to the list of pages', async () => {
    const { page, faults, findBarriers, leave } = await newVisitor(browser, VIEWS[0]);
    await page.goto(docs);
    await page.keyboard.press('/');
    await page.keyboard.type('environment variables');
    await page.getByRole('link', { name: 'Environment variables Configuration' }).waitFor();
    expect(await findBarriers()).toEqual([]);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${docs}/configuration#environment-variables`);
    await page.goto(`${docs}/no/such/page`);
    expect(faults(404)).toEqual([]);
    await page.getByRole('link', { name: 'list of all pages' }).click();
    await page.getByRole('heading', { level: 1, name: 'Tollgate documentation' }).waitFor();
    await leave();
  });

  test('on a narrow screen a link opens the pages, and one of them closes them', async () => {
    const { page, findBarriers, leave } = await newVisitor(browser, VIEWS[2]);
    await page.goto(`${docs}/install`);
    const upgrade = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Upgrade' });
    expect(await upgrade.isVisible()).toBe(false);
    await page.getByRole('link', { name: 'Pages' }).click();
    expect(await findBarriers()).toEqual([]);
    await upgrade.click();
    await page.getByRole('heading', { level: 1, name: 'Upgrade' }).waitFor();
    expect(await upgrade.isVisible()).toBe(false);
    await leave();
  });

  test('code is copied', async () => {
    const { page, leave } = await newVisitor(browser, {
      ...VIEWS[0],
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.goto(`${docs}/install`);
    const block = page.locator('.code').first();
    await block.hover();
    await block.getByRole('button', { name: 'Copy' }).click();
    await block.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toStartWith('npm ci\nnpm run package');
    await leave();
  });

  test('its longest page is small', async () => {
    const { page, leave } = await newVisitor(browser, { extraHTTPHeaders: { 'accept-encoding': 'gzip' } });
    const finished: Request[] = [];
    page.on('requestfinished', (request) => finished.push(request));
    await page.goto(`${docs}/translation`, { waitUntil: 'networkidle' });
    const sizes = await Promise.all(finished.map((request) => request.sizes()));
    const bytes = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThanOrEqual(PAGE_BYTES_MAX);
    await leave();
  });

  test('the sheet of a failed request leads to the page of its error', async () => {
    const storageState = signedInState(seeded.gateway.url, seeded.owner);
    const { page, leave } = await newVisitor(browser, { ...VIEWS[0], storageState });
    await page.goto(`${seeded.gateway.url}/app/logs?q=status:4xx,5xx`);
    await page.getByRole('row').nth(1).click();
    const link = page.locator('a[href^="/docs/errors/"]');
    const code = await link.innerText();
    const [opened] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
    await opened.getByRole('heading', { level: 1, name: code }).waitFor();
    await leave();
  });

  test('the menu of the user leads to it', async () => {
    const storageState = signedInState(seeded.gateway.url, seeded.owner);
    const { page, leave } = await newVisitor(browser, { ...VIEWS[0], storageState });
    await page.goto(`${seeded.gateway.url}/app/me`);
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('button').last().click();
    const item = page.getByRole('menuitem', { name: 'Documentation' });
    const [opened] = await Promise.all([page.context().waitForEvent('page'), item.click()]);
    await opened.getByRole('heading', { level: 1, name: 'Tollgate documentation' }).waitFor();
    await leave();
  });
});
