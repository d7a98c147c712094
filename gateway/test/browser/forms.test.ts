/**
 * Tests forms while other users work, when the session ends, and on accidental clicks: input is sent, kept, or
 * confirmed before it is lost.
 */
import { beforeEach, describe, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { addProvider, inviteMember, must, OWNER, PASSWORD, type Person } from '../console-api/api-visitor.ts';
import { exhaustiveTest } from '../harness/exhaustive.ts';
import type { RunningGateway } from '../harness/start-gateway.ts';
import { createKey } from '../http-contract/make-key.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { openPage } from './console-pages.ts';
import { openOwnConsole } from './open-console.ts';
import { signedInState } from './sign-in.ts';
import { newVisitor, type Visitor } from './visitor.ts';

let browser: Browser;
let gateway: RunningGateway;
let api: Person;
let admin: string;
let key: string;
let visitor: Visitor;
let page: Page;

openOwnConsole(async (opened) => {
  ({ browser, gateway, visitor, owner: api } = opened);
  admin = (await inviteMember(gateway.url, api, { account: 'default', role: 'admin' })).email;
  key = (await createKey(gateway, { name: 'night run' })).id;
});
beforeEach(async () => {
  if (!HAS_BROWSER) return;
  await visitor.leave();
  visitor = await newVisitor(browser, { storageState: signedInState(gateway.url, api) });
  page = visitor.page;
});

const button = (name: string) => page.getByRole('button', { name, exact: true });
const name = () => page.getByRole('dialog').getByLabel('Name', { exact: true });
const sheetOf = (subject: string) => page.getByRole('dialog', { name: `Limits for ${subject}` });
const sheet = () => page.getByRole('dialog', { name: 'Edit night run' });
/** Once it has the focus. */
const wrongField = () => page.locator('input[aria-invalid="true"]:focus');
const ask = () => page.getByRole('dialog', { name: 'Discard changes?' });

async function openEdit(): Promise<void> {
  await openPage(page, `${gateway.url}/app/keys`);
  await button('Actions for night run').click();
  await page.getByRole('menuitem', { name: 'Edit…' }).click();
  await name().waitFor();
}

/** Clicks outside the panel that is open at the right. */
const pressOutside = () => page.mouse.click(10, 300);

describe.skipIf(!HAS_BROWSER)('a form (needs Chromium for Linux on x64)', () => {
  test('sends only changed fields and keeps concurrent changes', async () => {
    await openEdit();
    await page.getByLabel('Tokens/min').fill('9000');
    const caps = { rpm: 77, tpm: null, concurrency: null, budget_usd: null, budget_window: null };
    await must(api.ask(`PATCH /accounts/default/keys/${key}`, { body: { caps, strict: true } }));
    const sent = page.waitForRequest((request) => request.method() === 'PATCH');
    await button('Save changes').click();
    expect((await sent).postDataJSON()).toEqual({ caps: { tpm: 9000 } });
    await sheet().waitFor({ state: 'detached' });
    const { json } = await api.ask(`GET /accounts/default/keys/${key}`);
    expect(json.key).toMatchObject({ name: 'night run', strict: true, caps: { ...caps, tpm: 9000 } });
    expect(visitor.faults()).toEqual([]);
  });

  exhaustiveTest('without changes closes on an outside click, on Escape and on saving, without a request', async () => {
    const sent: string[] = [];
    page.on('request', (request) => request.method() === 'PATCH' && sent.push(request.url()));
    for (const close of [
      pressOutside,
      () => page.keyboard.press('Escape'),
      () => button('Close').click(),
      () => button('Save changes').click(),
    ]) {
      await openEdit();
      await close();
      await sheet().waitFor({ state: 'detached' });
    }
    expect(sent).toEqual([]);
  });

  test('with changes ignores outside clicks; Escape and Close ask for confirmation', async () => {
    await openEdit();
    await name().fill('day run');
    await pressOutside();
    expect(await ask().count()).toBe(0);
    for (const nth of [1, 2, 3]) {
      await page.keyboard.press('Escape');
      await ask().waitFor();
      if (nth === 1) expect(await visitor.findBarriers()).toEqual([]);
      await page.keyboard.press('Escape');
      await ask().waitFor({ state: 'detached' });
    }
    await button('Close').click();
    await ask().getByRole('button', { name: 'Keep editing' }).click();
    expect(await name().inputValue()).toBe('day run');
    await page.keyboard.press('Escape');
    await ask().getByRole('button', { name: 'Discard' }).click();
    await sheet().waitFor({ state: 'detached' });
    expect(visitor.faults()).toEqual([]);
  });

  test('with changes asks before Back discards them', async () => {
    await openPage(page, `${gateway.url}/app/members`);
    await page.getByRole('link', { name: 'API keys', exact: true }).click();
    await button('Actions for night run').click();
    await page.getByRole('menuitem', { name: 'Edit…' }).click();
    await name().fill('day run');
    for (const answer of ['Keep editing', 'Discard']) {
      await page.goBack();
      await ask().getByRole('button', { name: answer }).click();
      await ask().waitFor({ state: 'detached' });
      if (answer === 'Keep editing') expect(await name().inputValue()).toBe('day run');
    }
    await sheet().waitFor({ state: 'detached' });
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
    expect(visitor.faults()).toEqual([]);
  });

  test('for money whose first reply was lost says what was recorded, and offers another', async () => {
    await openPage(page, `${gateway.url}/app/billing?open=default`);
    await page.getByRole('dialog').getByRole('button', { name: 'Top up…' }).click();
    const dialog = page.getByRole('dialog', { name: /^Top up/ });
    await page.route('**/topup', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await dialog.getByLabel('Amount (USD)').fill('50');
    await dialog.getByRole('button', { name: 'Add funds' }).click();
    await dialog.getByText('Can’t reach the gateway.').waitFor();
    await page.unroute('**/topup');
    await dialog.getByLabel('Amount (USD)').fill('60');
    await dialog.getByRole('button', { name: 'Add funds' }).click();
    await dialog.getByText('Your first attempt was recorded although its reply was lost: top-up of $50.').waitFor();
    await dialog.getByRole('button', { name: 'Make another top-up' }).click();
    await dialog.getByRole('button', { name: 'Add funds' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { account } = await must(api.ask('GET /accounts/default/billing'));
    expect(account.balance_nano_usd).toBe('110000000000');
    expect(visitor.faults(409).filter((fault) => !/net::ERR_FAILED .*topup/.test(fault))).toEqual([]);
  });

  test('adds a limit to a user who has others, and requires one', async () => {
    const limits = 'PUT /accounts/default/limits/end_user/user-7';
    const none = { rpm: null, tpm: null, concurrency: null, budget_usd: null, budget_window: null };
    await must(api.ask(limits, { body: { caps: { ...none, rpm: 10 } } }));
    await openPage(page, `${gateway.url}/app/limits`);
    await button('Add end-user limit').click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'End user', exact: true }).fill('user-7');
    await button('Save limits').click();
    await page.getByText('Enter at least one limit.').waitFor();
    await wrongField().waitFor();
    await page.getByRole('textbox', { name: 'Budget (USD)' }).fill('5');
    await button('Save limits').click();
    await page.getByText('Saved limits for user-7.').waitFor();
    const { nodes } = await must(api.ask('GET /accounts/default/limits'));
    const { caps } = nodes.find(({ name }: { name: string }) => name === 'user-7');
    expect(caps).toEqual({ ...none, rpm: 10, budget_usd: '5', budget_window: 'month' });
    expect(visitor.faults()).toEqual([]);
  });

  test('of a key’s limits names the key, not its id, also to screen readers', async () => {
    await openPage(page, `${gateway.url}/app/limits?open=key+${key}`);
    await sheetOf('night run').waitFor();
    expect(await page.getByRole('meter', { name: 'Requests/min, API key night run' }).count()).toBe(2);
    expect(await sheetOf('night run').innerText()).not.toContain(key);
    expect(visitor.faults()).toEqual([]);
  });

  test('that removes the last limit of a user closes without a word about a broken link', async () => {
    await must(
      api.ask('PUT /accounts/default/limits/end_user/user-8', {
        body: { caps: { rpm: 10, tpm: null, concurrency: null, budget_usd: null, budget_window: null } },
      }),
    );
    await openPage(page, `${gateway.url}/app/limits?open=end_user+user-8`);
    await page.getByRole('textbox', { name: 'Requests/min' }).fill('');
    await button('Save limits').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText(/Saved limits|Removed/).waitFor();
    expect(await page.getByText('There are no limits any more').count()).toBe(0);
    expect(page.url()).not.toContain('user-8');
    expect(visitor.faults()).toEqual([]);
  });

  test('shows the field that keeps a price from being set, in a closed part too', async () => {
    await openPage(page, `${gateway.url}/app/models?model=demo`);
    await button('Set price').click();
    const dialog = page.getByRole('dialog', { name: 'Set price' });
    const part = dialog.getByText('Rates for long input');
    await dialog.getByLabel('Free').setChecked(false);
    await dialog.getByLabel('Input', { exact: true }).fill('1');
    await dialog.getByLabel('Output', { exact: true }).fill('5');
    await part.click();
    await dialog.getByRole('button', { name: 'Add tier' }).click();
    await part.click();
    await dialog.getByRole('button', { name: 'Set price' }).click();
    const above = dialog.getByLabel('Input tokens over');
    await wrongField().waitFor();
    await page.keyboard.type('200000');
    expect(await above.inputValue()).toBe('200000');
    expect(visitor.faults()).toEqual([]);
  });

  test('with no secret says what a credential needs', async () => {
    await addProvider(api, 'spare-lab', { model: 'spare-small', credentials: { api_key: 'lab-0123456789' } });
    await openPage(page, `${gateway.url}/app/providers`);
    await button('Actions for spare-lab').click();
    await page.getByRole('menuitem', { name: 'Credentials…' }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Actions for/ })
      .click();
    await page.getByRole('menuitem', { name: 'Replace secret…' }).click();
    await button('Replace secret').click();
    await page.getByText('Found none, and a credential has at least one').waitFor();
    expect(visitor.faults(400)).toEqual([]);
  });

  test('without a connection says so, and is not sent later', async () => {
    await openPage(page, `${gateway.url}/app/workspaces`);
    await button('Create workspace').click();
    const dialog = page.getByRole('dialog', { name: 'Create workspace' });
    await dialog.getByLabel('Workspace ID').fill('given-up');
    await page.context().setOffline(true);
    await dialog.getByRole('button', { name: 'Create workspace' }).click();
    await dialog.getByText('Can’t reach the gateway.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    const sent: string[] = [];
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
    await page.context().setOffline(false);
    await page.getByRole('link', { name: 'API keys', exact: true }).click();
    await button('Actions for night run').waitFor();
    expect(sent).toEqual([]);
  });

  test('keeps the filter of the keys narrow beside a workspace with a long name', async () => {
    const id = 'w'.repeat(64);
    const caps = { rpm: null, tpm: null, concurrency: null, budget_usd: null, budget_window: null };
    const body = { id, models: null, bodies: null, bodies_days: null, caps };
    await must(api.ask('POST /accounts/default/workspaces', { body }));
    await openPage(page, `${gateway.url}/app/keys`);
    const filter = await page.getByRole('combobox', { name: 'Workspace' }).boundingBox();
    expect(filter?.width).toBeLessThanOrEqual(224);
  });

  test('works on a computer without a network, whose gateway runs there', async () => {
    await openPage(page, `${gateway.url}/app/keys`);
    await page.evaluate("dispatchEvent(new Event('offline'))");
    await page.getByRole('link', { name: 'Workspaces', exact: true }).click();
    await page.getByRole('row', { name: /^default/ }).waitFor();
    expect(visitor.faults()).toEqual([]);
  });

  test('with something shown only once stays on Back', async () => {
    await openPage(page, `${gateway.url}/app/keys`);
    await page.getByRole('link', { name: 'Members', exact: true }).click();
    await button('Invite member').click();
    await page.getByRole('dialog').getByLabel('Email').fill('grace@example.com');
    await button('Create invitation').click();
    const link = page.getByRole('dialog', { name: 'Share this link' }).getByText('/app/invitations/');
    await link.waitFor();
    const shown = await link.innerText();
    await page.goBack();
    expect(await link.innerText()).toBe(shown);
    await button('Done').click();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    expect(visitor.faults()).toEqual([]);
  });

  exhaustiveTest('survives an expired session: the sign-in page covers it and then shows it unchanged', async () => {
    await openEdit();
    await name().fill('dusk run');
    await page.context().clearCookies();
    await button('Save changes').click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await page.locator('body').innerText()).not.toMatch(/dusk run|night run|API keys|Ada/);
    expect(await visitor.findBarriers()).toEqual([]);
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Escape');
    await page.keyboard.type(OWNER.email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await sheet().waitFor();
    expect(await name().inputValue()).toBe('dusk run');
    await button('Save changes').click();
    await page.getByText('Saved dusk run.').waitFor();
    await must(api.ask(`PATCH /accounts/default/keys/${key}`, { body: { name: 'night run' } }));
    expect(visitor.faults(401)).toEqual([]);
  });

  exhaustiveTest('is discarded if another user signs in', async () => {
    await openEdit();
    await name().fill('dawn run');
    await page.context().clearCookies();
    await button('Save changes').click();
    await page.getByLabel('Email').fill(admin);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await button('The admin of default').waitFor();
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
    expect(await page.content()).not.toContain('dawn run');
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(visitor.faults(401)).toEqual([]);
  });
});
