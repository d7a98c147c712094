/** Tests the audit trail in SQLite: an entry is stored with its change or not at all, and never changed. */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { type AuditFilter, BY_COMMAND_LINE, type NewAuditEntry } from '../../ports/audit.ts';
import { StoreError } from '../../ports/store-errors.ts';
import { databasePath } from '../database/connection.ts';
import { openStore } from '../open-store.ts';
import { temporaryFolders } from '../testing/temporary-folder.ts';

const newFolder = temporaryFolders();

function entry(changes: Partial<NewAuditEntry> = {}): NewAuditEntry {
  return {
    atMs: 1_000,
    account: 'default',
    workspace: null,
    by: BY_COMMAND_LINE,
    act: 'workspaces.set',
    subject: { kind: 'workspace', id: 'default' },
    before: { models: null },
    after: { models: ['"a"', '☂'] },
    ...changes,
  };
}

/** The result of a write. (`expect().rejects` blocks the turn in which the writer's response would arrive.) */
async function kindOf(write: Promise<unknown>): Promise<string> {
  return write.then(
    () => 'kept',
    (fault: unknown) => (fault instanceof StoreError ? fault.kind : String(fault)),
  );
}

const ALL: AuditFilter = {
  account: 'default',
  workspaces: null,
  beforeSeq: null,
  actor: null,
  act: null,
  subject: null,
  fromMs: null,
  toMs: null,
  limit: 100,
};

test('an entry comes back as it was kept, with its change or not at all', async () => {
  const store = await openStore({ dataDir: newFolder() });
  const workspace = {
    id: 'default',
    accountId: 'default',
    models: ['a'],
    bodies: 'off',
    bodiesDays: 30,
    createdAtMs: 0,
  } as const;
  await store.policies.keep([{ of: 'workspace', isNew: false, workspace }], [entry()]);
  const gone = { ...workspace, id: 'gone' };
  expect(await kindOf(store.policies.keep([{ of: 'workspace', isNew: false, workspace: gone }], [entry()]))).not.toBe(
    'kept',
  );
  expect(await store.audit.read(ALL)).toEqual([{ seq: 1, ...entry() }]);
  await store.close();
});

test('a movement that moves once leaves one entry, and one that is refused none', async () => {
  const store = await openStore({ dataDir: newFolder() });
  const movement = { id: 'mov_1', account: 'default', amount: 5n, note: null, at_ms: 7 };
  await store.ledger.topup(movement, entry({ act: 'accounts.topup' }));
  await store.ledger.topup(movement, entry({ act: 'accounts.topup' }));
  expect(await kindOf(store.ledger.topup({ ...movement, amount: 6n }, entry()))).not.toBe('kept');
  expect(await kindOf(store.ledger.correct({ ...movement, account: 'gone' }, entry()))).not.toBe('kept');
  expect((await store.audit.read(ALL)).map(({ act }) => act)).toEqual(['accounts.topup']);
  await store.close();
});

test('filters are by account, workspace, actor, act, subject, time and place in the list', async () => {
  const store = await openStore({ dataDir: newFolder() });
  const ana = { actor: { kind: 'person', id: 'per_1', name: 'Ana' }, address: '192.0.2.1' } as const;
  await store.audit.append([
    entry({ account: 'team' }),
    entry({ by: ana, atMs: 1 }),
    entry({ act: 'keys.create', workspace: 'w' }),
    entry({ subject: { kind: 'key', id: 'key_1' }, atMs: 5_000 }),
  ]);
  const seqs = async (filter: Partial<AuditFilter>) =>
    (await store.audit.read({ ...ALL, ...filter })).map(({ seq }) => seq);
  expect(await seqs({})).toEqual([4, 3, 2]);
  expect(await seqs({ limit: 1 })).toEqual([4]);
  expect(await seqs({ beforeSeq: 4 })).toEqual([3, 2]);
  expect(await seqs({ account: 'team' })).toEqual([1]);
  expect(await seqs({ workspaces: ['w'] })).toEqual([3]);
  expect(await seqs({ workspaces: [] })).toEqual([]);
  expect(await seqs({ actor: 'per_1' })).toEqual([2]);
  expect(await seqs({ act: 'keys.create' })).toEqual([3]);
  expect(await seqs({ subject: 'key_1' })).toEqual([4]);
  expect(await seqs({ fromMs: 1_000, toMs: 5_000 })).toEqual([3]);
  await store.close();
});

test('nothing of it changes or goes, whoever has the database', async () => {
  const dataDir = newFolder();
  const store = await openStore({ dataDir });
  await store.audit.append([entry()]);
  await store.close();
  const database = new Database(databasePath(dataDir));
  database.run('PRAGMA recursive_triggers = ON');
  expect(() => database.run("UPDATE audit_entry SET act = 'x'")).toThrow('never changes');
  expect(() => database.run('DELETE FROM audit_entry')).toThrow('ever deleted');
  expect(() => database.run('INSERT OR REPLACE INTO audit_entry SELECT * FROM audit_entry')).toThrow('ever deleted');
  database.close();
});
