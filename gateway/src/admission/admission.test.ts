/**
 * Tests admission and the seeds of money: a call ends exactly once with any store of limits, and spending is known
 * before its limit applies.
 */

import { describe, expect, test } from 'bun:test';
import { CallFailure } from '../errors/call-failure.ts';
import { createMemoryLimits } from '../store/memory/limits.ts';
import type { LimitStore } from '../store/ports/limits.ts';
import { ConstraintViolation } from '../store/ports/store-errors.ts';
import { bind, claim, START_MS, totalOf } from '../store/testing/sample-claims.ts';
import {
  type Admission,
  admitCall,
  createMoneySeeds,
  type Limits,
  type MoneySource,
  previewCall,
} from './admission.ts';

const memory = (): LimitStore => createMemoryLimits({ leaseMs: 1_000, onBudgetReached: () => undefined });

/** The same limits as if a server kept them: every method returns a promise. */
function far(store: LimitStore): LimitStore {
  return {
    acquire: async (claimed, nowMs) => store.acquire(claimed, nowMs),
    peek: async (claimed, nowMs) => store.peek(claimed, nowMs),
    extend: async (callId, amount, nowMs) => store.extend(callId, amount, nowMs),
    explainExtension: async (callId, amount) => store.explainExtension(callId, amount),
    extendUpTo: async (callId, amount, nowMs) => store.extendUpTo(callId, amount, nowMs),
    release: async (callId, charged, tokens, nowMs) => store.release(callId, charged, tokens, nowMs),
    detach: async (callId, nowMs) => store.detach(callId, nowMs),
    resume: async (claimed) => store.resume(claimed),
    credit: async (account, amount) => store.credit(account, amount),
    beginSeed: async (binding) => store.beginSeed(binding),
    seedBudget: async (binding, settled) => store.seedBudget(binding, settled),
    seedBalance: async (account, available) => store.seedBalance(account, available),
    forgetBudget: async (subject) => store.forgetBudget(subject),
    capBudget: async (subject, amount, atMs) => store.capBudget(subject, amount, atMs),
    forgetBalance: async (account) => store.forgetBalance(account),
    readBudget: async (binding) => store.readBudget(binding),
    readUse: async (binding, nowMs) => store.readUse(binding, nowMs),
    sweep: async (nowMs) => store.sweep(nowMs),
  };
}

const NOTHING: MoneySource = { readSettled: async () => 0n, readAvailable: async () => 0n };
const limitsOf = (store: LimitStore, source = NOTHING): Limits => ({ store, seeds: createMoneySeeds(store, source) });
const budget = bind(totalOf(10n));

test('a preview seeds unknown budgets, gives the call’s answer and takes nothing', async () => {
  for (const store of [memory(), far(memory())]) {
    const limits = limitsOf(store, { readSettled: async () => 4n, readAvailable: async () => 0n });
    const kinds: string[] = [];
    for (const amount of [6n, 7n, 6n]) {
      kinds.push((await previewCall(limits, claim('a', [budget], { amount }), START_MS)).kind);
    }
    expect(kinds).toEqual(['admitted', 'refused', 'admitted']);
    expect(await store.readBudget(budget)).toEqual({ settled: 4n, held: 0n });
  }
});

async function admitted(limits: Limits, callId: string, amount: bigint): Promise<Admission> {
  const answer = await admitCall(limits, claim(callId, [budget], { amount }), START_MS);
  if (answer.kind !== 'admitted') throw new Error(`refused: ${answer.refusal.kind}`);
  return answer.admission;
}

describe.each([
  ['in memory', memory],
  ['far away', () => far(memory())],
] as const)('with limits %s', (_, open) => {
  test('a call holds, extends and settles, and returns the rest', async () => {
    const limits = limitsOf(open());
    const admission = await admitted(limits, 'a', 4n);
    expect(await admission.extend(3n, START_MS)).toBe(true);
    expect(await admission.extend(4n, START_MS)).toBe(false);
    expect(admission.amount).toBe(7n);
    expect(await admission.extendUpTo(9n, START_MS)).toBe(3n);
    expect(admission.amount).toBe(10n);
    expect(await admission.settle(6n, 0, START_MS)).toBe(true);
    expect(await limits.store.readBudget(budget)).toEqual({ settled: 6n, held: 0n });
  });

  test('a second settlement throws; a release after it does nothing', async () => {
    const limits = limitsOf(open());
    const admission = await admitted(limits, 'a', 4n);
    await admission.settle(1n, 0, START_MS);
    expect(await admission.releaseUnlessSettled(START_MS)).toBe(false);
    expect(async () => await admission.settle(1n, 0, START_MS)).toThrow('call a has ended; it cannot be settled again');
    expect(async () => await admission.extend(1n, START_MS)).toThrow('call a has ended');
    expect(async () => await admission.extendUpTo(1n, START_MS)).toThrow('call a has ended');
    expect(await limits.store.readBudget(budget)).toEqual({ settled: 1n, held: 0n });
  });

  test('a call without a result returns everything once', async () => {
    const limits = limitsOf(open());
    const admission = await admitted(limits, 'a', 4n);
    expect(await admission.releaseUnlessSettled(START_MS)).toBe(true);
    expect(await admission.releaseUnlessSettled(START_MS)).toBe(false);
    expect(await limits.store.readBudget(budget)).toEqual({ settled: 0n, held: 0n });
  });

  test('settling a call whose lease expired returns false', async () => {
    const limits = limitsOf(open());
    const admission = await admitted(limits, 'a', 4n);
    await limits.store.sweep(START_MS + 1_000);
    expect(await admission.settle(4n, 0, START_MS + 1_000)).toBe(false);
  });

  test('a refusal names its limit', async () => {
    const answer = await admitCall(limitsOf(open()), claim('a', [budget], { amount: 11n }), START_MS);
    expect(answer).toMatchObject({ kind: 'refused', refusal: { kind: 'budget' }, rateLimitStatus: { requests: null } });
  });
});

test('in-memory limits with seeded money answer synchronously', () => {
  const store = memory();
  expect(admitCall(limitsOf(store), claim('a', []), START_MS)).toMatchObject({ kind: 'admitted' });
});

test('concurrent calls share one read of the ledger, which then binds all of them', async () => {
  const reads: string[] = [];
  const source: MoneySource = {
    readSettled: async ({ subject }) => {
      reads.push(`budget ${subject.id}`);
      return 7n;
    },
    readAvailable: async (account) => {
      reads.push(`balance ${account}`);
      return 2n;
    },
  };
  const limits = limitsOf(memory(), source);
  const asks = { amount: 1n, prepaidAccount: 'p' };
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, call) => admitCall(limits, claim(`${call}`, [budget], asks), START_MS)),
  );
  expect(reads.sort()).toEqual(['balance p', 'budget k']);
  expect(answers.filter(({ kind }) => kind === 'admitted')).toHaveLength(2);
});

test('an unreadable ledger admits no call, and the next call reads it again', async () => {
  let away = true;
  const source: MoneySource = {
    ...NOTHING,
    readSettled: async () => {
      if (away) throw new Error('the disk is away');
      return 0n;
    },
  };
  const limits = limitsOf(memory(), source);
  expect(async () => await admitted(limits, 'a', 1n)).toThrow('the disk is away');
  away = false;
  expect((await admitted(limits, 'a', 1n)).amount).toBe(1n);
});

test('a slow read does not delay its call, and the next call finds it done', async () => {
  const { promise, resolve } = Promise.withResolvers<bigint>();
  let reads = 0;
  const readSettled = () => {
    reads += 1;
    return promise;
  };
  const store = memory();
  const limits = { store, seeds: createMoneySeeds(store, { ...NOTHING, readSettled }, 1) };
  const failures = await Promise.all(['a', 'b'].map((id) => admitted(limits, id, 1n).catch((fault: unknown) => fault)));
  for (const failure of failures) {
    if (!(failure instanceof CallFailure)) throw failure;
    expect([failure.kind, failure.details.retryAfterSeconds]).toEqual(['store_unavailable', 1]);
    expect(failure.message).toBe('what the key of this call has spent is still being read; try again');
  }
  resolve(9n);
  await limits.seeds.seedBudgetAhead(budget);
  expect((await admitted(limits, 'a', 1n)).amount).toBe(1n);
  expect([reads, await store.readBudget(budget)]).toEqual([1, { settled: 9n, held: 1n }]);
});

test('limits that forget their seeds cause an error, not an endless wait', async () => {
  const store: LimitStore = { ...memory(), seedBudget: () => undefined };
  expect(async () => await admitted(limitsOf(store), 'a', 1n)).toThrow('unseeded again and again');
});

test('a rejected charge leaves the call open for another settlement', async () => {
  const limits = limitsOf(memory());
  const admission = await admitted(limits, 'a', 4n);
  expect(() => admission.settle(5n, 0, START_MS)).toThrow(ConstraintViolation);
  expect(await admission.settle(4n, 0, START_MS)).toBe(true);
});
