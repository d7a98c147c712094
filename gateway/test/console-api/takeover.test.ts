/** Tests attempts to take over an account through an invitation, against a running gateway over HTTP. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { CLIENT_ID, type FakeOidc, startFakeOidc } from '../../src/console-api/testing/fake-oidc.ts';
import { pointAt } from '../harness/point-at.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { control } from '../http-contract/make-key.ts';
import { type ApiVisitor, must, openPerson, setUpOwner } from './api-visitor.ts';

setDefaultTimeout(60_000);

const EMAIL = 'ceo@corp.example';
const PLANTED = 'the password of the first person';
let oidc: FakeOidc;
let pair: Pair;
let url: string;
let operator: ApiVisitor;

beforeAll(async () => {
  oidc = startFakeOidc();
  const lab = { id: 'lab', name: 'Lab', issuer: oidc.issuer, client_id: CLIENT_ID, client_secret: 'none' };
  const server = { public_url: 'http://gw.test', oidc: [lab], trusted_proxies: ['127.0.0.0/8', '::1'] };
  pair = await startPair((fakeUrl) => pointAt(fakeUrl, { chat: ['ok'], server }));
  url = pair.gateway.url;
  operator = await setUpOwner(pair.gateway);
  for (const id of ['a', 'b']) await control(pair.gateway, 'accounts.create', { id });
});
afterAll(async () => {
  await pair.stop();
  await oidc.stop();
});

async function invite(giver: ApiVisitor, account: string, email: string, role: string): Promise<string> {
  const body = { email, role, workspaces: null };
  const { link } = await must(giver.ask(`POST /accounts/${account}/invitations`, { body }));
  return `POST /invitations/${String(link).split('/').at(-1)}`;
}

async function accept(route: string, name: string): Promise<ApiVisitor> {
  const visitor = openPerson(url);
  await must(visitor.ask(route, { body: { name, password: PLANTED } }));
  return visitor;
}

async function accountsOf(visitor: ApiVisitor): Promise<readonly string[]> {
  const { accounts } = await must(visitor.ask('GET /session'));
  return accounts.map(({ account }: { account: string }) => account);
}

async function signIn(password: string): Promise<ApiVisitor> {
  const visitor = openPerson(url);
  await must(visitor.ask('POST /sign-in', { body: { email: EMAIL, password } }));
  return visitor;
}

test('the owner of one account cannot enter another by accepting an invitation to another person’s address', async () => {
  const attacker = await accept(await invite(operator, 'a', 'mallory@evil.example', 'owner'), 'Mallory');
  const planted = await accept(await invite(attacker, 'a', EMAIL, 'viewer'), 'Planted');
  const toB = await invite(operator, 'b', EMAIL, 'admin');

  const ceo = openPerson(url);
  oidc.claims = { sub: 'the ceo', email: EMAIL, email_verified: true, name: 'The CEO' };
  const { url: authorize } = await must(ceo.ask('POST /sign-in/oidc', { body: { provider: 'lab' } }));
  const back = await ceo.ask(`GET /sign-in/oidc/lab/callback?${oidc.signIn(authorize)}`);
  expect([back.status, back.headers.get('location')]).toEqual([303, '/app']);
  await must(ceo.ask(toB, { body: { name: null, password: null } }));

  expect(await accountsOf(ceo)).toEqual(['b']);
  expect(await accountsOf(planted)).toEqual(['a']);
  expect(await accountsOf(await signIn(PLANTED))).toEqual(['a']);
  for (const visitor of [attacker, planted, await signIn(PLANTED)]) {
    expect((await visitor.ask('GET /accounts/b/members')).status).toBe(404);
  }
  const { members } = await must(operator.ask('GET /accounts/b/members'));
  expect(members).toMatchObject([{ email: EMAIL, email_verified: true, role: 'admin' }]);
});
