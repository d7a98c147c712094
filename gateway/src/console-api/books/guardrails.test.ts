/** Tests the routes about guardrails over a real store: tenancy, hooks of owners, audit, faults by member. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { openPolicyRig, type PolicyRig, person } from '../testing/policy-rig.ts';

const newFolder = temporaryFolders();
const OWNER = person('per_owner', 'team', 'owner');
const ADMIN = person('per_admin', 'team', 'admin');
const RED = person('per_red', 'team', 'admin', ['red']);
const DEVELOPER = person('per_developer', 'team', 'developer');
const STRANGER = person('per_stranger', 'other', 'owner');
const OPERATOR = person('per_operator', 'default', 'admin');
const PATH = '/accounts/team/guardrails';
const TERMS = { name: 'Code names', check: 'terms', items: ['Falcon', ' Falcon ', 'unreleased'] };
const HOOK = { name: 'Our service', check: 'hook', url: 'https://guard.example.com/SECRETPATH' };
let rig: PolicyRig;

beforeEach(async () => {
  rig = await openPolicyRig(newFolder());
});
afterEach(async () => {
  expect(rig.faults).toEqual([]);
  await rig.close();
});

test('an admin creates, changes and deletes a rule; the audit trail does not have its terms', async () => {
  const made = await rig.ask(ADMIN, `POST ${PATH}`, TERMS);
  expect(made.json).toMatchObject({
    items: ['Falcon', 'unreleased'],
    workspace: null,
    side: 'request',
    action: 'block',
  });
  const path = `${PATH}/${made.json.id}`;
  const changes = { items: ['Eagle', 'unreleased'], workspace: 'red', side: 'both', action: 'mask', fails_open: true };
  expect((await rig.ask(ADMIN, `PATCH ${path}`, changes)).json).toMatchObject({ ...changes, signing_secret: null });
  const { rules, detectors } = (await rig.ask(ADMIN, `GET ${PATH}`)).json;
  expect(rules).toMatchObject([{ id: made.json.id, ...changes, enabled: true }]);
  expect(detectors).toContainEqual(expect.objectContaining({ name: 'email', check: 'personal_data' }));
  await rig.ask(ADMIN, `DELETE ${path}`);
  expect((await rig.ask(ADMIN, `GET ${PATH}`)).json.rules).toEqual([]);
  const audit = await rig.ask(OWNER, 'GET /accounts/team/audit');
  expect(audit.text).not.toMatch(/Falcon|Eagle/);
  expect(audit.json.entries.slice(0, 3)).toMatchObject([
    { act: 'guardrails.delete', after: null },
    { act: 'guardrails.set', before: { items: '2 terms' }, after: { items: '2 terms, changed', workspace: 'red' } },
    { act: 'guardrails.create', before: null, after: { items: '2 terms', action: 'block' } },
  ]);
});

test('a rule of another account is not found, and developers have no rules', async () => {
  await rig.run('accounts.create', { id: 'other' });
  const { id } = (await rig.ask(ADMIN, `POST ${PATH}`, TERMS)).json;
  for (const account of ['other', 'team'])
    for (const [route, body] of [
      [`PATCH /accounts/${account}/guardrails/${id}`, { name: 'mine' }],
      [`DELETE /accounts/${account}/guardrails/${id}`, undefined],
      [`POST /accounts/${account}/guardrails/${id}/test`, { text: 'a' }],
    ] as const)
      expect((await rig.ask(STRANGER, route, body)).status).toBe(404);
  expect((await rig.ask(STRANGER, 'GET /accounts/other/guardrails')).json.rules).toEqual([]);
  expect((await rig.ask(OPERATOR, `GET ${PATH}`)).json.rules).toHaveLength(1);
  expect((await rig.ask(DEVELOPER, `GET ${PATH}`)).status).toBe(403);
  const foreign = await rig.ask(OPERATOR, `POST ${PATH}`, { ...TERMS, workspace: 'default' });
  expect(foreign.json).toMatchObject({ error: { member: 'workspace' } });
});

test('a member of some workspaces has the rules of those only', async () => {
  const own = (await rig.ask(OWNER, `POST ${PATH}`, { ...TERMS, workspace: 'red' })).json.id;
  const blue = (await rig.ask(OWNER, `POST ${PATH}`, { ...TERMS, workspace: 'blue' })).json.id;
  const all = (await rig.ask(OWNER, `POST ${PATH}`, TERMS)).json.id;
  expect((await rig.ask(RED, `GET ${PATH}`)).json.rules).toMatchObject([{ id: own }]);
  for (const id of [blue, all]) expect((await rig.ask(RED, `PATCH ${PATH}/${id}`, { name: 'a' })).status).toBe(404);
  expect((await rig.ask(RED, `PATCH ${PATH}/${own}`, { enabled: false })).json.enabled).toBe(false);
  for (const workspace of [null, 'blue']) {
    expect((await rig.ask(RED, `PATCH ${PATH}/${own}`, { workspace })).json).toMatchObject({
      error: { member: 'workspace' },
    });
    expect((await rig.ask(RED, `POST ${PATH}`, { ...TERMS, workspace })).json).toMatchObject({
      error: { member: 'workspace' },
    });
  }
});

test('only owners and operators set the address of a hook, which is sealed', async () => {
  expect((await rig.ask(ADMIN, `POST ${PATH}`, HOOK)).json).toMatchObject({
    error: { code: 'forbidden', member: 'check' },
  });
  const made = await rig.ask(OWNER, `POST ${PATH}`, HOOK);
  expect(made.json).toMatchObject({ receiver: 'https://guard.example.com', timeout_ms: 2_000, action: null });
  expect(made.json.signing_secret).toMatch(/^whsec_/);
  const path = `${PATH}/${made.json.id}`;
  const url = 'https://guard.example.com/SECRETPATH2';
  expect((await rig.ask(ADMIN, `PATCH ${path}`, { url })).json).toMatchObject({
    error: { code: 'forbidden', member: 'url' },
  });
  expect((await rig.ask(ADMIN, `PATCH ${path}`, { enabled: false })).status).toBe(200);
  const moved = await rig.ask(OPERATOR, `PATCH ${path}`, { url });
  expect(moved.json.signing_secret).not.toBe(made.json.signing_secret);
  const shown = [made, moved, await rig.ask(OWNER, `GET ${PATH}`), await rig.ask(OWNER, 'GET /accounts/team/audit')];
  for (const { text } of shown) expect(text).not.toContain('SECRETPATH');
  expect(shown.at(-1)?.json.entries[0]).toMatchObject({ act: 'guardrails.set', after: { address: 'replaced' } });
});

test('each fault names its member', async () => {
  for (const [given, member] of [
    [{ ...TERMS, items: [] }, 'items'],
    [{ ...TERMS, items: [' '] }, 'items'],
    [{ ...TERMS, items: ['two\nlines'] }, 'items'],
    [{ ...TERMS, items: ['x'.repeat(201)] }, 'items'],
    [{ ...TERMS, items: Array.from({ length: 501 }, (_, nth) => `term ${nth}`) }, 'items'],
    [{ ...TERMS, check: 'secrets', items: ['email'] }, 'items'],
    [{ ...TERMS, timeout_ms: 100 }, 'timeout_ms'],
    [{ ...TERMS, url: HOOK.url }, 'url'],
    [{ ...HOOK, timeout_ms: 99 }, 'timeout_ms'],
    [{ ...HOOK, timeout_ms: 10_001 }, 'timeout_ms'],
    [{ ...HOOK, items: ['a'] }, 'items'],
    [{ ...HOOK, url: 'http://guard.example.com/' }, 'url'],
    [{ ...HOOK, url: 'https://10.0.0.1/' }, 'url'],
    [{ ...HOOK, url: 'https://u:p@example.com/' }, 'url'],
    [{ ...TERMS, name: ' ' }, 'name'],
  ] as const)
    expect((await rig.ask(OWNER, `POST ${PATH}`, given)).json).toMatchObject({ error: { member } });
  expect((await rig.ask(OWNER, `GET ${PATH}`)).json.rules).toEqual([]);
});

test('a rule is tried on a text; an account has at most 50 rules', async () => {
  const { id } = (await rig.ask(ADMIN, `POST ${PATH}`, TERMS)).json;
  const tried = await rig.ask(ADMIN, `POST ${PATH}/${id}/test`, { text: 'hello' });
  expect(tried.json).toEqual({ outcome: 'passed', text: 'hello', findings: [], message: null });
  const long = await rig.ask(ADMIN, `POST ${PATH}/${id}/test`, { text: 'x'.repeat(20_001) });
  expect(long.json).toMatchObject({ error: { member: 'text' } });
  for (let nth = 1; nth < 50; nth += 1) await rig.ask(ADMIN, `POST ${PATH}`, TERMS);
  expect((await rig.ask(ADMIN, `POST ${PATH}`, TERMS)).json).toMatchObject({ error: { code: 'conflict' } });
});

test('terms that another user changed since they were read are not overwritten', async () => {
  const { items, id } = (await rig.ask(ADMIN, `POST ${PATH}`, TERMS)).json;
  const change = (more: string) =>
    rig.ask(ADMIN, `PATCH ${PATH}/${id}`, { items: [...items, more], before: { items } });
  expect((await change('Eagle')).status).toBe(200);
  const refused = await change('Hawk');
  expect(refused.status).toBe(409);
  expect(refused.json.error.message).toContain('the items of Code names meanwhile (added Eagle)');
  expect((await rig.ask(ADMIN, `GET ${PATH}`)).json.rules).toMatchObject([{ items: [...items, 'Eagle'] }]);
});
