/**
 * Simulates outages, slow and failing upstreams on a clock of its own, with the real choice, plans and states. The
 * expected figures are those of the design of routing, section 12.
 */
import { describe, expect, test } from 'bun:test';
import { firstOrAll } from '../../test/harness/exhaustive.ts';
import { makeRoute } from './choose/testing/routes.ts';
import { type FakeUpstream, logNormal, type SimulatedCall, Simulation } from './testing/simulation.ts';

const SEEDS = firstOrAll([1, 2, 3]);
const RATE = 300;
/** Before the fault, so that usual times are known. */
const WARM_S = 20;
const FROM_MS = WARM_S * 1_000;

const healthy: FakeUpstream = (_nowMs, random) => ({ afterMs: logNormal(random) });
const failing: FakeUpstream = (_nowMs, random) => ({ afterMs: logNormal(random, 20), failure: 'fault' });
const failingAtOnce: FakeUpstream = () => ({ afterMs: 2, failure: 'fault' });
const unreachable: FakeUpstream = (_nowMs, random) => ({ afterMs: logNormal(random, 5), failure: 'unreached' });
const silent: FakeUpstream = () => ({ afterMs: null });

/** `faulty` from the end of the warm-up on for so long, else healthy. */
function during(seconds: number, faulty: FakeUpstream): FakeUpstream {
  return (nowMs, random, credential) => {
    const isFaulty = nowMs >= FROM_MS && nowMs < FROM_MS + seconds * 1_000;
    return (isFaulty ? faulty : healthy)(nowMs, random, credential);
  };
}

/** Fails at random. */
function flaky(share: number): FakeUpstream {
  return (nowMs, random, credential) => (random() < share ? failing : healthy)(nowMs, random, credential);
}

function simulate(
  seed: number,
  upstreams: Readonly<Record<string, FakeUpstream>>,
  seconds: number,
  { perSecond = RATE, strategy = 'order' }: { perSecond?: number; strategy?: 'order' | 'latency' } = {},
): Simulation {
  const names = Object.keys(upstreams);
  const route = makeRoute(
    names.map((name) => ({ name })),
    { strategy },
  );
  const simulation = new Simulation(seed, route, upstreams);
  simulation.run({ perSecond, seconds });
  return simulation;
}

const between = <Timed extends { readonly begunMs: number }>(all: readonly Timed[], fromS: number, toS: number) =>
  all.filter(({ begunMs }) => begunMs >= fromS * 1_000 && begunMs < toS * 1_000);

const failed = (calls: readonly SimulatedCall[]) => calls.filter(({ failure }) => failure !== null).length;
const attemptsPerCall = (calls: readonly SimulatedCall[]) =>
  calls.reduce((sum, { attempts }) => sum + attempts, 0) / calls.length;

function p99(calls: readonly SimulatedCall[]): number {
  const times = calls.map(({ begunMs, endedMs }) => endedMs - begunMs).sort((one, other) => one - other);
  return times[Math.floor(times.length * 0.99)] ?? 0;
}

const shareOf = (calls: readonly SimulatedCall[], name: string) =>
  calls.filter(({ answeredBy }) => answeredBy === name).length / calls.length;

describe.each(SEEDS)('with seed %d', (seed) => {
  const OUTAGE_S = 60;
  const END_S = WARM_S + OUTAGE_S;

  describe.each([
    ['fails', failing],
    ['fails at once', failingAtOnce],
    ['cannot be reached', unreachable],
  ])('an upstream that %s for 60 s', (_, dead) => {
    test('alone: load of 1.06 at most, and service at once afterwards', () => {
      const { calls } = simulate(seed, { one: during(OUTAGE_S, dead) }, END_S + 20);
      expect(attemptsPerCall(between(calls, WARM_S, END_S))).toBeLessThanOrEqual(1.06);
      expect(failed(between(calls, WARM_S, END_S - 1))).toBe(between(calls, WARM_S, END_S - 1).length);
      expect(failed(between(calls, END_S, END_S + 20))).toBe(0);
    });

    test('and its second too: load of 1.06 at most, nothing refused by us, service at once afterwards', () => {
      const upstreams = { one: during(OUTAGE_S, dead), two: during(OUTAGE_S, dead) };
      const { calls } = simulate(seed, upstreams, END_S + 20);
      expect(attemptsPerCall(between(calls, WARM_S, END_S))).toBeLessThanOrEqual(1.06);
      expect(calls.filter(({ failure }) => failure === 'refused')).toEqual([]);
      expect(failed(between(calls, END_S, END_S + 20))).toBe(0);
    });
  });

  test.each([
    [0.3, 1.21, 0.17],
    // 0.1³, give or take the luck of 18,000 calls.
    [0.1, 1.12, 0.002],
  ])('one target that fails %d of the requests: load %d, failures %d', (share, loadMax, failuresMax) => {
    const { calls } = simulate(seed, { one: flaky(share) }, 60);
    expect(attemptsPerCall(calls)).toBeLessThanOrEqual(loadMax);
    expect(failed(calls) / calls.length).toBeLessThanOrEqual(failuresMax);
    expect(calls.filter(({ failure }) => failure === 'refused')).toEqual([]);
  });

  test.each([20, 31, 45, 60, 120])('the first of two dead for %d s: no client notices', (seconds) => {
    const endS = WARM_S + seconds;
    const { calls, attempts } = simulate(seed, { one: during(seconds, failing), two: healthy }, endS + 40);
    expect(failed(calls)).toBe(0);
    const wasted = between(attempts, WARM_S, endS).filter(({ target }) => target === 'one').length;
    expect(wasted).toBeGreaterThan(5);
    expect(wasted).toBeLessThanOrEqual(70);
    expect(attemptsPerCall(calls)).toBeLessThanOrEqual(1.003);
    expect(shareOf(between(calls, endS + 32, endS + 40), 'one')).toBeGreaterThanOrEqual(0.95);
  });

  test('a stall of 60 s with a healthy second: at most 3,500 open calls, p99 of 20 s, no failure', () => {
    const { calls, openMax } = simulate(seed, { one: during(OUTAGE_S, silent), two: healthy }, END_S + 20);
    expect(openMax).toBeLessThanOrEqual(3_500);
    expect(p99(between(calls, WARM_S, END_S))).toBeLessThanOrEqual(20_000);
    expect(failed(calls)).toBe(0);
  });

  test('a stall of 13 s: who was left waiting goes on too', () => {
    const { calls } = simulate(seed, { one: during(13, silent), two: healthy }, 60);
    expect(failed(calls)).toBe(0);
    expect(Math.max(...calls.map(({ begunMs, endedMs }) => endedMs - begunMs))).toBeLessThanOrEqual(20_000);
  });

  test('20% random faults of the first of two: few trips, no failure; at 10% none', () => {
    // The rule trips 0.7 times in these 12,000 requests on average.
    const { calls, state } = simulate(seed, { one: flaky(0.2), two: healthy }, 120, { perSecond: 100 });
    expect(state.snapshot(0).targets.find(({ provider }) => provider === 'one')?.trips).toBeLessThanOrEqual(3);
    expect(failed(calls) / calls.length).toBeLessThanOrEqual(0.001);
    const calm = simulate(seed, { one: during(60, flaky(0.1)), two: healthy }, END_S);
    expect(calm.events).toEqual([]);
  });

  test('one slow of three by latency: less than 5%, and 25% in the minute after healing', () => {
    const fast: FakeUpstream = (_nowMs, random) => ({ afterMs: logNormal(random, 300, 0.3) });
    const slow: FakeUpstream = (nowMs, random) =>
      nowMs < 60_000 ? { afterMs: logNormal(random, 1_500, 0.3) } : fast(nowMs, random, 0);
    const { calls } = simulate(seed, { one: fast, two: fast, three: slow }, 120, { strategy: 'latency' });
    expect(shareOf(between(calls, 0, 60), 'three')).toBeLessThan(0.05);
    expect(shareOf(between(calls, 60, 120), 'three')).toBeGreaterThanOrEqual(0.25);
    expect(shareOf(between(calls, 0, 60), 'one')).toBeGreaterThan(0.4);
  });

  test('429 with retry-after 23 on one of three keys: no call on it for 23 s, its other models go on', () => {
    const keys = ['a', 'b', 'c'].map((name) => ({ name }));
    const route = makeRoute([{ name: 'one', credentials: keys, provider: 'lab', model: 'one' }]);
    const other = makeRoute([{ name: 'other', credentials: keys, provider: 'lab', model: 'other' }]).targets[0];
    let limitedMs = 0;
    const limiting: FakeUpstream = (nowMs, random, credential) => {
      if (nowMs < FROM_MS || credential !== 1 || limitedMs > 0) return healthy(nowMs, random, credential);
      limitedMs = nowMs + 5;
      return { afterMs: 5, failure: 'rate', pauseMs: 23_000 };
    };
    const simulation = new Simulation(seed, route, { one: limiting });
    simulation.run({ perSecond: 100, seconds: 50 });
    expect(limitedMs).toBeGreaterThan(FROM_MS);
    const onKey = simulation.attempts.filter(({ credential, begunMs }) => credential === 1 && begunMs > limitedMs);
    expect(onKey[0]?.begunMs).toBeGreaterThanOrEqual(limitedMs + 23_000);
    expect(onKey[0]?.begunMs).toBeLessThanOrEqual(limitedMs + 23_000 * 1.1 + 1_000);
    expect(failed(simulation.calls)).toBe(0);
    expect(simulation.state.of(other).verdict(1, limitedMs + 1)).toBe('usable');
  });
});

test('the states of one target serve any number of workspaces, but one workspace alone cannot switch it off', () => {
  const simulation = new Simulation(7, makeRoute([{ name: 'one' }, { name: 'two' }]), { one: healthy, two: healthy });
  const poison: FakeUpstream = failing;
  simulation.poison('workspace-0', poison);
  simulation.run({ perSecond: RATE, seconds: 30 });
  expect(simulation.events).toEqual([]);
  const poisoned = simulation.calls.filter(({ workspace }) => workspace === 'workspace-0');
  expect(failed(poisoned)).toBe(poisoned.length);
  expect(failed(simulation.calls)).toBe(poisoned.length);
});
