/**
 * Tests every policy route against actors from outside the account: they see nothing of it and change nothing in it.
 */
import { expect, test } from 'bun:test';
import { temporaryFolders } from '../store/testing/temporary-folder.ts';
import { CONSOLE_ROUTES, type ConsoleRoute } from './contract/contract.ts';
import type { Actor } from './kernel/actor.ts';
import { NO_CAPS, newKey, openPolicyRig, person } from './testing/policy-rig.ts';

const newFolder = temporaryFolders();
const RANGE = '?from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z';
const MONEY = { id: '00000000-0000-4000-8000-000000000001', usd: '1', note: 'n' };

/** Routes of one account, each with a valid request. `key`: of another account. */
function routes(account: string, key: string): readonly (readonly [string, object?])[] {
  const path = `/accounts/${account}`;
  const simulated = { key, model: 'm', end_user: null, input_tokens: 1, max_tokens: null, stream: true };
  return [
    [`GET ${path}/keys`],
    [`POST ${path}/keys`, newKey()],
    [`GET ${path}/keys/${key}`],
    [`GET ${path}/keys/${key}/gauges`],
    [`PATCH ${path}/keys/${key}`, { name: 'x' }],
    [`POST ${path}/keys/${key}/rotate`, { grace: 'now' }],
    [`POST ${path}/keys/${key}/disable`, {}],
    [`POST ${path}/keys/${key}/enable`, {}],
    [`POST ${path}/keys/${key}/revoke`, {}],
    [`POST ${path}/keys/bulk`, { keys: [key], action: 'revoke' }],
    [`GET ${path}/keys/${key}/may-call?model=m`],
    [`GET ${path}/model-matches?patterns=*&workspace=red`],
    [`GET ${path}/limits`],
    [`PUT ${path}/limits/key/${key}`, { caps: NO_CAPS }],
    [`PUT ${path}/limits/workspace/red`, { caps: NO_CAPS }],
    [`PUT ${path}/limits/account/team`, { caps: NO_CAPS }],
    [`POST ${path}/limits/simulate`, simulated],
    [`GET ${path}/workspaces`],
    [`PATCH ${path}/workspaces/red`, { models: null }],
    [`GET ${path}/billing`],
    [`GET ${path}/billing.csv${RANGE}`],
    [`PATCH ${path}`, { mode: 'prepaid' }],
    [`POST ${path}/topup`, MONEY],
    [`POST ${path}/correct`, MONEY],
    [`GET ${path}/audit`],
    [`GET ${path}/audit.csv${RANGE}`],
    [`GET ${path}/settings`],
    [`PATCH ${path}/settings`, { time_zone: 'UTC' }],
  ];
}

/** The routes of the table that this file covers. */
const ABOUT =
  /^\w+ \/accounts\/\{account\}(?:$|\/(?:keys|model-matches|limits|workspaces|billing|topup|correct|audit|settings))/;
const NOT_OF_PATH: readonly ConsoleRoute[] = ['POST /accounts/{account}/workspaces'];

test('the list has every route about policy of an account', () => {
  const shapes = routes('{account}', '{key}').map(([route]) =>
    route
      .replace(/\?.*/, '')
      .replace('/red', '/{workspace}')
      .replace(/limits\/\w+\/[^ ]+$/, 'limits/{kind}/{subject}'),
  );
  const named = new Set<string>(shapes);
  const table = (Object.keys(CONSOLE_ROUTES) as ConsoleRoute[]).filter((route) => ABOUT.test(route));
  expect(table.filter((route) => !named.has(route) && !NOT_OF_PATH.includes(route))).toEqual([]);
});

test('strangers, anonymous callers and foreign keys see and change nothing', async () => {
  const rig = await openPolicyRig(newFolder());
  const made = await rig.run('keys.create', { name: 'n', workspace: 'red' });
  await rig.run('accounts.create', { id: 'other' });
  await rig.run('workspaces.create', { id: 'theirs', account: 'other' });
  const stranger = person('p', 'other', 'owner');
  const foreign: Actor = {
    kind: 'key',
    id: 'k',
    name: 'k',
    account: 'other',
    workspace: 'theirs',
    scopes: ['admin', 'usage'],
  };
  const count = (await rig.store.audit.read({ ...EVERYTHING, account: 'team' })).length;
  for (const [route, body] of routes('team', made.id)) {
    expect([route, (await rig.ask({ kind: 'anonymous' }, route, body)).status]).toEqual([route, 401]);
    for (const actor of [stranger, foreign]) {
      expect([route, (await rig.ask(actor, route, body)).status]).toEqual([route, 404]);
    }
  }
  expect((await rig.store.audit.read({ ...EVERYTHING, account: 'team' })).length).toBe(count);
  expect(rig.faults).toEqual([]);
  await rig.close();
});

test('ids of another account are not there in one’s own', async () => {
  const rig = await openPolicyRig(newFolder());
  const made = await rig.run('keys.create', { name: 'n', workspace: 'red' });
  await rig.run('accounts.create', { id: 'other' });
  const owner = person('p', 'other', 'owner');
  for (const [route, body] of routes('other', made.id)) {
    const names =
      route.includes(made.id) ||
      /red|\/team$/.test(route) ||
      route.includes('simulate') ||
      (body !== undefined && 'workspace' in body);
    if (!names) continue;
    expect([route, (await rig.ask(owner, route, body)).status]).toEqual([route, 404]);
  }
  const text = JSON.stringify(
    await Promise.all(
      ['keys', 'limits', 'workspaces', 'audit', 'billing'].map((page) => rig.ask(owner, `GET /accounts/other/${page}`)),
    ),
  );
  for (const foreign of [made.id, 'red', 'team']) expect(text).not.toContain(`"${foreign}`);
  expect(rig.faults).toEqual([]);
  await rig.close();
});

test('only the operator manages money, accounts and models', async () => {
  const rig = await openPolicyRig(newFolder());
  const [owner, operator] = [person('o', 'team', 'owner'), person('h', 'default', 'admin')];
  for (const [route, body] of [
    ['GET /accounts', undefined],
    ['POST /accounts', { id: 'mine', mode: 'postpaid' }],
    ['PATCH /accounts/team', { mark_up_percent: '0' }],
    ['POST /accounts/team/topup', MONEY],
    ['POST /accounts/team/correct', { ...MONEY, id: '00000000-0000-4000-8000-000000000002' }],
    ['PUT /accounts/team/limits/model/m', { caps: { ...NO_CAPS, rpm: 1 } }],
  ] as const) {
    expect([route, (await rig.ask(owner, route, body)).status >= 403]).toEqual([route, true]);
    expect([route, (await rig.ask(operator, route, body)).status]).toEqual([route, 200]);
  }
  await rig.close();
});

test('a member restricted to workspaces meets nothing of the account as a whole', async () => {
  const rig = await openPolicyRig(newFolder());
  await rig.run('limits.set', { account: 'team', end_user: 'ann', rpm: 5 });
  await rig.run('keys.create', { name: 'blue key', workspace: 'blue' });
  const red = person('p', 'team', 'admin', ['red']);
  for (const [route, body] of [
    ['GET /accounts/team/billing', undefined],
    [`GET /accounts/team/billing.csv${RANGE}`, undefined],
    ['PUT /accounts/team/limits/account/team', { caps: NO_CAPS }],
    ['PUT /accounts/team/limits/end_user/ann', { caps: NO_CAPS }],
    ['PATCH /accounts/team/settings', { time_zone: 'UTC' }],
    ['POST /accounts/team/workspaces', { id: 'green', models: null, bodies: 'off', bodies_days: 3, caps: NO_CAPS }],
  ] as const) {
    expect([route, (await rig.ask(red, route, body)).status]).toEqual([route, 403]);
  }
  expect((await rig.ask(red, 'PATCH /accounts/team/workspaces/blue', { models: null })).status).toBe(404);
  const text = ['limits', 'workspaces', 'audit', 'keys'].map(
    async (page) => (await rig.ask(red, `GET /accounts/team/${page}`)).text,
  );
  for (const foreign of ['blue', 'ann']) expect((await Promise.all(text)).join()).not.toContain(foreign);
  await rig.close();
});

const EVERYTHING = {
  workspaces: null,
  beforeSeq: null,
  actor: null,
  act: null,
  subject: null,
  fromMs: null,
  toMs: null,
  limit: 1_000,
};
