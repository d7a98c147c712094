/** Tests that a double press on a button acts once, that its dialog waits, and how the page goes on after a lost or failed reply. */
import { beforeEach, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { must, type Person } from '../console-api/api-visitor.ts';
import type { RunningGateway } from '../harness/start-gateway.ts';
import { createKey } from '../http-contract/make-key.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { openPage, untilSettled } from './console-pages.ts';
import { openOwnConsole } from './open-console.ts';
import { choose, press } from './press.ts';

let gateway: RunningGateway;
let owner: Person;
let page: Page;
const acts: string[] = [];

openOwnConsole((opened) => {
  ({ gateway, owner, page } = opened);
  page.on('request', (request) => {
    if (request.method() !== 'GET') acts.push(new URL(request.url()).pathname.split('/').at(-1) ?? '');
  });
});

/** Two presses before the page can be drawn, as on a slow computer. */
const pressTwice = (name: string) =>
  page
    .getByRole('dialog')
    .getByRole('button', { name, exact: true })
    .evaluate((button: { click(): void }) => {
      button.click();
      button.click();
    });

describe.skipIf(!HAS_BROWSER)('a double press (needs Chromium for Linux on x64)', () => {
  beforeEach(() => void acts.splice(0));

  test('creates one key', async () => {
    await openPage(page, `${gateway.url}/app/keys?action=create`);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('pressed twice');
    await press(dialog, /^Coding agent/);
    await untilSettled(page, () => pressTwice('Create key'));
    await page.getByRole('dialog', { name: 'API key pressed twice created' }).waitFor();
    expect(acts).toEqual(['keys']);
  });

  test('and closing meanwhile do not hide the secret of a new key', async () => {
    await openPage(page, `${gateway.url}/app/keys?action=create`);
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('slow');
    await press(dialog, /^Coding agent/);
    const came = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    await page.route(
      '**/keys',
      async (route) => {
        came.resolve();
        await answer.promise;
        await route.continue();
      },
      { times: 1 },
    );
    await pressTwice('Create key');
    await came.promise;
    // Nor is one asked whether to discard what is on its way.
    for (const close of [
      () => page.keyboard.press('Escape'),
      () => dialog.getByRole('button', { name: 'Close', exact: true }).click({ force: true }),
      () => dialog.getByRole('button', { name: 'Cancel', exact: true }).click({ force: true }),
    ]) {
      await close();
      expect(await page.getByRole('dialog').count()).toBe(1);
    }
    answer.resolve();
    await page.getByRole('dialog', { name: 'API key slow created' }).waitFor();
    expect(acts).toEqual(['keys']);
  });

  test('rotates a key once, so that its old secret stays valid', async () => {
    await createKey(gateway, { name: 'rotated' });
    await openPage(page, `${gateway.url}/app/keys`);
    await choose(page, 'Actions for rotated', 'Rotate…');
    await untilSettled(page, () => pressTwice('Rotate key'));
    await page.getByRole('dialog', { name: 'New secret for rotated' }).waitFor();
    expect(acts).toEqual(['rotate']);
  });

  test('revokes a key once, and another press after a failure acts again', async () => {
    const { id } = await createKey(gateway, { name: 'revoked' });
    await openPage(page, `${gateway.url}/app/keys`);
    await choose(page, 'Actions for revoked', 'Revoke…');
    await page.route('**/revoke', (route) => route.abort(), { times: 1 });
    await untilSettled(page, () => pressTwice('Revoke key'));
    await page.getByText('Can’t reach the gateway.').waitFor();
    await press(page.getByRole('dialog'), 'Revoke key');
    await page.getByText('Revoked revoked.').waitFor();
    expect(acts).toEqual(['revoke', 'revoke']);
    const { keys } = await must(owner.ask('GET /accounts/default/keys'));
    expect(keys.find((key: { id: string }) => key.id === id).status).toBe('revoked');
  });
});

describe.skipIf(!HAS_BROWSER)('a retry (needs Chromium for Linux on x64)', () => {
  test('is not needed after a lost reply: the page shows what was carried out', async () => {
    await createKey(gateway, { name: 'lost' });
    await openPage(page, `${gateway.url}/app/keys`);
    await choose(page, 'Actions for lost', 'Rotate…');
    const dialog = page.getByRole('dialog');
    await page.route(
      '**/rotate',
      async (route) => {
        await route.fetch();
        await route.abort();
      },
      { times: 1 },
    );
    await press(dialog, 'Rotate key');
    await dialog.getByText('Your change may have been saved: check before you repeat it.').waitFor();
    await dialog.getByText('A previous rotation is in progress.').waitFor();
  });

  test('is offered where the models of a new key or its access could not be loaded', async () => {
    const fail = (address: string) => page.route(address, (route) => route.fulfill({ status: 500 }), { times: 1 });
    const { id } = await createKey(gateway, { name: 'unlucky' });
    await openPage(page, `${gateway.url}/app/keys/${id}`);
    await page.getByLabel('Model', { exact: true }).fill('demo');
    await fail('**/may-call?*');
    await press(page, 'Check');
    await press(page, 'Retry');
    await page.getByText('This key can use demo').waitFor();
    await openPage(page, `${gateway.url}/app/keys`);
    await choose(page, 'Actions for unlucky', 'Rotate…');
    await fail('**/model-matches?*');
    await press(page.getByRole('dialog'), 'Rotate key');
    const dialog = page.getByRole('dialog', { name: 'New secret for unlucky' });
    await press(dialog, 'Retry');
    await dialog.getByLabel('Model in snippets').waitFor();
  });
});
