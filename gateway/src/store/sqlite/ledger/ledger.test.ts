/** Tests the SQLite ledger with the contract's suite, and with random sequences against an independent model. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { testLedger } from '../../contracts/ledger-contract.ts';
import { outcomeOf } from '../../contracts/store-rig.ts';
import { heldCall, settledCall, usageOf } from '../../testing/sample-call.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { openLedgerRig } from '../testing/open-ledger-rig.ts';

const newFolder = temporaryFolders();

testLedger('SQLite', () => openLedgerRig(newFolder()));

type Step =
  | { readonly does: 'hold' | 'extend' | 'settle' | 'checkpoint'; readonly call: number; readonly amount: number }
  | { readonly does: 'topup'; readonly amount: number }
  | { readonly does: 'correct'; readonly amount: number }
  | { readonly does: 'abandon'; readonly call: number }
  | { readonly does: 'restart' };

const CALLS = 20;
const call = fc.nat(CALLS - 1);
const amount = fc.nat(60);
const steps = fc.array(
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({ does: fc.constantFrom('hold', 'extend', 'settle', 'checkpoint'), call, amount }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ does: fc.constantFrom('topup', 'correct'), amount: fc.integer({ min: -30, max: 90 }) }),
    },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('abandon'), call }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('restart') }) },
  ) as fc.Arbitrary<Step>,
  { maxLength: 60, size: 'max' },
);

/** A prepaid account in plain numbers, independent of the code under test. */
class Model {
  available = 0;
  charged = 0;
  writtenOff = 0;
  readonly open = new Map<number, { held: number; extensions: number; checkpoint: number | null }>();
  readonly ended = new Set<number>();

  get held(): number {
    return [...this.open.values()].reduce((sum, { held }) => sum + held, 0);
  }

  end(id: number, cost: number): void {
    const { held = 0 } = this.open.get(id) ?? {};
    this.open.delete(id);
    this.ended.add(id);
    this.charged += Math.min(cost, held);
    this.writtenOff += Math.max(0, cost - held);
    this.available += Math.max(0, held - cost);
  }

  endAll(): void {
    for (const [id, { checkpoint }] of [...this.open]) this.end(id, checkpoint ?? 0);
  }

  /** Whether the ledger should accept the step; applies it if so. */
  take(step: Exclude<Step, { does: 'restart' }>): boolean {
    if (step.does === 'topup' || step.does === 'correct') {
      return (step.does === 'topup' ? step.amount > 0 : step.amount !== 0) && this.move(step.amount);
    }
    const open = this.open.get(step.call);
    if (step.does === 'hold') {
      if (open !== undefined || step.amount > this.available) return false;
      this.available -= step.amount;
      this.open.set(step.call, { held: step.amount, extensions: 0, checkpoint: null });
      return true;
    }
    if (open === undefined) return step.does === 'abandon';
    if (step.does === 'abandon') this.end(step.call, open.checkpoint ?? 0);
    else if (step.does === 'settle') this.end(step.call, 2 * step.amount);
    else if (step.does === 'checkpoint') open.checkpoint = 2 * step.amount;
    else {
      if (step.amount > this.available) return false;
      this.available -= step.amount;
      open.held += step.amount;
      open.extensions += 1;
    }
    return true;
  }

  private move(change: number): boolean {
    if (this.available + change < 0) return false;
    this.available += change;
    return true;
  }
}

test('random sequences keep every invariant, and the ledger decides as a model does', async () => {
  const rig = await openLedgerRig(newFolder());
  let round = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      round += 1;
      const account = `account${round}`;
      await rig.setAccount(account, 'prepaid');
      const model = new Model();
      const expected: boolean[] = [];
      const outcomes: Promise<string>[] = [];
      const id = (number: number) => `r${round}-${number}`;
      for (const [index, step] of sequence.entries()) {
        if (step.does === 'restart') {
          await Promise.all(outcomes);
          await rig.restart();
          model.endAll();
          continue;
        }
        // An id names one call only: ids are made by the server, and the ledger does not look for ended ones.
        if (step.does === 'hold' && model.ended.has(step.call)) continue;
        // A checkpoint that comes before its call's hold is durable may be lost: the next one replaces it.
        if (step.does === 'checkpoint') await Promise.all(outcomes);
        const { held = 0, extensions = 0 } = ('call' in step ? model.open.get(step.call) : undefined) ?? {};
        expected.push(model.take(step));
        const outcome = outcomeOf(perform(step, index, held, extensions));
        outcomes.push(outcome);
        // Money that is given back can be held again once that is durable.
        if (step.does === 'settle' || step.does === 'topup' || step.does === 'correct') await outcome;
        // A call whose hold or extension is on its way to the disk ends after it.
        if (step.does === 'abandon') await Promise.all(outcomes);
      }
      expect((await Promise.all(outcomes)).map((outcome) => outcome === 'kept')).toEqual(expected);
      const found = (await rig.ledger.readBalances()).find((balance) => balance.account === account);
      expect(found).toMatchObject({
        available: BigInt(model.available),
        held: BigInt(model.held),
        charged: BigInt(model.charged),
        writtenOff: BigInt(model.writtenOff),
      });
      expect(rig.prove().problem).toBeNull();

      function perform(step: Exclude<Step, { does: 'restart' }>, index: number, held: number, extensions: number) {
        const { ledger } = rig;
        switch (step.does) {
          case 'hold':
            return ledger.hold(heldCall(id(step.call), BigInt(step.amount), account));
          case 'extend':
            return ledger.extend(id(step.call), extensions + 1, BigInt(step.amount));
          case 'settle':
            return ledger.settle(settledCall(id(step.call), { held: BigInt(held), output: step.amount, account }));
          case 'checkpoint':
            return ledger.checkpoint({
              call_id: id(step.call),
              usage: usageOf(step.amount),
              cost: BigInt(2 * step.amount),
            });
          case 'abandon':
            return ledger.abandon(id(step.call));
          default:
            return ledger[step.does]({
              id: `${id(0)}-${index}`,
              account,
              amount: BigInt(step.amount),
              note: null,
              at_ms: 1,
            });
        }
      }
    }),
    { numRuns: process.env.TOLLGATE_EXHAUSTIVE === '1' ? 80 : 4 },
  );
  await rig.close();
});
