/** Checks signing in by another service, against one that really signs its tokens. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { createHash, createSign, generateKeyPairSync, randomUUID } from 'node:crypto';
import type { OidcConfig } from '../config/config.ts';
import { Secret } from '../lib/secret.ts';
import { temporaryFolders } from '../store/sql/testing/temporary-folder.ts';
import { type Browser, OWNER, openPeopleRig, type PeopleRig, setUpOwner } from './testing/people-rig.ts';

/** Each sign-in costs a hash of a password, which takes long on a busy machine. */
setDefaultTimeout(30_000);
const folder = temporaryFolders();
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });

/** What the service says of whoever comes next, and whether it answers at all. */
let claims: { [name: string]: unknown } = {};
let isUp = true;
const codes = new Map<string, { nonce: string; challenge: string }>();
const service = Bun.serve({
  port: 0,
  async fetch(request) {
    const url = new URL(request.url);
    const base = url.origin;
    if (!isUp) return new Response(null, { status: 503 });
    if (url.pathname === '/.well-known/openid-configuration') {
      return Response.json({
        issuer: base,
        authorization_endpoint: `${base}/authorize`,
        token_endpoint: `${base}/token`,
        jwks_uri: `${base}/jwks`,
        id_token_signing_alg_values_supported: ['RS256'],
      });
    }
    if (url.pathname === '/jwks') {
      return Response.json({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256', use: 'sig' }] });
    }
    const form = new URLSearchParams(await request.text());
    const asked = codes.get(form.get('code') ?? '');
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (asked === undefined || verifier !== asked.challenge) return new Response('no', { status: 400 });
    const nowSeconds = Math.floor(Date.now() / 1_000);
    const token = { iss: base, aud: 'tollgate', iat: nowSeconds, exp: nowSeconds + 60, nonce: asked.nonce, ...claims };
    return Response.json({ access_token: 'access', token_type: 'Bearer', id_token: sign(token) });
  },
});

function sign(token: object): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const text = `${encode({ alg: 'RS256', kid: 'k' })}.${encode(token)}`;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey).toString('base64url')}`;
}

let rig: PeopleRig;
let owner: Browser;
beforeAll(async () => {
  const common = {
    name: 'Lab',
    issuer: `http://127.0.0.1:${service.port}`,
    clientId: 'tollgate',
    clientSecret: new Secret('the client secret'),
    allowedDomains: null,
  };
  const oidc: OidcConfig[] = [
    { ...common, id: 'lab' },
    { ...common, id: 'strict', allowedDomains: ['example.org'] },
  ];
  rig = await openPeopleRig(folder(), { oidc, publicUrl: 'http://gw.test' });
  owner = await setUpOwner(rig);
});
afterAll(async () => {
  await rig.close();
  await service.stop(true);
});

/** Goes to the service and comes back. `forget`: the cookies of the way there are lost. */
async function comeBack(browser: Browser, id = 'lab', forget = false) {
  const { json } = await browser.ask('POST /sign-in/oidc', { body: { provider: id } });
  const url = new URL(json.url);
  expect(url.searchParams.get('redirect_uri')).toBe(`http://gw.test/app/api/sign-in/oidc/${id}/callback`);
  const code = randomUUID();
  const [nonce = '', challenge = ''] = ['nonce', 'code_challenge'].map((name) => url.searchParams.get(name) ?? '');
  codes.set(code, { nonce, challenge });
  if (forget) browser.cookies.clear();
  const state = url.searchParams.get('state') ?? '';
  const query = new URLSearchParams({ code, state });
  const answered = await browser.ask(`GET /sign-in/oidc/${id}/callback?${query}`);
  return { location: answered.headers.get('location') ?? '', status: answered.status, query };
}

const stateOf = async (browser: Browser) => (await browser.ask('GET /session')).json.state;

test('whoever has an account here signs in by a verified address, and keeps none of the service’s tokens here', async () => {
  claims = { sub: 'u1', email: OWNER.email, email_verified: true, name: 'Ada L.' };
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
});

test('an answer that this browser did not ask for signs nobody in', async () => {
  claims = { sub: 'u1', email: OWNER.email, email_verified: true };
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
])('%s is refused', async (_name, id, said) => {
  claims = said;
  const browser = rig.browser();
  const { location } = await comeBack(browser, id);
  expect(location).toStartWith('/app/sign-in?error=');
  expect(await stateOf(browser)).toBe('signed_out');
  expect(await rig.store.people.find('person', { where: [] })).toHaveLength(1);
});

test('whoever was invited comes in new, and accepts', async () => {
  const body = { email: 'new@example.com', role: 'viewer', workspaces: null };
  const { json } = await owner.ask('POST /accounts/default/invitations', { body });
  claims = { sub: 'u7', email: 'New@example.com', email_verified: true, name: 'Newt' };
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

test('a service that is away is said to be, and is asked again; an unknown one is not there', async () => {
  isUp = false;
  const dataDir = folder();
  const issuer = `http://127.0.0.1:${service.port}`;
  const lab = { id: 'lab', name: 'Lab', issuer, clientId: 'tollgate', clientSecret: null, allowedDomains: null };
  const other = await openPeopleRig(dataDir, { oidc: [lab], publicUrl: 'http://gw.test' });
  const ask = (provider: string) => other.browser().ask('POST /sign-in/oidc', { body: { provider } });
  const away = await ask('lab');
  expect([away.status, away.json.error.message]).toEqual([500, expect.stringContaining('Lab could not be asked')]);
  isUp = true;
  expect((await ask('lab')).status).toBe(200);
  expect((await ask('elsewhere')).status).toBe(404);
  await other.close();
});
