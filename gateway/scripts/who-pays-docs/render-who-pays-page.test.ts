/** Tests that the committed page matches the table, and that it contains each row of the table. */
import { expect, test } from 'bun:test';
import { WHO_PAYS } from '../../src/billing/who-pays.ts';
import { renderRow, renderWhoPaysPage } from './render-who-pays-page.ts';

test('docs/who-pays.md is what the generator makes: run `npm run docs`', async () => {
  const page = await Bun.file(new URL('../../../docs/who-pays.md', import.meta.url)).text();
  expect(page).toBe(renderWhoPaysPage());
});

test('the page has a row for each way a call can end', () => {
  const [, table = ''] = renderWhoPaysPage().split('|---|---|---|\n');
  const rows = table.split('\n\n')[0]?.split('\n') ?? [];
  expect(rows).toHaveLength(Object.keys(WHO_PAYS).length);
  expect(new Set(rows).size).toBe(rows.length);
});

test('a row says what is charged and where its numbers may come from', () => {
  expect(renderRow('It broke.', { charged: 'nothing', source: 'void' })).toBe('| It broke. | nothing | `void` |');
  expect(renderRow('It left.', { charged: 'count', source: 'partial', sourceOfCount: 'counted' })).toBe(
    "| It left. | the input, by the provider's number if it reported one, and the output by Tollgate's count | `partial`, or `counted` |",
  );
});
