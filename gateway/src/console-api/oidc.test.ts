/** Tests signing in by another service, against one that really signs its tokens. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { OidcConfig } from '../config/config.ts';
import { Secret } from '../lib/secret.ts';
import { temporaryFolders } from '../store/testing/temporary-folder.ts';
import { createGuardedFetch } from '../upstream/guarded-fetch.ts';
import { CLIENT_ID, startFakeOidc } from './testing/fake-oidc.ts';
import {
  type Browser,
  inviteMember,
  OWNER,
  openPeopleRig,
  type PeopleRig,
  setUpOwner,
  stateOf,
} from './testing/people-rig.ts';

/** Each sign-in hashes a password, which takes long on a busy machine. */
setDefaultTimeout(30_000);
const folder = temporaryFolders();
const oidc = startFakeOidc();

let rig: PeopleRig;
let owner: Browser;
const unguarded = globalThis.fetch;
beforeAll(async () => {
  // As `serve` does: the library must work with it.
  const guarded = createGuardedFetch((origin) => origin === oidc.issuer);
  globalThis.fetch = Object.assign(guarded, { preconnect: unguarded.preconnect });
  const common = {
    name: 'Lab',
    issuer: oidc.issuer,
    clientId: CLIENT_ID,
    clientSecret: new Secret('the client secret'),
    allowedDomains: null,
  };
  const services: OidcConfig[] = [
    { ...common, id: 'lab' },
    { ...common, id: 'strict', allowedDomains: ['example.org'] },
  ];
  rig = await openPeopleRig(folder(), { oidc: services, publicUrl: 'http://gw.test' });
  owner = await setUpOwner(rig);
});
afterAll(async () => {
  globalThis.fetch = unguarded;
  await rig.close();
  await oidc.stop();
});

let addressCount = 0;

/**
 * Signs in at the service and returns, from an address of its own: a refusal delays its address. `forget`: the cookies
 * set before the redirect are lost.
 */
async function comeBack(browser: Browser, id = 'lab', forget = false) {
  addressCount += 1;
  const address = `198.51.100.${addressCount}`;
  const { json } = await browser.ask('POST /sign-in/oidc', { body: { provider: id }, address });
  const url = new URL(json.url);
  expect(url.searchParams.get('redirect_uri')).toBe(`http://gw.test/app/api/sign-in/oidc/${id}/callback`);
  if (forget) browser.cookies.clear();
  const query = oidc.signIn(json.url);
  const answered = await browser.ask(`GET /sign-in/oidc/${id}/callback?${query}`, { address });
  return { location: answered.headers.get('location') ?? '', status: answered.status, query };
}

/** Starts to link a service to the browser's user. */
const startLink = (browser: Browser, password: string | null = OWNER.password, provider = 'lab') =>
  browser.ask('POST /me/services', { body: { provider, password } });

/** Follows the redirect of the response, and returns in `browser`. */
async function follow(browser: Browser, { json }: { readonly json: Record<string, unknown> }) {
  const back = await browser.ask(`GET /sign-in/oidc/lab/callback?${oidc.signIn(String(json.url))}`);
  return { location: back.headers.get('location') ?? '' };
}

test('a signed-in user links the service and keeps other sign-in methods; no tokens are stored', async () => {
  oidc.claims = { sub: 'u1', email: OWNER.email, email_verified: true, name: 'Ada L.' };
  expect((await comeBack(rig.browser())).location).toBe('/app/sign-in?error=account_not_linked');
  expect((await startLink(owner, 'wrong password')).status).toBe(401);
  const { location: linked } = await follow(owner, await startLink(owner));
  expect(linked).toBe('/app/me');
  expect((await owner.ask('GET /me')).json).toMatchObject({
    has_password: true,
    services: [
      { id: 'lab', name: 'Lab', linked: true },
      { id: 'strict', name: 'Lab', linked: false },
    ],
  });
  expect((await startLink(owner)).json.error.code).toBe('conflict');
  const browser = rig.browser();
  const { location, status, query } = await comeBack(browser);
  expect([status, location]).toEqual([303, '/app']);
  expect((await browser.ask('GET /session')).json).toMatchObject({ state: 'signed_in', person: { name: 'Ada' } });
  const methods = await rig.store.people.find('sign_in_method', { where: [['provider', 'is', 'lab']] });
  expect(methods).toMatchObject([{ subject: 'u1', password_hash: null }]);
  const replay = rig.browser();
  const again = await replay.ask(`GET /sign-in/oidc/lab/callback?${query}`);
  expect(again.headers.get('location')).toStartWith('/app/sign-in?error=');
  expect(await stateOf(replay)).toBe('signed_out');
  const body = { email: OWNER.email, password: OWNER.password };
  expect((await rig.browser().ask('POST /sign-in', { body })).json.state).toBe('signed_in');
  expect(rig.notes.map(({ act }) => act)).toContain('person.service_linked');
});

test('an unrequested response signs no one in', async () => {
  oidc.claims = { sub: 'u1', email: OWNER.email, email_verified: true };
  const browser = rig.browser();
  const { location } = await comeBack(browser, 'lab', true);
  expect(location).toStartWith('/app/sign-in?error=');
  expect(await stateOf(browser)).toBe('signed_out');
});

test.each([
  ['an address that the service has not verified', 'lab', { sub: 'u2', email: OWNER.email, email_verified: false }],
  ['an address that nobody has invited', 'lab', { sub: 'u3', email: 'eve@example.com', email_verified: true }],
  [
    'an address of a domain that the service does not speak for',
    'strict',
    { sub: 'u4', email: OWNER.email, email_verified: true },
  ],
  ['a token for somebody else', 'lab', { sub: 'u5', email: OWNER.email, email_verified: true, aud: 'another' }],
  ['a token of another sign-in', 'lab', { sub: 'u6', email: OWNER.email, email_verified: true, nonce: 'x' }],
  ['a token that names no user', 'lab', { sub: '', email: OWNER.email, email_verified: true }],
])('%s is refused', async (_name, id, expectedText) => {
  oidc.claims = expectedText;
  const browser = rig.browser();
  const { location } = await comeBack(browser, id);
  expect(location).toStartWith('/app/sign-in?error=');
  expect(await stateOf(browser)).toBe('signed_out');
  expect(await rig.store.people.find('person', { where: [] })).toHaveLength(1);
});

test.each([
  ['the Kelvin sign', 'max.\u212Aelvin@example.com'],
  ['full-width letters', '\uFF4Dax.kelvin@example.com'],
  ['a Cyrillic letter', 'm\u0430x.kelvin@example.com'],
])('an invited address written with %s is refused, not taken for the plain one', async (_name, email) => {
  const body = { email: 'max.kelvin@example.com', role: 'viewer', workspaces: null };
  expect((await owner.ask('POST /accounts/default/invitations', { body })).status).toBe(200);
  oidc.claims = { sub: 'u8', email, email_verified: true };
  const browser = rig.browser();
  expect((await comeBack(browser)).location).toStartWith('/app/sign-in?error=email_not_plain');
  expect(await stateOf(browser)).toBe('signed_out');
});

test('without an id_token sign-in fails, and userinfo counts only for the same user', async () => {
  const email = 'info@example.com';
  await owner.ask('POST /accounts/default/invitations', { body: { email, role: 'viewer', workspaces: null } });
  oidc.userInfo = { sub: 'u9', email, email_verified: true, name: 'Info' };
  oidc.claims = { sub: 'u9', email, email_verified: true };
  oidc.sendsIdToken = false;
  expect((await comeBack(rig.browser())).location).toStartWith('/app/sign-in?error=');
  oidc.sendsIdToken = true;
  oidc.claims = { sub: 'another' };
  expect((await comeBack(rig.browser())).location).toStartWith('/app/sign-in?error=');
  expect(await rig.store.people.find('person', { where: [['email', 'is', email]] })).toEqual([]);
  oidc.claims = { sub: 'u9' };
  expect((await comeBack(rig.browser())).location).toBe('/app');
  expect(await rig.store.people.find('person', { where: [['email', 'is', email]] })).toMatchObject([
    { name: 'Info', email_verified: 1, account: null },
  ]);
});

describe('linking a service', () => {
  test('is refused for another address, a service user linked elsewhere, and another signed-in user', async () => {
    const email = 'link@example.com';
    const member = await inviteMember(rig, owner, { email, role: 'viewer' });
    oidc.claims = { sub: 'l1', email: 'other@example.com', email_verified: true };
    expect((await follow(member, await startLink(member))).location).toStartWith('/app/me?error=');
    oidc.claims = { sub: 'l1', email, email_verified: false };
    expect((await follow(member, await startLink(member))).location).toStartWith('/app/me?error=');
    oidc.claims = { sub: 'u1', email, email_verified: true };
    expect((await follow(member, await startLink(member))).location).toStartWith('/app/me?error=');
    oidc.claims = { sub: 'l1', email, email_verified: true };
    const begun = await startLink(member);
    for (const other of [owner, rig.browser()]) {
      for (const [name, value] of member.cookies) if (name.endsWith('.state')) other.cookies.set(name, value);
      expect((await follow(other, begun)).location).toBe('/app/me?error=signed_in_as_another');
    }
    const where = [['subject', 'is', 'l1']] as const;
    expect(await rig.store.people.find('sign_in_method', { where })).toEqual([]);
  });

  test('verifies no address: the user stays in one account, also when signing in with the service', async () => {
    await rig.run('accounts.create', { id: 'team' });
    const email = 'stay@example.com';
    const member = await inviteMember(rig, owner, { email, role: 'viewer' });
    oidc.claims = { sub: 's1', email, email_verified: true };
    expect((await follow(member, await startLink(member))).location).toBe('/app/me');
    const browser = rig.browser();
    expect((await comeBack(browser)).location).toBe('/app');
    expect((await browser.ask('GET /me')).json).toMatchObject({ email_verified: false, person: { id: member.person } });
    const body = { email, role: 'admin', workspaces: null };
    const { json } = await owner.ask('POST /accounts/team/invitations', { body });
    const token = String(json.link).split('/').at(-1);
    const joined = await browser.ask(`POST /invitations/${token}`, { body: { name: null, password: null } });
    expect([joined.status, joined.json.error.code]).toEqual([409, 'conflict']);
  });

  test('can be removed while another sign-in method is left', async () => {
    expect((await owner.ask('DELETE /me/services/lab')).status).toBe(200);
    expect((await owner.ask('DELETE /me/services/lab')).status).toBe(404);
    expect((await owner.ask('DELETE /me/services/credential')).status).toBe(404);
    oidc.claims = { sub: 'u1', email: OWNER.email, email_verified: true };
    expect((await comeBack(rig.browser())).location).toBe('/app/sign-in?error=account_not_linked');
    oidc.claims = { sub: 'u9' };
    const only = rig.browser();
    await comeBack(only);
    expect((await only.ask('DELETE /me/services/lab')).json.error.message).toContain('your only sign-in method');
  });
});

test('an invited person signs in as a new user and accepts', async () => {
  const body = { email: 'new@example.com', role: 'viewer', workspaces: null };
  const { json } = await owner.ask('POST /accounts/default/invitations', { body });
  oidc.claims = { sub: 'u7', email: 'New@example.com', email_verified: true, name: 'Newt' };
  const browser = rig.browser();
  expect((await comeBack(browser)).location).toBe('/app');
  expect((await browser.ask('GET /session')).json).toMatchObject({
    person: { name: 'Newt', email: 'new@example.com' },
    accounts: [],
  });
  expect((await browser.ask('GET /me')).json.has_password).toBe(false);
  const token = String(json.link).split('/').at(-1);
  const accepted = await browser.ask(`POST /invitations/${token}`, { body: { name: null, password: null } });
  expect(accepted.json.accounts).toMatchObject([{ account: 'default', role: 'viewer' }]);
});

test('an unreachable service is reported and retried; an unknown one is not found', async () => {
  oidc.isUp = false;
  const dataDir = folder();
  const lab = {
    id: 'lab',
    name: 'Lab',
    issuer: oidc.issuer,
    clientId: CLIENT_ID,
    clientSecret: null,
    allowedDomains: null,
  };
  const other = await openPeopleRig(dataDir, { oidc: [lab], publicUrl: 'http://gw.test' });
  const ask = (provider: string) => other.browser().ask('POST /sign-in/oidc', { body: { provider } });
  const away = await ask('lab');
  expect([away.status, away.json.error.message]).toEqual([500, expect.stringContaining('Lab could not be reached')]);
  oidc.isUp = true;
  expect((await ask('lab')).status).toBe(200);
  expect((await ask('elsewhere')).status).toBe(404);
  await other.close();
});

test('the name of a new user is one visible line', async () => {
  for (const [nth, [name, shown]] of [
    ['Eve\n\nYour account is locked', 'Eve  Your account is locked'],
    ['\u202e', 'eve1@example.com'],
    ['n'.repeat(5_000), 'n'.repeat(100)],
  ].entries()) {
    const email = `eve${nth}@example.com`;
    const body = { email, role: 'viewer', workspaces: null };
    expect((await owner.ask('POST /accounts/default/invitations', { body })).status).toBe(200);
    oidc.claims = { sub: `eve${nth}`, email, email_verified: true, name };
    const browser = rig.browser();
    expect((await comeBack(browser)).location).toBe('/app');
    expect((await browser.ask('GET /session')).json.person.name).toBe(shown);
  }
});
