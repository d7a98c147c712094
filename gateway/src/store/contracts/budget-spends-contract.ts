/** Tests any implementation of the spend of budgets against its contract. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Subject } from '../ports/limits.ts';
import type { CallRecord } from '../ports/records.ts';
import { heldCall, settledCall } from '../testing/sample-call.ts';
import { bind, totalOf } from '../testing/sample-claims.ts';
import type { StoreRig } from './store-rig.ts';

type SpendPorts = 'spends' | 'ledger' | 'policies' | 'calls';

const DAY_START_MS = Date.UTC(2026, 10, 20);
const DAY_END_MS = Date.UTC(2026, 10, 21);
const DAY = { startMs: DAY_START_MS, endMs: DAY_END_MS };

/** Runs the suite; `openRig` opens new data. */
export function testBudgetSpends(name: string, openRig: () => Promise<StoreRig<SpendPorts>>): void {
  describe(`the spend of budgets in ${name}`, () => {
    let rig: StoreRig<SpendPorts>;
    let store: StoreRig<SpendPorts>['store'];
    let count = 0;

    /** A call that arrived at that time, held `held` and costs two nano-dollars per token. */
    async function keepCall(
      at_ms: number,
      output: number,
      changes: Partial<CallRecord> = {},
      held = 1_000_000n,
      idMs = at_ms,
    ) {
      const id = `req_${idMs.toString(16).padStart(12, '0')}${String(count++).padStart(20, '0')}`;
      const { account = 'default' } = changes;
      const hold = heldCall(id, held, account);
      await store.ledger.hold({ ...hold, draft: { ...hold.draft, at_ms } });
      await store.ledger.settle(settledCall(id, { held, output, account, changes: { ...changes, at_ms } }));
    }

    const spent = (subject: Subject, window?: typeof DAY, names: readonly string[] = [subject.id]) =>
      store.spends.readSettled(bind(totalOf(1n), subject, window), () => names, []);

    beforeAll(async () => {
      rig = await openRig();
      store = rig.store;
      const account = {
        id: 'team',
        name: 'The team',
        mode: 'postpaid',
        markUpPpm: 0,
        timeZone: 'UTC',
        holds: null,
        createdAtMs: 1,
      } as const;
      await store.policies.save([{ of: 'account', isNew: true, account }]);
    });
    afterAll(() => rig.close());

    describe('a window', () => {
      beforeAll(async () => {
        const changes = { key_id: 'windowed' };
        await keepCall(DAY_START_MS - 1, 1, changes);
        await keepCall(DAY_START_MS, 10, changes);
        await keepCall(DAY_END_MS - 1, 100, changes);
        await keepCall(DAY_END_MS, 1_000, changes);
      });

      test('includes calls from its first moment to the last before its end', async () => {
        expect(await spent({ kind: 'key', id: 'windowed' }, DAY)).toBe(220n);
      });

      test('includes a call whose id was made just before its first moment', async () => {
        const changes = { key_id: 'early' };
        await keepCall(DAY_START_MS, 10, changes, 1_000_000n, DAY_START_MS - 1);
        expect(await spent({ kind: 'key', id: 'early' }, DAY)).toBe(20n);
      });

      test('without an end includes all calls since its beginning', async () => {
        const window = { startMs: DAY_START_MS, endMs: null };
        const open = bind(totalOf(1n), { kind: 'key', id: 'windowed' }, window);
        expect(await store.spends.readSettled(open, () => [], [])).toBe(2_220n);
        expect(await spent({ kind: 'key', id: 'windowed' })).toBe(2_222n);
      });
    });

    test('the spend of imported subjects counts in the windows that contain its time', async () => {
      const subject: Subject = { kind: 'key', id: 'imported' };
      await keepCall(DAY_START_MS, 10, { key_id: 'imported' });
      const imported = {
        source: 'litellm',
        kind: 'key',
        foreignId: 'f',
        digest: 'd',
        subjectKind: 'key',
        subjectId: 'imported',
        spent: 500n,
        spentAtMs: DAY_START_MS,
        importedAtMs: DAY_END_MS,
      } as const;
      await store.policies.save([{ of: 'import', imported }]);
      const before = { startMs: DAY_START_MS - 86_400_000, endMs: DAY_START_MS };
      expect([await spent(subject, DAY), await spent(subject), await spent(subject, before)]).toEqual([520n, 520n, 0n]);
      expect(await spent({ kind: 'workspace', id: 'imported' })).toBe(0n);
      const spends = await store.spends.readSpends([bind(totalOf(1n), subject, DAY)], () => []);
      expect(spends).toEqual(new Map([['imported', 520n]]));
    });

    test('each subject has its own calls only', async () => {
      const mine = { key_id: 'k', workspace: 'w', account: 'team', model: 'm', end_user: 'a/b' };
      const names = { key: 'k', workspace: 'w', account: 'team', model: 'm', end_user: 'team/a/b' } as const;
      await keepCall(DAY_START_MS, 50, mine);
      await keepCall(DAY_START_MS, 7, { key_id: 'o', workspace: 'o', model: 'o', end_user: 'o' });
      for (const kind of ['key', 'workspace', 'account', 'model', 'end_user'] as const) {
        expect([kind, await spent({ kind, id: names[kind] })]).toEqual([kind, 100n]);
        expect([kind, await spent({ kind, id: `${names[kind]}x` })]).toEqual([kind, 0n]);
      }
    });

    test('the same name of an end user in two accounts is two subjects', async () => {
      await keepCall(DAY_START_MS, 3, { end_user: 'ann' });
      await keepCall(DAY_START_MS, 30, { end_user: 'ann', account: 'team' });
      expect(await spent({ kind: 'end_user', id: 'default/ann' })).toBe(6n);
      expect(await spent({ kind: 'end_user', id: 'team/ann' })).toBe(60n);
    });

    test('a model has the calls under any of its names', async () => {
      await keepCall(DAY_START_MS, 1, { model: 'house' });
      await keepCall(DAY_START_MS, 10, { model: 'house-alias' });
      const model = { kind: 'model', id: 'house' } as const;
      expect(await spent(model, DAY, ['house', 'house-alias'])).toBe(22n);
      expect(await spent(model, DAY)).toBe(2n);
    });

    test('leaves out the listed calls', async () => {
      const changes = { key_id: 'busy' };
      for (const output of [1, 10, 100]) await keepCall(DAY_START_MS, output, changes);
      const records = await store.calls.readCalls({ limit: 9, sinceMs: null, requestId: null, keyId: 'busy' });
      const ids = records.filter(({ usage }) => usage.output !== 10).map(({ request_id }) => request_id);
      expect(await store.spends.readSettled(bind(totalOf(1n), { kind: 'key', id: 'busy' }), () => [], ids)).toBe(20n);
    });

    test('an amount written off is not charged to the subject', async () => {
      await keepCall(DAY_START_MS, 100, { key_id: 'short' }, 150n);
      await keepCall(DAY_START_MS, 10, { key_id: 'short' });
      expect(await spent({ kind: 'key', id: 'short' })).toBe(170n);
    });

    test('concurrent questions get the same answers as single ones', async () => {
      const changes = [{ key_id: 'one' }, { key_id: 'two' }, { key_id: 'two', model: 'grouped' }];
      for (const [index, change] of changes.entries()) await keepCall(DAY_START_MS, 10 ** index, change);
      const subjects: Subject[] = [
        { kind: 'key', id: 'one' },
        { kind: 'key', id: 'two' },
        { kind: 'key', id: 'two' },
        { kind: 'key', id: 'nobody' },
        { kind: 'model', id: 'grouped' },
      ];
      // The first is queried alone; the others are batched while it is read.
      expect(await Promise.all(subjects.map((subject) => spent(subject, DAY)))).toEqual([2n, 220n, 220n, 0n, 200n]);
      expect(await Promise.all(subjects.map((subject) => spent(subject)))).toEqual([2n, 220n, 220n, 0n, 200n]);
    });

    test('a call without a price counts as nothing, and a sum beyond 2^53 keeps its last digit', async () => {
      const changes = { key_id: 'great' };
      const great = 4_503_599_627_370_497;
      await keepCall(DAY_START_MS, great, changes, 2n ** 60n);
      await keepCall(DAY_START_MS, 0, { ...changes, cost_nano_usd: null, price_version: null }, 0n);
      await keepCall(DAY_START_MS, 1, changes);
      expect(await spent({ kind: 'key', id: 'great' })).toBe(BigInt(great) * 2n + 2n);
    });
  });
}
