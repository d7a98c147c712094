/**
 * Tests that no member of an account can loosen a rule that the operator set, and that the operator changes both
 * layers.
 */
import { afterEach, beforeEach, expect, mock, setSystemTime, test } from 'bun:test';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import type { Actor } from '../kernel/actor.ts';
import { keepCall, NO_CAPS, newKey, openPolicyRig, type PolicyRig, person } from '../testing/policy-rig.ts';

const newFolder = temporaryFolders();
const OWNER = person('per_owner', 'team', 'owner');
const OPERATOR = person('per_operator', 'default', 'admin');
const CAPS = { ...NO_CAPS, rpm: 5, budget_usd: '1', budget_window: 'day' } as const;
const LOOSE = { ...NO_CAPS, rpm: 1_000, budget_usd: '900', budget_window: 'total' } as const;

let rig: PolicyRig;
let key: string;
let ownKey: Actor;

beforeEach(async () => {
  rig = await openPolicyRig(newFolder());
  key = String(
    (await rig.run('keys.create', { name: 'n', workspace: 'red', rpm: 5, budget_usd: '1', budget_window: 'day' })).id,
  );
  const given = { rpm: 5, budget_usd: '1', budget_window: 'day' };
  await rig.run('limits.set', { account: 'team', ...given });
  await rig.run('limits.set', { workspace: 'red', ...given });
  await rig.run('limits.set', { account: 'team', end_user: '*', ...given });
  await rig.run('limits.set', { model: 'm', ...given });
  ownKey = { kind: 'key', id: key, name: 'n', account: 'team', workspace: 'red', scopes: ['admin'] };
});
afterEach(async () => {
  setSystemTime();
  mock.restore();
  expect(rig.faults).toEqual([]);
  await rig.close();
});

/** The limits that apply to a call of the key now: amounts in nano-USD by kind and layer. */
function binding(endUser: string | null = 'bob') {
  const { rules, budgetZoneOf } = rig.deps.billing;
  const { accountId, workspaceId } = rig.directory.keys.get(key) ?? { accountId: '', workspaceId: '' };
  const subjects = { keyId: key, workspaceId, accountId, endUser, models: ['m'] };
  return rules
    .bindingCapsOf(subjects, budgetZoneOf, rig.nowMs)
    .map(
      ({ subject, caps }) =>
        `${subject.layer ?? 'operator'} ${subject.kind} ${caps.requestsPerMinute} ${caps.budget?.amount}`,
    );
}

const OPERATORS = ['key', 'end_user', 'workspace', 'account', 'model'].map((kind) => `operator ${kind} 5 1000000000`);

test('every change that an owner or an admin key of the account can ask for leaves the operator’s rules as they are', async () => {
  for (const actor of [OWNER, ownKey]) {
    for (const caps of [NO_CAPS, LOOSE, { budget_usd: null, budget_window: null }, { rpm: null }]) {
      for (const route of [
        'PUT /accounts/team/limits/account/team',
        'PUT /accounts/team/limits/workspace/red',
        `PUT /accounts/team/limits/key/${key}`,
        'PUT /accounts/team/limits/end_user/*',
        'PUT /accounts/team/limits/end_user/bob',
        'PATCH /accounts/team/workspaces/red',
        `PATCH /accounts/team/keys/${key}`,
      ]) {
        expect([route, (await rig.ask(actor, route, { caps })).status]).toEqual([route, 200]);
        const bound = binding();
        expect(OPERATORS.filter((rule) => !bound.includes(rule))).toEqual([]);
      }
    }
    expect((await rig.ask(actor, 'PUT /accounts/team/limits/model/m', { caps: NO_CAPS })).status).toBe(403);
    expect((await rig.ask(actor, 'PATCH /accounts/team', { mode: 'postpaid' })).status).toBe(403);
    for (const kind of [`key/${key}`, 'account/team', 'workspace/red', 'end_user/*']) {
      const reply = await rig.ask(actor, `PUT /accounts/team/limits/${kind}`, { caps: NO_CAPS, layer: 'operator' });
      expect(reply.json.error).toMatchObject({ code: 'forbidden' });
    }
  }
  await rig.ask(OWNER, 'PATCH /accounts/team/settings', { name: 'Renamed', time_zone: 'Pacific/Kiritimati' });
  await rig.ask(OWNER, `PATCH /accounts/team/keys/${key}`, { name: 'renamed', scopes: ['inference', 'admin'] });
  expect(OPERATORS.filter((rule) => !binding().includes(rule))).toEqual([]);
  // In any workspace that the key moves to, the limits of the key and of the account still apply.
  await rig.ask(OWNER, `PATCH /accounts/team/keys/${key}`, { workspace: 'blue' });
  expect(binding()).toEqual(expect.arrayContaining(OPERATORS.filter((rule) => !rule.includes('workspace'))));
});

test('the lower limit of both layers applies, and each is shown with its remainder', async () => {
  const route = `PUT /accounts/team/limits/key/${key}`;
  const own = { ...NO_CAPS, budget_usd: '0.5', budget_window: 'month' };
  await keepCall(rig, key, { cost_nano_usd: '77' });
  const set = (await rig.ask(OWNER, route, { caps: own })).json;
  expect(set).toMatchObject({ layer: 'account', caps: own, other_caps: CAPS });
  expect(set.gauges).toMatchObject([
    { layer: 'operator', sort: 'rpm', limit: '5' },
    { layer: 'operator', sort: 'budget', limit: '1000000000', used: '77' },
    { layer: 'account', sort: 'budget', limit: '500000000', used: '77' },
  ]);
  const { keys } = (await rig.ask(OWNER, 'GET /accounts/team/keys')).json;
  expect(keys[0]).toMatchObject({ caps: own, other_caps: CAPS, budget: { limit_nano_usd: '500000000' } });
  const { workspaces } = (await rig.ask(OWNER, 'GET /accounts/team/workspaces')).json;
  expect(workspaces[0]).toMatchObject({ id: 'red', layer: 'account', caps: NO_CAPS, other_caps: CAPS });
});

test('operators change the operator’s layer, or the account’s own if named', async () => {
  const route = 'PUT /accounts/team/limits/account/team';
  await rig.ask(OWNER, route, { caps: { rpm: 3 } });
  expect((await rig.ask(OPERATOR, route, { caps: { rpm: 7 } })).json).toMatchObject({
    layer: 'operator',
    caps: { ...CAPS, rpm: 7 },
    other_caps: { ...NO_CAPS, rpm: 3 },
  });
  expect((await rig.ask(OPERATOR, route, { caps: NO_CAPS, layer: 'account' })).json.other_caps).toEqual(NO_CAPS);
  expect(binding()).toContain('operator account 7 1000000000');
});

test('both layers of the account default are the operator’s', async () => {
  const route = 'PUT /accounts/default/limits/account/default';
  await rig.run('limits.set', { account: 'default', rpm: 5 });
  const developers = person('per_restricted', 'default', 'admin', ['default']);
  const shown = (await rig.ask(OPERATOR, route, { caps: { rpm: null, concurrency: 4 } })).json;
  expect(shown).toMatchObject({ layer: 'operator', caps: { ...NO_CAPS, concurrency: 4 }, other_caps: null });
  const workspace = 'PUT /accounts/default/limits/workspace/default';
  await rig.run('limits.set', { workspace: 'default', rpm: 5 });
  expect((await rig.ask(developers, workspace, { caps: { rpm: 9 } })).json).toMatchObject({
    layer: 'operator',
    caps: { ...NO_CAPS, rpm: 9 },
  });
});

test('a key that the operator disabled is enabled by the operator alone', async () => {
  const route = (verb: string) => `POST /accounts/team/keys/${key}/${verb}`;
  await rig.run('keys.disable', { id: key });
  expect((await rig.ask(OWNER, route('disable'), {})).status).toBe(200);
  expect((await rig.ask(OWNER, route('enable'), {})).json.error).toMatchObject({ code: 'forbidden' });
  expect((await rig.ask(OPERATOR, route('enable'), {})).json).toMatchObject({ status: 'active' });
  await rig.ask(OWNER, route('disable'), {});
  await rig.ask(OPERATOR, route('disable'), {});
  expect((await rig.ask(OWNER, route('enable'), {})).status).toBe(403);
  const stored = (await rig.store.policies.readKeys()).find(({ id }) => id === key);
  expect(stored).toMatchObject({ disabledByOperator: true, disabledBy: 'per_operator' });
});

test('a change of the time zone does not reopen a spent day, and survives a restart', async () => {
  await keepCall(rig, key, { cost_nano_usd: '1000000000' });
  const spent = async () => {
    const { nodes } = (await rig.ask(OWNER, 'GET /accounts/team/limits')).json;
    const gauges = nodes[0].gauges as readonly {
      readonly sort: string;
      readonly used: string;
      readonly resets_at: string;
    }[];
    return gauges.find(({ sort }) => sort === 'budget');
  };
  const before = await spent();
  expect(before).toMatchObject({ used: '1000000000', resets_at: '2026-11-20T23:00:00.000Z' });
  for (const time_zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Asia/Tokyo']) {
    expect((await rig.ask(OWNER, 'PATCH /accounts/team/settings', { time_zone })).status).toBe(200);
    expect(await spent()).toEqual(before);
  }
  const stored = (await rig.store.policies.readAccounts()).find(({ id }) => id === 'team');
  expect(stored).toMatchObject({
    timeZone: 'Asia/Tokyo',
    windowZones: { day: { zone: 'Europe/Berlin', untilMs: Date.UTC(2026, 10, 20, 23) } },
  });
  rig.nowMs = Date.UTC(2026, 10, 20, 23);
  // The first day in the new zone began at 15:00 UTC: spending at noon belongs to the day before.
  expect(await spent()).toMatchObject({ used: '0', resets_at: '2026-11-21T15:00:00.000Z' });
});

test('a key created by the account has limits in the account’s layer', async () => {
  const made = (await rig.ask(OWNER, 'POST /accounts/team/keys', newKey({ caps: CAPS }))).json.key;
  expect(made).toMatchObject({ layer: 'account', caps: CAPS, other_caps: NO_CAPS });
  expect((await rig.ask(OWNER, `PATCH /accounts/team/keys/${made.id}`, { caps: NO_CAPS })).json).toMatchObject({
    caps: NO_CAPS,
  });
});
