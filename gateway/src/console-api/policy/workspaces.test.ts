/** Tests the routes about workspaces, accounts, settings and the audit trail over a real store. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { keepCall, NO_CAPS, newKey, openPolicyRig, type PolicyRig, person } from '../testing/policy-rig.ts';

const newFolder = temporaryFolders();
const OWNER = person('per_owner', 'team', 'owner');
const OPERATOR = person('per_operator', 'default', 'admin');
const SPACES = '/accounts/team/workspaces';
let rig: PolicyRig;

beforeEach(async () => {
  rig = await openPolicyRig(newFolder());
});
afterEach(async () => {
  expect(rig.faults).toEqual([]);
  await rig.close();
});

test('a workspace is made and changed with its policy, and shows its keys and month', async () => {
  const given = { models: ['m'], bodies: 'errors', bodies_days: 7, caps: { ...NO_CAPS, rpm: 3 } };
  const made = await rig.ask(OWNER, `POST ${SPACES}`, { id: 'green', ...given });
  expect(made.json).toMatchObject({ id: 'green', ...given, keys: 0, month_nano_usd: '0' });
  const { id } = await rig.run('keys.create', { name: 'n', workspace: 'green' });
  const revoked = await rig.run('keys.create', { name: 'gone', workspace: 'green' });
  await rig.run('keys.revoke', { id: revoked.id });
  await keepCall(rig, id, { cost_nano_usd: '9' });
  await keepCall(rig, id, { cost_nano_usd: '1', at_ms: Date.UTC(2026, 9, 31, 12) });
  const changed = await rig.ask(OWNER, `PATCH ${SPACES}/green`, { bodies: 'off', caps: NO_CAPS });
  expect(changed.json).toMatchObject({ ...given, bodies: 'off', caps: NO_CAPS, keys: 1, month_nano_usd: '9' });
  const { workspaces } = (await rig.ask(OWNER, `GET ${SPACES}`)).json;
  expect(workspaces.map((one: { id: string }) => one.id)).toEqual(['red', 'blue', 'green']);
  expect((await rig.ask(OWNER, `POST ${SPACES}`, { id: 'default', ...given })).json).toMatchObject({
    error: { code: 'conflict', member: 'id' },
  });
});

test('a list that another user changed since it was read is not overwritten', async () => {
  const { key } = (await rig.ask(OWNER, 'POST /accounts/team/keys', newKey({ models: ['m'] }))).json;
  await rig.ask(OWNER, `PATCH ${SPACES}/red`, { models: ['m'] });
  for (const [path, name] of [
    [`${SPACES}/red`, 'red'],
    [`/accounts/team/keys/${key.id}`, 'a key'],
  ]) {
    const add = (model: string) => rig.ask(OWNER, `PATCH ${path}`, { models: ['m', model], before: { models: ['m'] } });
    expect((await add('a')).json.models).toEqual(['m', 'a']);
    const refused = await add('b');
    expect(refused.status).toBe(409);
    expect(refused.json.error.message).toContain(`Another user changed the models of ${name} meanwhile (added a)`);
  }
});

test('a workspace’s content setting can be reset to the configuration’s, with an audit entry', async () => {
  const own = { bodies: 'all', bodies_days: 7 };
  await rig.ask(OWNER, `PATCH ${SPACES}/red`, own);
  const changed = await rig.ask(OWNER, `PATCH ${SPACES}/red`, { bodies: null, bodies_days: null });
  expect(changed.json).toMatchObject({ id: 'red', bodies: null, bodies_days: null });
  expect((await rig.ask(OWNER, `GET ${SPACES}`)).json.configured).toEqual({ bodies: 'off', bodies_days: 30 });
  const [entry] = (await rig.ask(OWNER, 'GET /accounts/team/audit')).json.entries;
  expect(entry).toMatchObject({ before: own, after: { bodies: null, bodies_days: null } });
});

test('data tags can be required of a workspace and a key, and show in the preview and the audit trail', async () => {
  const changed = await rig.ask(OWNER, `PATCH ${SPACES}/red`, { required_tags: ['eu'] });
  expect(changed.json).toMatchObject({ id: 'red', required_tags: ['eu'] });
  const [entry] = (await rig.ask(OWNER, 'GET /accounts/team/audit')).json.entries;
  expect(entry).toMatchObject({ before: { required_tags: [] }, after: { required_tags: ['eu'] } });
  const { key } = (await rig.ask(OWNER, 'POST /accounts/team/keys', newKey({ required_tags: ['zdr'] }))).json;
  expect(key.required_tags).toEqual(['zdr']);
  const may = await rig.ask(OWNER, `GET /accounts/team/keys/${key.id}/may-call?model=m`);
  expect(may.json.may).toBe(false);
  expect(may.json.reasons.at(-1).text).toContain('requires the data tags eu, zdr, and no target of the model has them');
  await rig.ask(OWNER, `PATCH ${SPACES}/red`, { required_tags: [] });
  await rig.ask(OWNER, `PATCH /accounts/team/keys/${key.id}`, { required_tags: [] });
  expect((await rig.ask(OWNER, `GET /accounts/team/keys/${key.id}/may-call?model=m`)).json.may).toBe(true);
});

test('the operator creates and changes accounts', async () => {
  const made = await rig.ask(OPERATOR, 'POST /accounts', { id: 'shop', name: ' The shop ', mode: 'prepaid' });
  expect(made.json).toMatchObject({ id: 'shop', name: 'The shop', mode: 'prepaid', balance_nano_usd: '0' });
  expect((await rig.ask(OPERATOR, 'POST /accounts', { id: 'shop', mode: 'prepaid' })).json).toMatchObject({
    error: { code: 'conflict', member: 'id' },
  });
  const changed = await rig.ask(OPERATOR, 'PATCH /accounts/shop', { mark_up_percent: '12.5', time_zone: 'Asia/Tokyo' });
  expect(changed.json).toMatchObject({ mark_up_percent: '12.5', time_zone: 'Asia/Tokyo', mode: 'prepaid' });
  expect((await rig.ask(OPERATOR, 'PATCH /accounts/shop', { mark_up_percent: 'x' })).json).toMatchObject({
    error: { code: 'invalid', member: 'mark_up_percent' },
  });
  expect((await rig.ask(OPERATOR, 'PATCH /accounts/gone', { mode: 'prepaid' })).status).toBe(404);
  expect((await rig.ask(OPERATOR, 'GET /accounts')).json.accounts).toHaveLength(3);
});

test('settings: an account is named by its id until it is renamed, and the audit trail has both names', async () => {
  const nameOf = async () => (await rig.ask(OWNER, 'GET /accounts/team/settings')).json.account.name;
  expect(await nameOf()).toBe('team');
  expect((await rig.ask(OWNER, 'PATCH /accounts/team/settings', { name: ' The team ' })).status).toBe(200);
  expect(await nameOf()).toBe('The team');
  expect((await rig.ask(OWNER, 'PATCH /accounts/team/settings', { name: ' ' })).json.error.member).toBe('name');
  const [entry] = (await rig.ask(OWNER, 'GET /accounts/team/audit')).json.entries;
  expect(entry).toMatchObject({ act: 'accounts.set', before: { name: 'team' }, after: { name: 'The team' } });
});

test('settings: the time zone applies at once; only the operator sees the installation', async () => {
  expect((await rig.ask(OWNER, 'PATCH /accounts/team/settings', { time_zone: 'Asia/Tokyo' })).status).toBe(200);
  expect((await rig.ask(OWNER, 'GET /accounts/team/settings')).json).toMatchObject({
    account: { id: 'team', time_zone: 'Asia/Tokyo' },
    facts: [],
  });
  expect((await rig.ask(OWNER, 'PATCH /accounts/team/settings', { time_zone: 'Mars' })).json).toMatchObject({
    error: { code: 'invalid', member: 'time_zone' },
  });
  const { facts } = (await rig.ask(OPERATOR, 'GET /accounts/default/settings')).json;
  expect(facts.map(({ name }: { name: string }) => name)).toEqual(['Version', 'Configuration', 'Data folder']);
});

test('a body with several wrong members is refused with each of them, one fault per member', async () => {
  const { status, json } = await rig.ask(OWNER, 'PATCH /accounts/team/settings', { name: 5, time_zone: 7 });
  expect(status).toBe(400);
  expect(json.error).toMatchObject({ code: 'invalid', member: 'name' });
  expect(json.error.message).toStartWith('name: ');
  expect(json.error.faults).toEqual([
    { member: 'name', message: json.error.message },
    { member: 'time_zone', message: expect.stringMatching(/^time_zone: /) },
  ]);
  const single = await rig.ask(OWNER, 'PATCH /accounts/team/settings', { name: 5 });
  expect(single.json.error).not.toHaveProperty('faults');
});

test('the audit trail lists actor, change and address, page by page and as a file', async () => {
  await rig.ask(OWNER, `PATCH ${SPACES}/red`, { models: ['=m'] });
  const [entry] = (await rig.ask(OWNER, 'GET /accounts/team/audit')).json.entries;
  expect(entry).toEqual({
    seq: expect.any(Number),
    at: '2026-11-20T12:00:00.000Z',
    actor: { kind: 'person', id: 'per_owner', name: 'Name of per_owner' },
    act: 'workspaces.set',
    subject: { kind: 'workspace', id: 'red' },
    before: { models: null },
    after: { models: ['=m'] },
    address: '192.0.2.9',
  });
  for (let nth = 0; nth < 130; nth++) await rig.run('workspaces.set', { id: 'red', models: [`m${nth}`] });
  const first = (await rig.ask(OWNER, 'GET /accounts/team/audit?act=workspaces.set')).json;
  const second = (await rig.ask(OWNER, `GET /accounts/team/audit?act=workspaces.set&before=${first.next}`)).json;
  expect([first.entries.length, second.entries.length, second.next]).toEqual([100, 31, null]);
  expect((await rig.ask(OWNER, 'GET /accounts/team/audit?actor=per_owner')).json.entries).toHaveLength(1);
  expect((await rig.ask(OWNER, 'GET /accounts/team/audit?subject=blue')).json.entries).toMatchObject([
    { act: 'workspaces.create', actor: { kind: 'command_line', name: 'command line' }, address: null },
  ]);
  const file = await rig.ask(OWNER, 'GET /accounts/team/audit.csv?from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z');
  const lines = file.text.trim().split('\r\n');
  expect(lines).toHaveLength(135);
  expect(lines.find((line) => line.includes('per_owner'))).toContain(
    'person,per_owner,Name of per_owner,192.0.2.9,workspaces.set',
  );
});
