/**
 * Tests passkeys in a real browser with a virtual authenticator: one is added, signs in without email or password, is
 * renamed and removed.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Browser, CDPSession } from 'playwright-core';
import { setupLinkOf } from '../console-api/api-visitor.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { HAS_BROWSER } from './browser-files.ts';
import { launchBrowser, newVisitor, type Visitor } from './visitor.ts';

setDefaultTimeout(120_000);

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

beforeAll(async () => {
  if (!HAS_BROWSER) return;
  gateway = await startGateway();
  url = `http://localhost:${new URL(gateway.url).port}`;
  browser = await launchBrowser();
  visitor = await newVisitor(browser);
  // A browser that does not offer passkeys in fields: this authenticator would accept every offer at once.
  await visitor.page.addInitScript('delete PublicKeyCredential.isConditionalMediationAvailable');
  held = await addAuthenticator(visitor, true);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
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

on('one is added after the password (needs Linux on x64 for the browser)', async () => {
  const { page } = visitor;
  const { devTools, authenticatorId } = held;
  await page.goto(setupLinkOf(gateway).replace(gateway.url, url));
  await page.getByLabel('Name').fill('Ada Lovelace');
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Create a key and call demo' }).waitFor();
  await page.goto(`${url}/app/me`);
  await page.getByRole('button', { name: 'Add a passkey…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a passkey' });
  await dialog.getByLabel('Name').fill('Ada’s laptop');
  await dialog.getByLabel('Password', { exact: true }).fill('not the password');
  await page.keyboard.press('Enter');
  await dialog.getByText('The password is not right').waitFor();
  await expectSound();
  await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByText('The passkey Ada’s laptop is added.').waitFor();
  await page.getByText('not used yet').waitFor();
  const { credentials } = await devTools.send('WebAuthn.getCredentials', { authenticatorId });
  expect(credentials).toMatchObject([{ isResidentCredential: true, rpId: 'localhost' }]);
  await expectSound();
});

on('it signs in by itself, and leads to the page asked for (needs Linux on x64 for the browser)', async () => {
  const { page } = visitor;
  await signOut();
  await page.goto(`${url}/app/me`);
  await page.getByRole('button', { name: 'Sign in by passkey' }).click();
  await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor();
  await page.getByText('last used').waitFor();
  await expectSound();
});

on('an authenticator that cannot tell who holds it is refused (needs Linux on x64 for the browser)', async () => {
  const { page } = visitor;
  const { devTools, authenticatorId } = held;
  await signOut();
  await devTools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
  await page.getByRole('button', { name: 'Sign in by passkey' }).click();
  await page.getByText('No passkey was given').waitFor();
  await devTools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
  await page.getByRole('button', { name: 'Sign in by passkey' }).click();
  await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor();
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

on(
  'it is offered in the e-mail field, and the button works beside that (needs Linux on x64 for the browser)',
  async () => {
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
    expect(await page.getByLabel('E-mail').getAttribute('autocomplete')).toBe('username webauthn');
    expect(await other.findBarriers()).toEqual([]);
    await devTools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled: true });
    await page.getByRole('button', { name: 'Sign in by passkey' }).click();
    await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor();
    await page.context().clearCookies();
    await page.goto(`${url}/app/me`);
    // Selected from the list, with nothing pressed on the page.
    await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor();
    expect(other.faults()).toEqual([]);
    await other.leave();
  },
);

on('its owner gives it another name (needs Linux on x64 for the browser)', async () => {
  const { page } = visitor;
  await page.getByRole('button', { name: 'Rename the passkey Ada’s laptop' }).click();
  const dialog = page.getByRole('dialog', { name: 'Rename the passkey' });
  await dialog.getByLabel('Name', { exact: true }).fill('Work laptop');
  await expectSound();
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Work laptop', { exact: true }).waitFor();
});

on('removed, it signs in no more (needs Linux on x64 for the browser)', async () => {
  const { page } = visitor;
  await page.getByRole('button', { name: 'Remove the passkey Work laptop' }).click();
  await expectSound();
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByText('The passkey Work laptop is removed.').waitFor();
  await signOut();
  await page.getByRole('button', { name: 'Sign in by passkey' }).click();
  await page.getByText('This passkey is not known here').waitFor();
  await expectSound();
});
