/** Tests saved views of the logs page: saved by keyboard, shown, changed, pinned to Home and deleted; columns; and the live tail. */
import { describe, expect, test } from 'bun:test';
import { createKey } from '../http-contract/make-key.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { openPage, untilSettled } from './console-pages.ts';
import { openSeededConsole } from './open-console.ts';
import type { SeededGateway } from './seeded-gateway.ts';
import type { Visitor } from './visitor.ts';

let seeded: Omit<SeededGateway, 'stop'>;
let visitor: Visitor;

openSeededConsole((opened) => {
  ({ seeded, visitor } = opened);
});

const QUERY = 'key:"nightly evaluation" -status:2xx';
const LOGS = `/app/logs?range=30d&sort=-duration&columns=at,status,user,duration&q=${encodeURIComponent(QUERY)}`;
const shownBy = (name: string) => new URL(visitor.page.url()).searchParams.get(name);
const rows = () => visitor.page.getByRole('table').first().locator('tbody tr[data-row]');
const heads = async () => (await visitor.page.getByRole('columnheader').allInnerTexts()).map((head) => head.trim());

describe.skipIf(!HAS_BROWSER)('saved views (needs Chromium for Linux on x64)', () => {
  test('a view is saved by keyboard, and lists exactly what was listed when it was saved', async () => {
    const { page } = visitor;
    await openPage(page, `${seeded.gateway.url}${LOGS}`);
    expect(await heads()).toEqual(['Time', 'Status', 'End user', 'Duration (ms)']);
    const before = await rows().allInnerTexts();
    expect(before.length).toBeGreaterThan(3);
    await page.getByRole('button', { name: 'Views' }).press('Enter');
    await page.getByRole('button', { name: 'Save this page as view…' }).press('Enter');
    await page.keyboard.type('Slow nights');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('saved') !== null);

    await openPage(page, `${seeded.gateway.url}/app/logs`);
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('button', { name: /^Slow nights/ }).click();
    await page.waitForURL((url) => url.searchParams.get('sort') === '-duration');
    expect(shownBy('q')).toBe(QUERY);
    await page.getByRole('columnheader', { name: 'End user' }).waitFor();
    await page.getByText('modified').waitFor({ state: 'detached' });
    // The first cell is a relative time.
    const withoutTime = (texts: readonly string[]) => texts.map((text) => text.slice(text.indexOf('\t')));
    expect(withoutTime(await rows().allInnerTexts())).toEqual(withoutTime(before));
  });

  test('a changed page says so, and the view takes the change or the page loses it', async () => {
    const { page } = visitor;
    await page.getByRole('button', { name: 'Status', exact: true }).click();
    await page.getByText('modified').waitFor();
    await page.getByRole('button', { name: 'Undo changes' }).click();
    await page.waitForURL((url) => url.searchParams.get('sort') === '-duration');
    await page.getByRole('button', { name: 'Status', exact: true }).click();
    await page.getByRole('button', { name: 'Update view' }).click();
    await page.getByText('Updated Slow nights.').waitFor();
    await page.getByText('modified').waitFor({ state: 'detached' });
    expect(shownBy('sort')).toBe('status');
  });

  test('columns are chosen in a dialog, and the CSV file has them in the order of the list', async () => {
    const { page } = visitor;
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'End user' }).uncheck();
    await page.getByRole('checkbox', { name: 'Attempts' }).check();
    await page.getByRole('button', { name: 'Apply columns' }).click();
    await page.waitForURL((url) => url.searchParams.get('columns') === 'at,status,duration,attempts');
    const href = (await page.getByRole('link', { name: 'CSV' }).getAttribute('href')) ?? '';
    const text = await (await page.request.get(new URL(href, seeded.gateway.url).href)).text();
    const [head, ...lines] = text.trim().split('\n');
    expect(head?.trim()).toBe('at,status,error,duration_ms,attempts');
    const statuses = lines.map((line) => Number(line.split(',')[1]));
    expect(statuses.length).toBeGreaterThan(3);
    expect(statuses).toEqual(statuses.toSorted((one, other) => one - other));
  });

  test('a pinned view is on Home until it is unpinned, and the palette finds it', async () => {
    const { page } = visitor;
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('button', { name: 'Actions for Slow nights' }).click();
    await page.getByRole('menuitem', { name: 'Pin to Home' }).click();
    await page.getByText('Home shows Slow nights.').waitFor();
    await openPage(page, `${seeded.gateway.url}/app`);
    await page.getByRole('heading', { name: 'Slow nights' }).waitFor();
    expect(await page.getByRole('table', { name: 'First requests of Slow nights' }).locator('tbody tr').count()).toBe(
      5,
    );
    await page.keyboard.press('Control+k');
    await page.keyboard.type('slow n');
    await page.getByRole('option', { name: /^Slow nights/ }).click();
    await page.waitForURL((url) => url.pathname === '/app/logs' && url.searchParams.get('q') === QUERY);
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('button', { name: 'Actions for Slow nights' }).click();
    await page.getByRole('menuitem', { name: 'Unpin from Home' }).click();
    await page.getByText('Home no longer shows Slow nights.').waitFor();
    await page.getByRole('button', { name: 'Actions for Server errors' }).waitFor();
  });

  test('a deleted view leaves the page as it is', async () => {
    const { page } = visitor;
    await page.getByRole('button', { name: 'Actions for Slow nights' }).click();
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    await untilSettled(page, () => page.getByRole('button', { name: 'Delete view' }).click());
    await page.getByRole('button', { name: 'Actions for Slow nights' }).waitFor({ state: 'detached' });
    expect(shownBy('saved')).toBeNull();
    expect(shownBy('q')).toBe(QUERY);
  });

  test('a paused live tail holds new requests, counts them, and shows them when it goes on', async () => {
    const { page } = visitor;
    const { gateway } = seeded;
    const { key } = await createKey(gateway, { name: 'held job' });
    const call = async () => {
      const body = JSON.stringify({ model: 'ok', messages: [{ role: 'user', content: 'hello' }] });
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      expect((await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })).status).toBe(200);
    };
    await openPage(page, `${gateway.url}/app/logs?range=1h&live=1&q=${encodeURIComponent('key:"held job"')}`);
    await call();
    const shown = page.getByRole('row').filter({ hasText: 'held job' });
    await shown.first().waitFor();
    const bar = page.getByRole('group', { name: 'Live tail' });
    await bar.getByRole('button', { name: 'Pause' }).click();
    const before = await shown.count();
    await call();
    await bar.getByText('1 request waits').waitFor();
    expect(await shown.count()).toBe(before);
    await bar.getByRole('button', { name: 'Resume' }).click();
    await shown.nth(before).waitFor();
    expect(await bar.innerText()).toMatch(/[12] requests? since this page opened/);
  });
});
