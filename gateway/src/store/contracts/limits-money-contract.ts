/**
 * Tests the money part of the limit store contract: no cap is ever exceeded by a single nano-USD, and every nano-USD is
 * given back.
 */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { BindingCaps, LimitStore } from '../ports/limits.ts';
import { bind, claim, randomOf, START_MS, totalOf } from '../testing/sample-claims.ts';

const SEEDS = 200;
const CALLS_AT_ONCE = 500;

/** Declares the tests. */
export function lastCentContract(open: () => LimitStore): void {
  test('500 calls at once on the last cent admit exactly what fits, whatever the amounts', async () => {
    for (let seed = 0; seed < SEEDS; seed++) {
      const random = randomOf(seed);
      const amount = BigInt(1 + random(1_000_000));
      const fitting = random(CALLS_AT_ONCE + 50);
      const rest = amount * BigInt(fitting) + BigInt(random(Number(amount)));
      const store = open();
      const [cap, settled] = [10_000_000_000n, 10_000_000_000n - rest];
      const budget = bind(totalOf(cap), { kind: 'workspace' });
      await store.seedBudget(budget, settled);
      const kinds = await Promise.all(
        Array.from(
          { length: CALLS_AT_ONCE },
          async (_, call) => (await store.acquire(claim(`${call}`, [budget], { amount }), START_MS)).kind,
        ),
      );
      const admitted = kinds.filter((kind) => kind === 'admitted').length;
      expect(admitted).toBe(Math.min(fitting, CALLS_AT_ONCE));
      expect(await store.readBudget(budget)).toEqual({ settled, held: amount * BigInt(admitted) });
    }
  });

  test('the two layers of one subject are counted apart, and the lower of their caps binds', async () => {
    for (const [operator, own, fitting] of [
      [5n, 3n, 3],
      [3n, 5n, 3],
      [4n, 4n, 4],
    ] as const) {
      const store = open();
      const binding = [
        bind({ requestsPerMinute: 50, concurrency: 40, ...totalOf(operator) }),
        bind({ requestsPerMinute: 60, concurrency: 50, ...totalOf(own) }, { layer: 'account' }),
      ];
      expect(await store.acquire(claim('first', binding, { amount: 1n }), START_MS)).toMatchObject({
        kind: 'unseeded',
        budgets: binding,
      });
      for (const budget of binding) await store.seedBudget(budget, 0n);
      for (let call = 0; call < 7; call++) {
        const { kind } = await store.acquire(claim(`${call}`, binding, { amount: 1n }), START_MS);
        expect(kind).toBe(call < fitting ? 'admitted' : 'refused');
      }
      for (const each of binding) {
        expect(await store.readBudget(each)).toEqual({ settled: 0n, held: BigInt(fitting) });
        expect(await store.readUse(each, START_MS)).toMatchObject({ requests: { used: fitting }, running: fitting });
      }
      await store.release('0', 1n, 0, START_MS);
      for (const each of binding)
        expect(await store.readBudget(each)).toEqual({ settled: 1n, held: BigInt(fitting - 1) });
    }
  });

  test('500 calls at once on a balance and two budgets admit what the scarcest of them bears', async () => {
    for (let seed = 0; seed < SEEDS / 10; seed++) {
      const random = randomOf(seed);
      const store = open();
      const caps = [random(600), random(600), random(600)].map(BigInt);
      const [key, account] = [bind(totalOf(caps[0] ?? 0n)), bind(totalOf(caps[1] ?? 0n), { kind: 'account' })];
      for (const budget of [key, account]) await store.seedBudget(budget, 0n);
      await store.seedBalance('p', caps[2] ?? 0n);
      const asks = { prepaidAccount: 'p', amount: 1n };
      const kinds = await Promise.all(
        Array.from(
          { length: CALLS_AT_ONCE },
          async (_, call) => (await store.acquire(claim(`${call}`, [key, account], asks), START_MS)).kind,
        ),
      );
      const admitted = kinds.filter((kind) => kind === 'admitted').length;
      const scarcest = caps.reduce((least, cap) => (cap < least ? cap : least), BigInt(CALLS_AT_ONCE));
      expect(BigInt(admitted)).toBe(scarcest);
    }
  });

  test('holds, extensions, ends and refunds in any order: never above a cap, and in the end as if added up', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { minLength: 1, maxLength: 120 }), (steps) => playSteps(open(), steps)),
      {
        numRuns: 150,
      },
    );
  });

  test('a charge above what is held changes nothing and is a fault', async () => {
    const store = open();
    const budget = bind(totalOf(10n));
    await store.seedBudget(budget, 0n);
    await store.acquire(claim('a', [budget], { amount: 4n }), START_MS);
    expect(async () => await store.release('a', 5n, 0, START_MS)).toThrow('call a: found a charge of 5 nano-USD');
    expect(await store.readBudget(budget)).toEqual({ settled: 0n, held: 4n });
    expect(await store.extendUpTo('a', 20n, START_MS)).toBe(6n);
    expect(await store.release('a', 10n, 0, START_MS)).toBe(true);
    expect(await store.readBudget(budget)).toEqual({ settled: 10n, held: 0n });
  });

  test('a call that costs nothing passes a budget that is used up and a balance that is below nothing', async () => {
    const store = open();
    const budget = bind(totalOf(10n));
    await store.seedBudget(budget, 11n);
    await store.seedBalance('p', -1n);
    const decision = await store.acquire(claim('a', [budget], { prepaidAccount: 'p' }), START_MS);
    expect(decision.kind).toBe('admitted');
    expect(await store.extend('a', 1n, START_MS)).toBe(false);
    expect(await store.extendUpTo('a', 1n, START_MS)).toBe(0n);
  });

  test('a claim that wants room beyond its amount gets it or nothing, and takes its amount alone', async () => {
    const store = open();
    const budget = bind(totalOf(10n));
    await store.seedBudget(budget, 2n);
    await store.seedBalance('p', 9n);
    const asked = async (id: string, room: bigint) => {
      const decision = await store.acquire(claim(id, [budget], { prepaidAccount: 'p', amount: 3n, room }), START_MS);
      return decision.kind === 'refused' ? decision.refusal.kind : decision.kind;
    };
    expect(await asked('a', 10n)).toBe('budget');
    expect(await asked('b', 9n)).toBe('budget');
    expect(await asked('c', 8n)).toBe('admitted');
    expect(await store.readBudget(budget)).toEqual({ settled: 2n, held: 3n });
    await store.credit('p', -2n);
    expect(await asked('d', 5n)).toBe('balance');
    expect(await asked('e', 1n)).toBe('admitted');
    expect(await store.readBudget(budget)).toEqual({ settled: 2n, held: 6n });
  });

  test('money that comes to an account can be spent, and what leaves it cannot', async () => {
    const store = open();
    const asked = (id: string, amount: bigint) =>
      store.acquire(claim(id, [], { prepaidAccount: 'p', amount }), START_MS);
    await store.credit('p', 1_000n);
    await store.seedBalance('p', 1n);
    expect(await asked('a', 2n)).toMatchObject({
      refusal: {
        kind: 'balance',
        use: { used: 0n, cap: 1n, needed: 2n },
        subject: { kind: 'account', id: 'p' },
        retryAfterMs: null,
        limit: null,
      },
    });
    await store.credit('p', 5n);
    expect((await asked('a', 6n)).kind).toBe('admitted');
    await store.release('a', 0n, 0, START_MS);
    await store.credit('p', -5n);
    expect((await asked('b', 2n)).kind).toBe('refused');
    expect((await asked('b', 1n)).kind).toBe('admitted');
  });

  test('a lowered budget binds the next hold and the next extension', async () => {
    const store = open();
    const [before, after] = [bind(totalOf(10n)), bind(totalOf(5n))];
    await store.seedBudget(before, 0n);
    await store.acquire(claim('a', [before], { amount: 6n }), START_MS);
    const refused = await store.acquire(claim('b', [after], { amount: 1n }), START_MS);
    expect(refused).toMatchObject({
      refusal: {
        kind: 'budget',
        use: { used: 6n, cap: 5n, needed: 1n },
        window: 'total',
        windowEndMs: null,
        retryAfterMs: null,
      },
    });
    expect(await store.extend('a', 1n, START_MS)).toBe(false);
  });

  test('of a running call, the scarcest of its budgets and its balance is named; none where all have room', async () => {
    const store = open();
    const [key, workspace] = [bind(totalOf(10n)), bind(totalOf(8n), { kind: 'workspace', id: 'w' })];
    for (const budget of [key, workspace]) await store.seedBudget(budget, 0n);
    await store.seedBalance('p', 9n);
    const subjects = { keyId: 'k', workspaceId: 'w', accountId: 'p', endUser: null, models: [] };
    const asked = { subjects, prepaidAccount: 'p', amount: 6n };
    await store.acquire(claim('a', [key, workspace], asked), START_MS);
    expect(await store.explainExtension('a', 2n)).toBeNull();
    expect(await store.explainExtension('a', 3n)).toMatchObject({
      kind: 'budget',
      subject: { kind: 'workspace', id: 'w' },
      use: { used: 6n, cap: 8n, needed: 3n },
    });
    await store.credit('p', -2n);
    expect(await store.explainExtension('a', 3n)).toMatchObject({
      kind: 'balance',
      subject: { kind: 'account', id: 'p' },
      use: { used: 0n, cap: 1n, needed: 3n },
    });
    expect(await store.explainExtension('strange', 3n)).toBeNull();
  });

  test('another amount binds the next extension of a running call, though no other call comes', async () => {
    const store = open();
    const budget = bind(totalOf(10n));
    await store.seedBudget(budget, 0n);
    await store.acquire(claim('a', [budget], { amount: 6n }), START_MS);
    await store.capBudget(budget.subject, 7n, START_MS);
    expect(await store.extend('a', 2n, START_MS)).toBe(false);
    expect(await store.extendUpTo('a', 2n, START_MS)).toBe(1n);
    await store.capBudget(budget.subject, 20n, START_MS);
    expect(await store.extend('a', 13n, START_MS)).toBe(true);
    expect(await store.readBudget(budget)).toEqual({ settled: 0n, held: 20n });
  });
}

const AMOUNT = fc.bigInt({ min: 0n, max: 40n });
const STEP = fc.oneof(
  fc.record({
    does: fc.constant('hold' as const),
    call: fc.nat(30),
    amount: AMOUNT,
    of: fc.subarray([0, 1, 2]),
    prepaid: fc.boolean(),
  }),
  fc.record({ does: fc.constantFrom('extend' as const, 'extendUpTo' as const), call: fc.nat(30), amount: AMOUNT }),
  fc.record({ does: fc.constant('end' as const), call: fc.nat(30), share: fc.bigInt({ min: 0n, max: 100n }) }),
  fc.record({ does: fc.constant('credit' as const), amount: fc.bigInt({ min: -20n, max: 60n }) }),
);
type Step = typeof STEP extends fc.Arbitrary<infer Value> ? Value : never;

interface Purse {
  readonly cap: bigint;
  settled: bigint;
  held: bigint;
}

interface Open {
  readonly purses: readonly Purse[];
  readonly prepaid: boolean;
  held: bigint;
}

/** Runs the steps against the store and against plain sums; after each step both agree and no cap is exceeded. */
async function playSteps(store: LimitStore, steps: readonly Step[]): Promise<void> {
  const purses: Purse[] = [100n, 70n, 150n].map((cap) => ({ cap, settled: 0n, held: 0n }));
  const kinds = ['key', 'workspace', 'account'] as const;
  const budgets: BindingCaps[] = purses.map(({ cap }, at) => bind(totalOf(cap), { kind: kinds[at] ?? 'key' }));
  for (const budget of budgets) await store.seedBudget(budget, 0n);
  let available = 80n;
  await store.seedBalance('p', available);
  const running = new Map<number, Open>();

  const roomOf = (call: Open): bigint =>
    [...call.purses.map(({ cap, settled, held }) => cap - settled - held), ...(call.prepaid ? [available] : [])].reduce(
      (least, room) => (room < least ? room : least),
      1_000n,
    );
  const takeMore = (call: Open, amount: bigint): void => {
    call.held += amount;
    for (const purse of call.purses) purse.held += amount;
    if (call.prepaid) available -= amount;
  };

  for (const step of steps) {
    if (step.does === 'credit') {
      await store.credit('p', step.amount);
      available += step.amount;
      continue;
    }
    const [id, open] = [`${step.call}`, running.get(step.call)];
    if (step.does === 'hold') {
      if (open !== undefined) continue;
      const call: Open = { purses: purses.filter((_, at) => step.of.includes(at)), prepaid: step.prepaid, held: 0n };
      const binding = budgets.filter((_, at) => step.of.includes(at));
      const asks = { amount: step.amount, prepaidAccount: step.prepaid ? 'p' : null };
      const { kind } = await store.acquire(claim(id, binding, asks), START_MS);
      const fits = step.amount === 0n || step.amount <= roomOf(call);
      expect(kind).toBe(fits ? 'admitted' : 'refused');
      if (!fits) continue;
      takeMore(call, step.amount);
      running.set(step.call, call);
    } else if (step.does === 'end') {
      const charged = open === undefined ? 0n : (open.held * step.share) / 100n;
      expect(await store.release(id, charged, 0, START_MS)).toBe(open !== undefined);
      if (open === undefined) continue;
      for (const purse of open.purses) {
        purse.held -= open.held;
        purse.settled += charged;
      }
      if (open.prepaid) available += open.held - charged;
      running.delete(step.call);
    } else {
      const room = open === undefined ? 0n : roomOf(open);
      const fits = open !== undefined && (step.amount === 0n || step.amount <= room);
      const part = room < 0n ? 0n : room < step.amount ? room : step.amount;
      if (step.does === 'extend') expect(await store.extend(id, step.amount, START_MS)).toBe(fits);
      else expect(await store.extendUpTo(id, step.amount, START_MS)).toBe(part);
      if (open !== undefined && (fits || step.does === 'extendUpTo'))
        takeMore(open, step.does === 'extend' ? step.amount : part);
    }
    for (const [at, { cap, settled, held }] of purses.entries()) {
      const budget = budgets[at];
      if (budget !== undefined) expect(await store.readBudget(budget)).toEqual({ settled, held });
      expect(settled + held).toBeLessThanOrEqual(cap);
    }
  }
}
