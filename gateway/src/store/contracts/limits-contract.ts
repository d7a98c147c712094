/**
 * Tests any limit store against its contract, given a function that creates an empty one. The tests control the clock.
 * Guarantees of a single implementation are tested with that implementation.
 */
import { describe, expect, test } from 'bun:test';
import type { BudgetReached, LimitClaim, LimitDecision, LimitStore } from '../ports/limits.ts';
import { bind, claim, randomOf, START_MS, totalOf } from '../testing/sample-claims.ts';
import { type CreateStore, kindOf, LEASE_MS, reportContract, seedContract } from './limits-budget-contract.ts';
import { lastCentContract } from './limits-money-contract.ts';

/** Declares the tests of one implementation. */
export function limitStoreContract(name: string, create: CreateStore): void {
  const open = (): LimitStore => create({ leaseMs: LEASE_MS, onBudgetReached: () => undefined });
  describe(`${name}: rates`, () => rates(open));
  describe(`${name}: calls at once`, () => slots(open));
  describe(`${name}: all or none`, () => allOrNone(open));
  describe(`${name}: seeds`, () => seedContract(open));
  describe(`${name}: alerts`, () => reportContract(create));
  describe(`${name}: looking without taking`, () => looks(create));
  describe(`${name}: money`, () => lastCentContract(open));
}

async function waitOf(decided: LimitDecision | Promise<LimitDecision>): Promise<number | null> {
  const decision = await decided;
  if (decision.kind !== 'refused') throw new Error(`expected a refusal, found ${decision.kind}`);
  return decision.refusal.retryAfterMs;
}

function looks(create: CreateStore): void {
  const FREE = { requests: null, tokens: null, running: null };

  test('the use of rates and slots is reported, and drains with time', async () => {
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

  test('a look gives the answer of the next claim and takes nothing, however often', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const random = randomOf(seed);
      const reported: BudgetReached[] = [];
      const store = create({ leaseMs: LEASE_MS, onBudgetReached: (reached) => reported.push(reached) });
      const capped = bind({
        requestsPerMinute: 1 + random(4),
        tokensPerMinute: 50 + random(100),
        concurrency: 1 + random(3),
        ...totalOf(BigInt(50 + random(100))),
      });
      if (random(2) === 0) await store.seedBudget(capped, BigInt(random(50)));
      for (let call = 0; call < 12; call++) {
        const nowMs = START_MS + call * random(8_000);
        const wanted = claim(`${seed}.${call}`, [capped], { tokens: random(60), amount: BigInt(random(40)) });
        const count = reported.length;
        const looked = await store.peek(wanted, nowMs);
        const again = await store.peek(wanted, nowMs);
        expect(reported.length).toBe(count);
        expect(again).toEqual(looked);
        const decided = await store.acquire(wanted, nowMs);
        if (looked.kind !== 'admitted' || decided.kind !== 'admitted') expect(looked).toEqual(decided);
        if (decided.kind === 'unseeded') await store.seedBudget(capped, 0n);
        if (decided.kind === 'admitted' && random(2) === 0)
          await store.release(wanted.callId, wanted.amount, wanted.tokens, nowMs);
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

  test('a call above the limit gets no time to wait for', async () => {
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

  test('the refusal names the limit that refuses the call the longest', async () => {
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

  test('subjects of the same name and another kind are counted separately', async () => {
    const store = open();
    for (const kind of ['key', 'end_user', 'workspace', 'account', 'model'] as const)
      expect(await kindOf(store.acquire(claim(kind, [bind({ requestsPerMinute: 1 }, { kind })]), START_MS))).toBe(
        'admitted',
      );
  });
}

function slots(open: () => LimitStore): void {
  const binding = [bind({ concurrency: 3 })];

  test('admits as many as the cap, and one more for each that ends', async () => {
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

  test('a lost call returns its slot and its money when its lease has passed, and not before', async () => {
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
