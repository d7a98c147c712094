/** Tests the routes about alerts over a real store: tenancy, audit, faults by member, the inbox. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { sampleRule } from '../../store/contracts/alerts-contract.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { openPolicyRig, type PolicyRig, person } from '../testing/policy-rig.ts';

const newFolder = temporaryFolders();
const OWNER = person('per_owner', 'team', 'owner');
const STRANGER = person('per_stranger', 'other', 'owner');
const OPERATOR = person('per_operator', 'default', 'admin');
const BILLING = person('per_billing', 'team', 'billing');
const ALERTS = '/accounts/team/alerts';
const NEW = { name: 'Budget', event: 'budget', threshold: '80', channel: 'inbox' };
let rig: PolicyRig;

beforeEach(async () => {
  rig = await openPolicyRig(newFolder());
});
afterEach(async () => {
  expect(rig.faults).toEqual([]);
  await rig.close();
});

test('an owner creates, changes and deletes an alert, each with an audit entry', async () => {
  const made = await rig.ask(OWNER, `POST ${ALERTS}`, { ...NEW, quiet: { from: '22:00', to: '07:30' } });
  expect(made.json).toMatchObject({
    ...NEW,
    receiver: '',
    quiet: { from: '22:00', to: '07:30' },
    signing_secret: null,
  });
  const path = `${ALERTS}/${made.json.id}`;
  const muted_until = '2026-11-21T00:00:00.000Z';
  const changed = await rig.ask(OWNER, `PATCH ${path}`, {
    threshold: '90',
    renotify_hours: 4,
    quiet: null,
    muted_until,
  });
  expect(changed.json).toMatchObject({ name: 'Budget', threshold: '90', renotify_hours: 4, quiet: null, muted_until });
  const { rules } = (await rig.ask(BILLING, `GET ${ALERTS}`)).json;
  expect(rules).toMatchObject([{ id: made.json.id, threshold: '90', last: null }]);
  await rig.ask(OWNER, `DELETE ${path}`);
  expect((await rig.ask(OWNER, `GET ${ALERTS}`)).json.rules).toEqual([]);
  const { entries } = (await rig.ask(OWNER, 'GET /accounts/team/audit')).json;
  const alerts = entries.filter(({ subject }: { subject: { kind: string } }) => subject.kind === 'alert');
  expect(alerts).toMatchObject([
    { act: 'alerts.delete', actor: { id: 'per_owner' }, after: null },
    { act: 'alerts.set', before: { threshold: '80' }, after: { threshold: '90' } },
    { act: 'alerts.create', before: null, after: { name: 'Budget' } },
  ]);
});

test('an alert of another account is not found, and no list has it', async () => {
  await rig.run('accounts.create', { id: 'other' });
  const { id } = (await rig.ask(OWNER, `POST ${ALERTS}`, NEW)).json;
  for (const account of ['other', 'team']) {
    for (const [route, body] of [
      [`PATCH /accounts/${account}/alerts/${id}`, { name: 'mine' }],
      [`DELETE /accounts/${account}/alerts/${id}`, undefined],
      [`POST /accounts/${account}/alerts/${id}/test`, {}],
      [`GET /accounts/${account}/alerts/${id}/deliveries`, undefined],
    ] as const)
      expect((await rig.ask(STRANGER, route, body)).status).toBe(404);
  }
  expect((await rig.ask(STRANGER, 'GET /accounts/other/alerts')).json).toMatchObject({ rules: [], inbox: [] });
  // An operator of the installation may enter the account.
  expect((await rig.ask(OPERATOR, `GET ${ALERTS}`)).json.rules).toHaveLength(1);
  expect((await rig.ask(BILLING, `POST ${ALERTS}`, NEW)).status).toBe(403);
});

test('a webhook is sealed, replaced by another address, and its address never shown', async () => {
  const url = 'https://hooks.example.com/SECRETPATH';
  const made = await rig.ask(OWNER, `POST ${ALERTS}`, { ...NEW, channel: 'webhook', url });
  expect(made.json).toMatchObject({ receiver: 'https://hooks.example.com' });
  expect(made.json.signing_secret).toMatch(/^whsec_/);
  const moved = await rig.ask(OWNER, `PATCH ${ALERTS}/${made.json.id}`, { channel: 'webhook', url: `${url}2` });
  expect(moved.json.signing_secret).not.toBe(made.json.signing_secret);
  const shown = [made, moved, await rig.ask(OWNER, `GET ${ALERTS}`), await rig.ask(OWNER, 'GET /accounts/team/audit')];
  for (const { text } of shown) expect(text).not.toContain('SECRETPATH');
  // A change within the same origin is in the audit log too.
  expect(shown.at(-1)?.json.entries[0]).toMatchObject({ act: 'alerts.set', after: { address: 'replaced' } });
});

test('each fault names its member', async () => {
  for (const [given, member] of [
    [{ threshold: '101' }, 'threshold'],
    [{ threshold: '0' }, 'threshold'],
    [{ channel: 'webhook' }, 'url'],
    [{ channel: 'webhook', url: 'http://a.example.com/' }, 'url'],
    [{ channel: 'webhook', url: 'https://10.0.0.1/' }, 'url'],
    [{ channel: 'webhook', url: 'https://u:p@example.com/' }, 'url'],
    [{ channel: 'inbox', url: 'https://example.com/' }, 'url'],
    [{ channel: 'email' }, 'to'],
    [{ channel: 'email', to: ['ada@example.com\r\nBcc: eve@evil.test'] }, 'to'],
    [{ channel: 'email', to: ['stranger@example.com'] }, 'to'],
    [{ channel: 'email', to: [], url: 'https://example.com/' }, 'url'],
    [{ channel: 'inbox', to: ['ada@example.com'] }, 'to'],
    [{ name: ' ' }, 'name'],
    [{ quiet: { from: '25:00', to: '07:00' } }, 'quiet.from'],
  ] as const)
    expect((await rig.ask(OWNER, `POST ${ALERTS}`, { ...NEW, ...given })).json).toMatchObject({ error: { member } });
  expect((await rig.ask(OWNER, `GET ${ALERTS}`)).json.rules).toEqual([]);
});

test('an account has at most 20 alerts, which leave room for other accounts', async () => {
  for (let nth = 0; nth < 20; nth += 1) await rig.ask(OWNER, `POST ${ALERTS}`, NEW);
  const one = await rig.ask(OWNER, `POST ${ALERTS}`, NEW);
  expect([one.status, one.json.error.code]).toEqual([409, 'conflict']);
  expect((await rig.ask(OPERATOR, 'POST /accounts/default/alerts', NEW)).status).toBe(200);
});

test('the inbox counts what each person has not seen', async () => {
  const atMs = rig.nowMs;
  await rig.store.alerts.createRule(sampleRule('one', { account: 'team', name: 'Named' }), []);
  const found = { rule: 'one', account: 'team', text: 'It happened.', remedy: null, nextAtMs: 0, attempts: 0 };
  const deliveries = [atMs - 2, atMs - 1].map((createdAtMs) => ({
    ...{ ...found, id: `dlv_${createdAtMs}`, event: `${createdAtMs}`, createdAtMs },
    ...({ status: 'pending', error: null } as const),
  }));
  await rig.store.alerts.enqueue(deliveries.map((delivery) => ({ delivery, notAfterMs: null })));
  const unseen = async (who: typeof OWNER) => (await rig.ask(who, `GET ${ALERTS}/unseen`)).json.unseen;
  expect(await unseen(OWNER)).toBe(2);
  await rig.ask(OWNER, `POST ${ALERTS}/seen`, { until: new Date(atMs - 2).toISOString() });
  expect([await unseen(OWNER), await unseen(BILLING)]).toEqual([1, 2]);
  const { inbox } = (await rig.ask(OWNER, `GET ${ALERTS}`)).json;
  expect(inbox).toMatchObject([
    { rule: { id: 'one', name: 'Named' }, is_new: true, text: 'It happened.' },
    { is_new: false },
  ]);
  // A clock that is ahead marks nothing that is still to come.
  await rig.ask(OWNER, `POST ${ALERTS}/seen`, { until: '2999-01-01T00:00:00.000Z' });
  expect(await rig.store.alerts.readSeen('team', 'per_owner')).toBe(atMs);
});

test('an account emails its members, and the operator anyone', async () => {
  expect((await rig.ask(OWNER, `GET ${ALERTS}`)).json.email_to).toBe('none');
  const smtp = { host: 'smtp.test', port: 25, encryption: 'none', login: null, from: 'gate@example.com' } as const;
  const { config } = rig.deps.settings;
  Object.assign(rig.deps.settings, { config: { ...config, server: { ...config.server, smtp } } });
  const email = 'ada@example.com';
  const ada = { id: 'per_ada', name: 'Ada', email, unique_email: email, email_verified: 1, account: null } as const;
  const rest = { second_factor: 0, created_at_ms: 1, updated_at_ms: 1, seen_at_ms: null, time_zone: null } as const;
  await rig.store.people.save([
    { of: 'person', insert: { ...ada, ...rest } },
    {
      of: 'membership',
      insert: { person: 'per_ada', account: 'team', role: 'viewer', workspaces: '*', joined_at_ms: 1 },
    },
  ]);
  const mail = (...to: string[]) => ({ ...NEW, channel: 'email', to });
  const made = await rig.ask(OWNER, `POST ${ALERTS}`, mail('Ada@example.com', 'Ada@example.com'));
  expect(made.json).toMatchObject({ channel: 'email', receiver: 'Ada@example.com', signing_secret: null });
  const stranger = await rig.ask(OWNER, `PATCH ${ALERTS}/${made.json.id}`, { channel: 'email', to: ['x@example.com'] });
  expect(stranger.json.error).toMatchObject({ member: 'to' });
  const read = { channel: 'inbox', before: { receiver: 'x@example.com' } };
  const stale = await rig.ask(OWNER, `PATCH ${ALERTS}/${made.json.id}`, read);
  expect(stale.status).toBe(409);
  expect(stale.json.error.message).toContain('the receiver of Budget meanwhile (now Ada@example.com)');
  for (const [who, email_to] of [
    [OWNER, 'members'],
    [OPERATOR, 'anyone'],
  ] as const)
    expect((await rig.ask(who, `GET ${ALERTS}`)).json.email_to).toBe(email_to);
  expect((await rig.ask(OPERATOR, `POST ${ALERTS}`, mail('x@example.com'))).status).toBe(200);
  const many = Array.from({ length: 11 }, (_, nth) => `p${nth}@example.com`);
  expect((await rig.ask(OPERATOR, `POST ${ALERTS}`, mail(...many))).status).toBe(400);
});
