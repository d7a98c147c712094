/**
 * Tests navigation by links and the browser's Back: addresses, scroll positions, and a page with an unsaved one-time
 * secret, which Back does not leave.
 */

import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { eventually } from '../../harness/eventually.ts';
import { HAS_BROWSER } from '../browser-files.ts';
import { openPage } from '../console-pages.ts';
import { openSeededConsole } from '../open-console.ts';
import type { SeededGateway } from '../seeded-gateway.ts';
import type { Visitor } from '../visitor.ts';

let seeded: Omit<SeededGateway, 'stop'>;
let visitor: Visitor;
let page: Page;

openSeededConsole(
  (opened) => {
    ({ seeded, visitor, page } = opened);
  },
  { viewport: { width: 1440, height: 700 } },
);

/** Back, then forward again: resolves once both are done. */
const BACK_AND_FORTH = `new Promise((resolve) => {
  let steps = 0;
  addEventListener('popstate', () => {
    steps += 1;
    if (steps === 2) resolve();
  });
  history.back();
})`;

const here = () => page.evaluate('location.pathname + location.search');
const link = (name: string) => page.getByRole('navigation').getByRole('link', { name, exact: true });

describe.skipIf(!HAS_BROWSER)('navigation (needs Chromium for Linux on x64)', () => {
  test('a link opens its page at the top without a reload; Back restores page and position', async () => {
    await openPage(page, `${seeded.gateway.url}/app/logs?range=7d`);
    await page.evaluate("document.body.dataset.walked = 'yes'");
    // Its rows may still be on their way.
    await eventually(
      'a page long enough to scroll',
      async () => ((await page.evaluate('scrollTo(0, 300), scrollY')) === 300 ? true : null),
      30_000,
    );
    await link('API keys').click();
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    expect(await here()).toBe('/app/keys');
    expect(await link('API keys').getAttribute('aria-current')).toBe('page');
    expect(await page.evaluate('scrollY')).toBe(0);
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Logs' }).waitFor();
    expect(await here()).toBe('/app/logs?range=7d');
    await eventually('the position', async () => ((await page.evaluate('scrollY')) === 300 ? true : null));
    expect(await page.evaluate('document.body.dataset.walked')).toBe('yes');
  });

  test('a request opens over its list, which stays where it was', async () => {
    await openPage(page, `${seeded.gateway.url}/app/logs?range=7d`);
    await page.getByRole('row').nth(20).click();
    await page.getByRole('dialog').waitFor();
    expect(await here()).toMatch(/^\/app\/logs\/req_\w+\?range=7d$/);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await here()).toBe('/app/logs?range=7d');
  });

  test('Back doesn’t reopen a closed request, opened from the list or by its address', async () => {
    const list = `${seeded.gateway.url}/app/logs?range=7d`;
    await openPage(page, `${seeded.gateway.url}/app/settings`);
    await openPage(page, list);
    await page.getByRole('row').nth(20).click();
    await page.getByRole('dialog').waitFor();
    await page.evaluate("document.querySelector('dialog [aria-label=Close]').click()");
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(page.url()).toBe(list);
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    await openPage(page, `${seeded.gateway.url}/app/logs/${seeded.names.request}?range=7d`);
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(page.url()).toBe(list);
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  });

  test('Back doesn’t leave a page that shows a one-time secret', async () => {
    await openPage(page, `${seeded.gateway.url}/app/settings`);
    await link('API keys').click();
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('held');
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('heading', { name: 'API key held created' }).waitFor();
    await page.evaluate(BACK_AND_FORTH);
    expect(await here()).toBe('/app/keys');
    expect(await page.getByRole('heading', { name: 'API key held created' }).isVisible()).toBeTrue();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  });

  test('the palette creates a key, opens a model, invites and finds a member', async () => {
    await openPage(page, `${seeded.gateway.url}/app/settings`);
    const find = async (text: string) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog', { name: 'Command palette' }).waitFor();
      await page.keyboard.type(text);
    };
    await find('create api');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Create API key' }).waitFor();
    expect(await here()).toBe('/app/keys?action=create');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await here()).toBe('/app/keys');
    await find('gpt-5');
    await page.getByRole('option', { name: 'gpt-5', exact: true }).click();
    await page.getByRole('dialog', { name: 'GPT-5' }).waitFor();
    expect(await here()).toBe('/app/models?model=gpt-5');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await find('invite member');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Invite member' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await here()).toBe('/app/members');
    await find('ada@');
    await page.getByRole('option').filter({ hasText: 'ada@example.com' }).click();
    await page.getByRole('cell').filter({ hasText: 'ada@example.com' }).waitFor();
    expect(await here()).toBe('/app/members?q=ada%40example.com');
    await page.getByRole('searchbox', { name: 'Search by name or email' }).fill('nobody');
    await page.getByText('No matching members').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('cell').filter({ hasText: 'ada@example.com' }).waitFor();
  });

  test('the palette finds a page as typed, and Enter opens it', async () => {
    await openPage(page, `${seeded.gateway.url}/app/settings`);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.type('workspa');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Workspaces' }).waitFor();
    expect(await here()).toBe('/app/workspaces');
  });

  test('an address that names what is gone says so', async () => {
    for (const [address, words] of [
      ['workspaces?open=gone', 'There is no workspace gone'],
      ['models?model=gone', 'No model gone is available here'],
      ['providers?provider=gone', 'There is no provider gone any more.'],
      ['limits?open=end_user+gone', 'There are no limits any more for what this link names: end_user gone.'],
      ['alerts?open=gone', 'The alert was deleted.'],
      ['billing?open=gone', 'There is no account gone.'],
    ]) {
      await openPage(page, `${seeded.gateway.url}/app/${address}`);
      await page.getByText(words as string).waitFor();
    }
    expect(visitor.faults()).toEqual([]);
  });

  test('an unknown address shows an error page', async () => {
    await page.goto(`${seeded.gateway.url}/app/nothing`);
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    expect(visitor.faults()).toEqual([]);
  });

  test('a query with a fault is answered without a name of the API', async () => {
    await openPage(page, `${seeded.gateway.url}/app/logs?q=colour%3Ared`);
    const alert = page.getByRole('alert').filter({ hasText: 'colour' });
    await alert.waitFor();
    expect(await alert.innerText()).toMatch(/^Found the field/);
    expect(visitor.faults(400)).toEqual([]);
  });
});
