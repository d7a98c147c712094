/** Tests the credentials of a provider in the console: adding, changing, resting and removing one. */
import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { addProvider, must, type Person } from '../../console-api/api-visitor.ts';
import type { RunningGateway } from '../../harness/start-gateway.ts';
import { HAS_BROWSER } from '../browser-files.ts';
import { openPage } from '../console-pages.ts';
import { openOwnConsole } from '../open-console.ts';
import { choose, press } from '../press.ts';
import type { Visitor } from '../visitor.ts';

let api: Person;
let gateway: RunningGateway;
let visitor: Visitor;
let page: Page;

openOwnConsole(async (opened) => {
  ({ owner: api, gateway, visitor, page } = opened);
  await addProvider(api, 'lab', { model: 'lab-small', credentials: { api_key: 'canary-first-0123' } });
});

const dialog = (name: string) => page.getByRole('dialog', { name });
const sheet = () => dialog('Credentials of lab');

async function readPool(): Promise<readonly Record<string, unknown>[]> {
  const { json } = await api.ask('GET /accounts/default/providers/lab/credentials');
  return json.credentials;
}

describe.skipIf(!HAS_BROWSER)('the credentials of a provider (needs Chromium for Linux on x64)', () => {
  test('get a second one, which is changed, rested, put back and removed', async () => {
    await openPage(page, `${gateway.url}/app/providers`);
    await choose(page, 'Actions for lab', 'Credentials…');
    await sheet().getByText('Weight 1').waitFor();

    await press(sheet(), 'Add credential');
    const added = dialog('Add credential to lab');
    await added.getByLabel('Name', { exact: true }).fill('spare');
    await added.getByLabel('API key', { exact: true }).fill('canary-second-4567');
    await added.getByLabel('Organization', { exact: true }).fill('acme-eu');
    await press(added, 'Add credential');
    await sheet().getByText('Organization acme-eu').waitFor();
    expect(await readPool()).toMatchObject([
      { name: 'default', last4: '0123', weight: 1, organisation: null },
      { name: 'spare', last4: '4567', weight: 1, organisation: 'acme-eu', models: null },
    ]);

    await choose(sheet(), 'Actions for spare', 'Edit…');
    const changed = dialog('Edit spare');
    const weight = changed.getByLabel('Weight', { exact: true });
    await weight.fill('1001');
    await changed.getByText('Enter a whole number from 0 to 1000.').waitFor();
    await weight.fill('0');
    const sent = page.waitForRequest((request) => request.method() === 'PATCH');
    await press(changed, 'Save changes');
    expect((await sent).postDataJSON()).toEqual({ weight: 0 });
    await sheet().getByText('Fallback only').waitFor();

    await choose(sheet(), 'Actions for default', 'Remove from rotation');
    await sheet().getByText('Out of rotation', { exact: true }).waitFor();
    expect((await readPool())[0]?.out_of_rotation_since).toBeString();
    await choose(sheet(), 'Actions for default', 'Return to rotation');
    await sheet().getByText('Out of rotation', { exact: true }).waitFor({ state: 'detached' });

    await choose(sheet(), 'Actions for spare', 'Remove…');
    await press(dialog('Remove spare?'), 'Remove credential');
    await sheet().getByText('spare', { exact: true }).waitFor({ state: 'detached' });
    expect(await readPool()).toMatchObject([{ name: 'default', weight: 1 }]);
    expect(await page.content()).not.toContain('canary');
    expect(visitor.faults()).toEqual([]);
  });

  test('cannot rest or lose the only one, and a second of one organization is said to add nothing', async () => {
    await must(
      api.ask('POST /accounts/default/providers/lab/credentials', {
        body: { name: 'twin', secrets: { api_key: 'canary-third-8901' } },
      }),
    );
    await openPage(page, `${gateway.url}/app/providers`);
    await choose(page, 'Actions for lab', 'Credentials…');
    await sheet().getByText('default and twin belong to one organization.').waitFor();
    await choose(sheet(), 'Actions for twin', 'Remove…');
    await press(dialog('Remove twin?'), 'Remove credential');
    await sheet().getByText('twin', { exact: true }).waitFor({ state: 'detached' });
    await press(sheet(), 'Actions for default');
    const menu = sheet().getByRole('menu', { name: 'Actions for default' });
    await menu.waitFor();
    const items = await menu.getByRole('menuitem').allTextContents();
    expect(items).toEqual(['Test', 'Edit…', 'Replace secret…', 'Remove from rotation']);
    expect(await menu.getByRole('menuitem', { name: 'Remove from rotation' }).isDisabled()).toBe(true);
  });

  test('sends only what its form changed, also where others changed the provider meanwhile', async () => {
    await openPage(page, `${gateway.url}/app/providers`);
    await choose(page, 'Actions for lab', 'Edit…');
    const base_url = 'https://moved.example.com/v1';
    await must(
      api.ask('PATCH /accounts/default/providers/lab', {
        body: { base_url, credentials: { api_key: 'canary-moved-6789' } },
      }),
    );
    // Behind the form the page shows the newer state.
    await page.waitForResponse((response) => new URL(response.url()).pathname.endsWith('/providers'));
    await page.getByText('moved.example.com').first().waitFor();
    const changed = dialog('Edit lab');
    await changed.getByLabel('API key', { exact: true }).fill('canary-fourth-2345');
    const sent = page.waitForRequest((request) => request.method() === 'PATCH');
    await press(changed, 'Save changes');
    expect((await sent).postDataJSON()).toEqual({ credentials: { api_key: 'canary-fourth-2345' } });
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(visitor.faults()).toEqual([]);
  });
});
