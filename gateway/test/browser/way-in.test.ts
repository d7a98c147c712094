/**
 * Tests access to the console in a real browser on a real gateway: setup, second factor, invitation, removal, sign-in.
 */
import { expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { control } from '../http-contract/make-key.ts';
import { askFromPage } from './ask-from-page.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { openConsole } from './open-console.ts';
import { timeCode } from './time-code.ts';
import { newVisitor, type Visitor } from './visitor.ts';

const PASSWORD = 'correct horse battery';
let gateway: RunningGateway;
let browser: Browser;
let owner: Visitor;
const recoveryCodes: string[] = [];

openConsole(startGateway, async (opened) => {
  ({ home: gateway, browser } = opened);
  owner = await newVisitor(browser);
});

const on = test.skipIf(!HAS_BROWSER);

/** Invalid input that the tests below send on purpose: members, links, credentials. */
const PROVOKED = [400, 401, 404, 410];

async function expectSound(visitor: Visitor): Promise<void> {
  expect(await visitor.findBarriers()).toEqual([]);
  expect(visitor.faults(...PROVOKED)).toEqual([]);
}

on('without an owner, the page says how to get a setup link (needs Linux on x64 for the browser)', async () => {
  const { page } = owner;
  await page.goto(`${gateway.url}/app/usage`);
  await page.getByText('bin/tollgate setup-link').waitFor();
  await expectSound(owner);
});

on(
  'the setup link creates the owner, and errors are shown at their fields (needs Linux on x64 for the browser)',
  async () => {
    const { page } = owner;
    const link = /\S+\/app\/setup\?token=\S+/.exec(gateway.stdout())?.[0] ?? '';
    await page.goto(link);
    await page.getByLabel('Name').fill('Ada Lovelace');
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByLabel('Password', { exact: true }).fill('short');
    await page.keyboard.press('Enter');
    await page.getByText('At least 12 characters', { exact: true }).waitFor();
    await expectSound(owner);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Create key and test demo' }).waitFor();
    await expectSound(owner);
    await page.goto(link);
    await page.getByText('Tollgate is already set up').waitFor();
  },
);

on('two-factor authentication is set up with a code (needs Linux on x64 for the browser)', async () => {
  const { page } = owner;
  await page.goto(`${gateway.url}/app/me`);
  await page.getByRole('button', { name: 'Set up…' }).click();
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByLabel('QR code of the setup key').waitFor();
  await expectSound(owner);
  const setupKey = await page.locator('dialog pre').innerText();
  await page.evaluate('navigator.clipboard.writeText = async (text) => { document.title = text; }; undefined');
  await page.getByRole('button', { name: 'Copy setup key' }).click();
  await page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
  expect(await page.title()).toBe(setupKey.replaceAll(' ', ''));
  await page.getByLabel('Code', { exact: true }).focus();
  await page.keyboard.type(timeCode(setupKey, Date.now()));
  await page.keyboard.press('Enter');
  await page.getByText('Two-factor authentication is on').waitFor();
  recoveryCodes.push(...(await page.getByRole('list', { name: 'Recovery codes' }).locator('li').allInnerTexts()));
  expect(recoveryCodes.length).toBeGreaterThanOrEqual(8);
  await page.getByRole('button', { name: 'Done' }).click();
  await expectSound(owner);
});

on('an invited member joins, and loses access when removed (needs Linux on x64 for the browser)', async () => {
  const { page } = owner;
  await page.goto(`${gateway.url}/app/members`);
  await page.getByRole('button', { name: 'Invite member' }).click();
  await page.keyboard.type('grace@example.com');
  await page.keyboard.press('Enter');
  await page.getByText('Share this link').waitFor();
  const link = await page.locator('dialog pre').innerText();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByText('Pending invitations').waitFor();
  await expectSound(owner);

  const guest = await newVisitor(browser);
  await guest.page.goto(link);
  await guest.page.getByLabel('Name').fill('Grace Hopper');
  await guest.page.getByLabel('Password', { exact: true }).fill('another long password');
  await expectSound(guest);
  await guest.page.keyboard.press('Enter');
  await guest.page.waitForURL(/\/app\?account=default$/);

  await page.reload();
  await page.getByRole('button', { name: 'Actions for Grace Hopper' }).click();
  await page.getByRole('menuitem', { name: 'Remove from account…' }).click();
  await expectSound(owner);
  await page.getByRole('button', { name: 'Remove member' }).click();
  await page.getByText('Removed Grace Hopper from default.').waitFor();
  await guest.page.goto(link);
  await guest.page.getByText('This invitation is no longer valid').waitFor();
  await guest.page.goto(`${gateway.url}/app/members`);
  await guest.page.getByRole('heading', { name: /Sign in|aren’t a member of any account/ }).waitFor();
  await expectSound(guest);
});

on(
  'the sign-in asks which of two users with the same address and password (needs Linux on x64 for the browser)',
  async () => {
    await control(gateway, 'accounts.create', { id: 'team' });
    const guest = { email: 'lin@example.com', role: 'viewer', workspaces: null };
    for (const account of ['default', 'team']) {
      const { json } = await askFromPage(owner.page, `POST /accounts/${account}/invitations`, guest);
      const visitor = await newVisitor(browser);
      const { page } = visitor;
      await page.goto(json.link);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('button', { name: 'Create user' }).waitFor();
      await expectSound(visitor);
      await page.getByRole('button', { name: 'Create user' }).click();
      await page.getByLabel('Name').fill('Lin');
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await page.keyboard.press('Enter');
      await page.waitForURL(`**/app?account=${account}`);
    }
    const visitor = await newVisitor(browser);
    const { page } = visitor;
    await page.goto(`${gateway.url}/app`);
    await page.getByLabel('Email').fill(guest.email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    const choice = page.getByRole('group', { name: 'Account' });
    await choice.waitFor();
    await expectSound(visitor);
    await choice.getByRole('button', { name: 'team' }).click();
    await page.getByRole('button', { name: 'Lin', exact: true }).waitFor();
    const { json } = await askFromPage(page, 'GET /session');
    expect(json.accounts).toMatchObject([{ account: 'team', member: true }]);
  },
);

on(
  'signing in with password and recovery code opens the requested page (needs Linux on x64 for the browser)',
  async () => {
    const { page } = owner;
    await page.getByRole('button', { name: 'Ada Lovelace', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await expectSound(owner);
    await page.getByLabel('Email').fill('ada@example.com');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Use recovery code' }).click();
    await expectSound(owner);
    await page.keyboard.type(recoveryCodes[0] ?? '');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Members', exact: true }).waitFor();
    await expectSound(owner);
  },
);
