/** Tests when a late call gets a second attempt: how late, how often, and when never. Source: design of routing, 9. */
import { describe, expect, test } from 'bun:test';
import { AttemptPlan } from '../attempt-plan.ts';
import { RoutingState } from '../health/routing-state.ts';
import { makeCall } from '../health/testing/make-candidates.ts';
import type { Route } from '../route.ts';
import { ChoiceState, choose } from './choose.ts';
import type { HedgedCall } from './hedging.ts';
import { Dice } from './random.ts';
import { makeRequest, makeRoute, NO_NEEDS } from './testing/routes.ts';

const NEVER = Number.POSITIVE_INFINITY;
const NOW = 10_000;
const ROUTE = makeRoute([{ name: 'a' }, { name: 'b' }], { hedge: true });

/** States in which `a` has answered a hundred plain calls, the last five in `lateMs`. */
function rig(route: Route = ROUTE, lateMs = 2_000) {
  const health = new RoutingState(undefined, () => 0);
  const choice = new ChoiceState(health);
  for (let index = 0; index < 100; index += 1) {
    const plan = new AttemptPlan(health, choose(route, makeRequest(), choice, 0, 1), makeCall({ endMs: NEVER }));
    plan.begin(0);
    plan.answered(index < 95 ? lateMs / 4 : lateMs, 1);
    plan.ended(false, 1);
  }
  const call: HedgedCall = {
    route,
    candidates: choose(route, makeRequest(), choice, NOW, 1),
    routed: makeRequest(),
    target: route.targets[0],
    isStream: false,
    requestBytes: makeCall().requestBytes,
  };
  return { health, hedging: choice.hedging, call };
}

/** Opens the breaker of `b`. */
function openOther(health: RoutingState): void {
  const target = ROUTE.targets[1];
  if (target === undefined) throw new Error('expected a target');
  for (let index = 0; index < 20; index += 1) {
    const plan = new AttemptPlan(health, [{ target, verdict: 'chosen', why: 'order' }], makeCall({ endMs: NEVER }));
    plan.begin(NOW - 100);
    plan.failed({ class: 'fault', pauseMs: null, atRisk: null }, NOW - 99);
    plan.abandoned(NOW - 99);
  }
  expect(health.of(target).verdict(0, NOW)).toBe('open');
}

describe('a second attempt', () => {
  test('is due after 95% of such calls have begun to answer, and after a second at least', () => {
    const { hedging, call, health } = rig();
    expect(hedging.begin(call, health, NOW)).toBeGreaterThan(450);
    expect(hedging.begin(call, health, NOW)).toBe(1_000);
    const slow = rig(ROUTE, 40_000);
    const dueMs = slow.hedging.begin(slow.call, slow.health, NOW);
    expect(dueMs).toBeGreaterThan(9_000);
    expect(dueMs).toBeLessThan(11_000);
  });

  test('goes to the first other target', () => {
    const { hedging, call, health } = rig();
    for (let calls = 0; calls < 20; calls += 1) hedging.begin(call, health, NOW);
    expect(hedging.take(call, true, health, NOW)?.target.name).toBe('b');
  });

  test('is never due without the option, a second target, enough calls, or with a tool that the provider runs', () => {
    const { hedging, call, health } = rig();
    const off = makeRoute([{ name: 'a' }, { name: 'b' }]);
    expect(hedging.begin({ ...call, route: off }, health, NOW)).toBe(NEVER);
    expect(hedging.begin({ ...call, routed: null }, health, NOW)).toBe(NEVER);
    expect(hedging.begin({ ...call, candidates: call.candidates.slice(0, 1) }, health, NOW)).toBe(NEVER);
    expect(hedging.begin({ ...call, isStream: true }, health, NOW)).toBe(NEVER);
    const routed = makeRequest({ needs: { ...NO_NEEDS, serverTool: 'tools.0' } });
    expect(hedging.begin({ ...call, routed }, health, NOW)).toBe(NEVER);
    openOther(health);
    expect(hedging.begin(call, health, NOW)).toBe(NEVER);
  });

  test('does not begin while a target is open, or where the running attempt costs too much', () => {
    const { hedging, call, health } = rig();
    for (let calls = 0; calls < 40; calls += 1) hedging.begin(call, health, NOW);
    expect(hedging.take(call, false, health, NOW)).toBeNull();
    openOther(health);
    expect(hedging.take(call, true, health, NOW)).toBeNull();
  });

  test('is made for at most 5% of the calls of a minute', () => {
    const { hedging, call, health } = rig();
    const dice = new Dice(5);
    const taken: number[] = [];
    for (let at = 0; at < 18_000; at += 1) {
      const nowMs = NOW + at * 10;
      hedging.begin(call, health, nowMs);
      // One in eight is late.
      if (dice.roll() < 0.125 && hedging.take(call, true, health, nowMs) !== null) taken.push(nowMs);
    }
    for (let fromMs = NOW; fromMs <= NOW + 120_000; fromMs += 10_000) {
      const inMinute = taken.filter((atMs) => atMs >= fromMs && atMs < fromMs + 60_000).length;
      expect(inMinute).toBeLessThanOrEqual(0.05 * 6_000 * 1.02);
    }
    expect(taken.length).toBeGreaterThan(0.045 * 18_000);
  });
});
