/**
 * Tests that a person who accepts an invitation to someone else's address gets nothing of the user who owns the
 * address.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { Secret } from '../lib/secret.ts';
import { temporaryFolders } from '../store/testing/temporary-folder.ts';
import { CLIENT_ID, type FakeOidc, startFakeOidc } from './testing/fake-oidc.ts';
import {
  type Browser,
  inviteMember,
  openPeopleRig,
  type PeopleRig,
  setUpOwner,
  tokenOf,
} from './testing/people-rig.ts';
import { openAuthenticator } from './testing/soft-authenticator.ts';

/** Each sign-in hashes a password, which takes long on a busy machine. */
setDefaultTimeout(30_000);
const folder = temporaryFolders();
const PLANTED = 'the password of the first person';
let oidc: FakeOidc;
let rig: PeopleRig;
let owner: Browser;
/** Has account `a` only. */
let attacker: Browser;
let count = 0;

beforeAll(async () => {
  oidc = startFakeOidc();
  const lab = { id: 'lab', name: 'Lab', issuer: oidc.issuer, clientId: CLIENT_ID, allowedDomains: null };
  rig = await openPeopleRig(folder(), {
    oidc: [{ ...lab, clientSecret: new Secret('the client secret') }],
    publicUrl: 'http://localhost:8080',
  });
  owner = await setUpOwner(rig);
  await rig.run('accounts.create', { id: 'a' });
  await rig.run('accounts.create', { id: 'b' });
  attacker = await accept(await invite(owner, 'a', 'mallory@evil.example', 'owner'), 'Mallory');
});
afterAll(async () => {
  await rig.close();
  await oidc.stop();
  expect(rig.faults).toEqual([]);
});

const newAddress = () => `ceo${++count}@corp.example`;

/** The token of an invitation's link. */
async function invite(granter: Browser, account: string, email: string, role: string): Promise<string> {
  const body = { email, role, workspaces: null };
  const answered = await granter.ask(`POST /accounts/${account}/invitations`, { body });
  expect(answered.status).toBe(200);
  return tokenOf(answered.json);
}

/** Accepts as a new user. */
async function accept(token: string, name: string, password = PLANTED): Promise<Browser> {
  const browser = rig.browser();
  const answered = await browser.ask(`POST /invitations/${token}`, { body: { name, password } });
  expect([answered.status, answered.json.error]).toEqual([200, undefined]);
  return browser;
}

/** The real owner of the address signs in through the service. */
async function comeByService(email: string, sub = `sub of ${email}`): Promise<Browser> {
  const browser = rig.browser();
  oidc.claims = { sub, email, email_verified: true, name: 'The CEO' };
  const { json } = await browser.ask('POST /sign-in/oidc', { body: { provider: 'lab' } });
  const back = await browser.ask(`GET /sign-in/oidc/lab/callback?${oidc.signIn(json.url)}`);
  expect(back.headers.get('location')).toBe('/app');
  return browser;
}

const join = (browser: Browser, token: string) =>
  browser.ask(`POST /invitations/${token}`, { body: { name: null, password: null } });
const session = async (browser: Browser) => (await browser.ask('GET /session')).json;
const accountsOf = async (browser: Browser) =>
  (await session(browser)).accounts.map(({ account }: { account: string }) => account);
const idOf = async (browser: Browser) => (await session(browser)).person?.id;
async function signIn(email: string, password: string): Promise<Browser> {
  const browser = rig.browser();
  await browser.ask('POST /sign-in', { body: { email, password }, address: `198.51.100.${count % 250}` });
  return browser;
}

/** Nothing that the first person has opens account `b`, and each is a separate user. */
async function expectApart(first: Browser, real: Browser, email: string): Promise<void> {
  expect(await idOf(first)).not.toBe(await idOf(real));
  expect(await accountsOf(real)).toEqual(['b']);
  expect(await accountsOf(first)).toEqual(['a']);
  expect(await accountsOf(await signIn(email, PLANTED))).toEqual(['a']);
  expect((await first.ask('GET /accounts/b/members')).status).toBe(404);
}

describe('an invitation that another person accepts first', () => {
  test('gives the first person no access to the account that invites the owner of the address later', async () => {
    const email = newAddress();
    const first = await accept(await invite(attacker, 'a', email, 'viewer'), 'Planted');
    const toB = await invite(owner, 'b', email, 'admin');
    const real = await comeByService(email);
    expect((await join(real, toB)).status).toBe(200);
    await expectApart(first, real, email);
    expect((await real.ask('GET /me')).json).toMatchObject({ has_password: false, passkeys: [] });
  });

  test('nor if the owner of the address had a user before', async () => {
    const email = newAddress();
    const toB = await invite(owner, 'b', email, 'admin');
    const real = await comeByService(email);
    await join(real, toB);
    const first = await accept(await invite(attacker, 'a', email, 'viewer'), 'Planted');
    await expectApart(first, real, email);
  });

  test('nor if the first person accepts between sign-in and acceptance', async () => {
    const email = newAddress();
    const toA = await invite(attacker, 'a', email, 'viewer');
    const toB = await invite(owner, 'b', email, 'admin');
    const real = await comeByService(email);
    const first = await accept(toA, 'Planted');
    await join(real, toB);
    await expectApart(first, real, email);
  });

  test('does not let the first person accept the other invitation, though its link comes to them', async () => {
    const email = newAddress();
    const first = await accept(await invite(attacker, 'a', email, 'viewer'), 'Planted');
    const toB = await invite(owner, 'b', email, 'admin');
    const refused = await join(first, toB);
    expect([refused.status, refused.json.error.code]).toEqual([409, 'conflict']);
    expect(refused.json.error.message).toContain(`tollgate members verify ${email} --account a`);
    expect(await accountsOf(first)).toEqual(['a']);
  });

  test('leaves the owner of the address free to accept as a new user with a password of their own', async () => {
    const email = newAddress();
    const first = await accept(await invite(attacker, 'a', email, 'viewer'), 'Planted');
    const real = await accept(await invite(owner, 'b', email, 'admin'), 'CEO', 'the password of the owner');
    await expectApart(first, real, email);
    expect(await accountsOf(await signIn(email, 'the password of the owner'))).toEqual(['b']);
  });

  test('a passkey and a session of the first person give access only to that person’s accounts', async () => {
    const email = newAddress();
    const first = await accept(await invite(attacker, 'a', email, 'viewer'), 'Planted');
    const passkey = openAuthenticator('http://localhost:8080');
    const made = await first.ask('POST /me/passkeys/options', { body: { password: PLANTED } });
    const added = await first.ask('POST /me/passkeys', {
      body: { name: 'P', response: passkey.make(made.json as never) },
    });
    expect(added.status).toBe(200);
    const toB = await invite(owner, 'b', email, 'admin');
    const real = await comeByService(email);
    await join(real, toB);
    await expectApart(first, real, email);
    const byPasskey = rig.browser();
    const reply = await byPasskey.ask('POST /sign-in/passkey/options', { body: {} });
    const signed = await byPasskey.ask('POST /sign-in/passkey', {
      body: { response: passkey.sign(reply.json as never) },
    });
    expect(signed.json).toEqual({ state: 'signed_in' });
    expect(await accountsOf(byPasskey)).toEqual(['a']);
  });

  test('a link to a new password for the first person’s user leads to that user alone', async () => {
    const email = newAddress();
    const first = await accept(await invite(attacker, 'a', email, 'viewer'), 'Planted');
    const firstId = await idOf(first);
    const toB = await invite(owner, 'b', email, 'admin');
    const real = await comeByService(email);
    await join(real, toB);
    const { json } = await attacker.ask(`POST /accounts/a/members/${firstId}/reset-link`, { body: {} });
    const next = 'another password of theirs';
    expect((await rig.browser().ask(`POST /resets/${tokenOf(json)}`, { body: { password: next } })).status).toBe(200);
    const again = await signIn(email, next);
    expect([await idOf(again), await accountsOf(again)]).toEqual([firstId, ['a']]);
    expect(await accountsOf(real)).toEqual(['b']);
    const others = await attacker.ask(`POST /accounts/a/members/${await idOf(real)}/reset-link`, { body: {} });
    expect(others.status).toBe(404);
  });
});

test('an owner of the first account that a verified user joined gives them no password that opens the next', async () => {
  const email = newAddress();
  const toA = await invite(attacker, 'a', email, 'viewer');
  const real = await comeByService(email);
  expect((await join(real, toA)).status).toBe(200);
  const { status, json } = await attacker.ask(`POST /accounts/a/members/${await idOf(real)}/reset-link`, { body: {} });
  expect([status, json.error.code]).toEqual([403, 'forbidden']);
});

test('a sign-in by the service opens no user of the address that it did not make or was not linked to', async () => {
  const email = newAddress();
  const token = await invite(owner, 'b', email, 'admin');
  const real = await comeByService(email);
  await join(real, token);
  await invite(owner, 'a', email, 'viewer');
  oidc.claims = { sub: 'another subject', email, email_verified: true, name: 'Somebody else' };
  const browser = rig.browser();
  const { json } = await browser.ask('POST /sign-in/oidc', { body: { provider: 'lab' } });
  const back = await browser.ask(`GET /sign-in/oidc/lab/callback?${oidc.signIn(json.url)}`);
  expect(back.headers.get('location')).toBe('/app/sign-in?error=account_not_linked');
  expect((await session(browser)).state).toBe('signed_out');
});

test('a tenant cannot tell from an invitation whether its address has a user elsewhere', async () => {
  const known = newAddress();
  const toB = await invite(owner, 'b', known, 'admin');
  await join(await comeByService(known), toB);
  const unverified = (await session(await inviteMember(rig, owner, { email: newAddress(), role: 'viewer' }))).person
    .email;
  const shapes: unknown[] = [];
  for (const email of [known, unverified, newAddress()]) {
    const made = await attacker.ask('POST /accounts/a/invitations', {
      body: { email, role: 'viewer', workspaces: null },
    });
    const seen = await rig.browser().ask(`GET /invitations/${tokenOf(made.json)}`);
    const browser = rig.browser();
    const accepted = await browser.ask(`POST /invitations/${tokenOf(made.json)}`, {
      body: { name: 'N', password: PLANTED },
    });
    const member = (await attacker.ask('GET /accounts/a/members')).json.members.find(
      (one: { email: string }) => one.email === email,
    );
    shapes.push(
      JSON.parse(
        JSON.stringify({ made, seen, accepted, member }, (name, value) =>
          ['set-cookie', 'person', 'id', 'link', 'email', 'joined_at', 'seen_at', 'expires_at', 'invited_by'].includes(
            name,
          )
            ? '…'
            : value,
        ),
      ),
    );
  }
  expect(shapes[1]).toEqual(shapes[0]);
  expect(shapes[2]).toEqual(shapes[0]);
});
