/** Tests how calls spread over targets by each strategy, on a clock of their own. Source: design of routing, 12. */
import { describe, expect, test } from 'bun:test';
import { AttemptPlan } from '../attempt-plan.ts';
import { RoutingState } from '../health/routing-state.ts';
import { makeCall } from '../health/testing/make-candidates.ts';
import type { Route } from '../route.ts';
import { PIN_MS } from './affinity.ts';
import { ChoiceState, choose } from './choose.ts';
import { Dice } from './random.ts';
import type { RoutedRequest } from './routed-request.ts';
import { makeRequest, makeRoute, makeState } from './testing/routes.ts';

function headOf(
  route: Route,
  state: ChoiceState,
  request: Partial<RoutedRequest>,
  nowMs: number,
  seed: number,
): string {
  return choose(route, makeRequest(request), state, nowMs, seed)[0]?.target.name ?? '';
}

/** The share of each target's name among 20,000 calls. */
function sharesOf(
  route: Route,
  request: Partial<RoutedRequest> = {},
  state = makeState().state,
): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  const calls = 20_000;
  for (let call = 0; call < calls; call += 1) {
    const name = headOf(route, state, request, 0, call * 104_729);
    shares.set(name, (shares.get(name) ?? 0) + 1 / calls);
  }
  return shares;
}

describe('weight', () => {
  test('calls go to targets in proportion to their weights', () => {
    const route = makeRoute(
      [
        { name: 'a', weight: 3 },
        { name: 'b', weight: 1 },
        { name: 'c', weight: 0 },
      ],
      {
        strategy: 'weight',
      },
    );
    const shares = sharesOf(route);
    expect(shares.get('a')).toBeCloseTo(0.75, 2);
    expect(shares.get('b')).toBeCloseTo(0.25, 2);
    expect(shares.has('c')).toBe(false);
  });

  test('of 10,000 sessions, a fifth target moves at most 21% and no live pin', () => {
    const names = ['a', 'b', 'c', 'd'];
    const four = makeRoute(
      names.map((name) => ({ name, weight: 1 })),
      { strategy: 'weight' },
    );
    const five = makeRoute(
      [...names, 'e'].map((name) => ({ name, weight: 1 })),
      { strategy: 'weight' },
    );
    const { state } = makeState();
    const moved = { live: 0, old: 0, betweenOld: 0 };
    for (let conversation = 0; conversation < 10_000; conversation += 1) {
      const before = headOf(four, state, { conversation }, 0, 1);
      const target = four.targets.find(({ name }) => name === before);
      if (target === undefined) throw new Error('expected a target');
      state.affinity.pin(conversation, target, 0, 'weight', 0, PIN_MS);
      if (headOf(five, state, { conversation }, PIN_MS - 1, 2) !== before) moved.live += 1;
      const after = headOf(five, state, { conversation }, PIN_MS, 2);
      if (after === before) continue;
      moved.old += 1;
      if (after !== 'e') moved.betweenOld += 1;
    }
    expect(moved.live).toBe(0);
    expect(moved.betweenOld).toBe(0);
    expect(moved.old / 10_000).toBeLessThanOrEqual(0.21);
    expect(moved.old / 10_000).toBeGreaterThan(0.19);
  });
});

describe('price', () => {
  test('a target is preferred by the square of what the call costs there', () => {
    const route = makeRoute(
      [
        { name: 'a', price: [1, 0.1, 1] },
        { name: 'b', price: [2, 0.2, 2] },
        { name: 'c', price: null },
      ],
      { strategy: 'price' },
    );
    const shares = sharesOf(route);
    expect(shares.get('a')).toBeCloseTo(0.8, 2);
    expect(shares.get('b')).toBeCloseTo(0.2, 2);
    expect(shares.has('c')).toBe(false);
  });

  test('this call counts: a short prompt with a long answer goes where output is cheap', () => {
    const route = makeRoute(
      [
        { name: 'input', price: [1, 0.1, 20] },
        { name: 'output', price: [10, 1, 2] },
      ],
      { strategy: 'price' },
    );
    const { state } = makeState();
    state.answerLengths.learn('m', 'k', 4_000);
    expect(sharesOf(route, { inputTokens: 100 }, state).get('output')).toBeGreaterThan(0.95);
    expect(sharesOf(route, { inputTokens: 100_000 }, state).get('input')).toBeGreaterThan(0.95);
  });

  test('faults make a target dearer, up to twice', () => {
    const route = makeRoute([{ name: 'a' }, { name: 'b' }], { strategy: 'price' });
    const { state, health } = makeState();
    health.set('a', { faults: 1 });
    expect(sharesOf(route, {}, state).get('a')).toBeCloseTo(0.2, 2);
  });
});

describe('latency', () => {
  const route = makeRoute(
    ['a', 'b', 'c'].map((name) => ({ name })),
    { strategy: 'latency' },
  );

  test('of two at random, the one with fewer calls per time to first content; the slowest only as a fallback', () => {
    const { state, health } = makeState();
    health.set('a', { expected: 100, open: 3 });
    health.set('b', { expected: 300, open: 0 });
    health.set('c', { expected: 500, open: 0 });
    const shares = sharesOf(route, {}, state);
    expect(shares.get('b')).toBeCloseTo(2 / 3, 1);
    expect(shares.get('a')).toBeCloseTo(1 / 3, 1);
    expect(shares.has('c')).toBe(false);
  });

  test('an unknown target counts as the median of the others', () => {
    const { state, health } = makeState();
    health.set('a', { expected: 100 });
    health.set('b', { expected: 900 });
    health.set('d', { expected: 500 });
    const four = makeRoute(
      ['a', 'b', 'c', 'd'].map((name) => ({ name })),
      { strategy: 'latency' },
    );
    const shares = sharesOf(four, {}, state);
    expect(shares.get('a')).toBeCloseTo(1 / 2, 1);
    // As slow as d: the two share what is left of their pairs; b is slower than every other.
    expect((shares.get('c') ?? 0) + (shares.get('d') ?? 0)).toBeCloseTo(1 / 2, 1);
    expect(shares.has('b')).toBe(false);
  });
});

/**
 * Calls of a route with three targets, one of them five times slower until `healsAtMs`, driven by the states and the plan
 * of real attempts. Returns the slow target's share of the calls that began in [fromMs, toMs).
 */
function slowShares(strategy: 'latency' | 'weight', healsAtMs: number, spans: readonly (readonly [number, number])[]) {
  const route = makeRoute(
    ['a', 'b', 'slow'].map((name) => ({ name })),
    { strategy },
  );
  const health = new RoutingState(
    () => {},
    () => 0.5,
  );
  const state = new ChoiceState(health);
  const dice = new Dice(3);
  /** A log-normal time around 300 ms. */
  const normalMs = () =>
    300 * Math.exp(0.4 * Math.sqrt(-2 * Math.log(1 - dice.roll())) * Math.cos(2 * Math.PI * dice.roll()));
  const ends = new Map<number, (() => void)[]>();
  const counts = spans.map(() => ({ slow: 0, all: 0 }));
  const lastMs = Math.max(...spans.map(([, toMs]) => toMs));
  for (let nowMs = 0; nowMs < lastMs; nowMs += 1) {
    for (const end of ends.get(nowMs) ?? []) end();
    ends.delete(nowMs);
    if (dice.roll() >= 0.2) continue;
    const candidates = choose(route, makeRequest(), state, nowMs, Math.floor(dice.roll() * 2 ** 32));
    const plan = new AttemptPlan(health, candidates, makeCall({ endMs: nowMs + 600_000 }));
    expect(plan.begin(nowMs)).toBe('try');
    const isSlow = plan.target?.name === 'slow';
    for (const [index, [fromMs, toMs]] of spans.entries()) {
      const count = counts[index];
      if (count === undefined || nowMs < fromMs || nowMs >= toMs) continue;
      count.all += 1;
      if (isSlow) count.slow += 1;
    }
    const tookMs = Math.max(1, Math.round(normalMs() * (isSlow && nowMs < healsAtMs ? 5 : 1)));
    const end = () => {
      plan.answered(tookMs, nowMs + tookMs);
      plan.ended(false, nowMs + tookMs);
    };
    ends.set(nowMs + tookMs, [...(ends.get(nowMs + tookMs) ?? []), end]);
  }
  return counts.map(({ slow, all }) => slow / all);
}

test('a slow target of three keeps less than 5% by latency, and has its share back within a minute after healing', () => {
  const spans = [
    [20_000, 120_000],
    [120_000, 180_000],
  ] as const;
  const [whileSlow = 1, healed = 0] = slowShares('latency', 120_000, spans);
  expect(whileSlow).toBeLessThan(0.05);
  expect(whileSlow).toBeGreaterThan(0);
  expect(healed).toBeGreaterThanOrEqual(0.25);
  const [byWeight = 0] = slowShares('weight', 120_000, spans);
  expect(byWeight).toBeGreaterThan(0.3);
});
