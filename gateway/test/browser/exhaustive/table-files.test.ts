/**
 * Tests downloads of tables made in the browser: they have what the page's filter shows, and their code loads on
 * demand.
 */
import { describe, expect, test } from 'bun:test';
import { exhaustiveTest, firstOrAll } from '../../harness/exhaustive.ts';
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

/** Presses the button; returns the file's name, its lines, and the scripts fetched for it. */
async function save(path: string) {
  const { page } = visitor;
  await openPage(page, `${seeded.gateway.url}${path}`);
  const scripts: string[] = [];
  page.on('request', (request) => request.resourceType() === 'script' && scripts.push(request.url()));
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV', exact: true }).click(),
  ]);
  const text = await Bun.file(await download.path()).text();
  return { file: download.suggestedFilename(), lines: text.split('\r\n').slice(0, -1), scripts };
}

describe.skipIf(!HAS_BROWSER)('a table download (needs Chromium for Linux on x64)', () => {
  test.each(
    firstOrAll([
      ['/app/keys', 'tollgate-keys-default.csv', 'id,name,last4', 'billing-api'],
      ['/app/models', 'tollgate-models-default.csv', 'name,aliases,targets', 'gpt-5-mini'],
      ['/app/limits', 'tollgate-limits-default.csv', 'kind,id,name', 'user-7'],
      ['/app/workspaces', 'tollgate-workspaces-default.csv', 'id,keys,month_usd', 'research'],
      ['/app/members', 'tollgate-members-default.csv', 'person,name,email', 'ada@example.com'],
      ['/app/billing', 'tollgate-accounts.csv', 'id,name,mode,balance_usd', 'default'],
    ]),
  )('of %s is %s', async (path, name, heads, word) => {
    const { file, lines, scripts } = await save(path);
    expect(file).toBe(name);
    expect(lines[0]).toStartWith(heads);
    expect(lines.slice(1).join('\n')).toContain(word);
    expect(scripts.length).toBeGreaterThan(0);
    expect(visitor.faults()).toEqual([]);
  });

  exhaustiveTest('contains only filtered rows', async () => {
    const { lines } = await save('/app/keys?q=billing');
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain('billing-api');
  });
});
