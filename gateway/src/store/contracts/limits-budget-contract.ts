/**
 * Tests how a limit store learns the spend of budgets and balances, and that it reports their reached marks: a part of
 * the limit store contract.
 */
import { describe, expect, test } from 'bun:test';
import type { BindingCaps, BudgetReached, LimitDecision, LimitStore } from '../ports/limits.ts';
import { bind, claim, START_MS, totalOf } from '../testing/sample-claims.ts';

export interface StoreSettings {
  readonly leaseMs: number;
  onBudgetReached(reached: BudgetReached): void;
}

/** An empty store. */
export type CreateStore = (settings: StoreSettings) => LimitStore;

export const LEASE_MS = 3_600_000;

/** The kind of a decision; for a refusal, the kind of the refusing cap. */
export async function kindOf(decided: LimitDecision | Promise<LimitDecision>): Promise<string> {
  const decision = await decided;
  return decision.kind === 'refused' ? decision.refusal.kind : decision.kind;
}

/** Declares the tests of budgets and balances whose spend must be read first. */
export function seedContract(open: () => LimitStore): void {
  const DAY = { startMs: START_MS, endMs: START_MS + 86_400_000 };
  const NEXT = { startMs: DAY.endMs, endMs: DAY.endMs + 86_400_000 };
  const daily = (window: typeof DAY) => bind({ budget: { window: 'day', amount: 10n } }, {}, window);

  test('a budget and a balance decide nothing until they are seeded', async () => {
    const store = open();
    const budget = daily(DAY);
    const wanted = claim('a', [bind({}, { kind: 'model' }), budget], { amount: 4n, prepaidAccount: 'p' });
    expect(await store.acquire(wanted, START_MS)).toEqual({ kind: 'unseeded', budgets: [budget], account: 'p' });
    expect(await store.readBudget(budget)).toBeNull();
    await store.seedBudget(budget, 6n);
    expect(await store.acquire(wanted, START_MS)).toEqual({ kind: 'unseeded', budgets: [], account: 'p' });
    await store.seedBalance('p', 3n);
    expect(await kindOf(store.acquire(wanted, START_MS))).toBe('balance');
    expect(await kindOf(store.acquire({ ...wanted, amount: 5n }, START_MS))).toBe('budget');
    expect(await kindOf(store.acquire({ ...wanted, amount: 3n }, START_MS))).toBe('admitted');
  });

  test('a seeded budget is not seeded again', async () => {
    const store = open();
    await store.seedBudget(daily(DAY), 7n);
    await store.seedBudget(daily(DAY), 0n);
    expect(await store.readBudget(daily(DAY))).toEqual({ settled: 7n, held: 0n });
  });

  test('a detached call gives its slot back, and keeps its money without a lease', async () => {
    const store = open();
    const budget = bind({ concurrency: 1, ...totalOf(10n) });
    await store.seedBudget(budget, 0n);
    await store.seedBalance('p', 20n);
    const wanted = { amount: 4n, prepaidAccount: 'p' };
    await store.acquire(claim('a', [budget], wanted), START_MS);
    await store.detach('a', START_MS);
    await store.detach('unknown', START_MS);
    expect(await store.sweep(START_MS + 100 * LEASE_MS)).toBe(0);
    expect(await store.readBudget(budget)).toEqual({ settled: 0n, held: 4n });
    expect(await kindOf(store.acquire(claim('b', [budget], { ...wanted, amount: 7n }), START_MS))).toBe('budget');
    expect(await kindOf(store.acquire(claim('b', [budget], wanted), START_MS))).toBe('admitted');
    expect(await store.readUse(budget, START_MS)).toMatchObject({ running: 1 });
    expect(await store.extendUpTo('a', 9n, START_MS)).toBe(2n);
    expect(await store.release('a', 6n, 0, START_MS)).toBe(true);
    expect(await store.release('a', 6n, 0, START_MS)).toBe(false);
    expect(await store.readBudget(budget)).toEqual({ settled: 6n, held: 4n });
    expect(await store.readUse(budget, START_MS)).toMatchObject({ running: 1 });
    expect(await kindOf(store.acquire(claim('c', [], { ...wanted, amount: 11n }), START_MS))).toBe('balance');
    expect(await kindOf(store.acquire(claim('c', [], { ...wanted, amount: 10n }), START_MS))).toBe('admitted');
  });

  test('a detached call counts the tokens that it used when it is released', async () => {
    const store = open();
    const limited = bind({ tokensPerMinute: 60 });
    for (const [callId, tokens] of [
      ['less', 5],
      ['more', 90],
    ] as const) {
      expect(await kindOf(store.acquire(claim(callId, [limited], { tokens: 20 }), START_MS))).toBe('admitted');
      await store.detach(callId, START_MS);
      await store.release(callId, 0n, tokens, START_MS);
    }
    expect(await store.readUse(limited, START_MS)).toMatchObject({ tokens: { used: 95 } });
  });

  test('a resumed call counts in the budgets of its window once they are seeded, and gives its rest back', async () => {
    const store = open();
    const subjects = { keyId: 'k', workspaceId: '', accountId: 'p', endUser: null, models: ['m'] };
    const resumed = { subjects, arrivedMs: DAY.endMs - 1, prepaidAccount: 'p', amount: 4n };
    await store.resume({ callId: 'a', ...resumed });
    await store.resume({ callId: 'early', ...resumed, arrivedMs: DAY.startMs - 1 });
    await store.resume({ callId: 'ended', ...resumed });
    expect(async () => await store.resume({ callId: 'a', ...resumed })).toThrow('holds its limits already');
    await store.release('ended', 4n, 0, START_MS);
    const [key, model, other] = [
      daily(DAY),
      bind(totalOf(9n), { kind: 'model', id: 'm' }),
      bind(totalOf(9n), { id: 'x' }),
    ];
    expect(await store.beginSeed(key)).toEqual(['a']);
    expect(await store.beginSeed(model)).toEqual(['a', 'early']);
    expect(await store.beginSeed(other)).toEqual([]);
    for (const budget of [key, model, other]) await store.seedBudget(budget, 0n);
    await store.seedBalance('p', 1n);
    expect(await store.readBudget(key)).toEqual({ settled: 0n, held: 4n });
    expect(await store.readBudget(model)).toEqual({ settled: 0n, held: 8n });
    await store.release('a', 3n, 0, START_MS);
    await store.release('early', 0n, 0, START_MS);
    expect(await store.readBudget(key)).toEqual({ settled: 3n, held: 0n });
    expect(await store.readBudget(model)).toEqual({ settled: 3n, held: 0n });
    const wanted = { amount: 6n, prepaidAccount: 'p' };
    expect(await kindOf(store.acquire(claim('b', [], { ...wanted, amount: 7n }), START_MS))).toBe('balance');
    expect(await kindOf(store.acquire(claim('b', [], wanted), START_MS))).toBe('admitted');
  });

  test('a budget continues in its next window by itself; calls of the old window end there', async () => {
    const store = open();
    await store.seedBudget(daily(DAY), 7n);
    await store.acquire(claim('a', [daily(DAY)], { amount: 3n }), START_MS);
    expect(await kindOf(store.acquire(claim('b', [daily(NEXT)], { amount: 10n }), NEXT.startMs))).toBe('admitted');
    await store.release('a', 2n, 0, NEXT.startMs);
    expect(await store.readBudget(daily(NEXT))).toEqual({ settled: 0n, held: 10n });
    // A call that arrived before midnight and is processed after the first one of the new day.
    expect(await kindOf(store.acquire(claim('c', [daily(DAY)], { amount: 2n }), NEXT.startMs))).toBe('budget');
    expect(await kindOf(store.acquire(claim('d', [daily(DAY)], { amount: 1n }), NEXT.startMs))).toBe('admitted');
    expect(await store.readBudget(daily(NEXT))).toEqual({ settled: 0n, held: 10n });
  });

  test('a clock set back over midnight, and forward again, reopens no window: its spend is seeded', async () => {
    const store = open();
    const [first, second, third] = [0, 1, 2].map((days) =>
      daily({ startMs: DAY.startMs + days * 86_400_000, endMs: DAY.endMs + days * 86_400_000 }),
    ) as [BindingCaps, BindingCaps, BindingCaps];
    let calls = 0;
    const spend = async (budget: BindingCaps, amount: bigint): Promise<string> => {
      const id = `${calls++}`;
      const kind = await kindOf(store.acquire(claim(id, [budget], { amount }), START_MS));
      if (kind === 'admitted') await store.release(id, amount, 0, START_MS);
      return kind;
    };
    await store.seedBudget(first, 0n);
    expect([await spend(first, 6n), await spend(second, 10n), await spend(third, 1n)]).toEqual([
      'admitted',
      'admitted',
      'admitted',
    ]);
    // Two days back: the state of the first day is dropped by now.
    expect(await spend(first, 5n)).toBe('unseeded');
    await store.seedBudget(first, 6n);
    expect([await spend(first, 5n), await spend(first, 4n)]).toEqual(['budget', 'admitted']);
    expect(await spend(second, 1n)).toBe('unseeded');
    await store.seedBudget(second, 10n);
    expect(await spend(second, 1n)).toBe('budget');
    expect(await spend(third, 10n)).toBe('budget');
  });

  test('a window that overlaps the one before it, or has another length, is seeded', async () => {
    const store = open();
    await store.seedBudget(daily(DAY), 7n);
    const moved = daily({ startMs: DAY.startMs + 3_600_000, endMs: DAY.endMs + 3_600_000 });
    expect(await kindOf(store.acquire(claim('a', [moved]), NEXT.startMs))).toBe('unseeded');
    const week = bind({ budget: { window: 'week', amount: 10n } }, {}, NEXT);
    expect(await kindOf(store.acquire(claim('b', [week]), NEXT.startMs))).toBe('unseeded');
  });

  test('a budget whose rule changed is seeded again, with the holds of its running calls', async () => {
    const store = open();
    const raised = bind({ budget: { window: 'day', amount: 20n } }, {}, DAY);
    await store.seedBudget(daily(DAY), 0n);
    await store.acquire(claim('a', [daily(DAY)], { amount: 6n }), START_MS);
    await store.forgetBudget(raised.subject);
    expect(await kindOf(store.acquire(claim('b', [raised], { amount: 5n }), START_MS))).toBe('unseeded');
    expect(await store.extend('a', 5n, START_MS)).toBe(false);
    await store.seedBudget(raised, 4n);
    expect(await store.readBudget(raised)).toEqual({ settled: 4n, held: 6n });
    expect(await kindOf(store.acquire(claim('b', [raised], { amount: 11n }), START_MS))).toBe('budget');
    await store.release('a', 1n, 0, START_MS);
    expect(await store.readBudget(raised)).toEqual({ settled: 5n, held: 0n });
  });

  test('the charge of a call that ends while a budget is read again is not lost', async () => {
    const store = open();
    await store.seedBudget(daily(DAY), 2n);
    await store.acquire(claim('a', [daily(DAY)], { amount: 4n }), START_MS);
    await store.forgetBudget(daily(DAY).subject);
    await store.release('a', 3n, 0, START_MS);
    await store.seedBudget(daily(DAY), 2n);
    expect(await store.readBudget(daily(DAY))).toEqual({ settled: 5n, held: 0n });
    await store.forgetBudget(daily(DAY).subject);
    await store.seedBudget(daily(DAY), 5n);
    expect(await store.readBudget(daily(DAY))).toEqual({ settled: 5n, held: 0n });
  });

  describe('a budget that is set while calls run', () => {
    const subjects = { keyId: 'key_1', workspaceId: 'w', accountId: 'acme', endUser: 'ann', models: ['alias', 'm'] };
    const running = (id: string, amount: bigint, arrivedMs = START_MS) =>
      claim(id, [], { subjects, amount, arrivedMs });
    const NAMES = [
      ['key', 'key_1'],
      ['workspace', 'w'],
      ['account', 'acme'],
      ['model', 'm'],
      ['end_user', 'acme/ann'],
    ] as const;

    test.each(NAMES)('of their %s counts their holds, extensions and charges', async (kind, id) => {
      const store = open();
      for (const call of ['a', 'b']) await store.acquire(running(call, 3n), START_MS);
      const budget = bind(totalOf(10n), { kind, id });
      expect([...(await store.beginSeed(budget))].sort()).toEqual(['a', 'b']);
      // One of them ends while the spend is being read.
      await store.release('a', 2n, 0, START_MS);
      await store.seedBudget(budget, 1n);
      expect(await store.readBudget(budget)).toEqual({ settled: 3n, held: 3n });
      expect(await store.extend('b', 5n, START_MS)).toBe(false);
      expect(await store.extend('b', 4n, START_MS)).toBe(true);
      expect(await kindOf(store.acquire(claim('c', [budget], { amount: 1n }), START_MS))).toBe('budget');
      await store.release('b', 6n, 0, START_MS);
      expect(await store.readBudget(budget)).toEqual({ settled: 9n, held: 0n });
    });

    test.each(NAMES)('of another %s counts none of them', async (kind, id) => {
      const store = open();
      await store.acquire(running('a', 3n), START_MS);
      const budget = bind(totalOf(10n), { kind, id: `${id}x` });
      expect(await store.beginSeed(budget)).toEqual([]);
      await store.seedBudget(budget, 0n);
      await store.release('a', 2n, 0, START_MS);
      expect(await store.readBudget(budget)).toEqual({ settled: 0n, held: 0n });
    });

    test('counts only those that arrived within its window', async () => {
      const store = open();
      await store.acquire(running('yesterday', 3n, DAY.startMs - 1), START_MS);
      await store.acquire(running('today', 4n), START_MS);
      const budget = bind({ budget: { window: 'day', amount: 10n } }, { kind: 'key', id: 'key_1' }, DAY);
      expect(await store.beginSeed(budget)).toEqual(['today']);
      await store.seedBudget(budget, 0n);
      expect(await store.readBudget(budget)).toEqual({ settled: 0n, held: 4n });
    });

    test('is read again where reading failed, and counts each of them once', async () => {
      const store = open();
      await store.acquire(running('a', 3n), START_MS);
      await store.acquire(running('b', 3n), START_MS);
      const budget = bind(totalOf(10n), { kind: 'key', id: 'key_1' });
      await store.beginSeed(budget);
      await store.release('a', 2n, 0, START_MS);
      expect(await store.beginSeed(budget)).toEqual(['b']);
      await store.seedBudget(budget, 2n);
      expect(await store.readBudget(budget)).toEqual({ settled: 2n, held: 3n });
      expect(await store.beginSeed(budget)).toEqual([]);
    });
  });

  test('forgetting the end users of an account forgets no budget of another account', async () => {
    const store = open();
    const of = (id: string) => bind(totalOf(10n), { kind: 'end_user', id });
    for (const id of ['acme/a', 'acme/b', 'acme2/a']) await store.seedBudget(of(id), 1n);
    await store.forgetBudget({ kind: 'end_user', id: 'acme/*' });
    const known = await Promise.all(['acme/a', 'acme/b', 'acme2/a'].map(async (id) => await store.readBudget(of(id))));
    expect(known).toEqual([null, null, { settled: 1n, held: 0n }]);
  });

  test('a balance whose account changed its mode is seeded again', async () => {
    const store = open();
    await store.seedBalance('p', 5n);
    const wanted = (id: string, amount: bigint) => claim(id, [], { prepaidAccount: 'p', amount });
    expect(await kindOf(store.acquire(wanted('a', 5n), START_MS))).toBe('admitted');
    await store.forgetBalance('p');
    expect(await kindOf(store.acquire(wanted('b', 1n), START_MS))).toBe('unseeded');
    // The ledger's balance already excludes the hold; the end of the call gives it back.
    await store.seedBalance('p', 2n);
    expect(await kindOf(store.acquire(wanted('b', 3n), START_MS))).toBe('balance');
    await store.release('a', 4n, 0, START_MS);
    expect(await kindOf(store.acquire(wanted('b', 3n), START_MS))).toBe('admitted');
  });
}

/** Declares the tests of reached marks of budgets. */
export function reportContract(create: CreateStore): void {
  /**
   * Settles the charges one after another on a budget of 100; returns the reported marks, each with the settled spend
   * at that time.
   */
  async function marksOf(seeded: bigint, charges: readonly bigint[]): Promise<[number, bigint][]> {
    const reported: BudgetReached[] = [];
    const store = create({ leaseMs: LEASE_MS, onBudgetReached: (reached) => reported.push(reached) });
    const budget = bind(totalOf(100n));
    await store.seedBudget(budget, seeded);
    for (const [call, charge] of charges.entries()) {
      const decision = await store.acquire(claim(`${call}`, [budget], { amount: charge }), START_MS);
      if (decision.kind === 'admitted') await store.release(`${call}`, charge, 0, START_MS);
    }
    for (const { subject, window, amount } of reported)
      expect({ subject, window, amount }).toEqual({ subject: budget.subject, window: 'total', amount: 100n });
    return reported.map(({ mark, settled }) => [mark, settled]);
  }

  test('each mark is reported once, when the settled spend reaches it', async () => {
    expect(await marksOf(0n, [49n, 1n, 29n, 0n, 1n, 20n, 0n])).toEqual([
      [50, 50n],
      [80, 80n],
      [100, 100n],
    ]);
  });

  test('marks reached at the same time are each reported', async () => {
    expect(await marksOf(0n, [90n])).toEqual([
      [50, 90n],
      [80, 90n],
    ]);
  });

  test('marks reached before the seed are not reported again', async () => {
    expect(await marksOf(85n, [14n, 1n])).toEqual([[100, 100n]]);
  });

  test('the last mark is reported once, when the settled spend refuses a call', async () => {
    expect(await marksOf(85n, [16n, 16n])).toEqual([[100, 85n]]);
  });

  test('a call that exceeds the whole budget reports no mark', async () => {
    expect(await marksOf(85n, [101n])).toEqual([]);
    expect(await marksOf(60n, [41n])).toEqual([]);
  });

  describe('of another amount', () => {
    const DAY = { startMs: START_MS, endMs: START_MS + 86_400_000 };

    /**
     * Opens a key's daily budget of 100 with this settled spend; `reported` collects the marks reported from then on,
     * with the budget's amount.
     */
    async function openSpent(spent: bigint) {
      const reported: [number, bigint][] = [];
      const store = create({
        leaseMs: LEASE_MS,
        onBudgetReached: ({ mark, amount }) => void reported.push([mark, amount]),
      });
      const of = (amount: bigint) => bind({ budget: { window: 'day', amount } }, {}, DAY);
      let calls = 0;
      const spend = async (charge: bigint, amount: bigint) => {
        const id = `${calls++}`;
        const decision = await store.acquire(claim(id, [of(amount)], { amount: charge }), START_MS);
        if (decision.kind === 'admitted') await store.release(id, charge, 0, START_MS);
      };
      await store.seedBudget(of(100n), 0n);
      await spend(spent, 100n);
      reported.length = 0;
      const cap = (amount: bigint, atMs = START_MS) => store.capBudget(of(amount).subject, amount, atMs);
      return { reported, spend, cap };
    }

    test('a raised budget reports marks again that it no longer reaches', async () => {
      const { reported, spend, cap } = await openSpent(100n);
      await cap(200n);
      await spend(10n, 200n);
      expect(reported).toEqual([]);
      await spend(90n, 200n);
      expect(reported).toEqual([
        [80, 200n],
        [100, 200n],
      ]);
    });

    test('a lowered budget reports the marks it reaches at once, and once', async () => {
      const { reported, spend, cap } = await openSpent(60n);
      await cap(70n);
      expect(reported).toEqual([[80, 70n]]);
      await spend(1n, 70n);
      await cap(60n);
      expect(reported).toEqual([
        [80, 70n],
        [100, 60n],
      ]);
    });

    test('a window that has ended reports nothing', async () => {
      const { reported, cap } = await openSpent(60n);
      await cap(10n, DAY.endMs);
      expect(reported).toEqual([]);
    });

    test('an amount that comes with a call, as an end user’s does, is reported when the call ends or is refused', async () => {
      const raised = await openSpent(100n);
      await raised.spend(60n, 200n);
      expect(raised.reported).toEqual([[80, 200n]]);
      const lowered = await openSpent(60n);
      await lowered.spend(1n, 60n);
      expect(lowered.reported).toEqual([
        [80, 60n],
        [100, 60n],
      ]);
    });
  });
}
