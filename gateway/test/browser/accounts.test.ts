/**
 * Tests addresses for a user with several accounts: the page names the account, and one without access is reported, not
 * replaced by another.
 */
import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { must, OWNER } from '../console-api/api-visitor.ts';
import type { RunningGateway } from '../harness/start-gateway.ts';
import { createKey } from '../http-contract/make-key.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { openPage } from './console-pages.ts';
import { openOwnConsole } from './open-console.ts';
import type { Visitor } from './visitor.ts';

let gateway: RunningGateway;
let visitor: Visitor;
let page: Page;

openOwnConsole(async ({ owner, ...opened }) => {
  ({ gateway, visitor, page } = opened);
  await createKey(gateway, { name: 'of default' });
  await must(owner.ask('POST /accounts', { body: { id: 'acme', name: 'Acme', mode: 'postpaid' } }));
});

const here = () => page.evaluate('location.pathname + location.search');

describe.skipIf(!HAS_BROWSER)('an address (needs Chromium for Linux on x64)', () => {
  test('names the account, also the default one, and adds no history entry for it', async () => {
    await openPage(page, `${gateway.url}/app/settings?account=acme`);
    await openPage(page, `${gateway.url}/app/keys?status=all`);
    await page.waitForURL(/account=default/);
    expect(await here()).toBe('/app/keys?account=default&status=all');
    const links = page.getByRole('navigation').getByRole('link');
    const hrefs = await Promise.all((await links.all()).map(async (link) => (await link.getAttribute('href')) ?? ''));
    expect(hrefs.length).toBeGreaterThan(5);
    expect(hrefs.filter((href) => !href.endsWith('?account=default'))).toEqual([]);
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    expect(await here()).toBe('/app/settings?account=acme');
    await page.getByRole('button', { name: OWNER.name, exact: true }).click();
    await page.getByRole('menuitem', { name: 'Profile' }).click();
    await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor();
    expect(await here()).toBe('/app/me?account=acme');
  });

  test('a page of an account without access says so and shows no data of another account', async () => {
    await openPage(page, `${gateway.url}/app/keys?account=nosuch`);
    await page.getByRole('heading', { level: 1, name: 'You don’t have access to the account nosuch' }).waitFor();
    expect(await page.locator('body').innerText()).not.toContain('of default');
    expect(await visitor.findBarriers()).toEqual([]);
    await page.getByRole('link', { name: 'default' }).click();
    await page.getByRole('row', { name: /of default/ }).waitFor();
    expect(await here()).toBe('/app/keys?account=default');
    expect(visitor.faults()).toEqual([]);
  });

  test('of an account without a workspace leads its owner to create one', async () => {
    await openPage(page, `${gateway.url}/app?account=acme`);
    await page.getByText('API keys belong to workspaces. Create one first.').waitFor();
    await page.getByRole('link', { name: 'Create workspace' }).click();
    await page.getByRole('heading', { level: 1, name: 'Workspaces' }).waitFor();
    expect(visitor.faults()).toEqual([]);
  });
});
