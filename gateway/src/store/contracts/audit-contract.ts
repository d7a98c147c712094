/** Tests any implementation of the audit trail against its contract. */
import { describe, expect, test } from 'bun:test';
import type { AuditField } from '../../lib/query/audit-query.ts';
import type { QueryTerm } from '../../lib/query/call-query.ts';
import { type AuditFilter, BY_COMMAND_LINE, type NewAuditEntry } from '../ports/audit.ts';
import { outcomeOf, type StoreRig, startRigs } from './store-rig.ts';

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

/** Runs the suite; `openRig` opens new data. */
export function testAudit(name: string, openRig: () => Promise<StoreRig<'audit' | 'policies' | 'ledger'>>): void {
  describe(`${name} as an audit trail`, () => {
    const open = startRigs(openRig);

    test('an entry is stored with its change or not at all, and comes back unchanged', async () => {
      const { store } = await open();
      const workspace = {
        id: 'default',
        accountId: 'default',
        models: ['a'],
        bodies: 'off',
        bodiesDays: 30,
        createdAtMs: 0,
      } as const;
      await store.policies.save([{ of: 'workspace', isNew: false, workspace }], [entry()]);
      const gone = { ...workspace, id: 'gone' };
      expect(
        await outcomeOf(store.policies.save([{ of: 'workspace', isNew: false, workspace: gone }], [entry()])),
      ).not.toBe('kept');
      expect(await store.audit.read(ALL)).toEqual([{ seq: 1, ...entry() }]);
    });

    test('a repeated movement adds one entry, and a rejected one none', async () => {
      const { store } = await open();
      const movement = { id: 'mov_1', account: 'default', amount: 5n, note: null, at_ms: 7 };
      await store.ledger.topup(movement, entry({ act: 'accounts.topup' }));
      await store.ledger.topup(movement, entry({ act: 'accounts.topup' }));
      expect(await outcomeOf(store.ledger.topup({ ...movement, amount: 6n }, entry()))).not.toBe('kept');
      expect(await outcomeOf(store.ledger.correct({ ...movement, account: 'gone' }, entry()))).not.toBe('kept');
      expect((await store.audit.read(ALL)).map(({ act }) => act)).toEqual(['accounts.topup']);
    });

    test('filters by account, workspace, actor, act, subject, time and position', async () => {
      const { store } = await open();
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
      const term = (changes: Partial<QueryTerm<AuditField>>) =>
        seqs({ terms: [{ field: 'action', isNot: false, texts: [], ranges: [], ...changes }] });
      const texts = (text: string, isPrefix = false) => ({ texts: [{ text, isPrefix }] });
      expect(await term(texts('keys.create'))).toEqual([3]);
      expect(await term(texts('keys.', true))).toEqual([3]);
      expect(await term({ ...texts('keys.create'), isNot: true })).toEqual([4, 2]);
      expect(await term({ field: 'actor', ...texts('Ana') })).toEqual([2]);
      expect(await term({ field: 'actor', ...texts('per_1') })).toEqual([2]);
      expect(await term({ field: 'target', ...texts('key_', true) })).toEqual([4]);
      expect(await term({ field: 'workspace', texts: [null] })).toEqual([4, 2]);
      expect(await term({ field: 'workspace', ...texts('w'), isNot: true })).toEqual([4, 2]);
      const range = { from: 1_000, to: 4_999, isOpen: false };
      expect(await term({ field: 'date', ranges: [range] })).toEqual([3]);
      const values = (field: Exclude<AuditField, 'date'>, workspaces: readonly string[] | null = null) =>
        store.audit.readValues(field, { account: 'default', workspaces }).then((found) => [...found].sort());
      expect(await values('action')).toEqual(['keys.create', 'workspaces.set']);
      expect(await values('action', ['w'])).toEqual(['keys.create']);
      expect(await values('actor')).toEqual(['Ana', 'command line', 'command_line', 'per_1']);
      expect(await values('workspace')).toEqual(['w']);
    });
  });
}
