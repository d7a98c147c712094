/**
 * Tests isolation: members of one account cannot see or use keys, calls, people or workspaces of another, nor those of
 * another workspace in the same account. For them these do not exist.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { CONSOLE_ROUTES, type ConsoleRoute, rowOf } from '../../src/console-api/contract/contract.ts';
import { pointAt } from '../harness/point-at.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { control, createKey } from '../http-contract/make-key.ts';
import { type ApiVisitor, inviteMember, type Member, must, openScript, setUpOwner } from './api-visitor.ts';
import { expectAccess } from './expect-access.ts';
import { askOf, type Names } from './sample-asks.ts';

setDefaultTimeout(60_000);

/** An amount that occurs nowhere else here. */
const MONEY_USD = '7123.456789123';
const NO_CAPS = { rpm: 1, tpm: null, concurrency: null, budget_usd: null, budget_window: null };

/** A valid body for each route whose path names something of an account. */
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
  'PATCH /accounts/{account}/alerts/{alert}': { name: 'taken over' },
  'DELETE /accounts/{account}/alerts/{alert}': undefined,
  'POST /accounts/{account}/alerts/{alert}/test': {},
  'GET /accounts/{account}/alerts/{alert}/deliveries': undefined,
  'PATCH /accounts/{account}/guardrails/{guardrail}': { name: 'taken over' },
  'DELETE /accounts/{account}/guardrails/{guardrail}': undefined,
  'POST /accounts/{account}/guardrails/{guardrail}/test': { text: 'a text' },
  'PATCH /accounts/{account}/views/{view}': { name: 'taken over' },
  'DELETE /accounts/{account}/views/{view}': undefined,
} as const satisfies Partial<Record<ConsoleRoute, object | undefined>>;
type Named = keyof typeof BODIES;

/** Path names of shared resources that only the account that runs the installation may change. */
const SHARED = /\{(model|provider)\}/;

let pair: Pair;
let operator: ApiVisitor;
let outsider: Member;
/** An admin of one workspace in the account that owns the named resources. */
let neighbour: Member;
/** A script with a key of the outsider's account. */
let script: ApiVisitor;
let foreign: Names;

beforeAll(async () => {
  pair = await startPair((fakeUrl) => pointAt(fakeUrl, { chat: ['ok'], server: { trusted_proxies: ['127.0.0.0/8'] } }));
  const { gateway } = pair;
  operator = await setUpOwner(gateway);
  await control(gateway, 'accounts.create', { id: 'acme' });
  await control(gateway, 'workspaces.create', { id: 'acme-main', account: 'acme' });
  outsider = await inviteMember(gateway.url, operator, { account: 'acme', role: 'owner' });
  const { key: ownKey } = await createKey(gateway, { workspace: 'acme-main', scopes: ['admin'] });
  script = openScript(gateway.url, ownKey);
  await control(gateway, 'workspaces.create', { id: 'research', account: 'default' });
  neighbour = await inviteMember(gateway.url, operator, {
    account: 'default',
    role: 'admin',
    workspaces: ['research'],
  });
  await control(gateway, 'accounts.topup', { id: crypto.randomUUID(), account: 'default', usd: MONEY_USD });
  const { id, key } = await createKey(gateway, { name: 'operator key' });
  const viewer = await inviteMember(gateway.url, operator, {
    account: 'default',
    role: 'viewer',
    workspaces: ['default'],
  });
  const invitation = { email: 'guest@default.example', role: 'viewer', workspaces: ['default'] };
  const invited = await must(operator.ask('POST /accounts/default/invitations', { body: invitation }));
  const givenAlert = { name: 'operator alert', event: 'budget', threshold: '50', channel: 'inbox' };
  const alert = await must(operator.ask('POST /accounts/default/alerts', { body: givenAlert }));
  const givenRule = { name: 'operator rule', check: 'terms', items: ['unmentionable'], workspace: 'default' };
  const guardrail = await must(operator.ask('POST /accounts/default/guardrails', { body: givenRule }));
  const givenView = { name: 'operator view', shared: false, search: { q: 'status:500' } };
  const view = await must(operator.ask('POST /accounts/default/views', { body: givenView }));
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
    alert: alert.id,
    guardrail: guardrail.id,
    view: view.id,
  };
});
afterAll(() => pair.stop());

test('every route with an id of an account in its path is tested here', () => {
  const named = Object.keys(CONSOLE_ROUTES).filter((route) => /\{account\}.*\{/.test(route) && !SHARED.test(route));
  expect(Object.keys(BODIES).sort()).toEqual(named.sort());
});

test.each(Object.keys(BODIES) as Named[])('%s: has no data of another account or workspace', async (route) => {
  const body = BODIES[route];
  for (const visitor of [outsider, script, neighbour]) {
    const account = visitor === neighbour ? 'default' : 'acme';
    const probe = askOf(route, { ...foreign, account });
    const { status, json } = await visitor.ask(probe, body === undefined ? {} : { body });
    const isForPeople = status === 403 && visitor === script;
    // Members who are restricted to workspaces have no alerts.
    const isForAccounts = status === 403 && visitor === neighbour && rowOf(route).access.startsWith('alerts.');
    if (!isForPeople && !isForAccounts)
      expect({ status, code: json?.error?.code }).toEqual({ status: 404, code: 'not_found' });
  }
});

test.each([
  ['workspace', { subject: 'default', kind: 'workspace' }],
  ['account', { subject: 'default', kind: 'account' }],
])('limits of another account’s %s are not to be set', async (_, names) => {
  const probe = askOf('PUT /accounts/{account}/limits/{kind}/{subject}', { ...foreign, ...names });
  const { status } = await outsider.ask(probe, { body: { caps: NO_CAPS } });
  expect(status).toBe(404);
});

test('an admin of a workspace cannot gain rights beyond it', async () => {
  const given = { name: 'x', models: null, ips: null, strict: false, caps: NO_CAPS, expires_at: null };
  const trial = { key: foreign.key, model: 'ok', end_user: null, input_tokens: 1, max_tokens: null, stream: false };
  const guest = { email: 'guest@default.example', role: 'viewer' };
  const rights = { role: 'admin', workspaces: null };
  for (const [route, body, refusal] of [
    ['POST /accounts/default/keys', { ...given, workspace: 'default', scopes: ['inference'] }, 'not_found'],
    ['POST /accounts/default/keys', { ...given, workspace: 'research', scopes: ['admin'] }, 'forbidden'],
    ['POST /accounts/acme/keys', { ...given, workspace: 'acme-main', scopes: ['admin'] }, 'not_found'],
    ['POST /accounts/default/limits/simulate', trial, 'not_found'],
    ['POST /accounts/default/invitations', { ...guest, workspaces: null }, 'forbidden'],
    // It would replace one that they cannot see.
    ['POST /accounts/default/invitations', { ...guest, workspaces: ['research'] }, 'conflict'],
    [`PATCH /accounts/default/members/${neighbour.person}`, rights, 'forbidden'],
    ['PUT /accounts/default/limits/account/default', { caps: NO_CAPS }, 'forbidden'],
    ['PUT /accounts/default/limits/end_user/ann', { caps: NO_CAPS }, 'forbidden'],
    ['PUT /accounts/default/limits/model/ok', { caps: NO_CAPS }, 'forbidden'],
  ] as const) {
    const { json } = await neighbour.ask(route, { body });
    expect([route, json?.error?.code]).toEqual([route, refusal]);
  }
});

test('a key cannot be put into, nor a call be tried with a key of, another account', async () => {
  const caps = { ...NO_CAPS, rpm: null };
  const given = { name: 'x', models: null, ips: null, scopes: ['inference'], strict: false, caps, expires_at: null };
  const made = await outsider.ask('POST /accounts/acme/keys', { body: { ...given, workspace: 'default' } });
  expect([400, 404]).toContain(made.status);
  const trial = { key: foreign.key, model: 'ok', end_user: null, input_tokens: 1, max_tokens: null, stream: false };
  const tried = await outsider.ask('POST /accounts/acme/limits/simulate', { body: trial });
  expect([400, 404]).toContain(tried.status);
  expect(tried.text).not.toContain('operator key');
});

/** Every read-only route of an account that needs no other name. */
const SHOWN = (Object.keys(CONSOLE_ROUTES) as ConsoleRoute[]).filter((route) =>
  /^GET \/accounts\/\{account\}\/[^{]*$/.test(route),
);

const NAMING: ReadonlySet<ConsoleRoute> = new Set([
  'GET /accounts/{account}/session-turns',
  'GET /accounts/{account}/cache-break',
]);

test.each(SHOWN)('%s returns no data of another account or workspace', async (route) => {
  const row = rowOf(route);
  for (const [visitor, account, caller] of [
    [outsider, 'acme', { kind: 'member', role: 'owner', account: 'acme', restricted: false }],
    [neighbour, 'default', { kind: 'member', role: 'admin', account: 'default', restricted: true }],
  ] as const) {
    const probe = askOf(route, { account });
    const by = probe.includes('/usage') ? '&by=key,member' : '';
    const { status, text } = await visitor.ask(`${probe}${by}`);
    // The query names something that they do not have.
    const found = NAMING.has(route) ? 404 : 200;
    expect([account, status]).toEqual([account, expectAccess(caller, row, account) === 'in' ? found : 403]);
    const { key, person, request, invitation } = foreign;
    const strange = [
      key,
      person,
      request,
      invitation,
      'operator key',
      'operator alert',
      'operator rule',
      'operator view',
      'unmentionable',
      '@default.example',
      pair.gateway.dataDir,
    ];
    const money = MONEY_USD.replace('.', '');
    // They see their own name and those of members with access to all workspaces, like everyone who shares a workspace.
    const own = visitor === neighbour ? text.replaceAll(neighbour.email, '') : text;
    expect([...strange, money].filter((one) => one !== undefined && own.includes(one))).toEqual([]);
  }
});

test('afterwards the foreign objects are unchanged', async () => {
  const { members, invitations } = await must(operator.ask('GET /accounts/default/members'));
  const roles = members.map(({ person, role }: { person: string; role: string }) => [person, role]);
  expect(roles).toContainEqual([foreign.person, 'viewer']);
  expect(invitations.map(({ id }: { id: string }) => id)).toEqual([foreign.invitation]);
  const { key } = await must(operator.ask(`GET /accounts/default/keys/${foreign.key}`));
  expect(key).toMatchObject({ name: 'operator key', status: 'active', rotation: null, caps: { rpm: null } });
  const { rules: alerts } = await must(operator.ask('GET /accounts/default/alerts'));
  const { rules: guardrails } = await must(operator.ask('GET /accounts/default/guardrails'));
  const { views } = await must(operator.ask('GET /accounts/default/views'));
  const names = [...alerts, ...guardrails, ...views].map(({ name }: { name: string }) => name);
  expect(names).toEqual(['operator alert', 'operator rule', 'operator view']);
  const { workspaces } = await must(operator.ask('GET /accounts/default/workspaces'));
  const kept = { bodies: null, caps: { rpm: null } };
  expect(workspaces).toMatchObject([
    { id: 'default', ...kept },
    { id: 'research', ...kept },
  ]);
});
