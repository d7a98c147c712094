/** Tests any implementation of the policy store against its contract. */
import { describe, expect, test } from 'bun:test';
import type { ImportedObject } from '../ports/books/imports.ts';
import type { Caps, Subject } from '../ports/limits.ts';
import type { PolicyChange, StoredAccount } from '../ports/policy.ts';
import type { StoredKey, StoredWorkspace } from '../ports/records.ts';
import { outcomeOf, type StoreRig, startRigs } from './store-rig.ts';

/** A key of the default workspace with every member set. */
export const SAMPLE_KEY: StoredKey = {
  id: 'key_1',
  name: 'first',
  accountId: 'default',
  workspaceId: 'default',
  hash: 'aa',
  last4: 'wxyz',
  previousHash: 'bb',
  previousExpiresAtMs: 5,
  previousLast4: 'prev',
  models: ['gpt-*', '"quoted"'],
  ips: ['10.0.0.0/8'],
  scopes: ['inference', 'admin'],
  strict: true,
  holds: 'adaptive',
  status: 'active',
  createdAtMs: 3,
  expiresAtMs: 4,
  createdBy: null,
  disabledBy: null,
  requiredTags: ['eu', 'zdr'],
  tags: { team: 'web', 'cost-center': '"42"' },
};
const KEY = SAMPLE_KEY;
const ACCOUNT: StoredAccount = {
  id: 'team',
  name: 'The team',
  mode: 'prepaid',
  markUpPpm: -50_000,
  timeZone: 'Asia/Kolkata',
  holds: 'strict',
  createdAtMs: Number.MAX_SAFE_INTEGER,
};
const CAPS: Caps = {
  requestsPerMinute: 60,
  tokensPerMinute: null,
  concurrency: 1_000_000,
  budget: { window: 'month', amount: 9_000_000_000_000_000_001n },
};
const OF_KEY: Subject = { kind: 'key', id: KEY.id };
const newKey = (key: StoredKey): PolicyChange => ({ of: 'key', isNew: true, key });

/** Runs the suite; `openRig` opens new data. */
export function testPolicy(name: string, openRig: () => Promise<StoreRig<'policies'>>): void {
  describe(`${name} as a policy store`, () => {
    const open = startRigs(openRig);

    test('keeps imported objects by source and id, with the time of their first import', async () => {
      const rig = await open();
      const one: ImportedObject = {
        source: 'litellm',
        kind: 'key',
        foreignId: 'sha256:aa',
        subjectKind: 'key',
        subjectId: 'key_1',
        digest: 'd',
        spent: 9_000_000_000_000_000_001n,
        spentAtMs: 5,
        importedAtMs: 6,
      };
      const save = (imported: ImportedObject) => rig.store.policies.save([{ of: 'import', imported }]);
      await save(one);
      await save({ ...one, kind: 'workspace', foreignId: 'team' });
      await save({ ...one, spent: 7n, spentAtMs: 8, importedAtMs: 9 });
      expect(await outcomeOf(save({ ...one, foreignId: 'x', spent: -1n }))).toBe('invalid');
      await rig.restart();
      const { policies } = rig.store;
      expect(await policies.readImported('litellm', ['sha256:aa', 'nobody'])).toEqual([
        { ...one, spent: 7n, spentAtMs: 8 },
      ]);
      expect(await policies.readImported('other', ['sha256:aa'])).toEqual([]);
    });

    test('new data has the account default: postpaid, without markup, in UTC', async () => {
      const { policies } = (await open()).store;
      expect(await policies.readAccounts()).toMatchObject([
        { id: 'default', name: 'default', mode: 'postpaid', markUpPpm: 0, timeZone: 'UTC', holds: null },
      ]);
    });

    test('an account, a workspace, a key and rules come back exactly, also after a restart', async () => {
      const rig = await open();
      const workspace: StoredWorkspace = {
        id: 'w',
        accountId: 'team',
        models: ['a', '"b"'],
        bodies: 'errors',
        bodiesDays: 7,
        createdAtMs: Number.MAX_SAFE_INTEGER,
      };
      const key = { ...KEY, accountId: 'team', workspaceId: 'w' };
      const endUser: Subject = { kind: 'end_user', id: `team/"'; DROP TABLE limit_rule --☂` };
      await rig.store.policies.save([
        { of: 'account', isNew: true, account: ACCOUNT },
        { of: 'workspace', isNew: true, workspace },
        newKey(key),
        { of: 'rule', subject: OF_KEY, caps: CAPS },
        { of: 'rule', subject: endUser, caps: { ...CAPS, budget: null } },
      ]);
      for (const reach of [async () => undefined, () => rig.restart()]) {
        await reach();
        const { policies } = rig.store;
        expect((await policies.readAccounts())[1]).toEqual(ACCOUNT);
        expect((await policies.readWorkspaces())[1]).toEqual(workspace);
        expect(await policies.readKeys()).toEqual([key]);
        expect(await policies.readLimitRules()).toEqual([
          { subject: endUser, caps: { ...CAPS, budget: null } },
          { subject: OF_KEY, caps: CAPS },
        ]);
      }
    });

    test('a change replaces everything but the id and the time of creation', async () => {
      const { store } = await open();
      await store.policies.save([newKey(KEY), { of: 'account', isNew: true, account: ACCOUNT }]);
      const account: StoredAccount = {
        ...ACCOUNT,
        mode: 'postpaid',
        markUpPpm: 7,
        timeZone: 'UTC',
        holds: null,
        createdAtMs: 1,
      };
      await store.policies.save([
        { of: 'key', isNew: false, key: { ...KEY, name: 'other', models: null, holds: 'strict', createdAtMs: 99 } },
        { of: 'account', isNew: false, account },
        {
          of: 'workspace',
          isNew: false,
          workspace: { id: 'default', accountId: 'gone', models: ['m'], bodies: 'all', bodiesDays: 1, createdAtMs: 99 },
        },
      ]);
      expect(await store.policies.readKeys()).toEqual([{ ...KEY, name: 'other', models: null, holds: 'strict' }]);
      expect((await store.policies.readAccounts()).find(({ id }) => id === 'team')).toEqual({
        ...account,
        createdAtMs: ACCOUNT.createdAtMs,
      });
      expect(await store.policies.readWorkspaces()).toMatchObject([
        { accountId: 'default', models: ['m'], bodies: 'all', bodiesDays: 1 },
      ]);
    });

    test('a rule is replaced, deleted and created again', async () => {
      const { policies } = (await open()).store;
      const keepRule = (caps: Caps | null) => policies.save([{ of: 'rule', subject: OF_KEY, caps }]);
      await keepRule(CAPS);
      const other: Caps = { requestsPerMinute: null, tokensPerMinute: 5, concurrency: null, budget: null };
      await keepRule(other);
      expect(await policies.readLimitRules()).toEqual([{ subject: OF_KEY, caps: other }]);
      await keepRule(null);
      expect(await policies.readLimitRules()).toEqual([]);
      expect(await outcomeOf(keepRule(null))).toBe('conflict');
      await keepRule(CAPS);
      expect(await policies.readLimitRules()).toEqual([{ subject: OF_KEY, caps: CAPS }]);
    });

    test('changes apply all or none: no key without its rule', async () => {
      const { policies } = (await open()).store;
      const rule: PolicyChange = { of: 'rule', subject: OF_KEY, caps: { ...CAPS, concurrency: 0 } };
      expect(await outcomeOf(policies.save([newKey(KEY), rule]))).toBe('invalid');
      expect(
        await outcomeOf(policies.save([{ of: 'rule', subject: OF_KEY, caps: CAPS }, newKey(KEY), newKey(KEY)])),
      ).toBe('conflict');
      expect([await policies.readKeys(), await policies.readLimitRules()]).toEqual([[], []]);
    });

    test('rejects an id or hash that is taken and an item that does not exist, and changes nothing', async () => {
      const { policies } = (await open()).store;
      await policies.save([newKey(KEY)]);
      for (const [kind, change] of [
        ['conflict', newKey(KEY)],
        ['conflict', newKey({ ...KEY, id: 'key_2', previousHash: null })],
        ['conflict', { of: 'key', isNew: false, key: { ...KEY, id: 'gone' } }],
        ['invalid', { of: 'key', isNew: false, key: { ...KEY, workspaceId: 'gone' } }],
        ['conflict', { of: 'account', isNew: true, account: { ...ACCOUNT, id: 'default' } }],
        ['conflict', { of: 'account', isNew: false, account: ACCOUNT }],
        [
          'conflict',
          {
            of: 'workspace',
            isNew: true,
            workspace: {
              id: 'default',
              accountId: 'default',
              models: null,
              bodies: 'off',
              bodiesDays: 30,
              createdAtMs: 1,
            },
          },
        ],
        [
          'invalid',
          {
            of: 'workspace',
            isNew: true,
            workspace: { id: 'w', accountId: 'gone', models: null, bodies: 'off', bodiesDays: 30, createdAtMs: 1 },
          },
        ],
      ] as const satisfies readonly (readonly [string, PolicyChange])[]) {
        expect([change, await outcomeOf(policies.save([change]))]).toEqual([change, kind]);
      }
      expect(await policies.readKeys()).toEqual([KEY]);
      expect(await policies.readAccounts()).toHaveLength(1);
    });
  });
}
