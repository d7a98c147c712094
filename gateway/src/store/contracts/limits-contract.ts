/**
 * Tests any limit store against its contract, given a function that creates an empty one. The tests control the clock.
 * Guarantees of a single implementation are tested with that implementation.
 */
import { describe, expect, test } from 'bun:test';
import type { BindingCaps, BudgetReached, LimitClaim, LimitDecision, LimitStore } from '../ports/limits.ts';
import { bind, claim, randomOf, START_MS, totalOf } from '../testing/sample-claims.ts';
import { lastCentContract } from './limits-money-contract.ts';

export interface StoreSettings {
  readonly leaseMs: number;
  onBudgetReached(reached: BudgetReached): void;
}

/** An empty store. */
export type CreateStore = (settings: StoreSettings) => LimitStore;

const LEASE_MS = 3_600_000;

/** Declares the tests of one implementation. */
export function limitStoreContract(name: string, create: CreateStore): void {
  const open = (): LimitStore => create({ leaseMs: LEASE_MS, onBudgetReached: () => undefined });
  describe(`${name}: rates`, () => rates(open));
  describe(`${name}: calls at once`, () => slots(open));
  describe(`${name}: all or none`, () => allOrNone(open));
  describe(`${name}: what is not known`, () => seeds(open));
  describe(`${name}: alerts`, () => alerts(create));
  describe(`${name}: looking without taking`, () => looks(create));
  describe(`${name}: money`, () => lastCentContract(open));
}

/** The kind of a decision; for a refusal, the kind of the refusing cap. */
async function kindOf(decided: LimitDecision | Promise<LimitDecision>): Promise<string> {
  const decision = await decided;
  return decision.kind === 'refused' ? decision.refusal.kind : decision.kind;
}

async function waitOf(decided: LimitDecision | Promise<LimitDecision>): Promise<number | null> {
  const decision = await decided;
  if (decision.kind !== 'refused') throw new Error(`expected a refusal, found ${decision.kind}`);
  return decision.refusal.retryAfterMs;
}

function looks(create: CreateStore): void {
  const FREE = { requests: null, tokens: null, running: null };

  test('what is used of rates and slots is told, and drains with time', async () => {
    const store = create({ leaseMs: LEASE_MS, onBudgetReached: () => undefined });
    const capped = bind({ requestsPerMinute: 2, tokensPerMinute: 600, concurrency: 3 });
    const read = async (afterMs: number) => store.readUse(capped, START_MS + afterMs);
    expect(await read(0)).toEqual({
      requests: { used: 0, wholeAtMs: START_MS },
      tokens: { used: 0, wholeAtMs: START_MS },
      running: 0,
    });
    await store.acquire(claim('a', [capped], { tokens: 300 }), START_MS);
    expect(await read(0)).toEqual({
      requests: { used: 1, wholeAtMs: START_MS + 30_000 },
      tokens: { used: 300, wholeAtMs: START_MS + 30_000 },
      running: 1,
    });
    expect(await read(15_000)).toMatchObject({ requests: { used: 1 }, tokens: { used: 150 }, running: 1 });
    await store.release('a', 0n, 300, START_MS + 15_000);
    expect(await read(30_000)).toMatchObject({ requests: { used: 0 }, tokens: { used: 0 }, running: 0 });
    expect(await store.readUse(bind({}), START_MS)).toEqual(FREE);
  });

  test('a look answers what the next claim is answered, and takes nothing, however often', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const random = randomOf(seed);
      const told: BudgetReached[] = [];
      const store = create({ leaseMs: LEASE_MS, onBudgetReached: (reached) => told.push(reached) });
      const capped = bind({
        requestsPerMinute: 1 + random(4),
        tokensPerMinute: 50 + random(100),
        concurrency: 1 + random(3),
        ...totalOf(BigInt(50 + random(100))),
      });
      if (random(2) === 0) await store.seedBudget(capped, BigInt(random(50)));
      for (let call = 0; call < 12; call++) {
        const nowMs = START_MS + call * random(8_000);
        const asked = claim(`${seed}.${call}`, [capped], { tokens: random(60), amount: BigInt(random(40)) });
        const count = told.length;
        const looked = await store.peek(asked, nowMs);
        const again = await store.peek(asked, nowMs);
        expect(told.length).toBe(count);
        expect(again).toEqual(looked);
        const decided = await store.acquire(asked, nowMs);
        if (looked.kind !== 'admitted' || decided.kind !== 'admitted') expect(looked).toEqual(decided);
        if (decided.kind === 'unseeded') await store.seedBudget(capped, 0n);
        if (decided.kind === 'admitted' && random(2) === 0)
          await store.release(asked.callId, asked.amount, asked.tokens, nowMs);
      }
    }
  });
}

function rates(open: () => LimitStore): void {
  test('rpm 2 admits two at once and then one each 30 s; the wait is exact', async () => {
    const store = open();
    const ask = (id: string, afterMs: number) =>
      store.acquire(claim(id, [bind({ requestsPerMinute: 2 })]), START_MS + afterMs);
    expect(await kindOf(ask('a', 0))).toBe('admitted');
    expect(await ask('b', 0)).toMatchObject({
      kind: 'admitted',
      rateLimitStatus: { requests: { limit: 2, remaining: 0, resetMs: START_MS + 60_000 }, tokens: null },
    });
    expect(await waitOf(ask('c', 0))).toBe(30_000);
    expect(await waitOf(ask('c', 29_999))).toBe(1);
    expect(await kindOf(ask('c', 30_000))).toBe('admitted');
    expect(await waitOf(ask('d', 30_000))).toBe(30_000);
  });

  test('random calls are decided as by an exact schedule', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const random = randomOf(seed);
      const limit = 1 + random(50);
      const [store, binding] = [open(), bind({ requestsPerMinute: limit })];
      // Times in units of 1/limit millisecond: whole numbers for any limit.
      let [nowMs, arrival] = [START_MS, 0n];
      for (let call = 0; call < 100; call++) {
        nowMs += random(4) === 0 ? random(90_000) : random(2_000);
        const now = BigInt(nowMs) * BigInt(limit);
        const next = (arrival > now ? arrival : now) + 60_000n;
        const over = next - now - 60_000n * BigInt(limit);
        const decision = await store.acquire(claim(`${call}`, [binding]), nowMs);
        expect(decision.kind).toBe(over > 0n ? 'refused' : 'admitted');
        if (over <= 0n) arrival = next;
        else expect(await waitOf(decision)).toBe(Number((over + BigInt(limit) - 1n) / BigInt(limit)));
      }
    }
  });

  test('tokens are taken by estimate and corrected at the end, both ways', async () => {
    const store = open();
    const binding = [bind({ tokensPerMinute: 1_000 })];
    const ask = (id: string, tokens: number) => store.acquire(claim(id, binding, { tokens }), START_MS);
    const left = async (id: string) => {
      const decision = await ask(id, 0);
      return decision.kind === 'admitted' ? decision.rateLimitStatus.tokens?.remaining : decision.kind;
    };
    expect(await kindOf(ask('a', 900))).toBe('admitted');
    expect(await waitOf(ask('b', 101))).toBe(60);
    await store.release('a', 0n, 100, START_MS);
    expect(await left('x')).toBe(900);
    expect(await kindOf(ask('c', 500))).toBe('admitted');
    await store.release('c', 0n, 1_900, START_MS);
    expect(await left('y')).toBe('refused');
    expect(await waitOf(ask('d', 1))).toBe(60_060);
  });

  test('a call above the limit is told that waiting does not help', async () => {
    const binding = [bind({ tokensPerMinute: 1_000 })];
    expect(await open().acquire(claim('a', binding, { tokens: 1_001 }), START_MS)).toMatchObject({
      kind: 'refused',
      refusal: {
        kind: 'tokens',
        limit: 1_000,
        use: { used: 0, cap: 1_000, needed: 1_001 },
        retryAfterMs: null,
        subject: { kind: 'key', id: 'k' },
      },
    });
  });

  test('of several limits the one that keeps the call out the longest is named', async () => {
    const store = open();
    const [key, account] = [bind({ requestsPerMinute: 60 }), bind({ requestsPerMinute: 1 }, { kind: 'account' })];
    for (let call = 0; call < 60; call++) await store.acquire(claim(`k${call}`, [key]), START_MS);
    expect(await waitOf(store.acquire(claim('a', [key]), START_MS))).toBe(1_000);
    await store.acquire(claim('b', [account]), START_MS);
    expect(await store.acquire(claim('c', [key, account]), START_MS)).toMatchObject({
      refusal: {
        kind: 'requests',
        limit: 1,
        use: { used: 1, cap: 1, needed: 1 },
        subject: { kind: 'account' },
        retryAfterMs: 60_000,
      },
      rateLimitStatus: { requests: { remaining: 0 } },
    });
  });

  test('subjects of the same name and another kind are others', async () => {
    const store = open();
    for (const kind of ['key', 'end_user', 'workspace', 'account', 'model'] as const)
      expect(await kindOf(store.acquire(claim(kind, [bind({ requestsPerMinute: 1 }, { kind })]), START_MS))).toBe(
        'admitted',
      );
  });
}

function slots(open: () => LimitStore): void {
  const binding = [bind({ concurrency: 3 })];

  test('as many as the cap, and one more for each that ends', async () => {
    const store = open();
    const kinds = await Promise.all(
      Array.from({ length: 10 }, (_, call) => kindOf(store.acquire(claim(`${call}`, binding), START_MS))),
    );
    expect(kinds.filter((kind) => kind === 'admitted')).toHaveLength(3);
    expect(kinds.filter((kind) => kind === 'concurrency')).toHaveLength(7);
    expect(await store.acquire(claim('z', binding), START_MS)).toMatchObject({
      refusal: { use: { used: 3, cap: 3, needed: 1 } },
    });
    const running = kinds.indexOf('admitted');
    expect(await store.release(`${running}`, 0n, 0, START_MS)).toBe(true);
    expect(await store.release(`${running}`, 0n, 0, START_MS)).toBe(false);
    expect(await kindOf(store.acquire(claim('x', binding), START_MS))).toBe('admitted');
    expect(await kindOf(store.acquire(claim('y', binding), START_MS))).toBe('concurrency');
  });

  test('a lost call gives its slot and its money back when its lease has passed, and not before', async () => {
    const store = open();
    const both = [bind({ concurrency: 1, ...totalOf(10n) })];
    const [budget] = both;
    if (budget === undefined) throw new Error('a budget binds');
    await store.seedBudget(budget, 0n);
    await store.acquire(claim('lost', both, { amount: 7n }), START_MS);
    expect(await store.sweep(START_MS + LEASE_MS - 1)).toBe(0);
    expect(await kindOf(store.acquire(claim('x', both), START_MS + LEASE_MS - 1))).toBe('concurrency');
    expect(await store.sweep(START_MS + LEASE_MS)).toBe(1);
    expect(await store.sweep(START_MS + LEASE_MS)).toBe(0);
    expect(await store.readBudget(budget)).toEqual({ settled: 0n, held: 0n });
    expect(await store.release('lost', 5n, 0, START_MS + LEASE_MS)).toBe(false);
    expect(await store.extend('lost', 1n, START_MS + LEASE_MS)).toBe(false);
    expect(await store.extendUpTo('lost', 1n, START_MS + LEASE_MS)).toBe(0n);
    expect(await kindOf(store.acquire(claim('x', both, { amount: 10n }), START_MS + LEASE_MS))).toBe('admitted');
  });
}

function allOrNone(open: () => LimitStore): void {
  test('a call that one cap refuses takes nothing of the others', async () => {
    const store = open();
    const budget = bind(totalOf(10n), { kind: 'account' });
    await store.seedBudget(budget, 0n);
    await store.seedBalance('p', 100n);
    const full = bind({ concurrency: 1 }, { kind: 'model' });
    const rest = [bind({ requestsPerMinute: 1, tokensPerMinute: 100, concurrency: 1 }), budget];
    const asks: Partial<LimitClaim> = { tokens: 100, amount: 10n, prepaidAccount: 'p' };
    await store.acquire(claim('first', [full]), START_MS);
    expect(await kindOf(store.acquire(claim('a', [...rest, full], asks), START_MS))).toBe('concurrency');
    expect(await store.readBudget(budget)).toEqual({ settled: 0n, held: 0n });
    expect(await store.release('a', 0n, 0, START_MS)).toBe(false);
    expect(await kindOf(store.acquire(claim('a', rest, { ...asks, amount: 10n }), START_MS))).toBe('admitted');
  });

  test('a call that holds its limits cannot take them twice', async () => {
    const store = open();
    await store.acquire(claim('a', []), START_MS);
    expect(async () => await store.acquire(claim('a', []), START_MS)).toThrow('call a holds its limits already');
    expect(await store.release('a', 5n, 5, START_MS)).toBe(true);
    expect(await kindOf(store.acquire(claim('a', []), START_MS))).toBe('admitted');
  });

  test.each([
    [{ amount: -1n }, 'amount: found -1'],
    [{ tokens: -1 }, 'tokens: found -1'],
    [{ tokens: 1.5 }, 'tokens: found 1.5'],
    [{ tokens: Number.NaN }, 'tokens: found NaN'],
  ])('%p is refused as a fault, and takes nothing', async (asks, words) => {
    const store = open();
    expect(async () => await store.acquire(claim('a', [], asks), START_MS)).toThrow(words);
    expect(await store.release('a', 0n, 0, START_MS)).toBe(false);
  });
}

function seeds(open: () => LimitStore): void {
  const DAY = { startMs: START_MS, endMs: START_MS + 86_400_000 };
  const NEXT = { startMs: DAY.endMs, endMs: DAY.endMs + 86_400_000 };
  const daily = (window: typeof DAY) => bind({ budget: { window: 'day', amount: 10n } }, {}, window);

  test('a budget and a balance decide nothing until they are seeded', async () => {
    const store = open();
    const budget = daily(DAY);
    const asked = claim('a', [bind({}, { kind: 'model' }), budget], { amount: 4n, prepaidAccount: 'p' });
    expect(await store.acquire(asked, START_MS)).toEqual({ kind: 'unseeded', budgets: [budget], account: 'p' });
    expect(await store.readBudget(budget)).toBeNull();
    await store.seedBudget(budget, 6n);
    expect(await store.acquire(asked, START_MS)).toEqual({ kind: 'unseeded', budgets: [], account: 'p' });
    await store.seedBalance('p', 3n);
    expect(await kindOf(store.acquire(asked, START_MS))).toBe('balance');
    expect(await kindOf(store.acquire({ ...asked, amount: 5n }, START_MS))).toBe('budget');
    expect(await kindOf(store.acquire({ ...asked, amount: 3n }, START_MS))).toBe('admitted');
  });

  test('what is known is not seeded again', async () => {
    const store = open();
    await store.seedBudget(daily(DAY), 7n);
    await store.seedBudget(daily(DAY), 0n);
    expect(await store.readBudget(daily(DAY))).toEqual({ settled: 7n, held: 0n });
  });

  test('a budget goes on into its next window by itself; what began in the old one ends there', async () => {
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

  test('a clock that goes back over midnight, and on again, opens no window anew: what is not known of it is seeded', async () => {
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

  test('a window that overlaps the one before it, or is of another sort, is seeded', async () => {
    const store = open();
    await store.seedBudget(daily(DAY), 7n);
    const moved = daily({ startMs: DAY.startMs + 3_600_000, endMs: DAY.endMs + 3_600_000 });
    expect(await kindOf(store.acquire(claim('a', [moved]), NEXT.startMs))).toBe('unseeded');
    const week = bind({ budget: { window: 'week', amount: 10n } }, {}, NEXT);
    expect(await kindOf(store.acquire(claim('b', [week]), NEXT.startMs))).toBe('unseeded');
  });

  test('a budget whose rule changed is seeded anew, with what its running calls hold', async () => {
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

  test('what calls were charged that end while a budget is read anew is not lost', async () => {
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

    test.each(NAMES)('of their %s counts what they hold, extend and are charged', async (kind, id) => {
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

    test.each(NAMES)('of another %s does not concern them', async (kind, id) => {
      const store = open();
      await store.acquire(running('a', 3n), START_MS);
      const budget = bind(totalOf(10n), { kind, id: `${id}x` });
      expect(await store.beginSeed(budget)).toEqual([]);
      await store.seedBudget(budget, 0n);
      await store.release('a', 2n, 0, START_MS);
      expect(await store.readBudget(budget)).toEqual({ settled: 0n, held: 0n });
    });

    test('counts those that arrived within its window only', async () => {
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

  test('the rule of all end users of an account forgets theirs, and nobody else’s', async () => {
    const store = open();
    const of = (id: string) => bind(totalOf(10n), { kind: 'end_user', id });
    for (const id of ['acme/a', 'acme/b', 'acme2/a']) await store.seedBudget(of(id), 1n);
    await store.forgetBudget({ kind: 'end_user', id: 'acme/*' });
    const known = await Promise.all(['acme/a', 'acme/b', 'acme2/a'].map(async (id) => await store.readBudget(of(id))));
    expect(known).toEqual([null, null, { settled: 1n, held: 0n }]);
  });

  test('a balance whose account changed its mode is seeded anew', async () => {
    const store = open();
    await store.seedBalance('p', 5n);
    const asked = (id: string, amount: bigint) => claim(id, [], { prepaidAccount: 'p', amount });
    expect(await kindOf(store.acquire(asked('a', 5n), START_MS))).toBe('admitted');
    await store.forgetBalance('p');
    expect(await kindOf(store.acquire(asked('b', 1n), START_MS))).toBe('unseeded');
    // The ledger's balance already excludes the hold; the end of the call gives it back.
    await store.seedBalance('p', 2n);
    expect(await kindOf(store.acquire(asked('b', 3n), START_MS))).toBe('balance');
    await store.release('a', 4n, 0, START_MS);
    expect(await kindOf(store.acquire(asked('b', 3n), START_MS))).toBe('admitted');
  });
}

function alerts(create: CreateStore): void {
  /**
   * Settles the charges one after another on a budget of 100; returns the marks reported, each with the settled spend
   * at that time.
   */
  async function marksOf(seeded: bigint, charges: readonly bigint[]): Promise<[number, bigint][]> {
    const told: BudgetReached[] = [];
    const store = create({ leaseMs: LEASE_MS, onBudgetReached: (reached) => told.push(reached) });
    const budget = bind(totalOf(100n));
    await store.seedBudget(budget, seeded);
    for (const [call, charge] of charges.entries()) {
      const decision = await store.acquire(claim(`${call}`, [budget], { amount: charge }), START_MS);
      if (decision.kind === 'admitted') await store.release(`${call}`, charge, 0, START_MS);
    }
    for (const { subject, window, amount } of told)
      expect({ subject, window, amount }).toEqual({ subject: budget.subject, window: 'total', amount: 100n });
    return told.map(({ mark, settled }) => [mark, settled]);
  }

  test('each mark is told once, when what is settled reaches it', async () => {
    expect(await marksOf(0n, [49n, 1n, 29n, 0n, 1n, 20n, 0n])).toEqual([
      [50, 50n],
      [80, 80n],
      [100, 100n],
    ]);
  });

  test('marks reached at once are each told', async () => {
    expect(await marksOf(0n, [90n])).toEqual([
      [50, 90n],
      [80, 90n],
    ]);
  });

  test('what was reached before the store knew is not told again', async () => {
    expect(await marksOf(85n, [14n, 1n])).toEqual([[100, 100n]]);
  });

  test('the last mark is told when a call is refused for what is settled, once', async () => {
    expect(await marksOf(85n, [16n, 16n])).toEqual([[100, 85n]]);
  });

  test('a call that is too great for the whole budget tells nothing of it', async () => {
    expect(await marksOf(85n, [101n])).toEqual([]);
    expect(await marksOf(60n, [41n])).toEqual([]);
  });

  describe('of another amount', () => {
    const DAY = { startMs: START_MS, endMs: START_MS + 86_400_000 };

    /**
     * Opens a key's daily budget of 100 with this settled spend; `told` collects the marks reported from then on, with
     * the budget's amount.
     */
    async function openSpent(spent: bigint) {
      const told: [number, bigint][] = [];
      const store = create({
        leaseMs: LEASE_MS,
        onBudgetReached: ({ mark, amount }) => void told.push([mark, amount]),
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
      told.length = 0;
      const cap = (amount: bigint, atMs = START_MS) => store.capBudget(of(amount).subject, amount, atMs);
      return { told, spend, cap };
    }

    test('a raised budget tells again what is not yet reached of it', async () => {
      const { told, spend, cap } = await openSpent(100n);
      await cap(200n);
      await spend(10n, 200n);
      expect(told).toEqual([]);
      await spend(90n, 200n);
      expect(told).toEqual([
        [80, 200n],
        [100, 200n],
      ]);
    });

    test('a lowered budget tells at once, and once, what is reached by it', async () => {
      const { told, spend, cap } = await openSpent(60n);
      await cap(70n);
      expect(told).toEqual([[80, 70n]]);
      await spend(1n, 70n);
      await cap(60n);
      expect(told).toEqual([
        [80, 70n],
        [100, 60n],
      ]);
    });

    test('a window that has ended tells nothing any more', async () => {
      const { told, cap } = await openSpent(60n);
      await cap(10n, DAY.endMs);
      expect(told).toEqual([]);
    });

    test('that comes with a call, as an end user’s does, is told of when the call ends or is refused', async () => {
      const raised = await openSpent(100n);
      await raised.spend(60n, 200n);
      expect(raised.told).toEqual([[80, 200n]]);
      const lowered = await openSpent(60n);
      await lowered.spend(1n, 60n);
      expect(lowered.told).toEqual([
        [80, 60n],
        [100, 60n],
      ]);
    });
  });
}
