/** Tests the page of a model: its figures are those of the API, and another model stands beside it. */
import { expect, test } from 'bun:test';
import { must } from '../../console-api/api-visitor.ts';
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

test.skipIf(!HAS_BROWSER)('two models are compared over the same range (needs Chromium for Linux on x64)', async () => {
  const { page } = visitor;
  const to = new Date(Math.ceil(Date.now() / 60_000) * 60_000).toISOString();
  const from = new Date(Date.parse(to) - 20 * 86_400_000).toISOString();
  await openPage(page, `${seeded.gateway.url}/app/models/gpt-5-mini?from=${from}&to=${to}`);
  const usage = page.getByRole('table', { name: 'Usage', exact: true });
  expect(await usage.getByRole('columnheader').count()).toBe(2);
  await page.getByLabel('Compare with').selectOption('gpt-5');
  await page.waitForURL((url) => url.searchParams.get('with') === 'gpt-5');
  const asked = ['gpt-5-mini', 'gpt-5'].map(async (model) => {
    const path = `GET /accounts/default/usage?from=${from}&to=${to}&model=${model}`;
    const { total } = (await must(seeded.owner.ask(path))) as { total: { requests: number } };
    return total.requests.toLocaleString('en-US');
  });
  const expected = await Promise.all(asked);
  expect(expected).not.toContain('0');
  const row = usage.getByRole('row', { name: /^Requests/ });
  await row
    .getByRole('cell')
    .nth(1)
    .getByText(expected[1] ?? '', { exact: true })
    .waitFor();
  expect(await row.getByRole('cell').allInnerTexts()).toEqual(expected);
  const prices = page.getByRole('table', { name: 'Price (USD per million tokens)' });
  expect(await prices.getByRole('row', { name: /^Cache read/ }).count()).toBe(1);
  await page.getByText('"model":"gpt-5-mini"').waitFor();
  await openPage(page, `${seeded.gateway.url}/app/models/no-such-model`);
  await page.getByText('No such model').waitFor();
});
