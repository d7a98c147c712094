/**
 * Tests what daily use of the console needs: tables that fit, live counters, a fast palette, focus, forms that name
 * each error.
 */
import { describe, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { inviteMember, must } from '../console-api/api-visitor.ts';
import { everyOrAll, exhaustiveTest } from '../harness/exhaustive.ts';
import { createKey } from '../http-contract/make-key.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { openPage } from './console-pages.ts';
import { openSeededConsole } from './open-console.ts';
import type { SeededGateway } from './seeded-gateway.ts';
import { newVisitor, type Visitor } from './visitor.ts';

const NO_CAPS = { rpm: null, tpm: null, concurrency: null, budget_usd: null, budget_window: null };
const LONG = 'a name that was chosen with great care and without any thought of a narrow window';
const WIDE = { width: 1440, height: 900 };
const NARROW = { width: 360, height: 740 };

let browser: Browser;
let seeded: Omit<SeededGateway, 'stop'>;
let visitor: Visitor;
let page: Page;
let secret: string;

openSeededConsole(async (opened) => {
  ({ browser, seeded, visitor, page } = opened);
  secret = (await createKey(seeded.gateway, { name: LONG })).key;
  await must(
    seeded.owner.ask('POST /accounts/default/workspaces', {
      body: {
        id: LONG.replaceAll(' ', '-').slice(0, 60),
        models: null,
        bodies: null,
        bodies_days: null,
        caps: NO_CAPS,
      },
    }),
  );
});

async function open(path: string, size = WIDE): Promise<void> {
  await page.setViewportSize(size);
  await openPage(page, `${seeded.gateway.url}${path}`);
}

/**
 * By name, the pixels by which each table of the page is wider than its frame. A string, because these types have no
 * DOM.
 */
const overhangs = (): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('table')].flatMap((table) => {
    const px = table.parentElement.scrollWidth - table.parentElement.clientWidth;
    return px > 0 ? [table.getAttribute('aria-label') + ': ' + px] : [];
  })`);

/** Right edges of a table's columns within its frame, and the frame's own width. */
const edges = (label: string): Promise<{ frame: number; columns: number[] }> =>
  page.evaluate(`(() => {
    const table = document.querySelector('table[aria-label="${label}"]');
    const frame = table.parentElement.getBoundingClientRect();
    const heads = [...table.querySelectorAll('th')].filter((head) => head.offsetWidth > 0);
    return { frame: frame.width, columns: heads.map((head) => head.getBoundingClientRect().right - frame.left) };
  })()`);

describe.skipIf(!HAS_BROWSER)('daily use (needs Chromium for Linux on x64)', () => {
  test.each(
    everyOrAll(3, [
      ['/app/limits', 'Account, workspace and API key limits', 2],
      ['/app/workspaces', 'Workspaces', 3],
      ['/app/audit', 'Audit log', 3],
      ['/app/logs', 'Requests, newest first', 4],
    ] as const),
  )('the first column of %s leaves room for others at 360 px', async (path, label, columnsMin) => {
    await open(path, NARROW);
    const { frame, columns } = await edges(label);
    expect(columns.filter((edge) => edge <= frame).length).toBeGreaterThanOrEqual(columnsMin);
  });

  test('row menus are visible at 360 px, even with long names', async () => {
    for (const [path, label] of [
      ['/app/keys', `Actions for ${LONG}`],
      ['/app/members', 'Actions for The developer of default'],
    ] as const) {
      await open(path, NARROW);
      const box = await page.getByRole('button', { name: label }).boundingBox();
      expect((box?.x ?? 999) + (box?.width ?? 0)).toBeLessThanOrEqual(NARROW.width);
      await page.getByRole('button', { name: label }).click();
      await page.getByRole('menu', { name: label }).waitFor();
      await page.keyboard.press('Escape');
    }
  });

  test.each(
    everyOrAll(3, [
      '/app/usage',
      '/app/usage?by=key',
      '/app/logs',
      '/app/keys',
      '/app/limits',
      '/app/models',
      '/app/workspaces',
      '/app/members',
      '/app/billing',
      '/app/audit',
    ]),
  )('%s cuts no column at 1440 px, even with long names', async (path) => {
    await open(path);
    expect(await overhangs()).toEqual([]);
  });

  test('with reduced motion nothing moves for ever', async () => {
    await open('/app/logs?live=1');
    const live = page.getByRole('group', { name: 'Live tail' });
    await live.waitFor();
    const endless =
      'document.getAnimations().filter(({ effect }) => effect.getTiming().iterations === Infinity).length';
    expect(await page.evaluate(endless)).toBe(0);
  });

  test('with forced colors the colors of a legend and the chosen range stay visible', async () => {
    await page.emulateMedia({ forcedColors: 'active' });
    await open('/app/usage?range=7d');
    await page.locator('[style*="background"]').first().waitFor();
    const styleOf = (selector: string, member: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${member}`);
    expect(await styleOf('[style*="background"]', 'forcedColorAdjust')).toBe('none');
    expect(await styleOf('label:has(> input:checked)', 'textDecorationLine')).toBe('underline');
    await page.emulateMedia({ forcedColors: 'none' });
  });

  test('with forced colors budgets, bars of days and the focused item of a menu stay visible', async () => {
    await page.emulateMedia({ forcedColors: 'active' });
    const styleOf = (selector: string, member: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${member}`);
    await open(`/app/keys/${seeded.names.key}`);
    await page.getByRole('meter').first().waitFor();
    expect(await styleOf('[role="meter"]', 'outlineStyle')).toBe('solid');
    expect(await styleOf('[aria-label="Cost per day"] .bg-accent', 'forcedColorAdjust')).toBe('none');
    await open('/app?range=30d');
    await page.locator('main span.bg-accent').first().waitFor();
    expect(await styleOf('main span.bg-accent', 'forcedColorAdjust')).toBe('none');
    await open('/app/keys');
    await page.getByRole('button', { name: 'Actions for billing-api' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('[role="menuitem"]:focus').waitFor();
    expect(await styleOf('[role="menuitem"]:focus', 'outlineStyle')).toBe('solid');
    await page.keyboard.press('Control+k');
    await page.locator('[role="option"][data-selected="true"]').waitFor();
    expect(await styleOf('[role="option"][data-selected="true"]', 'outlineStyle')).toBe('solid');
    await page.emulateMedia({ forcedColors: 'none' });
  });

  test('Tab closes a menu and goes on from its button', async () => {
    await open('/app/keys');
    const trigger = page.getByRole('button', { name: 'Actions for billing-api' });
    await trigger.focus();
    await page.keyboard.press('Enter');
    await page.locator('[role="menuitem"]:focus').waitFor();
    await page.keyboard.press('Shift+Tab');
    expect(await page.getByRole('menu').count()).toBe(0);
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Actions for billing-api');
  });

  test('the counters over the live tail count new requests', async () => {
    await open('/app/logs?live=1');
    const counter = page.getByText(/^\d[\d,]* requests?$/).first();
    const before = Number.parseInt((await counter.innerText()).replace(',', ''), 10);
    const body = JSON.stringify({ model: 'ok', messages: [{ role: 'user', content: 'hello' }] });
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const answer = await fetch(`${seeded.gateway.url}/v1/chat/completions`, { method: 'POST', headers, body });
    expect(answer.status).toBe(200);
    await page.getByText(`${before + 1} requests`, { exact: true }).waitFor();
  });

  exhaustiveTest('a time zone is found by city and by former name', async () => {
    await open('/app/settings');
    const zone = page.getByRole('combobox', { name: 'Time zone' });
    await zone.fill('calcutta');
    await page.getByRole('option', { name: 'Asia/Kolkata' }).waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await page.keyboard.press('Enter');
    expect(await zone.inputValue()).toBe('Asia/Kolkata');
    await zone.fill('new york');
    await page.keyboard.press('Escape');
    expect(await zone.inputValue()).toBe('Asia/Kolkata');
    await page.getByRole('button', { name: 'Save time zone' }).click();
    await page.getByText('Saved. Days now start at midnight in Asia/Kolkata.').waitFor();
    await must(seeded.owner.ask('PATCH /accounts/default/settings', { body: { time_zone: 'UTC' } }));
  });

  exhaustiveTest('the page of the state names the zone of its times', async () => {
    await open('/status');
    await page.getByText(/^Times in /).waitFor();
  });

  test('the palette is prefetched on user activity and loses no key while loading', async () => {
    const held = Promise.withResolvers<void>();
    await page.route('**/assets/palette-*.js', async (route) => {
      await held.promise;
      await route.continue();
    });
    await open('/app');
    const request = page.waitForRequest('**/assets/palette-*.js');
    await page.mouse.move(700, 400);
    await page.mouse.move(710, 410);
    await request;
    await page.keyboard.press('Control+k');
    await page.keyboard.type('limi');
    await page.keyboard.press('Enter');
    held.resolve();
    await page.getByRole('heading', { level: 1, name: 'Limits' }).waitFor();
    await page.unroute('**/assets/palette-*.js');
  });

  test('a dialog focuses its first field and restores the focus when it closes', async () => {
    await open('/app/keys');
    const focused = page.locator(':focus');
    await page.getByRole('button', { name: 'Create key' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Create API key' });
    await dialog.waitFor();
    await page.keyboard.type('typed at once');
    expect(await dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('typed at once');
    expect(await dialog.getByLabel('Workspace', { exact: true }).inputValue()).toBe('default');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('dialog').first().waitFor({ state: 'detached' });
    expect(await focused.innerText()).toBe('Create key');
    const menu = page.getByRole('button', { name: `Actions for ${LONG}` });
    await menu.click();
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused.getAttribute('aria-label')).toBe(`Actions for ${LONG}`);
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Search pages, actions, keys, models, members…').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused.getAttribute('aria-label')).toBe(`Actions for ${LONG}`);
  });

  test('a form reports all errors at once and hides each when its field changes', async () => {
    await open('/app/keys');
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create API key' });
    const create = dialog.getByRole('button', { name: 'Create key' });
    const wrong = dialog.locator('[aria-invalid="true"]');
    await dialog.getByLabel('Requests/min').fill('many');
    await dialog.getByLabel('Budget (USD)').fill('some');
    await create.click();
    await wrong.nth(2).waitFor();
    expect(await wrong.count()).toBe(3);
    await dialog.getByLabel('Requests/min').fill('60');
    expect(await wrong.count()).toBe(2);
    await dialog.getByLabel('Budget (USD)').fill('none');
    expect(await wrong.count()).toBe(1);
    await create.click();
    await wrong.nth(1).waitFor();
    expect(await wrong.count()).toBe(2);
  });

  test('a key rotated at once has a new secret, and is no new key', async () => {
    await createKey(seeded.gateway, { name: 'leaked job' });
    await open('/app/keys');
    await page.getByRole('button', { name: 'Actions for leaked job' }).click();
    await page.getByRole('menuitem', { name: 'Rotate…' }).click();
    await page.getByText('Now', { exact: true }).click();
    await page.getByRole('button', { name: 'Rotate and expire old secret' }).click();
    const dialog = page.getByRole('dialog', { name: 'New secret for leaked job' });
    await dialog.getByText('The old secret no longer works.').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
  });

  test.each([
    ['/app/logs', 'logs'],
    ['/app/sessions', 'sessions'],
    ['/app/usage', 'usage'],
  ])('on %s, open since yesterday, a range is counted from now', async (path, route) => {
    const other = await newVisitor(browser, { storageState: await page.context().storageState(), viewport: WIDE });
    await other.page.clock.install();
    await openPage(other.page, `${seeded.gateway.url}${path}`);
    await other.page.clock.fastForward('25:00:00');
    const nowMs = Number(await other.page.evaluate('Date.now()'));
    const asked = other.page.waitForRequest((request) => new URL(request.url()).pathname.endsWith(`/default/${route}`));
    await other.page.getByText('1h', { exact: true }).click();
    const from = new URL((await asked).url()).searchParams.get('from') ?? '';
    expect(nowMs - Date.parse(from)).toBeLessThanOrEqual(3_600_000);
    await other.leave();
  });

  test('usage, open since yesterday, goes on until now when its window is shown again', async () => {
    const other = await newVisitor(browser, { storageState: await page.context().storageState(), viewport: WIDE });
    await other.page.clock.install();
    await openPage(other.page, `${seeded.gateway.url}/app/usage`);
    await other.page.clock.fastForward('25:00:00');
    const nowMs = Number(await other.page.evaluate('Date.now()'));
    const asked = other.page.waitForRequest(
      (request) => Date.parse(new URL(request.url()).searchParams.get('to') ?? '') >= nowMs,
    );
    await other.page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
    await asked;
    await other.leave();
  });

  test('the playground sends a prompt once, and names the model that answered', async () => {
    const other = await newVisitor(browser, { storageState: await page.context().storageState(), viewport: WIDE });
    const held = Promise.withResolvers<void>();
    let sent = 0;
    await other.page.route('**/v1/chat/completions', async (route) => {
      sent += 1;
      await held.promise;
      await route.continue();
    });
    await openPage(other.page, `${seeded.gateway.url}/app/playground?model=ok`);
    await other.page.getByLabel('User', { exact: true }).fill('hello');
    const first = other.page.waitForRequest('**/v1/chat/completions');
    await other.page.keyboard.press('Control+Enter');
    await first;
    await other.page.keyboard.press('Control+Enter');
    held.resolve();
    await other.page.getByText('Charged', { exact: true }).waitFor();
    expect(sent).toBe(1);
    await other.page.getByLabel('Model', { exact: true }).selectOption('gpt-5');
    await other.page.waitForURL(/model=gpt-5/);
    const answer = other.page.getByRole('region', { name: 'Response from ok' });
    await other.page.getByLabel('User', { exact: true }).fill('and then?');
    await answer.getByRole('button', { name: 'Continue conversation' }).click();
    await other.page.getByRole('heading', { name: 'gpt-5' }).waitFor();
    const message = other.page.getByLabel('Next message', { exact: true });
    expect(await message.inputValue()).toBe('and then?');
    const next = other.page.waitForRequest('**/v1/chat/completions');
    await message.press('Control+Enter');
    expect((await next).postDataJSON().messages).toMatchObject([
      { role: 'user', content: 'hello' },
      { role: 'assistant' },
      { role: 'user', content: 'and then?' },
    ]);
    await other.leave();
  });

  test('a key that was used long ago is not called unused, and leads to requests of the same time', async () => {
    const { key } = seeded.names;
    const route = `**/accounts/default/keys/${key}`;
    await page.route(route, async (asked) => {
      const response = await asked.fetch();
      const { days, ...rest } = await response.json();
      const none = days.map((day: object) => ({ ...day, requests: 0, errors: 0, cost_nano_usd: '0' }));
      await asked.fulfill({ response, json: { ...rest, days: none } });
    });
    await open(`/app/keys/${key}`);
    await page.getByText('No requests in the last 30 days.').waitFor();
    await page.unroute(route);
    await page.getByRole('link', { name: 'View all requests' }).click();
    await page.waitForURL((url) => url.searchParams.get('range') === '30d' && url.searchParams.get('key') === key);
  });

  test('a dialog that begins with a choice focuses what is chosen', async () => {
    await open('/app/members');
    await page.getByRole('button', { name: 'Actions for The viewer of default' }).click();
    await page.getByRole('menuitem', { name: 'Change role…' }).click();
    await page.getByRole('dialog').locator('input:focus:checked').waitFor();
    await page.keyboard.press('Escape');
  });

  test('members found by a search can be changed as in the whole list', async () => {
    const { person } = await inviteMember(seeded.gateway.url, seeded.owner, { account: 'default', role: 'owner' });
    await open('/app/members?q=ada');
    await page.getByRole('button', { name: 'Actions for Ada Lovelace' }).waitFor();
    await must(seeded.owner.ask(`DELETE /accounts/default/members/${person}`));
  });

  test('no request failed so far', async () => {
    expect(visitor.faults()).toEqual([]);
  });

  test.each([
    ['a page', 'limits-page', 'Limits', 'heading', 'Limits'],
    ['a dialog', 'key-dialogs', 'Create key', 'dialog', 'Create API key'],
  ] as const)('%s that failed to load offers a retry and is then shown', async (_, chunk, press, role, name) => {
    const other = await newVisitor(browser, { storageState: await page.context().storageState(), viewport: WIDE });
    const chunks = `**/assets/${chunk}-*.js*`;
    await openPage(other.page, `${seeded.gateway.url}/app/keys`);
    await other.page.route(chunks, (route) => route.abort());
    await other.page.getByText(press, { exact: true }).first().click();
    const retry = other.page.getByRole('button', { name: 'Retry' });
    await retry.waitFor();
    expect(await other.findBarriers()).toEqual([]);
    await other.page.unroute(chunks);
    await retry.click();
    await other.page.getByRole(role, { name }).first().waitFor();
    await other.leave();
  });
});
