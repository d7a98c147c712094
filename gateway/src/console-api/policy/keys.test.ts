/**
 * Tests the routes about keys over a real store: what they create, change and show, whose the keys are, and that no
 * secret is returned twice.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { putMaker } from '../../identity/key-directory.ts';
import { authenticate, noteUse } from '../../identity/principal.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import type { Actor } from '../kernel/actor.ts';
import { keepCall, NO_CAPS, newKey, openPolicyRig, type PolicyRig, person } from '../testing/policy-rig.ts';

const newFolder = temporaryFolders();
const KEYS = '/accounts/team/keys';
const ADMIN = person('per_admin', 'team', 'admin');
const DEVELOPER = person('per_dev', 'team', 'developer');
let dataDir: string;
let rig: PolicyRig;

beforeEach(async () => {
  dataDir = newFolder();
  rig = await openPolicyRig(dataDir);
});
afterEach(async () => {
  expect(rig.faults).toEqual([]);
  await rig.close();
});

async function make(actor: Actor, changes: object = {}): Promise<{ id: string; secret: string }> {
  const made = await rig.ask(actor, `POST ${KEYS}`, newKey(changes));
  if (made.status !== 200) throw new Error(made.text);
  return { id: made.json.key.id, secret: made.json.secret };
}

describe('keys', () => {
  test('a new key works at once with all settings, and belongs to its creator', async () => {
    const caps = { rpm: 5, tpm: 100, concurrency: 2, budget_usd: '1.5', budget_window: 'month' };
    const given = {
      models: ['m*'],
      ips: ['10.0.0.0/8'],
      scopes: ['inference', 'usage'],
      strict: true,
      caps,
      expires_at: '2026-12-01T00:00:00.000Z',
    };
    const made = await rig.ask(DEVELOPER, `POST ${KEYS}`, newKey(given));
    const { key, secret } = made.json;
    expect(key).toMatchObject({
      ...given,
      name: 'a key',
      workspace: 'red',
      owner: { id: 'per_dev' },
      last4: secret.slice(-4),
      status: 'active',
      rotation: null,
      last_used: null,
      budget: { used_nano_usd: '0', held_nano_usd: '0', limit_nano_usd: '1500000000' },
      week_requests: [0, 0, 0, 0, 0, 0, 0],
    });
    expect(authenticate(rig.directory, secret, rig.nowMs)).toMatchObject({ keyId: key.id, strict: true });
    expect(authenticate(rig.directory, secret, Date.UTC(2026, 11, 1))).toBe('expired');
    expect((await rig.ask(ADMIN, `GET ${KEYS}`)).json).toMatchObject({
      keys: [{ id: key.id }],
      workspaces: ['red', 'blue'],
    });
  });

  test('omitted members stay, also of caps, and an invalid member is named', async () => {
    const { id } = await make(ADMIN, { models: ['m'], caps: { ...NO_CAPS, rpm: 5, tpm: 7 } });
    const path = `PATCH ${KEYS}/${id}`;
    expect((await rig.ask(ADMIN, path, { name: 'other', workspace: 'blue' })).json).toMatchObject({
      name: 'other',
      workspace: 'blue',
      models: ['m'],
      caps: { rpm: 5, tpm: 7 },
    });
    expect((await rig.ask(ADMIN, path, { caps: { tpm: null, concurrency: 3 } })).json).toMatchObject({
      name: 'other',
      caps: { ...NO_CAPS, rpm: 5, concurrency: 3 },
    });
    expect((await rig.ask(ADMIN, path, { caps: { ...NO_CAPS, rpm: 6 }, models: null })).json).toMatchObject({
      models: null,
      caps: { ...NO_CAPS, rpm: 6 },
    });
    for (const [body, member] of [
      [{ caps: { ...NO_CAPS, budget_usd: '1' } }, 'caps.budget_window'],
      [{ caps: { ...NO_CAPS, budget_window: 'day' } }, 'caps.budget_usd'],
      [{ caps: { budget_usd: '1' } }, 'caps.budget_window'],
      [{ caps: { budget_window: 'day' } }, 'caps.budget_usd'],
      [{ caps: { ...NO_CAPS, concurrency: 999_999_999 } }, 'caps.concurrency'],
      [{ ips: ['nowhere'] }, 'ips'],
      [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
      [{ nonsense: 1 }, ''],
    ] as const) {
      expect([body, (await rig.ask(ADMIN, path, body)).json]).toMatchObject([
        body,
        { error: { code: 'invalid', member } },
      ]);
    }
  });

  test('a rotation with grace keeps the id and both secrets, and shows which of them is used', async () => {
    const { id, secret } = await make(ADMIN);
    const use = (text: string) => {
      const found = authenticate(rig.directory, text, rig.nowMs);
      if (typeof found === 'string') return found;
      noteUse(found.use, new Headers({ 'user-agent': 'codex/1.2 (x)' }), rig.nowMs);
      return found.keyId;
    };
    use(secret);
    const rotated = (await rig.ask(ADMIN, `POST ${KEYS}/${id}/rotate`, { grace: '24h' })).json;
    rig.nowMs += 60_000;
    expect([use(secret), use(rotated.secret)]).toEqual([id, id]);
    rig.nowMs += 5_000;
    expect(use(secret)).toBe(id);
    expect((await rig.ask(ADMIN, `GET ${KEYS}/${id}`)).json.key).toMatchObject({
      last4: rotated.secret.slice(-4),
      rotation: {
        old_last4: secret.slice(-4),
        ends_at: '2026-11-21T12:00:00.000Z',
        old_used_at: '2026-11-20T12:01:05.000Z',
        new_used_at: '2026-11-20T12:01:00.000Z',
      },
      last_used: { at: '2026-11-20T12:01:05.000Z', client: 'codex/1.2' },
    });
    rig.nowMs += 24 * 3_600_000;
    expect([use(secret), use(rotated.secret)]).toEqual(['replaced', id]);
    expect((await rig.ask(ADMIN, `GET ${KEYS}/${id}`)).json.key.rotation).toBeNull();
    const last = (await rig.ask(ADMIN, `POST ${KEYS}/${id}/rotate`, { grace: 'now' })).json;
    expect([use(rotated.secret), use(last.secret)]).toEqual(['unknown', id]);
  });

  test('disabled wakes again, revoked never', async () => {
    const { id, secret } = await make(ADMIN);
    for (const [verb, status, opened] of [
      ['disable', 'disabled', 'disabled'],
      ['enable', 'active', id],
      ['revoke', 'revoked', 'revoked'],
    ] as const) {
      expect((await rig.ask(ADMIN, `POST ${KEYS}/${id}/${verb}`, {})).json).toMatchObject({ status });
      const found = authenticate(rig.directory, secret, rig.nowMs);
      expect(typeof found === 'string' ? found : found.keyId).toBe(opened);
    }
    for (const [route, body] of [
      [`POST ${KEYS}/${id}/enable`, {}],
      [`POST ${KEYS}/${id}/rotate`, { grace: 'now' }],
      [`PATCH ${KEYS}/${id}`, { name: 'x' }],
    ] as const) {
      expect((await rig.ask(ADMIN, route, body)).json).toMatchObject({
        error: { code: 'conflict', page: '/app/keys' },
      });
    }
  });

  test('a secret is shown once, a hash never, and neither is in the audit log or the database', async () => {
    const { id, secret } = await make(ADMIN);
    const rotated = (await rig.ask(ADMIN, `POST ${KEYS}/${id}/rotate`, { grace: '1h' })).json.secret;
    const texts: string[] = [];
    for (const route of [`GET ${KEYS}`, `GET ${KEYS}/${id}`, `GET ${KEYS}/${id}/may-call?model=m`]) {
      texts.push((await rig.ask(ADMIN, route)).text);
    }
    texts.push((await rig.ask(ADMIN, `PATCH ${KEYS}/${id}`, { name: 'x' })).text);
    texts.push((await rig.ask(ADMIN, 'GET /accounts/team/audit')).text);
    texts.push(
      (await rig.ask(ADMIN, 'GET /accounts/team/audit.csv?from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z')).text,
    );
    for (const hash of rig.directory.byHash.keys()) expect(texts.filter((text) => text.includes(hash))).toEqual([]);
    for (const file of readdirSync(dataDir)) {
      if (/\.db/.test(file)) texts.push(readFileSync(join(dataDir, file), 'latin1'));
    }
    expect(texts.length).toBeGreaterThan(6);
    for (const text of [secret, rotated]) expect(texts.filter((one) => one.includes(text))).toEqual([]);
  });
});

describe('ownership of keys', () => {
  test('a developer changes their own keys and sees the others', async () => {
    const own = await make(DEVELOPER);
    const other = await make(ADMIN);
    expect((await rig.ask(DEVELOPER, `PATCH ${KEYS}/${own.id}`, { name: 'mine' })).status).toBe(200);
    expect((await rig.ask(DEVELOPER, `GET ${KEYS}/${other.id}`)).status).toBe(200);
    for (const [route, body] of [
      [`PATCH ${KEYS}/${other.id}`, { name: 'x' }],
      [`POST ${KEYS}/${other.id}/rotate`, { grace: 'now' }],
      [`POST ${KEYS}/${other.id}/revoke`, {}],
      [`POST ${KEYS}/${other.id}/disable`, {}],
    ] as const) {
      expect([route, (await rig.ask(DEVELOPER, route, body)).json]).toMatchObject([
        route,
        { error: { code: 'forbidden' } },
      ]);
    }
    expect((await rig.ask(ADMIN, `PATCH ${KEYS}/${own.id}`, { name: 'ours' })).status).toBe(200);
    expect((await rig.ask(person('v', 'team', 'viewer'), `POST ${KEYS}`, newKey())).status).toBe(403);
  });

  test('a member restricted to workspaces sees and creates keys only there', async () => {
    const red = person('per_red', 'team', 'developer', ['red']);
    const { id } = await make(ADMIN, { workspace: 'blue' });
    const mine = await make(red);
    expect((await rig.ask(red, `GET ${KEYS}`)).json).toMatchObject({ keys: [{ id: mine.id }], workspaces: ['red'] });
    for (const [route, body] of [
      [`GET ${KEYS}/${id}`, undefined],
      [`POST ${KEYS}`, newKey({ workspace: 'blue' })],
      [`PATCH ${KEYS}/${mine.id}`, { workspace: 'blue' }],
    ] as const) {
      expect([route, (await rig.ask(red, route, body)).json]).toMatchObject([route, { error: { code: 'not_found' } }]);
    }
  });

  test('no one can create, rotate or enable a key with more rights than their own', async () => {
    const admins = await make(ADMIN, { scopes: ['admin'] });
    const restricted = person('per_part', 'team', 'admin', ['red']);
    for (const actor of [DEVELOPER, restricted]) {
      const refused = await rig.ask(actor, `POST ${KEYS}`, newKey({ scopes: ['inference', 'admin'] }));
      expect(refused.json).toMatchObject({ error: { code: 'forbidden', member: 'scopes' } });
    }
    const own = await make(restricted);
    expect((await rig.ask(restricted, `PATCH ${KEYS}/${own.id}`, { scopes: ['admin'] })).status).toBe(403);
    expect((await rig.ask(restricted, `POST ${KEYS}/${admins.id}/rotate`, { grace: 'now' })).status).toBe(403);
    // Once an admin, now a developer: the key that they created does not restore their old rights.
    const demoted = person('per_admin', 'team', 'developer');
    expect((await rig.ask(demoted, `POST ${KEYS}/${admins.id}/rotate`, { grace: 'now' })).status).toBe(403);
    expect((await rig.ask(demoted, `POST ${KEYS}/${admins.id}/revoke`, {})).status).toBe(200);
  });

  test('a key created by a key is limited by that key’s creator', async () => {
    const { id } = await make(ADMIN, { scopes: ['admin'] });
    const actor: Actor = { kind: 'key', id, name: 'a key', account: 'team', workspace: 'red', scopes: ['admin'] };
    const made = await make(actor);
    expect(rig.directory.keys.get(made.id)?.createdBy).toBe('per_admin');
    const [entry] = (await rig.ask(ADMIN, 'GET /accounts/team/audit')).json.entries;
    expect(entry).toMatchObject({
      act: 'keys.create',
      actor: { kind: 'key', id },
      address: '192.0.2.9',
      subject: { id: made.id },
    });
  });
});

test('a key whose creator may no longer create keys is shown as one that does not work', async () => {
  const { id, secret } = await make(DEVELOPER);
  const statusOf = async () => (await rig.ask(ADMIN, `GET ${KEYS}/${id}`)).json.key.status;
  expect(await statusOf()).toBe('active');
  putMaker(rig.directory, 'per_dev', () => []);
  expect(authenticate(rig.directory, secret, rig.nowMs)).toBe('ownerless');
  expect(await statusOf()).toBe('ownerless');
  expect((await rig.ask(ADMIN, `GET ${KEYS}`)).json.keys[0]).toMatchObject({ id, status: 'ownerless' });
  await rig.ask(ADMIN, `POST ${KEYS}/${id}/disable`, {});
  expect(await statusOf()).toBe('disabled');
});

describe('limits that others set', () => {
  const BUDGET = { budget_usd: '10', budget_window: 'day' };
  const CAPS = { rpm: 60, tpm: 1_000, concurrency: 4, ...BUDGET };

  test('the creator of a key sets its limits once; later they can only lower them', async () => {
    const { id } = await make(DEVELOPER, { caps: CAPS });
    const path = `PATCH ${KEYS}/${id}`;
    for (const caps of [
      NO_CAPS,
      { ...CAPS, rpm: null },
      { ...CAPS, rpm: 61 },
      { ...CAPS, tpm: 1_001 },
      { ...CAPS, concurrency: null },
      { ...CAPS, budget_usd: '10.000000001' },
      { ...CAPS, budget_usd: null, budget_window: null },
      // The same amount per day is more than per month; for other windows it depends on the calls.
      { ...CAPS, budget_window: 'month' },
    ]) {
      const { status, json } = await rig.ask(DEVELOPER, path, { caps });
      expect([caps, status, json.error?.code]).toEqual([caps, 403, 'forbidden']);
      expect(json.error.message).toContain('owner or admin');
    }
    expect((await rig.ask(DEVELOPER, path, { name: 'mine', caps: CAPS })).json).toMatchObject({ caps: CAPS });
    const tighter = { rpm: 59, tpm: 1_000, concurrency: 1, budget_usd: '9.5', budget_window: 'day' };
    expect((await rig.ask(DEVELOPER, path, { caps: tighter })).json).toMatchObject({ caps: tighter });
    expect((await rig.ask(ADMIN, path, { caps: NO_CAPS })).json).toMatchObject({ caps: NO_CAPS });
    expect((await rig.ask(DEVELOPER, path, { caps: { ...NO_CAPS, ...BUDGET } })).json).toMatchObject({ caps: BUDGET });
  });

  test('the member that is wrong is named, and of a limit that is no limit the word is invalid', async () => {
    const { id } = await make(DEVELOPER, { caps: CAPS });
    const path = `PATCH ${KEYS}/${id}`;
    for (const [caps, code, member] of [
      [{ ...CAPS, concurrency: 5 }, 'forbidden', 'caps.concurrency'],
      [{ ...CAPS, budget_window: 'week' }, 'forbidden', 'caps.budget_window'],
      [{ ...CAPS, budget_window: null }, 'invalid', 'caps.budget_window'],
    ] as const) {
      expect((await rig.ask(DEVELOPER, path, { caps })).json.error).toMatchObject({ code, member });
    }
  });

  test('a key is enabled by the member who disabled it, or with limits.write', async () => {
    const { id } = await make(DEVELOPER);
    const act = async (actor: Actor, verb: 'disable' | 'enable') =>
      (await rig.ask(actor, `POST ${KEYS}/${id}/${verb}`, {})).json;
    expect(await act(DEVELOPER, 'disable')).toMatchObject({ disabled_by: { id: 'per_dev' } });
    expect(await act(DEVELOPER, 'enable')).toMatchObject({ status: 'active', disabled_by: null });
    expect(await act(ADMIN, 'disable')).toMatchObject({ disabled_by: { id: 'per_admin' } });
    // Disabling a disabled key does not change who disabled it.
    expect(await act(DEVELOPER, 'disable')).toMatchObject({ disabled_by: { id: 'per_admin' } });
    expect(await act(DEVELOPER, 'enable')).toMatchObject({ error: { code: 'forbidden' } });
    expect((await rig.ask(DEVELOPER, `PATCH ${KEYS}/${id}`, { name: 'still' })).json).toMatchObject({
      status: 'disabled',
      disabled_by: { id: 'per_admin' },
    });
    expect(await act(ADMIN, 'enable')).toMatchObject({ status: 'active', disabled_by: null });
    await rig.run('keys.disable', { id });
    expect(await act(DEVELOPER, 'enable')).toMatchObject({ error: { code: 'forbidden' } });
    expect((await rig.ask(DEVELOPER, `GET ${KEYS}`)).json.keys[0].disabled_by).toEqual({
      id: 'command_line',
      name: 'the command line',
    });
    const { id: keyId } = await make(ADMIN, { name: 'a script', scopes: ['admin'] });
    const script: Actor = {
      kind: 'key',
      id: keyId,
      name: 'a script',
      account: 'team',
      workspace: 'red',
      scopes: ['admin'],
    };
    // A key disabled by the operator can be enabled only by the operator.
    expect(await act(ADMIN, 'enable')).toMatchObject({ error: { code: 'forbidden' } });
    await rig.run('keys.enable', { id });
    expect(await act(script, 'disable')).toMatchObject({ disabled_by: { id: keyId, name: 'a script' } });
    expect(await act(DEVELOPER, 'enable')).toMatchObject({ error: { code: 'forbidden' } });
    expect(await act(ADMIN, 'enable')).toMatchObject({ status: 'active' });
  });

  /** A change of one key alone, and the same of a list of keys. */
  type Way = (id: string) => readonly [route: string, body: object];
  const ways = (one: Way, many: object): (readonly [string, Way])[] => [
    ['alone', one],
    ['with others', (id) => [`POST ${KEYS}/bulk`, { keys: [id], ...many }]],
  ];

  test.each(ways((id) => [`POST ${KEYS}/${id}/enable`, {}], { action: 'enable' }))(
    'a key that a member disables is not enabled by its creator at the same moment, %s',
    async (_name, way) => {
      const { id } = await make(DEVELOPER);
      const [route, body] = way(id);
      const [byAdmin, byCreator] = await Promise.all([
        rig.ask(ADMIN, `POST ${KEYS}/${id}/disable`, {}),
        rig.ask(DEVELOPER, route, body),
      ]);
      expect([byAdmin.status, byCreator.status]).toEqual([200, 403]);
      expect((await rig.ask(ADMIN, `GET ${KEYS}/${id}`)).json.key).toMatchObject({ status: 'disabled' });
    },
  );

  test.each(
    ways((id) => [`PATCH ${KEYS}/${id}`, { caps: { rpm: 60 } }], { action: 'set', set: { caps: { rpm: 60 } } }),
  )('a limit that a member lowers is not raised by the creator at the same moment, %s', async (_name, way) => {
    const { id } = await make(DEVELOPER, { caps: CAPS });
    const [route, body] = way(id);
    const [byAdmin, byCreator] = await Promise.all([
      rig.ask(ADMIN, `PATCH ${KEYS}/${id}`, { caps: { rpm: 1 } }),
      rig.ask(DEVELOPER, route, body),
    ]);
    expect([byAdmin.status, byCreator.status]).toEqual([200, 403]);
    expect((await rig.ask(ADMIN, `GET ${KEYS}/${id}`)).json.key.caps).toEqual({ ...CAPS, rpm: 1 });
  });

  test('members with limits.write set limits in their workspaces', async () => {
    const { id } = await make(DEVELOPER, { caps: CAPS });
    const red = person('per_red', 'team', 'admin', ['red']);
    expect((await rig.ask(red, `PATCH ${KEYS}/${id}`, { caps: NO_CAPS })).status).toBe(200);
  });
});

describe('the page of a key', () => {
  test('has its days by the account’s clocks, its errors, its hour and its changes', async () => {
    const { id } = await make(ADMIN, { caps: { ...NO_CAPS, rpm: 9, budget_usd: '2', budget_window: 'total' } });
    await keepCall(rig, id, { cost_nano_usd: '5' });
    await keepCall(rig, id, { cost_nano_usd: '7', status: 500, error: 'upstream_failed', model: 'm' });
    // A client that disconnected is not an error, here as in usage.
    await keepCall(rig, id, { cost_nano_usd: '0', status: 499, error: 'client_left' });
    // 23:30 UTC on the 18th is the 19th in Berlin.
    await keepCall(rig, id, { cost_nano_usd: '11', at_ms: Date.UTC(2026, 10, 18, 23, 30) });
    const page = (await rig.ask(ADMIN, `GET ${KEYS}/${id}`)).json;
    expect(page.days).toHaveLength(30);
    expect(page.days.slice(-3)).toMatchObject([
      { day: '2026-11-18', requests: 0, errors: 0, cost_nano_usd: '0' },
      { day: '2026-11-19', from: '2026-11-18T23:00:00.000Z', to: '2026-11-19T23:00:00.000Z', requests: 1, errors: 0 },
      { day: '2026-11-20', requests: 3, errors: 1, cost_nano_usd: '12' },
    ]);
    expect(page.days.at(-2).cost_nano_usd).toBe('11');
    expect(page.key.week_nano_usd).toEqual(['0', '0', '0', '0', '0', '11', '12']);
    expect(page.key.budget).toMatchObject({ used_nano_usd: '23' });
    expect(page.errors).toMatchObject([
      { status: 500, error: 'upstream_failed', model: 'm', at: '2026-11-20T12:00:00.000Z' },
    ]);
    expect(page.hour_requests).toBe(3);
    expect(page.audit).toMatchObject([{ act: 'keys.create', actor: 'Name of per_admin' }]);
    expect((await rig.ask(ADMIN, `GET ${KEYS}/${id}/gauges`)).json.gauges).toMatchObject([
      { sort: 'rpm', limit: '9', used: '0' },
      { sort: 'budget', limit: '2000000000', used: '23', window: 'total', resets_at: null },
    ]);
    expect((await rig.ask(DEVELOPER, `GET ${KEYS}/${id}`)).json.audit).toEqual([]);
  });

  test('of a key that was moved has the requests of the reader’s workspaces only', async () => {
    const { id } = await make(ADMIN);
    await keepCall(rig, id, { cost_nano_usd: '5', status: 500, error: 'upstream_failed', model: 'secret' });
    await rig.ask(ADMIN, `PATCH ${KEYS}/${id}`, { workspace: 'blue' });
    await keepCall(rig, id, { cost_nano_usd: '7', status: 500, error: 'upstream_failed', model: 'm' });
    const seen = async (actor: Actor) => {
      const { json } = await rig.ask(actor, `GET ${KEYS}/${id}`);
      const { hour_requests } = (await rig.ask(actor, `GET /accounts/team/key-requests?keys=${id}`)).json;
      const models = json.errors.map(({ model }: { model: string }) => model).sort();
      return [models, json.days.at(-1).cost_nano_usd, json.key.week_nano_usd.at(-1), json.hour_requests, hour_requests];
    };
    expect(await seen(ADMIN)).toEqual([['m', 'secret'], '12', '12', 2, 2]);
    expect(await seen(person('per_blue', 'team', 'viewer', ['blue']))).toEqual([['m'], '7', '7', 1, 1]);
  });

  test('model access: the first failed check ends the list, as text', async () => {
    await rig.run('workspaces.set', { id: 'red', models: ['m', 'unpriced'] });
    const { id } = await make(ADMIN, { models: ['m*', 'o*', 'unpriced'] });
    const may = async (query: string) => {
      const { may: yes, reasons } = (await rig.ask(ADMIN, `GET ${KEYS}/${id}/may-call?${query}`)).json;
      expect(reasons.slice(0, -1).every(({ passes }: { passes: boolean }) => passes)).toBe(true);
      return [yes, reasons.at(-1).text];
    };
    expect(await may('model=m')).toEqual([true, 'No limits apply']);
    expect(await may('model=m-alias&protocol=messages')).toEqual([true, 'No limits apply']);
    expect(await may('model=gone')).toEqual([false, expect.stringContaining('is not served here')]);
    expect(await may('model=other')).toEqual([false, expect.stringContaining('The workspace red doesn’t allow')]);
    await rig.run('workspaces.set', { id: 'red', models: null });
    expect(await may('model=other&protocol=messages')).toEqual([
      false,
      expect.stringContaining('is not served on this endpoint'),
    ]);
    await rig.run('keys.set', { id, models: ['unpriced'] });
    expect(await may('model=m')).toEqual([false, expect.stringContaining('The key doesn’t allow')]);
    expect(await may('model=unpriced')).toEqual([true, 'No limits apply']);
    await rig.run('keys.set', { id, budget_usd: '1' });
    expect(await may('model=unpriced')).toEqual([false, expect.stringContaining('has no price')]);
    await rig.run('keys.set', { id, models: ['m'], budget_usd: '0' });
    expect(await may('model=m')).toEqual([false, expect.stringContaining(`doesn’t cover this request`)]);
    await rig.run('keys.set', { id, scopes: ['usage'] });
    expect(await may('model=m')).toEqual([false, expect.stringContaining('lacks the permission “Call models”')]);
    await rig.run('keys.disable', { id });
    expect(await may('model=m')).toEqual([false, 'The key is disabled. Enable it.']);
  });

  test('patterns match models as calls do, within a workspace', async () => {
    const matches = async (query: string) =>
      (await rig.ask(ADMIN, `GET /accounts/team/model-matches?${query}`)).json.models;
    expect(await matches('patterns=*')).toEqual(['m', 'other', 'unpriced']);
    expect(await matches('patterns=')).toEqual(['m', 'other', 'unpriced']);
    expect(await matches('patterns=*alias,un*')).toEqual(['m', 'unpriced']);
    await rig.run('workspaces.set', { id: 'blue', models: ['o*'] });
    expect(await matches('patterns=*&workspace=blue')).toEqual(['other']);
  });
});

describe('the playground key', () => {
  test('of a member is one per workspace, gets a new secret each time, and expires', async () => {
    const issue = (actor: Actor, workspace = 'red') =>
      rig.ask(actor, 'POST /accounts/team/playground-key', { workspace });
    const first = (await issue(DEVELOPER)).json;
    expect(authenticate(rig.directory, first.secret, rig.nowMs)).toMatchObject({ keyId: first.key.id });
    expect(authenticate(rig.directory, first.secret, Date.parse(first.expires_at))).toBe('expired');
    const second = (await issue(DEVELOPER)).json;
    expect(second.key.id).toBe(first.key.id);
    expect(second.secret).not.toBe(first.secret);
    // The other tab goes on for an hour.
    expect(authenticate(rig.directory, first.secret, rig.nowMs)).toMatchObject({ keyId: first.key.id });
    expect(authenticate(rig.directory, first.secret, rig.nowMs + 3_600_001)).toBe('replaced');
    const others = [(await issue(DEVELOPER, 'blue')).json.key.id, (await issue(ADMIN)).json.key.id];
    expect(new Set([first.key.id, ...others]).size).toBe(3);
    const [key] = (await rig.ask(DEVELOPER, `GET ${KEYS}`)).json.keys.filter(
      ({ id }: { id: string }) => id === first.key.id,
    );
    expect(key).toMatchObject({
      name: 'Playground',
      scopes: ['inference'],
      owner: { id: 'per_dev' },
      caps: { ...NO_CAPS, budget_usd: '5', budget_window: 'day' },
    });
  });

  test('a disabled playground key stays disabled, and a revoked one is replaced', async () => {
    const issue = () => rig.ask(DEVELOPER, 'POST /accounts/team/playground-key', { workspace: 'red' });
    const { key } = (await issue()).json;
    await rig.ask(ADMIN, `POST ${KEYS}/${key.id}/disable`, {});
    const refused = await issue();
    expect(refused.status).toBe(403);
    expect(refused.json.error.message).toContain('is disabled');
    await rig.ask(ADMIN, `POST ${KEYS}/${key.id}/revoke`, {});
    expect((await issue()).json.key.id).not.toBe(key.id);
  });

  test('is refused to viewers, and to members of other accounts or workspaces', async () => {
    const ask = (actor: Actor, account: string, workspace: string) =>
      rig.ask(actor, `POST /accounts/${account}/playground-key`, { workspace });
    expect((await ask(person('per_see', 'team', 'viewer'), 'team', 'red')).status).toBe(403);
    expect((await ask(DEVELOPER, 'default', 'default')).status).toBe(404);
    expect((await ask(DEVELOPER, 'team', 'default')).status).toBe(404);
  });
});
