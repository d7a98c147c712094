/** Whoever runs one account names keys, calls, people and workspaces of another in his own: there is no such thing for him. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { CONSOLE_ROUTES, type ConsoleRoute } from '../../src/console-api/contract.ts';
import { pointAt } from '../harness/point-at.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { control, createKey } from '../http-contract/make-key.ts';
import { type ApiVisitor, inviteMember, type Member, must, openScript, setUpOwner } from './api-visitor.ts';
import { askOf, type Names } from './sample-asks.ts';

setDefaultTimeout(60_000);

const NO_CAPS = { rpm: 1, tpm: null, concurrency: null, budget_usd: null, budget_window: null };

/** A body that its route would take, for each route whose path names something of an account. */
const BODIES = {
  'GET /accounts/{account}/keys/{key}': undefined,
  'GET /accounts/{account}/keys/{key}/gauges': undefined,
  'PATCH /accounts/{account}/keys/{key}': { name: 'taken over' },
  'POST /accounts/{account}/keys/{key}/rotate': { grace: 'now' },
  'POST /accounts/{account}/keys/{key}/disable': {},
  'POST /accounts/{account}/keys/{key}/enable': {},
  'POST /accounts/{account}/keys/{key}/revoke': {},
  'GET /accounts/{account}/keys/{key}/may-call': undefined,
  'GET /accounts/{account}/logs/{request}': undefined,
  'PUT /accounts/{account}/limits/{kind}/{subject}': { caps: NO_CAPS },
  'PATCH /accounts/{account}/workspaces/{workspace}': { bodies: 'all' },
  'DELETE /accounts/{account}/invitations/{invitation}': undefined,
  'PATCH /accounts/{account}/members/{person}': { role: 'viewer', workspaces: null },
  'DELETE /accounts/{account}/members/{person}': undefined,
  'POST /accounts/{account}/members/{person}/reset-link': {},
} as const satisfies Partial<Record<ConsoleRoute, object | undefined>>;
type Named = keyof typeof BODIES;

/** Names of paths that stand for what the installation shares, and that the house alone may change. */
const SHARED = /\{(model|provider)\}/;

let pair: Pair;
let house: ApiVisitor;
let outsider: Member;
/** A script with a key of the outsider's account. */
let script: ApiVisitor;
let foreign: Names;

beforeAll(async () => {
  pair = await startPair((fakeUrl) => pointAt(fakeUrl, { chat: ['ok'], server: { trusted_proxies: ['127.0.0.0/8'] } }));
  const { gateway } = pair;
  house = await setUpOwner(gateway);
  await control(gateway, 'accounts.create', { id: 'acme' });
  await control(gateway, 'workspaces.create', { id: 'acme-main', account: 'acme' });
  outsider = await inviteMember(gateway.url, house, { account: 'acme', role: 'owner' });
  const { key: ownKey } = await createKey(gateway, { workspace: 'acme-main', scopes: ['admin'] });
  script = openScript(gateway.url, ownKey);
  const { id, key } = await createKey(gateway, { name: 'of the house' });
  const viewer = await inviteMember(gateway.url, house, { account: 'default', role: 'viewer' });
  const invitation = { email: 'guest@default.example', role: 'viewer', workspaces: null };
  const invited = await must(house.ask('POST /accounts/default/invitations', { body: invitation }));
  const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'ok', messages: [{ role: 'user', content: 'Good day.' }] }),
  });
  await reply.text();
  foreign = {
    account: 'acme',
    key: id,
    kind: 'key',
    subject: id,
    workspace: 'default',
    person: viewer.person,
    invitation: invited.invitation.id,
    request: reply.headers.get('x-request-id') ?? '',
  };
});
afterAll(() => pair.stop());

test('each route whose path names something of an account is asked here', () => {
  const named = Object.keys(CONSOLE_ROUTES).filter((route) => /\{account\}.*\{/.test(route) && !SHARED.test(route));
  expect(Object.keys(BODIES).sort()).toEqual(named.sort());
});

test.each(Object.keys(BODIES) as Named[])('%s: nothing of another account is there', async (route) => {
  const body = BODIES[route];
  for (const visitor of [outsider, script]) {
    const { status, json } = await visitor.ask(askOf(route, foreign), body === undefined ? {} : { body });
    const isForPeople = status === 403 && visitor === script;
    if (!isForPeople) expect({ status, code: json?.error?.code }).toEqual({ status: 404, code: 'not_found' });
  }
});

test.each([
  ['workspace', { subject: 'default', kind: 'workspace' }],
  ['account', { subject: 'default', kind: 'account' }],
])('limits of another account’s %s are not to be set', async (_, names) => {
  const asked = askOf('PUT /accounts/{account}/limits/{kind}/{subject}', { ...foreign, ...names });
  const { status } = await outsider.ask(asked, { body: { caps: NO_CAPS } });
  expect(status).toBe(404);
});

test('a key cannot be put into, nor a call be tried with a key of, another account', async () => {
  const caps = { ...NO_CAPS, rpm: null };
  const given = { name: 'x', models: null, ips: null, scopes: ['inference'], strict: false, caps, expires_at: null };
  const made = await outsider.ask('POST /accounts/acme/keys', { body: { ...given, workspace: 'default' } });
  expect([400, 404]).toContain(made.status);
  const trial = { key: foreign.key, model: 'ok', end_user: null, input_tokens: 1, max_tokens: null, stream: false };
  const tried = await outsider.ask('POST /accounts/acme/limits/simulate', { body: trial });
  expect([400, 404]).toContain(tried.status);
  expect(tried.text).not.toContain('of the house');
});

test('lists, files and sums hold nothing of another account', async () => {
  const range = new URLSearchParams({ from: '2026-01-01T00:00:00Z', to: new Date(Date.now() + 60_000).toISOString() });
  const paths = ['keys', 'logs', 'logs.csv', 'limits', 'workspaces', 'members', 'audit', 'home', 'billing', 'settings'];
  const ranged = [
    `usage?${range}&by=key,member`,
    `usage.csv?${range}&by=key`,
    `audit.csv?${range}`,
    `billing.csv?${range}`,
  ];
  for (const path of [...paths, ...ranged]) {
    const { status, text } = await outsider.ask(`GET /accounts/acme/${path}`);
    expect([path, status]).toEqual([path, 200]);
    for (const [name, id] of Object.entries(foreign)) {
      if (['key', 'person', 'request', 'invitation'].includes(name))
        expect([path, text.includes(id)]).toEqual([path, false]);
    }
    expect([path, text.includes('of the house')]).toEqual([path, false]);
  }
});

test('after all that, what was named is as it was', async () => {
  const { members, invitations } = await must(house.ask('GET /accounts/default/members'));
  const roles = members.map(({ person, role }: { person: string; role: string }) => [person, role]);
  expect(roles).toContainEqual([foreign.person, 'viewer']);
  expect(invitations.map(({ id }: { id: string }) => id)).toEqual([foreign.invitation]);
  const { key } = await must(house.ask(`GET /accounts/default/keys/${foreign.key}`));
  expect(key).toMatchObject({ name: 'of the house', status: 'active', rotation: null, caps: { rpm: null } });
  const { workspaces } = await must(house.ask('GET /accounts/default/workspaces'));
  expect(workspaces).toMatchObject([{ id: 'default', bodies: null, caps: { rpm: null } }]);
});
