/** Tests any implementation of the store of reconciliations against its contract. */
import { describe, expect, test } from 'bun:test';
import type { AuditFilter } from '../ports/audit.ts';
import type { Reconciliation } from '../ports/books/reconciliation.ts';
import { sampleRecord } from '../testing/sample-record.ts';
import { outcomeOf, type StoreRig, startRigs } from './store-rig.ts';

const HUGE = 9_000_000_000_000_000_001n;

function sample(id: string, changes: Partial<Reconciliation> = {}): Reconciliation {
  return {
    id,
    providers: 'openai, azure',
    format: 'openai-costs',
    file: 'costs.csv',
    importedAtMs: 5,
    firstDay: '2026-11-20',
    lastDay: '2026-11-21',
    timeZone: 'UTC',
    lines: 3,
    billed: HUGE,
    recorded: -1n,
    explained: 0n,
    findings: 1,
    days: [
      {
        day: '2026-11-20',
        model: 'a',
        billedRequests: null,
        recordedRequests: 2,
        billed: null,
        recorded: 7n,
        explained: 0n,
      },
      {
        day: '2026-11-21',
        model: 'a',
        billedRequests: 1,
        recordedRequests: 0,
        billed: HUGE,
        recorded: 0n,
        explained: -5n,
      },
    ],
    list: [
      {
        day: '2026-11-21',
        model: 'a',
        cause: 'double',
        amount: -5n,
        count: 1,
        requestId: 'req_1',
        attempt: 2,
        providerRequestId: null,
        detail: 'twice',
      },
    ],
    ...changes,
  };
}

const ENTRY = {
  atMs: 5,
  account: 'default',
  workspace: null,
  by: { actor: { kind: 'command_line', id: 'command_line', name: 'command line' }, address: null },
  act: 'reconciliations.save',
  subject: { kind: 'reconciliation', id: 'one' },
  before: null,
  after: { file: 'costs.csv' },
} as const;

const FILTER: AuditFilter = {
  account: 'default',
  workspaces: null,
  beforeSeq: null,
  actor: null,
  act: null,
  subject: null,
  fromMs: null,
  toMs: null,
  limit: 10,
};

/** Runs the suite; `openRig` opens new data. */
export function testReconciliations(
  name: string,
  openRig: () => Promise<StoreRig<'reconciliations' | 'audit' | 'recorder'>>,
): void {
  describe(`reconciliations in ${name}`, () => {
    const open = startRigs(openRig);

    test('are kept to the nano-dollar, with their days and findings in order', async () => {
      const rig = await open();
      await rig.store.reconciliations.save(sample('one'), ENTRY);
      await rig.restart();
      const { reconciliations } = rig.store;
      expect(await reconciliations.read('one')).toEqual(sample('one'));
      expect(await reconciliations.read('two')).toBeNull();
      const { days: _, list: __, ...summary } = sample('one');
      expect(await reconciliations.list(10)).toEqual([summary]);
    });

    test('are replaced as a whole by an import with the same id, and listed newest first', async () => {
      const { reconciliations } = (await open()).store;
      await reconciliations.save(sample('one'), ENTRY);
      await reconciliations.save(sample('two', { importedAtMs: 6 }), ENTRY);
      const again = sample('one', { importedAtMs: 7, days: [], list: [], findings: 0 });
      await reconciliations.save(again, ENTRY);
      expect(await reconciliations.read('one')).toEqual(again);
      expect((await reconciliations.list(1)).map(({ id }) => id)).toEqual(['one']);
      expect((await reconciliations.list(10)).map(({ id }) => id)).toEqual(['one', 'two']);
    });

    test('leave an audit entry, or nothing at all', async () => {
      const { reconciliations, audit } = (await open()).store;
      const entries = async () => (await audit.read(FILTER)).length;
      await reconciliations.save(sample('one'), ENTRY);
      expect(await entries()).toBe(1);
      const broken = sample('two', { lines: null as never });
      expect(await outcomeOf(reconciliations.save(broken, ENTRY))).not.toBe('kept');
      expect(await entries()).toBe(1);
      expect(await reconciliations.read('two')).toBeNull();
    });

    test('calls are read by provider, attempts that failed included, within their range and page by page', async () => {
      const { reconciliations, recorder } = (await open()).store;
      const idOf = (atMs: number, n: number) =>
        `req_${atMs.toString(16).padStart(12, '0')}${String(n).padStart(20, '0')}`;
      for (const [n, atMs] of [10, 20, 20, 30].entries()) {
        const attempts = [{ provider: n === 1 ? 'lab' : 'other', model: 'm', status: 503, error: 'x', duration_ms: 1 }];
        const provider = n === 3 ? 'lab' : 'elsewhere';
        await recorder.append(sampleRecord(idOf(atMs, n), { at_ms: atMs, provider, attempts }));
      }
      const ask = (after: string | null, toMs = 31) =>
        reconciliations.readProviderCalls({ providers: ['lab'], fromMs: 10, toMs, after });
      const found = await ask(null);
      expect(found.map(({ request_id }) => request_id)).toEqual([idOf(20, 1), idOf(30, 3)]);
      expect((await ask(idOf(20, 1))).map(({ request_id }) => request_id)).toEqual([idOf(30, 3)]);
      expect(await ask(idOf(30, 3))).toEqual([]);
      expect((await ask(null, 30)).length).toBe(1);
    });
  });
}
