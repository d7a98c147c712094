/** Tests the reasons of failed requests on the logs page: one row per reason, which leads to exactly its requests. */
import { describe, expect, test } from 'bun:test';
import { createKey } from '../../http-contract/make-key.ts';
import { HAS_BROWSER } from '../browser-files.ts';
import { openPage } from '../console-pages.ts';
import { openSeededConsole } from '../open-console.ts';
import type { SeededGateway } from '../seeded-gateway.ts';
import type { Visitor } from '../visitor.ts';

let seeded: Omit<SeededGateway, 'stop'>;
let visitor: Visitor;

openSeededConsole((opened) => {
  ({ seeded, visitor } = opened);
});

describe.skipIf(!HAS_BROWSER)('reasons on the logs page (needs Chromium for Linux on x64)', () => {
  test('the row of a reason has its number of requests, and opens them', async () => {
    const { gateway } = seeded;
    const { page } = visitor;
    const { key, id } = await createKey(gateway, { name: 'restricted', models: ['gpt-5'] });
    for (let nth = 0; nth < 3; nth++) {
      const refused = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'ok', messages: [{ role: 'user', content: 'hello' }] }),
      });
      expect(refused.status).toBe(403);
    }
    await openPage(page, `${gateway.url}/app/logs?view=reasons&range=24h&key=${id}`);
    const row = page.getByRole('row').filter({ hasText: 'ok isn’t included' });
    await row.getByText('Model not allowed').waitFor();
    expect(await row.getByRole('cell').nth(1).innerText()).toBe('3');
    await row.click();
    await page.getByRole('button', { name: /^Reason\s*Model not allowed/ }).waitFor();
    const requests = page.getByRole('table', { name: 'Requests, newest first' }).locator('tbody tr[data-row]');
    await requests.nth(2).waitFor();
    expect(await requests.count()).toBe(3);
    // The filter is in the address, and so is the way back to all reasons.
    expect(new URL(page.url()).searchParams.get('reason')).toContain('model_not_allowed');
    await page.getByRole('button', { name: /^Reason\s*Model not allowed/ }).click();
    await page.getByText('Reasons', { exact: true }).click();
    await page.getByRole('table', { name: 'Reasons of failed requests' }).waitFor();
    await page.getByText('Numbers in a reason are those of its newest request.').waitFor();
  });

  test('a period without failures says so', async () => {
    const { page } = visitor;
    await openPage(
      page,
      `${seeded.gateway.url}/app/logs?view=reasons&from=2020-01-01T00:00:00.000Z&to=2020-01-02T00:00:00.000Z`,
    );
    await page.getByText('No failed requests').waitFor();
  });
});
