/** Tests limits.ts: the contract of every limit store, and that its memory is bounded by the running calls. */
import { expect, test } from 'bun:test';
import { limitStoreContract } from '../contracts/limits-contract.ts';
import { bind, claim, START_MS, totalOf } from '../testing/sample-claims.ts';
import { createMemoryLimits } from './limits.ts';

limitStoreContract('limits in memory', createMemoryLimits);

const open = () => createMemoryLimits({ leaseMs: 3_600_000, onBudgetReached: () => undefined });
const endUser = (id: number) => ({ kind: 'end_user', id: `acme/${id}` }) as const;

test('end users without number leave nothing behind', () => {
  const store = open();
  let most = 0;
  for (let user = 0; user < 40_000; user++) {
    // Two hundred new end users per second.
    const nowMs = START_MS + user * 5;
    store.acquire(
      claim('call', [bind({ requestsPerMinute: 5, tokensPerMinute: 900 }, endUser(user))], { tokens: 9 }),
      nowMs,
    );
    store.release('call', 0n, 9, nowMs);
    most = Math.max(most, store.size().subjects);
  }
  // Those of the minute in which a limit has not reset yet, and those that the sweep has not reached.
  expect(most).toBeLessThan(26_000);
  expect(most).toBeGreaterThan(12_000);
  for (let sweeps = 0; sweeps < 40; sweeps++) store.sweep(START_MS + 400_000);
  expect(store.size()).toEqual({ subjects: 0, calls: 0 });
});

test('running, owed and just settled amounts are not forgotten', () => {
  const store = open();
  const [running, indebted, spent] = [
    bind({ concurrency: 1 }, endUser(1)),
    bind({ tokensPerMinute: 100 }, endUser(2)),
    bind(totalOf(10n), endUser(3)),
  ];
  store.seedBudget(spent, 0n);
  store.acquire(claim('runs', [running]), START_MS);
  store.acquire(claim('owes', [indebted]), START_MS);
  store.release('owes', 0n, 300, START_MS);
  store.acquire(claim('spends', [spent], { amount: 9n }), START_MS);
  store.release('spends', 9n, 0, START_MS);
  const sweepAt = (afterMs: number): number => {
    for (let sweeps = 0; sweeps < 3; sweeps++) store.sweep(START_MS + afterMs);
    return store.size().subjects;
  };
  expect(sweepAt(179_999)).toBe(3);
  expect(sweepAt(180_000)).toBe(2);
  expect(store.readBudget(spent)).toEqual({ settled: 9n, held: 0n });
  expect(sweepAt(600_000)).toBe(1);
  expect(store.readBudget(spent)).toBeNull();
  expect(store.acquire(claim('another', [running]), START_MS + 600_000).kind).toBe('refused');
});

test('a limit that the operator named is not read again after being idle', () => {
  const store = open();
  const budgets = (['key', 'workspace', 'account', 'model'] as const).map((kind) => bind(totalOf(10n), { kind }));
  for (const budget of budgets) store.seedBudget(budget, 0n);
  store.acquire(claim('spends', budgets, { amount: 9n }), START_MS);
  store.release('spends', 9n, 0, START_MS);
  for (let sweeps = 0; sweeps < 3; sweeps++) store.sweep(START_MS + 86_400_000);
  for (const budget of budgets) expect(store.readBudget(budget)).toEqual({ settled: 9n, held: 0n });
});

test('subjects that one claim names are not forgotten in the middle of it', () => {
  const store = open();
  const both = [bind({ concurrency: 1 }, endUser(1)), bind({ concurrency: 1 }, endUser(2))];
  store.acquire(claim('a', both), START_MS);
  expect(both.map((one, at) => store.acquire(claim(`b${at}`, [one]), START_MS).kind)).toEqual(['refused', 'refused']);
});
