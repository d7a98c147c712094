/** Tests the key `/`: it focuses the page's filter if there is one; otherwise the page does not mention the key. */
import { describe, expect, test } from 'bun:test';
import { firstOrAll } from '../harness/exhaustive.ts';
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

const open = (path: string) => openPage(visitor.page, `${seeded.gateway.url}${path}`);
const isListed = async () => {
  await visitor.page.keyboard.press('?');
  const sheet = visitor.page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await sheet.waitFor();
  return (await sheet.getByText('Filter the page', { exact: true }).count()) === 1;
};

describe.skipIf(!HAS_BROWSER)('the key / (needs Chromium for Linux on x64)', () => {
  test.each(
    firstOrAll([
      ['/app/keys', 'Search by name, last 4 characters, owner, workspace or tag'],
      ['/app/models', 'Name, provider or capability'],
      ['/app/limits', 'Name or ID'],
      ['/app/logs', 'Query'],
      ['/app/audit', 'Query'],
      ['/app/usage', 'Query'],
    ]),
  )('on %s focuses “%s”', async (path, name) => {
    await open(path);
    await visitor.page.keyboard.press('/');
    expect(await visitor.page.locator(':focus').getAttribute('aria-label')).toBe(name);
    await visitor.page.locator(':focus').blur();
    expect(await isListed()).toBe(true);
  });

  test.each(
    firstOrAll(['/app', '/app/members', '/app/workspaces', '/app/providers', '/app/billing', '/app/playground']),
  )('isn’t listed on %s, which has no filter', async (path) => {
    await open(path);
    expect(await isListed()).toBe(false);
  });
});
