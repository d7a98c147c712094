/** Tests policy over the database: stored values come back, changes apply all or none, and invalid ones are refused. */
import { describe, expect, test } from 'bun:test';
import type { Caps, Subject } from '../../ports/limits.ts';
import type { PolicyChange, StoredAccount } from '../../ports/policy.ts';
import type { StoredKey, StoredWorkspace } from '../../ports/records.ts';
import { StoreError } from '../../ports/store-errors.ts';
import { databasePath, openWriteConnection } from '../database/connection.ts';
import { openReading } from '../open-reading.ts';
import { openStore } from '../open-store.ts';
import { temporaryFolders } from '../testing/temporary-folder.ts';

const newFolder = temporaryFolders();

const KEY: StoredKey = {
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
};
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

async function kindOf(kept: Promise<void>): Promise<string> {
  try {
    await kept;
    return 'kept';
  } catch (fault) {
    if (fault instanceof StoreError) return fault.kind;
    throw fault;
  }
}

describe('keep', () => {
  test('an account, a workspace, a key and rules come back to the last digit, beside the writer and after it', async () => {
    const dataDir = newFolder();
    const store = await openStore({ dataDir });
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
    await store.policies.keep([
      { of: 'account', isNew: true, account: ACCOUNT },
      { of: 'workspace', isNew: true, workspace },
      newKey(key),
      { of: 'rule', subject: OF_KEY, caps: CAPS },
      { of: 'rule', subject: endUser, caps: { ...CAPS, budget: null } },
    ]);
    const reading = openReading(dataDir);
    for (const reader of [store.policies, reading]) {
      expect((await reader.readAccounts())[1]).toEqual(ACCOUNT);
      expect((await reader.readWorkspaces())[1]).toEqual(workspace);
      expect(await reader.readKeys()).toEqual([key]);
      expect(await reader.readLimitRules()).toEqual([
        { subject: endUser, caps: { ...CAPS, budget: null } },
        { subject: OF_KEY, caps: CAPS },
      ]);
    }
    reading.close();
    await store.close();
    const reopened = await openStore({ dataDir });
    expect(await reopened.policies.readKeys()).toEqual([key]);
    await reopened.close();
  });

  test('a change replaces all but the id and the time of creation', async () => {
    const store = await openStore({ dataDir: newFolder() });
    await store.policies.keep([newKey(KEY), { of: 'account', isNew: true, account: ACCOUNT }]);
    const account: StoredAccount = {
      ...ACCOUNT,
      mode: 'postpaid',
      markUpPpm: 7,
      timeZone: 'UTC',
      holds: null,
      createdAtMs: 1,
    };
    await store.policies.keep([
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
    await store.close();
  });

  test('a rule is replaced, taken away, and made again', async () => {
    const { policies, close } = await openStore({ dataDir: newFolder() });
    const keepRule = (caps: Caps | null) => policies.keep([{ of: 'rule', subject: OF_KEY, caps }]);
    await keepRule(CAPS);
    const other: Caps = { requestsPerMinute: null, tokensPerMinute: 5, concurrency: null, budget: null };
    await keepRule(other);
    expect(await policies.readLimitRules()).toEqual([{ subject: OF_KEY, caps: other }]);
    await keepRule(null);
    expect(await policies.readLimitRules()).toEqual([]);
    expect(await kindOf(keepRule(null))).toBe('conflict');
    await keepRule(CAPS);
    expect(await policies.readLimitRules()).toEqual([{ subject: OF_KEY, caps: CAPS }]);
    await close();
  });

  test('changes hold all or none: no key without its rule', async () => {
    const { policies, close } = await openStore({ dataDir: newFolder() });
    const rule: PolicyChange = { of: 'rule', subject: OF_KEY, caps: { ...CAPS, concurrency: 0 } };
    expect(await kindOf(policies.keep([newKey(KEY), rule]))).toBe('invalid');
    expect(await kindOf(policies.keep([{ of: 'rule', subject: OF_KEY, caps: CAPS }, newKey(KEY), newKey(KEY)]))).toBe(
      'conflict',
    );
    expect([await policies.readKeys(), await policies.readLimitRules()]).toEqual([[], []]);
    await close();
  });

  test('an id or hash that is taken, or what is not there, is refused by name, and changes nothing', async () => {
    const { policies, recorder, close } = await openStore({ dataDir: newFolder() });
    await policies.keep([newKey(KEY)]);
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
      expect([change, await kindOf(policies.keep([change]))]).toEqual([change, kind]);
    }
    expect(await policies.readKeys()).toEqual([KEY]);
    expect(await policies.readAccounts()).toHaveLength(1);
    expect(recorder.writable()).toBe(true);
    await close();
  });
});

describe('the tables', () => {
  test('a new database has the account default: postpaid, at the price, in UTC', async () => {
    const { policies, close } = await openStore({ dataDir: newFolder() });
    expect(await policies.readAccounts()).toMatchObject([
      { id: 'default', name: 'default', mode: 'postpaid', markUpPpm: 0, timeZone: 'UTC', holds: null },
    ]);
    await close();
  });

  test('hold no rule that means nothing', async () => {
    const dataDir = newFolder();
    await (await openStore({ dataDir })).close();
    const database = openWriteConnection(databasePath(dataDir));
    const insert = (values: string) => () => database.run(`INSERT INTO limit_rule VALUES (${values})`);
    expect(insert("'key', 'k', 'operator', NULL, NULL, NULL, NULL, NULL")).toThrow('CHECK');
    expect(insert("'key', 'k', 'operator', NULL, NULL, NULL, 5, NULL")).toThrow('CHECK');
    expect(insert("'key', 'k', 'operator', NULL, NULL, NULL, 5, 'year'")).toThrow('CHECK');
    expect(insert("'key', 'k', 'operator', NULL, NULL, NULL, -5, 'day'")).toThrow('CHECK');
    expect(insert("'key', 'k', 'operator', 0, NULL, NULL, NULL, NULL")).toThrow('CHECK');
    expect(insert("'tenant', 'k', 'operator', 1, NULL, NULL, NULL, NULL")).toThrow('CHECK');
    expect(insert("'key', 'k', 'operator', 1.5, NULL, NULL, NULL, NULL")).toThrow('cannot store REAL');
    expect(insert("'key', 'k', 'house', 1, NULL, NULL, NULL, NULL")).toThrow('CHECK');
    expect(insert("'model', 'm', 'account', 1, NULL, NULL, NULL, NULL")).toThrow('CHECK');
    expect(insert("'key', 'k', 'operator', NULL, NULL, NULL, 0, 'day'")).not.toThrow();
    expect(insert("'key', 'k', 'account', NULL, NULL, NULL, 0, 'day'")).not.toThrow();
    database.close();
  });
});
