/**
 * Tests password resets in a real browser on a real gateway: the owner's by the command line, a member's by the owner's
 * link.
 */
import { expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { OWNER, setUpOwner } from '../console-api/api-visitor.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { openConsole } from './open-console.ts';
import { signIn } from './sign-in.ts';
import { newVisitor, type Visitor } from './visitor.ts';

const NEXT = 'a password not forgotten';
let gateway: RunningGateway;
let browser: Browser;

openConsole(startGateway, (opened) => {
  ({ home: gateway, browser } = opened);
});

const on = test.skipIf(!HAS_BROWSER);

async function expectSound(visitor: Visitor): Promise<void> {
  expect(await visitor.findBarriers()).toEqual([]);
  expect(visitor.faults(400, 401)).toEqual([]);
}

/** Sets the new password with the link, and signs in with it. */
async function useLink(visitor: Visitor, link: string, email: string): Promise<void> {
  const { page } = visitor;
  await page.goto(link);
  expect(await page.getByLabel('Email').inputValue()).toBe(email);
  await page.getByRole('textbox', { name: 'New password' }).fill('short');
  await page.keyboard.press('Enter');
  await page.getByText('At least 12 characters', { exact: true }).waitFor();
  await expectSound(visitor);
  await page.getByRole('textbox', { name: 'New password' }).fill(NEXT);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Password changed' }).waitFor();
  await expectSound(visitor);
  await page.getByRole('link', { name: 'Continue to sign in' }).click();
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(NEXT);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'No requests yet' }).waitFor();
  await page.goto(link);
  await page.getByRole('heading', { name: 'This link is no longer valid' }).waitFor();
  await expectSound(visitor);
}

on(
  'an owner resets a forgotten password with a link from the command line (needs Linux on x64 for the browser)',
  async () => {
    const api = await setUpOwner(gateway);
    const owner = await newVisitor(browser);
    await owner.page.goto(`${gateway.url}/app`);
    await owner.page.getByText('bin/tollgate reset-password').waitFor();
    await expectSound(owner);
    const { stdout } = await gateway.run('reset-password', OWNER.email);
    await useLink(owner, stdout.split('\n')[0] ?? '', OWNER.email);
    expect((await api.ask('GET /me')).status).toBe(401);
    await owner.leave();
  },
);

on('a member resets a forgotten password with a link from the owner (needs Linux on x64 for the browser)', async () => {
  const { page, ...owner } = await newVisitor(browser);
  await signIn(page, gateway.url, { ...OWNER, password: NEXT });
  const guest = await newVisitor(browser, { viewport: { width: 360, height: 740 } });
  const email = 'grace@example.com';
  await page.goto(`${gateway.url}/app/members`);
  await page.getByRole('button', { name: 'Invite member' }).click();
  await page.keyboard.type(email);
  await page.keyboard.press('Enter');
  await page.getByText('Share this link').waitFor();
  await guest.page.goto(await page.locator('dialog pre').innerText());
  await guest.page.getByLabel('Name').fill('Grace Hopper');
  await guest.page.getByLabel('Password', { exact: true }).fill('a password to be forgotten');
  await guest.page.keyboard.press('Enter');
  await guest.page.waitForURL(/\/app\?account=default$/);

  await page.reload();
  expect(await page.getByRole('button', { name: `Actions for ${OWNER.name}` }).count()).toBe(0);
  await page.getByRole('button', { name: 'Actions for Grace Hopper' }).click();
  await page.getByRole('menuitem', { name: 'Create password reset link…' }).click();
  await expectSound({ page, ...owner });
  await page.getByRole('button', { name: 'Create link' }).click();
  await page.getByText('Share this link').waitFor();
  await expectSound({ page, ...owner });
  const link = await page.locator('dialog pre').innerText();
  await useLink(guest, link, email);
  expect(await guest.overhangPx()).toBeLessThanOrEqual(0);
});
