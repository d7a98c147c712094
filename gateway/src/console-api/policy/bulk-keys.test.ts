/** Tests changes of several keys at once over a real store: all or none, with the rights and entries of single changes. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { authenticate } from '../../identity/principal.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import type { Actor } from '../kernel/actor.ts';
import { keepCall, NO_CAPS, newKey, openPolicyRig, type PolicyRig, person } from '../testing/policy-rig.ts';

const newFolder = temporaryFolders();
const KEYS = '/accounts/team/keys';
const BULK = `POST ${KEYS}/bulk`;
const ADMIN = person('per_admin', 'team', 'admin');
const DEVELOPER = person('per_dev', 'team', 'developer');
let rig: PolicyRig;

beforeEach(async () => {
  rig = await openPolicyRig(newFolder());
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

async function listed(): Promise<Record<string, { status: string; tags: object; caps: object; expires_at: string }>> {
  const { json } = await rig.ask(ADMIN, `GET ${KEYS}`);
  return Object.fromEntries(json.keys.map((key: { id: string }) => [key.id, key]));
}

describe('keys in bulk', () => {
  test('are disabled, enabled and revoked, each with the entry of a single change', async () => {
    const made = [await make(ADMIN), await make(DEVELOPER), await make(ADMIN)];
    const keys = made.map(({ id }) => id);
    for (const [action, status] of [
      ['disable', 'disabled'],
      ['enable', 'active'],
      ['revoke', 'revoked'],
    ] as const) {
      const { json } = await rig.ask(ADMIN, BULK, { keys: [...keys, ...keys], action });
      expect(json.keys.map((key: { id: string; status: string }) => [key.id, key.status])).toEqual(
        keys.map((id) => [id, status]),
      );
    }
    expect(made.map(({ secret }) => authenticate(rig.directory, secret, rig.nowMs))).not.toContainEqual(
      expect.objectContaining({}),
    );
    const { json } = await rig.ask(ADMIN, 'GET /accounts/team/audit?limit=9');
    const entries: readonly { act: string; subject: { id: string } }[] = json.entries;
    const changes = entries.filter(({ act }) => /^keys\.(?!create)/.test(act));
    expect(changes.map(({ act, subject }) => `${act} ${subject.id}`).toSorted()).toEqual(
      ['keys.disable', 'keys.enable', 'keys.revoke'].flatMap((act) => keys.map((id) => `${act} ${id}`)).toSorted(),
    );
  });

  test('get tags, limits and an expiry; tags that are not named stay', async () => {
    const one = await make(ADMIN, { tags: { team: 'web', env: 'prod' } });
    const other = await make(ADMIN, { caps: { ...NO_CAPS, rpm: 5, tpm: 7 } });
    const set = { tags: { team: 'api', env: null }, caps: { rpm: 9 }, expires_at: '2030-01-01T00:00:00.000Z' };
    await rig.ask(ADMIN, BULK, { keys: [one.id, other.id], action: 'set', set });
    const keys = await listed();
    expect(keys[one.id]).toMatchObject({ tags: { team: 'api' }, caps: { ...NO_CAPS, rpm: 9 } });
    expect(keys[other.id]).toMatchObject({ tags: { team: 'api' }, caps: { ...NO_CAPS, rpm: 9, tpm: 7 } });
    expect(keys[other.id]?.expires_at).toBe('2030-01-01T00:00:00.000Z');
  });

  test('all or none: one key that may not be changed is named, and nothing changes', async () => {
    const [mine, other, lowered] = [
      await make(DEVELOPER),
      await make(ADMIN, { name: 'other' }),
      await make(DEVELOPER, { name: 'lowered', caps: { ...NO_CAPS, rpm: 5 } }),
    ];
    const ask = (actor: Actor, keys: readonly string[], rest: object) => rig.ask(actor, BULK, { keys, ...rest });
    const before = await listed();
    const refused: readonly (readonly [Promise<{ status: number; text: string }>, number, string])[] = [
      [ask(DEVELOPER, [mine.id, other.id], { action: 'disable' }), 403, 'this key belongs to another member'],
      [ask(DEVELOPER, [mine.id, lowered.id], { action: 'set', set: { caps: { rpm: 6 } } }), 403, 'lowered: caps.rpm'],
      [ask(ADMIN, [mine.id, 'key_none'], { action: 'disable' }), 404, 'there is no such key'],
      [ask(ADMIN, [mine.id], { action: 'set', set: { tags: { Team: 'x' } } }), 400, 'found the name'],
      [ask(ADMIN, [mine.id], { action: 'set' }), 400, 'found no setting'],
      [ask(ADMIN, [mine.id], { action: 'disable', set: { expires_at: null } }), 400, 'expected the action set'],
      [
        ask(
          ADMIN,
          Array.from({ length: 201 }, (_, nth) => `key_${nth}`),
          { action: 'disable' },
        ),
        400,
        '200',
      ],
    ];
    for (const [reply, status, text] of refused) {
      const { status: found, text: words } = await reply;
      expect([found, words]).toEqual([status, expect.stringContaining(text)]);
    }
    expect(await listed()).toEqual(before);
    await rig.ask(ADMIN, `POST ${KEYS}/${other.id}/revoke`, {});
    expect((await ask(ADMIN, [mine.id, other.id], { action: 'disable' })).text).toContain('This is the key other');
    expect((await listed())[mine.id]).toMatchObject({ status: 'active' });
  });

  test('a key that another member disabled is not enabled by its owner', async () => {
    const [one, two] = [await make(DEVELOPER), await make(DEVELOPER)];
    await rig.ask(ADMIN, `POST ${KEYS}/${two.id}/disable`, {});
    await rig.ask(DEVELOPER, `POST ${KEYS}/${one.id}/disable`, {});
    const both = { keys: [one.id, two.id], action: 'enable' };
    expect((await rig.ask(DEVELOPER, BULK, both)).status).toBe(403);
    expect((await rig.ask(DEVELOPER, BULK, { ...both, keys: [one.id] })).status).toBe(200);
    expect((await rig.ask(ADMIN, BULK, both)).status).toBe(200);
  });

  test('a key that its owner and then an admin disabled stays with the admin, also if its owner disables it again', async () => {
    const { id } = await make(DEVELOPER);
    for (const actor of [DEVELOPER, ADMIN, DEVELOPER]) await rig.ask(actor, `POST ${KEYS}/${id}/disable`, {});
    expect((await rig.ask(DEVELOPER, `POST ${KEYS}/${id}/enable`, {})).status).toBe(403);
    expect((await rig.ask(ADMIN, `GET ${KEYS}/${id}`)).json.key).toMatchObject({ disabled_by: { id: 'per_admin' } });
    const { entries } = (await rig.ask(ADMIN, 'GET /accounts/team/audit?limit=9')).json;
    const disabled = entries.filter(({ act }: { readonly act: string }) => act === 'keys.disable');
    expect(disabled).toMatchObject([{ after: { disabled_by: 'per_admin' } }, { after: { status: 'disabled' } }]);
    expect((await rig.ask(ADMIN, `POST ${KEYS}/${id}/enable`, {})).json).toMatchObject({ status: 'active' });
  });
});

test('counts the last hour’s requests of the keys', async () => {
  const [one, two] = [await make(ADMIN), await make(ADMIN)];
  for (const { id } of [one, one, two]) await keepCall(rig, id);
  const count = async (...ids: readonly string[]) =>
    (await rig.ask(ADMIN, `GET /accounts/team/key-requests?keys=${ids.join(',')}`)).json;
  expect(await count(one.id)).toEqual({ hour_requests: 2 });
  expect(await count(one.id, two.id, two.id)).toEqual({ hour_requests: 3 });
  expect(await count('key_none')).toEqual({ hour_requests: 0 });
});
