/**
 * Tests passkeys in a real browser with a virtual authenticator: one is added, signs in without email or password, is
 * renamed and removed.
 */
import { expect, test } from 'bun:test';
import type { Browser, CDPSession } from 'playwright-core';
import { setupLinkOf } from '../../console-api/api-visitor.ts';
import { type RunningGateway, startGateway } from '../../harness/start-gateway.ts';
import { HAS_BROWSER } from '../browser-files.ts';
import { openConsole } from '../open-console.ts';
import { newVisitor, type Visitor } from '../visitor.ts';

const PASSWORD = 'correct horse battery';
/** A passkey belongs to a host name; the gateway reports its address. */
let url: string;
let gateway: RunningGateway;
let browser: Browser;
let visitor: Visitor;
let held: Authenticator;

interface Authenticator {
  readonly devTools: CDPSession;
  readonly authenticatorId: string;
}

openConsole(startGateway, async (opened) => {
  ({ home: gateway, browser } = opened);
  url = `http://localhost:${new URL(gateway.url).port}`;
  visitor = await newVisitor(browser);
  // A browser that does not offer passkeys in fields: this authenticator would accept every offer at once.
  await visitor.page.addInitScript('delete PublicKeyCredential.isConditionalMediationAvailable');
  held = await addAuthenticator(visitor, true);
});

const on = test.skipIf(!HAS_BROWSER);

/** `isTouched`: whether the authenticator is touched as soon as it is asked. */
async function addAuthenticator({ page }: Visitor, isTouched: boolean): Promise<Authenticator> {
  const devTools = await page.context().newCDPSession(page);
  await devTools.send('WebAuthn.enable');
  const { authenticatorId } = await devTools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: isTouched,
    },
  });
  return { devTools, authenticatorId };
}

/** Expected refusals: a wrong password, and an unknown passkey. */
async function expectSound(): Promise<void> {
  expect(await visitor.findBarriers()).toEqual([]);
  expect(visitor.faults(401)).toEqual([]);
}

async function signOut(): Promise<void> {
  const { page } = visitor;
  await page.getByRole('button', { name: 'Ada Lovelace', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
}

on('a passkey is added after the password (needs Linux on x64 for the browser)', async () => {
  const { page } = visitor;
  const { devTools, authenticatorId } = held;
  await page.goto(setupLinkOf(gateway).replace(gateway.url, url));
  await page.getByLabel('Name').fill('Ada Lovelace');
  await page.getByLabel('Email').fill('ada@example.com');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Create key and test demo' }).waitFor();
  await page.goto(`${url}/app/me`);
  await page.getByRole('button', { name: 'Add passkey…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add passkey' });
  await dialog.getByLabel('Name').fill('Ada’s laptop');
  await dialog.getByLabel('Password', { exact: true }).fill('not the password');
  await page.keyboard.press('Enter');
  await dialog.getByText('The password is incorrect').waitFor();
  await expectSound();
  await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByText('Added passkey Ada’s laptop.').waitFor();
  await page.getByText('never used').waitFor();
  const { credentials } = await devTools.send('WebAuthn.getCredentials', { authenticatorId });
  expect(credentials).toMatchObject([{ isResidentCredential: true, rpId: 'localhost' }]);
  await expectSound();
});

on('it signs in without a password and opens the requested page (needs Linux on x64 for the browser)', async () => {
  const { page } = visitor;
  await signOut();
  await page.goto(`${url}/app/me`);
  await page.getByRole('button', { name: 'Sign in with passkey' }).click();
  await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor();
  await page.getByText('last used').waitFor();
  await expectSound();
});

on('an authenticator without user verification is rejected (needs Linux on x64 for the browser)', async () => {
  const { page } = visitor;
  const { devTools, authenticatorId } = held;
  await signOut();
  await devTools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
  await page.getByRole('button', { name: 'Sign in with passkey' }).click();
  await page.getByText('The passkey request was canceled or timed out').waitFor();
  await devTools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
  await page.getByRole('button', { name: 'Sign in with passkey' }).click();
  await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor();
});

/** Notes on the page that the browser was asked to offer passkeys in a field. */
const TELL_OFFER = `{
  const get = navigator.credentials.get.bind(navigator.credentials);
  navigator.credentials.get = (asked) => {
    const answer = get(asked);
    if (asked.mediation === 'conditional') document.documentElement.dataset.offered = '';
    return answer;
  };
}`;

on('it is offered in the email field, and the button still works (needs Linux on x64 for the browser)', async () => {
  const other = await newVisitor(browser);
  const { page } = other;
  await page.addInitScript(TELL_OFFER);
  const { devTools, authenticatorId } = await addAuthenticator(other, false);
  const { credentials } = await held.devTools.send('WebAuthn.getCredentials', held);
  for (const credential of credentials) {
    await devTools.send('WebAuthn.addCredential', { authenticatorId, credential });
  }
  await page.goto(`${url}/app/me`);
  await page.locator('html[data-offered]').waitFor({ state: 'attached' });
  expect(await page.getByLabel('Email').getAttribute('autocomplete')).toBe('username webauthn');
  expect(await other.findBarriers()).toEqual([]);
  await devTools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: true });
  await page.getByRole('button', { name: 'Sign in with passkey' }).click();
  await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor();
  await page.context().clearCookies();
  await page.goto(`${url}/app/me`);
  // Selected from the list, with nothing pressed on the page.
  await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor();
  expect(other.faults()).toEqual([]);
  await other.leave();
});

on('its user renames it (needs Linux on x64 for the browser)', async () => {
  const { page } = visitor;
  await page.getByRole('button', { name: 'Rename passkey Ada’s laptop' }).click();
  const dialog = page.getByRole('dialog', { name: 'Rename passkey' });
  await dialog.getByLabel('Name', { exact: true }).fill('Work laptop');
  await expectSound();
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Work laptop', { exact: true }).waitFor();
});

on('a removed passkey no longer signs in (needs Linux on x64 for the browser)', async () => {
  const { page } = visitor;
  await page.getByRole('button', { name: 'Remove passkey Work laptop' }).click();
  await expectSound();
  await page.getByRole('button', { name: 'Remove passkey', exact: true }).click();
  await page.getByText('Removed passkey Work laptop.').waitFor();
  await signOut();
  await page.getByRole('button', { name: 'Sign in with passkey' }).click();
  await page.getByText('This passkey is not registered here').waitFor();
  await expectSound();
});
