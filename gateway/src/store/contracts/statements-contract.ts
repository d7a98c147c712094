/** Tests any implementation of the statement reader against its contract. */
import { describe, expect, test } from 'bun:test';
import { requestIdFloor } from '../../lib/request-id.ts';
import { heldCall, settledCall } from '../testing/sample-call.ts';
import { type StoreRig, startRigs } from './store-rig.ts';

type StatementPorts = 'statements' | 'ledger' | 'policies';

const TEAM = {
  id: 'team',
  name: 'The team',
  mode: 'postpaid',
  markUpPpm: 0,
  timeZone: 'UTC',
  holds: null,
  createdAtMs: 1,
} as const;

/** Ids of calls that arrived after the movements, in alphabetical order. */
const requestOf = (id: string) => `${requestIdFloor(1_790_000_000_000)}${id.repeat(20)}`;

/** Runs the suite; `openRig` opens new data. Entries of calls have the time at which they are written. */
export function testStatements(name: string, openRig: () => Promise<StoreRig<StatementPorts>>): void {
  describe(`statements of ${name}`, () => {
    const openRigs = startRigs(openRig);

    /** Two accounts with calls and movements; a call costs 2 nano-USD per token and holds 100. */
    async function open() {
      const { store } = await openRigs();
      const { ledger } = store;
      await store.policies.save([{ of: 'account', isNew: true, account: TEAM }]);
      await ledger.topup({ id: 'm1', account: 'team', amount: 1_000n, note: 'first', at_ms: 10 });
      for (const [id, account, output, key_id, key_name] of [
        ['a', 'team', 3, 'k1', 'one'],
        ['b', 'default', 50, 'k1', 'one'],
        ['c', 'team', 4, 'k2', 'two'],
        ['d', 'team', 5, 'k1', 'renamed'],
      ] as const) {
        await ledger.hold(heldCall(requestOf(id), 100n, account));
        await ledger.settle(settledCall(requestOf(id), { held: 100n, output, account, changes: { key_id, key_name } }));
      }
      await ledger.correct({ id: 'm2', account: 'team', amount: -7n, note: null, at_ms: 20 });
      return store;
    }

    test('pages of entries are those of the account, newest first, each once', async () => {
      const { statements } = await open();
      const found: string[] = [];
      for (let before: string | null = null, pages = 0; pages < 20; pages++) {
        const { entries, next } = await statements.readEntries('team', 'all', before, 3);
        found.push(...entries.map(({ kind, ref }) => `${kind} ${ref}`));
        if (next === null) break;
        before = next;
      }
      const calls = ['d', 'c', 'a'].flatMap((id) => [`post ${requestOf(id)}`, `hold ${requestOf(id)}`]);
      expect(found).toEqual([...calls, 'correct m2', 'topup m1']);
      expect((await statements.readEntries('team', 'movements', null, 9)).entries).toMatchObject([
        { kind: 'correct', ref: 'm2', amount: -7n, atMs: 20, note: null },
        { kind: 'topup', ref: 'm1', amount: 1_000n, atMs: 10, note: 'first' },
      ]);
    });

    test('a statement adds up, and sums the charges of a day by workspace, key and model', async () => {
      const { statements } = await open();
      const range = { fromMs: 15, toMs: Date.now() + 60_000 };
      const { charges, ...statement } = await statements.readStatement('team', range, null);
      expect(statement).toMatchObject({ opening: 1_000n, closing: 969n, movements: [{ ref: 'm2', amount: -7n }] });
      const { model, workspace } = heldCall('a', 0n).draft;
      const tokens = { input: 0, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0 };
      const common = { dayMs: range.fromMs, workspace, model };
      expect(charges.toSorted((one, two) => (one.keyName ?? '').localeCompare(two.keyName ?? ''))).toEqual([
        { ...common, keyId: 'k1', keyName: 'renamed', calls: 2, tokens: { ...tokens, output: 8 }, amount: 16n },
        { ...common, keyId: 'k2', keyName: 'two', calls: 1, tokens: { ...tokens, output: 4 }, amount: 8n },
      ]);
    });

    test('an account without entries has an empty statement', async () => {
      const { statements } = (await openRigs()).store;
      expect(await statements.readEntries('default', 'all', null, 9)).toEqual({ entries: [], next: null });
      const nothing = { opening: 0n, closing: 0n, movements: [], charges: [] };
      expect(await statements.readStatement('default', { fromMs: 0, toMs: 9 }, 'UTC')).toEqual(nothing);
    });
  });
}
