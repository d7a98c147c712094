/** Tests the query bar of the logs page: completion from real names, what it says of a mistake, and sorting by a column. */
import { describe, expect, test } from 'bun:test';
import { HAS_BROWSER } from './browser-files.ts';
import { openPage } from './console-pages.ts';
import { openSeededConsole } from './open-console.ts';
import type { SeededGateway } from './seeded-gateway.ts';
import type { Visitor } from './visitor.ts';

let seeded: Omit<SeededGateway, 'stop'>;
let visitor: Visitor;

openSeededConsole((opened) => {
  ({ seeded, visitor } = opened);
});

async function openBar(path: string) {
  const { page } = visitor;
  await openPage(page, `${seeded.gateway.url}${path}`);
  return { page, bar: page.getByRole('combobox', { name: 'Query' }) };
}

const askedFor = (name: string) => new URL(visitor.page.url()).searchParams.get(name);

describe.skipIf(!HAS_BROWSER)('the query bar (needs Chromium for Linux on x64)', () => {
  test('completes a field and a real name by keyboard, and lists what the query says', async () => {
    const { page, bar } = await openBar('/app/logs?range=30d');
    await bar.fill('ke');
    await page.getByRole('option', { name: /^key/ }).waitFor();
    await bar.press('ArrowDown');
    await bar.press('Enter');
    expect(await bar.inputValue()).toBe('key:');
    await bar.pressSequentially('night');
    const option = page.getByRole('option', { name: /^nightly evaluation/ });
    await option.waitFor();
    expect(await option.innerText()).toMatch(/\d/);
    await option.click();
    expect(await bar.inputValue()).toBe('key:"nightly evaluation" ');
    await bar.pressSequentially('-status:2xx');
    await bar.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('q') === 'key:"nightly evaluation" -status:2xx');
    const rows = page.getByRole('table', { name: 'Requests, newest first' }).locator('tbody tr[data-row]');
    await rows.first().waitFor();
    for (const text of await rows.allInnerTexts()) expect(text).toContain('nightly evaluation');
  });

  test('keeps the order of what is typed before the next frame', async () => {
    const { page, bar } = await openBar('/app/logs?range=30d');
    await bar.fill('sta');
    await page.getByRole('option', { name: /^status/ }).waitFor();
    await page.evaluate(`{
      const { requestAnimationFrame: next } = window;
      window.requestAnimationFrame = (run) => window.setTimeout(() => next(run), 100);
    }`);
    await bar.press('ArrowDown');
    await bar.press('Enter');
    await bar.pressSequentially('5xx model:', { delay: 30 });
    expect(await bar.inputValue()).toBe('status:5xx model:');
  });

  test('names a mistake with what was probably meant, and asks nothing', async () => {
    const { page, bar } = await openBar('/app/logs?range=30d');
    await bar.fill('modle:gpt-5');
    await bar.press('Enter');
    await page.getByText('found the field "modle", expected model?').waitFor();
    expect(askedFor('q')).toBeNull();
    await bar.fill('key:nobody');
    await bar.press('Enter');
    await page.getByText('key: found "nobody", expected the name of a key').waitFor();
  });

  test('text without a field is searched in stored bodies, and the page says what was searched', async () => {
    const { page, bar } = await openBar('/app/logs?range=30d');
    await bar.fill('"no such text" status:2xx');
    await bar.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('q') === '"no such text" status:2xx');
    await page.getByText(/^The text (is|was) searched in /).waitFor();
    expect(await page.getByRole('button', { name: 'Live tail' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('table', { name: 'Requests, newest first' }).waitFor();
  });

  test('the same query narrows usage, and leads to its requests', async () => {
    const { page, bar } = await openBar('/app/usage?range=30d&by=key');
    await bar.fill('key:"nightly evaluation" duration>1s');
    await bar.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('q') === 'key:"nightly evaluation" duration>1s');
    const table = page.getByRole('table').last();
    await table.getByRole('row', { name: /billing-api/ }).waitFor({ state: 'detached' });
    expect(await table.getByRole('row', { name: /nightly evaluation/ }).count()).toBe(1);
    await bar.fill('"no such text"');
    await bar.press('Enter');
    await page.getByText('usage does not search text').waitFor();
    await page.getByRole('link', { name: 'Show in Logs' }).click();
    await page.getByText(/^The text (is|was) searched in /).waitFor();
  });

  test('the audit log has its own fields, and names a value that no entry has', async () => {
    const { page, bar } = await openBar('/app/audit');
    await bar.fill('action:keys.creat');
    await page.getByRole('option', { name: /^keys\.create\b/ }).click();
    await bar.press('Enter');
    await page.waitForURL((url) => url.searchParams.get('q') === 'action:keys.create');
    const rows = page.getByRole('table', { name: 'Audit log' }).locator('tbody tr[data-row]');
    await page.getByRole('button', { name: 'Clear filters' }).waitFor();
    await rows.filter({ hasNotText: 'Created key' }).first().waitFor({ state: 'detached' });
    expect(await rows.count()).toBeGreaterThan(3);
    await bar.fill('action:keys.creatd');
    await bar.press('Enter');
    await page.getByText('which no entry has; expected keys.create?').waitFor();
  });

  test('a click on a column sorts all requests of the range by it', async () => {
    const { page } = visitor;
    await openPage(page, `${seeded.gateway.url}/app/logs?range=30d&q=${encodeURIComponent('duration>1s')}`);
    await page.getByRole('button', { name: 'Duration (ms)' }).click();
    await page.waitForURL((url) => url.searchParams.get('sort') === '-duration');
    const table = page.getByRole('table', { name: 'Requests', exact: true });
    await table.locator('tbody tr[data-row]').first().waitFor();
    const heads = await table.getByRole('columnheader').allInnerTexts();
    const nth = heads.findIndex((head) => head.startsWith('Duration'));
    const rows = await table.locator('tbody tr[data-row]').all();
    const durations = await Promise.all(
      rows
        .slice(0, 20)
        .map(async (row) => Number((await row.getByRole('cell').nth(nth).innerText()).replaceAll(',', ''))),
    );
    expect(durations.length).toBeGreaterThan(5);
    expect(durations).toEqual(durations.toSorted((one, other) => other - one));
  });
});
