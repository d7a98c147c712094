/** Tests the money of one call: how much more it may produce, that it ends once, and that its parts add up. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parsePriceVersion } from '../../billing/price.ts';
import { SLICE_TOKENS } from '../../billing/reserve.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { ZERO_USAGE } from '../../generation/usage.ts';
import { InsufficientFunds } from '../../store/ports/store-errors.ts';
import { createMemoryLedger } from '../../store/testing/memory-ledger.ts';
import { heldCall, PRICE_VERSION, settledCall } from '../../store/testing/sample-call.ts';
import { sampleRecord } from '../../store/testing/sample-record.ts';
import { holdMoney } from '../testing/held-money.ts';
import { CallMoney } from './call-money.ts';

const RECORD = sampleRecord('req_1');
const SLICE = BigInt(SLICE_TOKENS);

describe.each([
  ['in memory', false],
  ['that answer later', true],
] as const)('with limits %s', (_, far) => {
  test('the unused part of the hold is released', async () => {
    const { money, ledger, budget } = await holdMoney({ cap: 5_000n, far });
    expect(budget()).toEqual({ settled: 0n, held: SLICE });
    await money.settle(700n, 700, RECORD);
    expect(ledger.kept).toEqual([`settle req_1 posted 700 released ${SLICE - 700n} absorbed 0`]);
    expect(budget()).toEqual({ settled: 700n, held: 0n });
  });

  test('a cost above the hold extends it as far as the caps allow; the operator pays the rest', async () => {
    const { money, ledger, budget } = await holdMoney({ cap: SLICE + 100n, far });
    await money.settle(SLICE + 250n, 0, RECORD);
    expect(ledger.kept).toEqual(['extend req_1 #1 100', `settle req_1 posted ${SLICE + 100n} released 0 absorbed 150`]);
    expect(budget()).toEqual({ settled: SLICE + 100n, held: 0n });
  });

  test('a cost paid by the operator is written off: nothing is posted or extended', async () => {
    const { money, ledger, budget } = await holdMoney({ cap: SLICE + 100n, far });
    await money.settle(SLICE + 250n, 0, RECORD, 'operator');
    expect(ledger.kept).toEqual([`settle req_1 posted 0 released ${SLICE} absorbed ${SLICE + 250n}`]);
    expect(budget()).toEqual({ settled: 0n, held: 0n });
  });

  test('an allowed slice extends the hold; a refused one leaves it unchanged', async () => {
    const { money, ledger, budget } = await holdMoney({ cap: SLICE * 2n, far });
    expect([money.isMetered, money.allowedTokens]).toEqual([true, SLICE_TOKENS]);
    expect(money.dueSlice(SLICE_TOKENS / 2)).toBeNull();
    const next = money.dueSlice((SLICE_TOKENS * 3) / 4);
    if (next === null) throw new Error('a slice is due');
    expect(await money.extend(next)).toBe(true);
    expect([money.allowedTokens, ledger.kept]).toEqual([2 * SLICE_TOKENS, [`extend req_1 #1 ${SLICE}`]]);
    const last = money.dueSlice((SLICE_TOKENS * 7) / 4);
    if (last === null) throw new Error('another slice is due');
    expect(await money.extend(last)).toBe(false);
    expect([money.allowedTokens, ledger.kept.length]).toEqual([2 * SLICE_TOKENS, 1]);
    expect(budget()).toEqual({ settled: 0n, held: SLICE * 2n });
  });
});

test('a slice that the ledger has no money for is refused, and the hold stays; one that it cannot keep fails', async () => {
  const { money, ledger } = await holdMoney({ cap: SLICE * 9n });
  const next = money.dueSlice(SLICE_TOKENS);
  if (next === null) throw new Error('a slice is due');
  ledger.extend = async () => Promise.reject(new InsufficientFunds('the account has become prepaid'));
  expect(await money.extend(next)).toBe(false);
  ledger.extend = async () => Promise.reject(new Error('the disk is gone'));
  await expect(money.extend(next)).rejects.toThrow('the disk is gone');
  expect(money.allowedTokens).toBe(SLICE_TOKENS);
  await money.settle(SLICE, 0, RECORD);
  expect(ledger.kept).toEqual([`settle req_1 posted ${SLICE} released 0 absorbed 0`]);
});

const AWAY = { kind: 'ours', message: 'the call could not be recorded', at_step: 'answer' } as const;

describe('the end', () => {
  test('happens once: a second settlement throws, and nothing is extended afterwards', async () => {
    const { money, ledger, budget } = await holdMoney({ cap: SLICE * 9n });
    const slice = money.dueSlice(SLICE_TOKENS);
    await money.settle(5n, 5, RECORD);
    await expect(money.settle(5n, 5, RECORD)).rejects.toThrow('the money of call req_1 is settled already');
    expect(money.dueSlice(SLICE_TOKENS)).toBeNull();
    expect(slice !== null && (await money.extend(slice))).toBe(false);
    money.checkpoint({ ...ZERO_USAGE, output: 9 });
    expect(ledger.kept).toHaveLength(1);
    expect(budget()).toEqual({ settled: 5n, held: 0n });
  });

  test('that cannot be stored rejects, and the limits are released', async () => {
    const { money, ledger, budget } = await holdMoney({ cap: 5_000n });
    ledger.failing.add('settle');
    await expect(money.settle(700n, 700, RECORD)).rejects.toThrow('no settle is kept');
    expect(budget()?.held).toBe(0n);
    expect(ledger.kept).toEqual(['abandon req_1']);
  });

  test('of a call without a stored hold charges nothing and records a failure', async () => {
    const durable = Promise.reject(new Error('the hold is lost'));
    const { money, ledger, budget } = await holdMoney({ cap: 5_000n, durable });
    await expect(money.settle(700n, 700, RECORD)).rejects.toThrow('the hold is lost');
    expect(budget()).toEqual({ settled: 0n, held: 0n });
    expect(ledger.kept).toEqual([`settle req_1 unheld posted 0 released ${SLICE} absorbed 700`]);
    expect(ledger.records).toEqual([{ ...RECORD, status: 503, error: 'store_unavailable', reason: AWAY }]);
  });

  test('of such a call whose caller has left is recorded unchanged', async () => {
    const durable = Promise.reject(new Error('the hold is lost'));
    const { money, ledger } = await holdMoney({ cap: 5_000n, durable });
    const gone = { ...RECORD, status: 499, error: 'client_left' };
    await money.settle(0n, 0, gone);
    expect(ledger.kept).toEqual([`settle req_1 unheld posted 0 released ${SLICE} absorbed 0`]);
    expect(ledger.records).toEqual([gone]);
  });

  test('that fails together with its hold counts as a call without a stored hold', async () => {
    let lose = (_: Error): void => undefined;
    const durable = new Promise<void>((_, reject) => {
      lose = reject;
    });
    const { money, ledger, budget } = await holdMoney({ cap: 5_000n, durable });
    ledger.failing.add('settle');
    const settled = money.settle(700n, 700, RECORD);
    lose(new Error('the hold is lost'));
    await expect(settled).rejects.toThrow('the hold is lost');
    expect(budget()).toEqual({ settled: 0n, held: 0n });
    expect(ledger.records).toEqual([{ ...RECORD, status: 503, error: 'store_unavailable', reason: AWAY }]);
  });

  test('of a call that the ledger refused rejects with the refusal and stores nothing', async () => {
    const refused = new CallFailure('quota_exceeded', 'the balance does not cover it');
    const { money, ledger } = await holdMoney({ cap: 5_000n, durable: Promise.reject(refused) });
    await expect(money.settle(700n, 700, RECORD)).rejects.toBe(refused);
    expect(ledger.kept).toEqual(['abandon req_1']);
  });

  test('that the caps allow and the account has no money for is written off beyond the hold', async () => {
    const memory = createMemoryLedger();
    const { draft } = heldCall('req_1', 30n);
    const { admission } = await holdMoney({ cap: SLICE + 5_000n });
    const money = new CallMoney({
      admission,
      ledger: memory.ledger,
      price: parsePriceVersion(PRICE_VERSION),
      holdRequest: null,
      slice: { amount: 30n, outputTokens: 15, extendAtTokens: null },
      draft,
      saved: memory.ledger.hold({ draft, amount: 30n }),
      unsaved: { explain: (cause) => cause, record: async () => undefined },
      brokenAnswers: 'bill',
    });
    await money.whenSaved();
    memory.setAccount('default', 'prepaid');
    await money.settle(40n, 20, settledCall('req_1', { held: 30n, output: 20 }).record);
    expect(memory.journal.durable.at(-1)).toMatchObject({ kind: 'end', posted: 30n, released: 0n, writtenOff: 10n });
    expect((await memory.ledger.readBalances('default'))[0]).toMatchObject({ held: 0n, charged: 30n, writtenOff: 10n });
  });

  test('of a call without a price costs nothing and holds nothing', async () => {
    const { money, ledger } = await holdMoney({ cap: 0n, price: null });
    expect([money.isMetered, money.allowedTokens]).toEqual([false, Number.POSITIVE_INFINITY]);
    expect(money.dueSlice(1_000_000)).toBeNull();
    money.checkpoint({ ...ZERO_USAGE, output: 9 });
    await money.settle(null, 1_000, RECORD);
    expect(ledger.kept).toEqual(['settle req_1 posted 0 released 0 absorbed 0']);
  });

  test('after a lost extension numbers its own extension as the first', async () => {
    const { money, ledger } = await holdMoney({ cap: SLICE * 9n });
    const slice = money.dueSlice(SLICE_TOKENS);
    if (slice === null) throw new Error('a slice is due');
    ledger.failing.add('extend');
    await expect(money.extend(slice)).rejects.toThrow('no extend is kept');
    expect(money.allowedTokens).toBe(SLICE_TOKENS);
    ledger.failing.clear();
    await money.settle(SLICE + 3n, 0, RECORD);
    expect(ledger.kept).toEqual(['extend req_1 #1 3', `settle req_1 posted ${SLICE + 3n} released 0 absorbed 0`]);
  });
});

test('a checkpoint stores usage and cost; its loss stops nothing', async () => {
  const { money, ledger } = await holdMoney({ cap: 5_000n });
  money.checkpoint({ ...ZERO_USAGE, input: 30, output: 12 });
  ledger.failing.add('checkpoint');
  money.checkpoint({ ...ZERO_USAGE, input: 30, output: 40 });
  await money.settle(70n, 70, RECORD);
  expect(ledger.kept[0]).toBe('checkpoint req_1 output 12 cost 42');
  expect(ledger.kept).toHaveLength(2);
});

test('posted and written off always sum to the cost, and no cap is exceeded', async () => {
  const costs = fc.bigInt({ min: 0n, max: SLICE * 6n });
  const produced = fc.array(fc.nat({ max: SLICE_TOKENS * 5 }), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(costs, produced, fc.bigInt({ min: SLICE, max: SLICE * 5n }), async (cost, steps, cap) => {
      const { money, ledger, budget } = await holdMoney({ cap });
      let held = SLICE;
      for (const tokens of steps) {
        const slice = money.dueSlice(tokens);
        if (slice !== null && (await money.extend(slice))) held += slice.amount;
        expect(budget()?.held).toBe(held);
      }
      await money.settle(cost, 0, RECORD);
      const [, posted = '', released = '', writtenOff = ''] =
        /posted (\d+) released (\d+) absorbed (\d+)/.exec(ledger.kept.at(-1) ?? '') ?? [];
      const extension = BigInt(posted) > held ? BigInt(posted) - held : 0n;
      expect(BigInt(posted) + BigInt(writtenOff)).toBe(cost);
      expect(BigInt(posted) + BigInt(released)).toBe(held + extension);
      expect(BigInt(posted)).toBe(cost < cap ? cost : cap);
      expect(budget()).toEqual({ settled: BigInt(posted), held: 0n });
    }),
    { numRuns: 200 },
  );
});
