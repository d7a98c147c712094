/** Tests the credentials of a provider in the console: adding, changing, resting and removing one. */
import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { addProvider, must, type Person } from '../../console-api/api-visitor.ts';
import type { RunningGateway } from '../../harness/start-gateway.ts';
import { HAS_BROWSER } from '../browser-files.ts';
import { openPage } from '../console-pages.ts';
import { openOwnConsole } from '../open-console.ts';
import type { Visitor } from '../visitor.ts';

let api: Person;
let gateway: RunningGateway;
let visitor: Visitor;
let page: Page;

openOwnConsole(async (opened) => {
  ({ owner: api, gateway, visitor, page } = opened);
  await addProvider(api, 'lab', { model: 'lab-small', credentials: { api_key: 'canary-first-0123' } });
});

const sheet = () => page.getByRole('dialog', { name: 'Credentials of lab' });
const field = (label: string) => page.getByRole('dialog').getByLabel(label, { exact: true }).last();
const press = (name: string) => page.getByRole('button', { name, exact: true }).last().click();

async function choose(trigger: string, item: string): Promise<void> {
  await press(trigger);
  await page.getByRole('menuitem', { name: item }).click();
}

async function readPool(): Promise<readonly Record<string, unknown>[]> {
  const { json } = await api.ask('GET /accounts/default/providers/lab/credentials');
  return json.credentials;
}

describe.skipIf(!HAS_BROWSER)('the credentials of a provider (needs Chromium for Linux on x64)', () => {
  test('get a second one, which is changed, rested, put back and removed', async () => {
    await openPage(page, `${gateway.url}/app/providers`);
    await choose('Actions for lab', 'Credentials…');
    await sheet().getByText('Weight 1').waitFor();

    await press('Add credential');
    await field('Name').fill('spare');
    await field('API key').fill('canary-second-4567');
    await field('Organization').fill('acme-eu');
    await page
      .getByRole('dialog', { name: 'Add credential to lab' })
      .getByRole('button', { name: 'Add credential' })
      .click();
    await sheet().getByText('Organization acme-eu').waitFor();
    expect(await readPool()).toMatchObject([
      { name: 'default', last4: '0123', weight: 1, organisation: null },
      { name: 'spare', last4: '4567', weight: 1, organisation: 'acme-eu', models: null },
    ]);

    await choose('Actions for spare', 'Edit…');
    await field('Weight').fill('1001');
    await page.getByText('Enter a whole number from 0 to 1000.').waitFor();
    await field('Weight').fill('0');
    const sent = page.waitForRequest((request) => request.method() === 'PATCH');
    await press('Save changes');
    expect((await sent).postDataJSON()).toEqual({ weight: 0 });
    await sheet().getByText('Fallback only').waitFor();

    await choose('Actions for default', 'Remove from rotation');
    await sheet().getByText('Out of rotation', { exact: true }).waitFor();
    expect((await readPool())[0]?.out_of_rotation_since).toBeString();
    await choose('Actions for default', 'Return to rotation');
    await sheet().getByText('Out of rotation', { exact: true }).waitFor({ state: 'detached' });

    await choose('Actions for spare', 'Remove…');
    await press('Remove credential');
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
    await choose('Actions for lab', 'Credentials…');
    await sheet().getByText('default and twin belong to one organization.').waitFor();
    await choose('Actions for twin', 'Remove…');
    await press('Remove credential');
    await sheet().getByText('twin', { exact: true }).waitFor({ state: 'detached' });
    await press('Actions for default');
    await page.getByRole('menu', { name: 'Actions for default' }).waitFor();
    const items = await page.getByRole('menuitem').filter({ visible: true }).allTextContents();
    expect(items).toEqual(['Test', 'Edit…', 'Replace secret…', 'Remove from rotation']);
    expect(await page.getByRole('menuitem', { name: 'Remove from rotation' }).isDisabled()).toBe(true);
  });

  test('sends only what its form changed, also where others changed the provider meanwhile', async () => {
    await openPage(page, `${gateway.url}/app/providers`);
    await choose('Actions for lab', 'Edit…');
    const base_url = 'https://moved.example.com/v1';
    await must(
      api.ask('PATCH /accounts/default/providers/lab', {
        body: { base_url, credentials: { api_key: 'canary-moved-6789' } },
      }),
    );
    // Behind the form the page shows the newer state.
    await page.waitForResponse((response) => new URL(response.url()).pathname.endsWith('/providers'));
    await page.getByText('moved.example.com').first().waitFor();
    await field('API key').fill('canary-fourth-2345');
    const sent = page.waitForRequest((request) => request.method() === 'PATCH');
    await press('Save changes');
    expect((await sent).postDataJSON()).toEqual({ credentials: { api_key: 'canary-fourth-2345' } });
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(visitor.faults()).toEqual([]);
  });
});
