/** Tests sessions in the console: finding a run, its cost up to each request, where its prompt cache broke and why. */
import { describe, expect, test } from 'bun:test';
import { readFile } from 'node:fs/promises';
import { HAS_BROWSER } from './browser-files.ts';
import { openPage, untilSettled } from './console-pages.ts';
import { openSeededConsole } from './open-console.ts';
import { AGENT_RUN } from './seed-session.ts';
import type { SeededGateway } from './seeded-gateway.ts';
import type { Visitor } from './visitor.ts';

let seeded: Omit<SeededGateway, 'stop'>;
let visitor: Visitor;

openSeededConsole((opened) => {
  ({ seeded, visitor } = opened);
});

const RUN = `/app/sessions/${encodeURIComponent(AGENT_RUN)}`;

describe.skipIf(!HAS_BROWSER)('sessions (needs Chromium for Linux on x64)', () => {
  test('a run is found by a query, and its page says where the cache broke and what that cost', async () => {
    const { page } = visitor;
    await openPage(page, `${seeded.gateway.url}/app/sessions?q=${encodeURIComponent('session:refactor*')}`);
    const rows = page.getByRole('table', { name: 'Sessions' }).locator('tbody tr[data-row]');
    expect(await rows.count()).toBe(1);
    expect(await rows.first().innerText()).toContain('14');
    await untilSettled(page, async () => {
      await rows.first().click();
      await page.getByRole('heading', { level: 1, name: AGENT_RUN }).waitFor();
    });
    expect(new URL(page.url()).pathname).toBe(RUN);
    const breaks = page.getByRole('list', { name: 'Breaks of the prompt cache' }).getByRole('listitem');
    const texts = await breaks.allInnerTexts();
    expect(texts).toHaveLength(3);
    expect(texts[0]).toMatch(
      /^Request 6 [\s\S]*13 min 59 s passed since the request before; the cache keeps a prompt for 5 min/,
    );
    expect(texts[1]).toMatch(/^Request 9 [\s\S]*gpt-4\.1-2026-01-01 instead of gpt-5-2026-01-01/);
    expect(texts[2]).toMatch(/^Request 12 [\s\S]*not stored, so what changed is unknown/);
    await page.getByText('3 breaks, at most $0.2456').waitFor();
    await page
      .getByRole('img', { name: /after 14 requests\. The prompt cache broke at request 6, 9, 12\.$/ })
      .waitFor();
  });

  test('a request opens over its session, and leads back to it', async () => {
    const { page } = visitor;
    await openPage(page, `${seeded.gateway.url}${RUN}`);
    await page.getByRole('button', { name: 'Request 9' }).click();
    const sheet = page.getByRole('dialog', { name: /^gpt-4\.1/ });
    await sheet.getByRole('link', { name: 'Show session' }).waitFor();
    await sheet.getByRole('button', { name: 'Close' }).click();
    await sheet.waitFor({ state: 'detached' });
    await untilSettled(page, () => page.getByRole('link', { name: 'Show in Logs' }).click());
    const requests = page.getByRole('table', { name: 'Requests, newest first' }).locator('tbody tr[data-row]');
    expect(await requests.count()).toBe(14);
  });

  test('the file has each request with the cost up to it and the cause of its break', async () => {
    const { page } = visitor;
    await openPage(page, `${seeded.gateway.url}${RUN}`);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
    expect(lines).toHaveLength(15);
    expect(lines[6]).toMatch(/^6,req_[0-9a-f]+,.*,expired,req_/);
    expect(lines[14]).toContain(',0.658398,');
  });

  test('an unknown session says so, and an empty period what a session is', async () => {
    const { page } = visitor;
    await openPage(page, `${seeded.gateway.url}/app/sessions/none`);
    await page.getByText('this account has no requests of a session none').waitFor();
    const range = 'from=2020-01-01T00:00:00.000Z&to=2020-01-02T00:00:00.000Z';
    await openPage(page, `${seeded.gateway.url}/app/sessions?${range}`);
    await page.getByText('A session is one run of an agent or one conversation').waitFor();
  });
});
