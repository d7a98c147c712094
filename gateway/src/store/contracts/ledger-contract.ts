/** Tests any implementation of the ledger against its contract. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { AccountBalance, AccountMode, Ledger, LedgerProof } from '../ports/ledger.ts';
import type { CallRecord } from '../ports/records.ts';
import { heldCall, jobOf, lostAttempt, PRICE_VERSION, settledCall, usageOf } from '../testing/sample-call.ts';
import { sampleRecord } from '../testing/sample-record.ts';
import { outcomeOf } from './store-rig.ts';

/** An implementation under test, with its own store and the postpaid account `default`. */
export interface LedgerRig {
  readonly ledger: Ledger;
  setAccount(id: string, mode: AccountMode): Promise<void>;
  /** Every stored record, in any order. */
  readCalls(): Promise<readonly CallRecord[]>;
  prove(): LedgerProof;
  /** Simulates a crash and a restart; the rig continues with the new process. Returns what it recovered. */
  restart(): Promise<{ readonly posted: number; readonly voided: number }>;
  close(): Promise<void>;
}

const LARGEST = 2n ** 63n - 1n;
const MOVEMENT = { id: 'm1', account: 'paid', amount: 1_000n, note: 'first', at_ms: 5 };

/** Runs the suite against an implementation. */
export function testLedger(name: string, openRig: () => Promise<LedgerRig>): void {
  describe(`${name} as a ledger`, () => {
    let rig: LedgerRig;
    let ledger: Ledger;

    beforeEach(async () => {
      rig = await openRig();
      ledger = rig.ledger;
      await rig.setAccount('paid', 'prepaid');
    });

    afterEach(async () => {
      expect(rig.prove().problem).toBeNull();
      await rig.close();
    });

    async function restart() {
      const recovered = await rig.restart();
      ledger = rig.ledger;
      return recovered;
    }

    async function balanceOf(account: string): Promise<AccountBalance> {
      const found = (await ledger.readBalances(account)).at(0);
      if (found === undefined) throw new Error(`no balance of ${account}`);
      return found;
    }

    async function statusOf(id: string): Promise<CallRecord | undefined> {
      return (await rig.readCalls()).find(({ request_id }) => request_id === id);
    }

    test('a call is held, posted and released, and its record is kept with it', async () => {
      await ledger.hold(heldCall('a', 500n));
      expect(await balanceOf('default')).toMatchObject({ available: -500n, held: 500n, charged: 0n });
      expect(await rig.readCalls()).toEqual([]);
      const settlement = settledCall('a', { held: 500n, output: 100 });
      await ledger.settle(settlement);
      expect(await balanceOf('default')).toEqual({
        account: 'default',
        mode: 'postpaid',
        available: -200n,
        held: 0n,
        charged: 200n,
        writtenOff: 0n,
        toppedUp: 0n,
        absorbedAttempts: 0n,
      });
      expect(await rig.readCalls()).toEqual([settlement.record]);
      expect(rig.prove()).toMatchObject({ entries: 2, calls: 1, problem: null });
    });

    test('a call of a hold of nothing is voided, and what exceeds a hold is absorbed', async () => {
      await Promise.all([ledger.hold(heldCall('free', 0n)), ledger.hold(heldCall('over', 30n))]);
      await ledger.settle(settledCall('free', { held: 0n, output: 0 }));
      await ledger.settle(settledCall('over', { held: 30n, output: 20 }));
      const again = settledCall('over', { held: 30n, output: 20 });
      expect(await outcomeOf(ledger.settle(again))).toBe('conflict');
      expect(await balanceOf('default')).toMatchObject({ available: -30n, held: 0n, charged: 30n, writtenOff: 10n });
      expect(rig.prove()).toMatchObject({ entries: 5, calls: 2, problem: null });
    });

    test('the attempts that did not answer a call are the cost of the operator, apart from what is written off', async () => {
      const { price_version: _, ...priced } = lostAttempt('yes', 1);
      const unpriced = { ...priced, cost_nano_usd: null };
      const attempts = [lostAttempt('yes', 7), lostAttempt('maybe', 4), unpriced];
      await ledger.hold(heldCall('a', 30n));
      const settlement = settledCall('a', { held: 30n, output: 20, changes: { attempts } });
      await ledger.settle(settlement);
      const refused = sampleRecord('b', {
        usage_source: 'void',
        cost_nano_usd: '0',
        attempts: [lostAttempt('maybe', 5)],
      });
      await ledger.append(refused);
      const sums = { available: -30n, charged: 30n, writtenOff: 10n, absorbedAttempts: 32n };
      expect(await balanceOf('default')).toMatchObject(sums);
      const records = [...(await rig.readCalls())].sort((one, other) => (one.request_id < other.request_id ? -1 : 1));
      expect(records).toEqual([settlement.record, refused]);
      expect(rig.prove()).toMatchObject({ entries: 5, calls: 1, problem: null });
      await restart();
      expect(await balanceOf('default')).toMatchObject(sums);
    });

    test('an attempt of a cost that is no amount is refused', async () => {
      await ledger.hold(heldCall('a', 30n));
      for (const cost_nano_usd of ['-1', '1.5', '9223372036854775808']) {
        const attempts = [{ ...lostAttempt('yes', 1), cost_nano_usd }];
        const settled = ledger.settle(settledCall('a', { held: 30n, output: 1, changes: { attempts } }));
        expect(await outcomeOf(settled)).toBe('invalid');
      }
      await ledger.settle(settledCall('a', { held: 30n, output: 1 }));
      expect(await balanceOf('default')).toMatchObject({ charged: 2n, absorbedAttempts: 0n });
    });

    test('a call is held once and settled once, whatever is repeated', async () => {
      const settle = () => ledger.settle(settledCall('a', { held: 90n, output: 10 }));
      const outcomes = await Promise.all(
        [
          ledger.hold(heldCall('a', 90n)),
          ledger.hold(heldCall('a', 90n)),
          settle(),
          settle(),
          ledger.hold(heldCall('a', 90n)),
        ].map(outcomeOf),
      );
      expect(outcomes).toEqual(['kept', 'conflict', 'kept', 'conflict', 'conflict']);
      await restart();
      expect(await outcomeOf(settle())).toBe('conflict');
      expect(await balanceOf('default')).toMatchObject({ available: -20n, held: 0n, charged: 20n });
      expect(await rig.readCalls()).toHaveLength(1);
    });

    test('a call without a hold is not settled, and one with a hold has no record before its end', async () => {
      expect(await outcomeOf(ledger.settle(settledCall('a', { held: 0n, output: 0 })))).toBe('conflict');
      await ledger.hold(heldCall('b', 1n));
      expect(await outcomeOf(ledger.append(sampleRecord('b', { cost_nano_usd: '0' })))).toBe('conflict');
      await ledger.append(sampleRecord('c', { cost_nano_usd: null }));
      expect(await outcomeOf(ledger.append(sampleRecord('d', { cost_nano_usd: '1' })))).toBe('invalid');
      expect((await rig.readCalls()).map(({ request_id }) => request_id)).toEqual(['c']);
    });

    test('a settlement that does not fit is refused, changes nothing, and the right one is kept after it', async () => {
      await ledger.hold(heldCall('a', 100n));
      const right = settledCall('a', { held: 100n, output: 20 });
      const wrong = [
        { ...right, released: 59n },
        { ...right, released: 61n },
        { ...right, posted: 41n },
        { ...right, posted: -1n, writtenOff: 41n },
        { ...right, record: { ...right.record, account: 'paid' } },
        { ...right, record: { ...right.record, at_ms: Number.NaN } },
      ];
      for (const settlement of wrong) expect(await outcomeOf(ledger.settle(settlement))).toBe('invalid');
      expect(await balanceOf('default')).toMatchObject({ available: -100n, held: 100n });
      await ledger.settle(right);
    });

    test('a prepaid account holds what it has and not a nano-dollar more', async () => {
      expect(await outcomeOf(ledger.hold(heldCall('early', 1n, 'paid')))).toBe('insufficient_funds');
      await ledger.hold(heldCall('nothing', 0n, 'paid'));
      await ledger.topup(MOVEMENT);
      const outcomes = await Promise.all(
        Array.from({ length: 500 }, (_, index) => outcomeOf(ledger.hold(heldCall(`c${index}`, 3n, 'paid')))),
      );
      expect(outcomes.filter((outcome) => outcome === 'kept')).toHaveLength(333);
      expect(outcomes.filter((outcome) => outcome === 'insufficient_funds')).toHaveLength(167);
      expect(await outcomeOf(ledger.extend('c0', 1, 2n))).toBe('insufficient_funds');
      await ledger.extend('c0', 1, 1n);
      expect(await balanceOf('paid')).toMatchObject({ available: 0n, held: 1_000n });
      await ledger.settle(settledCall('c1', { held: 3n, output: 1, account: 'paid' }));
      expect(await outcomeOf(ledger.hold(heldCall('late', 2n, 'paid')))).toBe('insufficient_funds');
      await ledger.hold(heldCall('last', 1n, 'paid'));
    });

    test('the mode of an account binds from when it is changed', async () => {
      await rig.setAccount('paid', 'postpaid');
      await ledger.hold(heldCall('a', 5n, 'paid'));
      await rig.setAccount('paid', 'prepaid');
      expect(await outcomeOf(ledger.hold(heldCall('b', 1n, 'paid')))).toBe('insufficient_funds');
      await ledger.settle(settledCall('a', { held: 5n, output: 2, account: 'paid' }));
      expect(await balanceOf('paid')).toMatchObject({ mode: 'prepaid', available: -4n, held: 0n });
      await ledger.topup({ ...MOVEMENT, amount: 5n });
      await ledger.hold(heldCall('c', 1n, 'paid'));
    });

    test('extensions are counted, one by one, and end with the hold', async () => {
      await ledger.hold(heldCall('a', 10n));
      expect(await outcomeOf(ledger.extend('a', 2, 5n))).toBe('conflict');
      await ledger.extend('a', 1, 5n);
      expect(await outcomeOf(ledger.extend('a', 1, 5n))).toBe('conflict');
      await ledger.extend('a', 2, 0n);
      expect(await outcomeOf(ledger.extend('gone', 1, 5n))).toBe('conflict');
      expect(await outcomeOf(ledger.extend('a', 3, -1n))).toBe('invalid');
      await ledger.settle(settledCall('a', { held: 15n, output: 7 }));
      expect(await outcomeOf(ledger.extend('a', 3, 5n))).toBe('conflict');
      expect(await outcomeOf(ledger.checkpoint({ call_id: 'a', usage: usageOf(1), cost: 2n }))).toBe('conflict');
    });

    test('a movement of the same id moves once, and a correction never takes a prepaid account below zero', async () => {
      const topped = { mode: 'prepaid', available: 1_000n, toppedUp: 1_000n } as const;
      expect(await ledger.topup(MOVEMENT)).toMatchObject(topped);
      expect(await ledger.topup({ ...MOVEMENT, note: 'again' })).toMatchObject(topped);
      await restart();
      expect(await ledger.topup(MOVEMENT)).toMatchObject(topped);
      expect(await outcomeOf(ledger.topup({ ...MOVEMENT, amount: 999n }))).toBe('conflict');
      expect(await outcomeOf(ledger.topup({ ...MOVEMENT, account: 'default' }))).toBe('conflict');
      expect(await outcomeOf(ledger.correct({ ...MOVEMENT, amount: -1_001n }))).toBe('insufficient_funds');
      expect(await ledger.correct({ ...MOVEMENT, amount: -999n })).toMatchObject({ available: 1n, toppedUp: 1_000n });
      expect(await ledger.correct({ ...MOVEMENT, id: 'm2', amount: 2n })).toMatchObject({ available: 3n });
      await ledger.topup({ ...MOVEMENT, note: 'in other words' });
      expect(await ledger.readMovement('topup', MOVEMENT.id)).toEqual(MOVEMENT);
      expect(await ledger.readMovement('correct', MOVEMENT.id)).toEqual({ ...MOVEMENT, amount: -999n });
      expect(await ledger.readMovement('topup', 'm2')).toBeNull();
      expect(await outcomeOf(ledger.topup({ ...MOVEMENT, id: 'm3', amount: 0n }))).toBe('invalid');
      expect(await outcomeOf(ledger.topup({ ...MOVEMENT, id: 'm4', account: 'unknown' }))).toBe('invalid');
      expect(await outcomeOf(ledger.topup({ ...MOVEMENT, id: 'm5', note: 'half \ud800' }))).toBe('invalid');
    });

    test('amounts are exact to the last digit of 64 bits, and none goes beyond', async () => {
      expect(await ledger.topup({ ...MOVEMENT, amount: LARGEST })).toMatchObject({ available: LARGEST });
      expect(await outcomeOf(ledger.topup({ ...MOVEMENT, id: 'm2', amount: 1n }))).toBe('invalid');
      expect(await outcomeOf(ledger.hold(heldCall('a', LARGEST + 1n, 'paid')))).toBe('insufficient_funds');
      await ledger.hold(heldCall('a', LARGEST - 1n, 'paid'));
      expect(await balanceOf('paid')).toMatchObject({ available: 1n, held: LARGEST - 1n });
      // Here the balance would fit, but the amount itself does not.
      const lowest = { ...MOVEMENT, account: 'default', amount: -LARGEST - 1n };
      expect(await ledger.correct({ ...lowest, id: 'm3' })).toMatchObject({ available: -LARGEST - 1n });
      expect(await outcomeOf(ledger.correct({ ...lowest, id: 'm4', amount: 2n * LARGEST + 1n }))).toBe('invalid');
      expect(await balanceOf('default')).toMatchObject({ available: -LARGEST - 1n });
    });

    test('one that is refused takes none of those beside it with it', async () => {
      await Promise.all([ledger.hold(heldCall('a', 10n)), ledger.topup(MOVEMENT)]);
      const outcomes = await Promise.all(
        [
          ledger.hold(heldCall('b', 10n)),
          ledger.settle(settledCall('a', { held: 10n, output: 1, changes: { duration_ms: Number.NaN } })),
          ledger.topup({ ...MOVEMENT, id: 'm2', amount: 0n }),
          ledger.hold(heldCall('c', 10n, 'unknown')),
          ledger.settle(settledCall('b', { held: 10n, output: 1 })),
          ledger.append(sampleRecord('d', { cost_nano_usd: null })),
          ledger.append(sampleRecord('a', { cost_nano_usd: null })),
          ledger.hold(heldCall('e', 999n, 'paid')),
        ].map(outcomeOf),
      );
      expect(outcomes).toEqual(['kept', 'invalid', 'invalid', 'invalid', 'kept', 'kept', 'conflict', 'kept']);
      expect(await balanceOf('default')).toMatchObject({ available: -12n, held: 10n, charged: 2n });
      expect(await balanceOf('paid')).toMatchObject({ available: 1n, held: 999n });
    });

    test('after a crash a call is charged by its last checkpoint, or for nothing', async () => {
      await ledger.topup(MOVEMENT);
      await Promise.all(['none', 'some', 'over', 'done'].map((id) => ledger.hold(heldCall(id, 100n, 'paid'))));
      await ledger.checkpoint({ call_id: 'some', usage: usageOf(10), cost: 20n });
      await ledger.checkpoint({ call_id: 'some', usage: usageOf(30), cost: 60n });
      await ledger.checkpoint({ call_id: 'over', usage: usageOf(70), cost: 140n });
      await ledger.settle(settledCall('done', { held: 100n, output: 5, account: 'paid' }));
      expect(await restart()).toEqual({ posted: 2, voided: 1 });
      expect(await balanceOf('paid')).toMatchObject({ available: 830n, held: 0n, charged: 170n, writtenOff: 40n });
      const crashed = { status: 500, error: 'gateway_crashed', finish_reason: null, attempts: [], account: 'paid' };
      expect(await statusOf('none')).toMatchObject({
        ...crashed,
        usage: usageOf(0),
        usage_source: 'void',
        cost_nano_usd: '0',
        price_version: PRICE_VERSION,
      });
      expect(await statusOf('some')).toMatchObject({
        error: 'gateway_crashed',
        usage: usageOf(30),
        usage_source: 'checkpoint',
        cost_nano_usd: '60',
      });
      expect(await statusOf('over')).toMatchObject({ error: 'gateway_crashed', cost_nano_usd: '140' });
      expect(await statusOf('done')).toMatchObject({ status: 200 });
      expect(await outcomeOf(ledger.settle(settledCall('some', { held: 100n, output: 5, account: 'paid' })))).toBe(
        'conflict',
      );
      expect(await restart()).toEqual({ posted: 0, voided: 0 });
      expect(await rig.readCalls()).toHaveLength(4);
    });

    describe('a detached call', () => {
      const settle = (id: string, held: bigint, output: number) =>
        ledger.settle(settledCall(id, { held, output, account: 'paid' }));
      const readIds = () => ledger.readDetached().map(({ draft }) => draft.request_id);

      test('stays open over restarts and abandonment, and is settled once', async () => {
        await ledger.topup(MOVEMENT);
        for (const id of ['b', 'a', 'plain']) await ledger.hold(heldCall(id, 100n, 'paid'));
        await ledger.extend('a', 1, 20n);
        await ledger.checkpoint({ call_id: 'b', usage: usageOf(10), cost: 20n });
        for (const id of ['b', 'a']) await ledger.detach({ call_id: id, job: jobOf(`resp_${id}`) });
        await ledger.abandon('a');
        expect(readIds()).toEqual(['a', 'b']);
        expect(await restart()).toEqual({ posted: 0, voided: 1 });
        expect(await restart()).toEqual({ posted: 0, voided: 0 });
        const [first] = ledger.readDetached();
        expect(first).toMatchObject({ amount: 120n, extensions: 1, job: jobOf('resp_a') });
        expect(first?.draft).toEqual(heldCall('a', 100n, 'paid').draft);
        expect(await balanceOf('paid')).toMatchObject({ available: 780n, held: 220n, charged: 0n });
        await ledger.abandon('b');
        await ledger.extend('a', 2, 5n);
        expect(ledger.readDetached()[0]).toMatchObject({ amount: 125n, extensions: 2 });
        await settle('a', 125n, 60);
        expect(await outcomeOf(settle('a', 125n, 60))).toBe('conflict');
        expect(readIds()).toEqual(['b']);
        await settle('b', 100n, 0);
        await restart();
        expect(readIds()).toEqual([]);
        expect(await outcomeOf(settle('b', 100n, 0))).toBe('conflict');
        expect(await balanceOf('paid')).toMatchObject({ available: 880n, held: 0n, charged: 120n });
        expect(await statusOf('a')).toMatchObject({ cost_nano_usd: '120' });
      });

      test('is detached once, and only while it holds something', async () => {
        await ledger.hold(heldCall('a', 10n));
        const outcomes = await Promise.all(
          ['a', 'a', 'unknown'].map((call_id) => outcomeOf(ledger.detach({ call_id, job: jobOf('r') }))),
        );
        expect(outcomes).toEqual(['kept', 'conflict', 'conflict']);
        await ledger.settle(settledCall('a', { held: 10n, output: 1 }));
        expect(await outcomeOf(ledger.detach({ call_id: 'a', job: jobOf('r') }))).toBe('conflict');
      });
    });

    test('after a crash a stream whose output was noted has the status that its caller got, and who answered', async () => {
      await Promise.all(['noted', 'silent'].map((id) => ledger.hold(heldCall(id, 100n))));
      const { draft, amount } = heldCall('folded', 100n);
      await ledger.hold({ amount, draft: { ...draft, stream: false } });
      for (const call_id of ['noted', 'folded']) await ledger.checkpoint({ call_id, usage: usageOf(30), cost: 60n });
      await restart();
      const told = async (id: string) => {
        const { status, error, attempts } = (await statusOf(id)) ?? {};
        return [status, error, attempts];
      };
      const attempt = { status: 200, error: 'gateway_crashed', duration_ms: 0 };
      const answered = { provider: draft.provider ?? '', model: draft.served_model ?? '', ...attempt };
      expect(await told('noted')).toEqual([200, 'gateway_crashed', [answered]]);
      // The client of a plain call had received nothing yet.
      expect(await told('folded')).toEqual([500, 'gateway_crashed', [answered]]);
      expect(await told('silent')).toEqual([500, 'gateway_crashed', []]);
    });

    test('after a crash a call is charged at the target that was answering', async () => {
      const spare = 'config@0.003_0.003_0.003_0.003_0.004_0.004';
      await ledger.hold(heldCall('a', 500n));
      const target = { provider: 'spare', served_model: 'other', price_version: spare };
      const usage = { ...usageOf(50), extras: { audio_output: 2 } };
      await ledger.checkpoint({ call_id: 'a', usage: usageOf(10), cost: 20n });
      await ledger.checkpoint({ call_id: 'a', usage, cost: 200n, target });
      await restart();
      const { served_model, provider, price_version, ...record } = (await statusOf('a')) as CallRecord;
      expect({ served_model, provider, price_version }).toEqual(target);
      expect(record).toMatchObject({
        usage,
        cost_nano_usd: '200',
        usage_source: 'checkpoint',
        error: 'gateway_crashed',
      });
      expect(record.attempts).toMatchObject([{ provider: 'spare', model: 'other', status: 200 }]);
      expect(await balanceOf('default')).toMatchObject({ charged: 200n, held: 0n });
    });

    test('sound, images and tools are kept with a call, and with the checkpoint of one that crashed', async () => {
      const extras = { audio_output: 4, image_output: 1, server_tools: { web_search: 2 } };
      await Promise.all(['whole', 'cut'].map((id) => ledger.hold(heldCall(id, 100n))));
      await ledger.checkpoint({ call_id: 'cut', usage: { ...usageOf(30), extras }, cost: 60n });
      await ledger.settle(settledCall('whole', { held: 100n, output: 5, extras }));
      await restart();
      expect((await statusOf('whole'))?.usage).toEqual({ ...usageOf(5), extras });
      expect((await statusOf('cut'))?.usage).toEqual({ ...usageOf(30), extras });
    });

    test('an abandoned call ends as after a crash, and one that ended stays as it is', async () => {
      await Promise.all(['a', 'b', 'c'].map((id) => ledger.hold(heldCall(id, 10n))));
      await ledger.checkpoint({ call_id: 'b', usage: usageOf(3), cost: 6n });
      await ledger.settle(settledCall('c', { held: 10n, output: 1 }));
      for (const id of ['a', 'b', 'c', 'a', 'unknown']) await ledger.abandon(id);
      expect(await balanceOf('default')).toMatchObject({ available: -8n, held: 0n, charged: 8n });
      expect(await statusOf('a')).toMatchObject({ error: 'gateway_fault', usage_source: 'void' });
      expect(await statusOf('c')).toMatchObject({ error: null });
    });

    test('an abandoned call takes nothing more, also while its hold is on its way to the disk', async () => {
      const held = ledger.hold(heldCall('a', 10n));
      const abandoned = ledger.abandon('a');
      const late = [
        ledger.extend('a', 1, 0n),
        ledger.checkpoint({ call_id: 'a', usage: usageOf(3), cost: 6n }),
        ledger.settle(settledCall('a', { held: 10n, output: 1 })),
      ];
      expect(await Promise.all([held, abandoned, ...late].map(outcomeOf))).toEqual([
        'kept',
        'kept',
        'conflict',
        'conflict',
        'conflict',
      ]);
      expect(await balanceOf('default')).toMatchObject({ held: 0n, charged: 0n });
      expect(await statusOf('a')).toMatchObject({ error: 'gateway_fault', usage_source: 'void' });
    });

    test('a call without a price is recorded as unpriced, also after a crash', async () => {
      const unpriced = (id: string) => ({
        amount: 0n,
        draft: { ...heldCall(id, 0n).draft, price_version: null },
      });
      await Promise.all([ledger.hold(unpriced('a')), ledger.hold(unpriced('b'))]);
      await ledger.checkpoint({ call_id: 'b', usage: usageOf(3), cost: 0n });
      const record = sampleRecord('a', { price_version: null, cost_nano_usd: null });
      await ledger.settle({ record, posted: 0n, released: 0n, writtenOff: 0n });
      await restart();
      expect(await statusOf('a')).toMatchObject({ cost_nano_usd: null });
      expect(await statusOf('b')).toMatchObject({ usage: usageOf(3), price_version: null, cost_nano_usd: null });
    });
  });
}
