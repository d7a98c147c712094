/** Tests that a model has the same color on every page, although pages show different sets of models. */
import { expect, test } from 'bun:test';
import type { Locator } from 'playwright-core';
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

/** The colors of rows that have one, by the name that each row begins with. */
async function colorsIn(lines: Locator): Promise<Readonly<Record<string, string>>> {
  const colors: Record<string, string> = {};
  for (const line of await lines.all()) {
    const style = await line.locator('[style*="--chart-"]').first().getAttribute('style');
    const [name = ''] = (await line.innerText()).split(/[\n\t]/);
    colors[name] = /--chart-\w+/.exec(style ?? '')?.[0] ?? '';
  }
  return colors;
}

test.skipIf(!HAS_BROWSER)('a model has the same color on every page (needs Chromium for Linux on x64)', async () => {
  const { page, faults } = visitor;
  const { url } = seeded.gateway;
  const list = page.getByRole('list', { name: 'Series' }).getByRole('listitem');
  await openPage(page, `${url}/app/usage?range=30d&model=gpt-5-mini`);
  // By its letters alone it would get the color of gpt-5, which precedes it in the alphabet.
  const one = await colorsIn(list);
  expect(Object.keys(one)).toEqual(['gpt-5-mini']);
  await openPage(page, `${url}/app/usage?range=30d`);
  const all = await colorsIn(list);
  expect(Object.keys(all).length).toBeGreaterThan(4);
  expect(all).toMatchObject(one);
  expect(new Set(Object.values(all)).size).toBe(Object.keys(all).length);
  await openPage(page, `${url}/app?range=30d`);
  const home = await colorsIn(page.getByRole('table').filter({ hasText: 'Top models by spend' }).locator('tbody tr'));
  expect(Object.keys(home).length).toBeGreaterThan(2);
  expect(all).toMatchObject(home);
  expect(faults()).toEqual([]);
});
