/** Tests keys as a person changes many of them: chosen by keyboard and mouse, tagged, disabled, and undone. */
import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import type { Reply } from '../../../src/console-api/contract/contract.ts';
import { must } from '../../console-api/api-visitor.ts';
import { eventually } from '../../harness/eventually.ts';
import { createKey } from '../../http-contract/make-key.ts';
import { HAS_BROWSER } from '../browser-files.ts';
import { openPage } from '../console-pages.ts';
import { openSeededConsole } from '../open-console.ts';
import type { SeededGateway } from '../seeded-gateway.ts';
import type { Visitor } from '../visitor.ts';

let seeded: Omit<SeededGateway, 'stop'>;
let visitor: Visitor;
let page: Page;

openSeededConsole(async (opened) => {
  ({ seeded, visitor, page } = opened);
  for (const nth of [1, 2, 3]) await createKey(seeded.gateway, { name: `bulk ${nth}` });
});

const bar = () => page.getByRole('region', { name: 'Selected keys' });
const button = (name: string) => page.getByRole('button', { name, exact: true });

async function bulkKeys() {
  const reply = await must(seeded.owner.ask('GET /accounts/default/keys'));
  const { keys } = reply as unknown as Reply<'GET /accounts/{account}/keys'>;
  return keys.filter(({ name }) => name.startsWith('bulk')).toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Waits until the three keys have these values. */
function until(what: string, values: readonly string[], textOf: (key: { status: string; tags: object }) => string) {
  return eventually(what, async () => {
    const found = (await bulkKeys()).map(textOf);
    return found.join() === values.join() ? found : null;
  });
}

describe.skipIf(!HAS_BROWSER)('keys in bulk (needs Chromium for Linux on x64)', () => {
  test('the keyboard chooses a range; a tag of all is one change, and undo restores each', async () => {
    await openPage(page, `${seeded.gateway.url}/app/keys?q=bulk`);
    await button('Name').click();
    const rows = page.getByRole('table', { name: 'API keys' }).locator('tbody tr');
    await rows.first().focus();
    await page.keyboard.press('Space');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Shift+ArrowDown');
    await bar().getByText('3 keys selected').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await bar().getByRole('button', { name: 'Edit…' }).click();
    const sheet = page.getByRole('dialog', { name: 'Edit 3 keys' });
    await sheet.getByLabel('Tags').fill('team=web');
    await sheet.getByRole('button', { name: 'Save 3 keys' }).click();
    const tagsOf = ({ tags }: { tags: object }) => JSON.stringify(tags);
    const web = '{"team":"web"}';
    await until('all keys have the tag', [web, web, web], tagsOf);
    await page.getByLabel('Tag', { exact: true }).selectOption('team=web');
    await page.waitForURL((url) => url.searchParams.get('tag') === 'team=web');
    expect(await rows.count()).toBe(3);
    await button('Undo').click();
    await until('no key has the tag', ['{}', '{}', '{}'], tagsOf);
  });

  test('disabling names what it stops, and can be undone; revoked keys can’t be chosen', async () => {
    const { id, key } = await createKey(seeded.gateway, { name: 'bulk 4' });
    const reply = await fetch(`${seeded.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'ok', messages: [{ role: 'user', content: 'hello' }] }),
    });
    await reply.text();
    await must(seeded.owner.ask(`POST /accounts/default/keys/${(await bulkKeys())[0]?.id}/revoke`, { body: {} }));
    await openPage(page, `${seeded.gateway.url}/app/keys?q=bulk&status=all`);
    expect(await page.getByLabel('Select bulk 1').isDisabled()).toBe(true);
    await page.getByLabel('Select all rows').click();
    await bar().getByRole('button', { name: 'Disable…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Disable 3 keys?' });
    await dialog.getByText('1 request in the last hour used these keys.').waitFor();
    await dialog.getByRole('button', { name: 'Disable 3 keys' }).click();
    const statusOf = ({ status }: { status: string }) => status;
    await until('the keys are disabled', ['revoked', 'disabled', 'disabled', 'disabled'], statusOf);
    await bar().waitFor({ state: 'detached' });
    await button('Undo').click();
    await until('the keys are enabled', ['revoked', 'active', 'active', 'active'], statusOf);
    expect((await bulkKeys()).at(-1)?.id).toBe(id);
    expect(visitor.faults()).toEqual([]);
  });
});
