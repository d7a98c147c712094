/** Tests which attempt follows which failure, and what the client hears in the end. */
import { describe, expect, test } from 'bun:test';
import { AttemptPlan } from './attempt-plan.ts';
import { makeTarget, type TargetPlan } from './choose/testing/routes.ts';
import type { FailureClass } from './health/failure-table.ts';
import { type HealthEvent, RoutingState } from './health/routing-state.ts';
import { makeCall, makeCandidates } from './health/testing/make-candidates.ts';
import type { AttemptFailure, PlannedCall } from './planned-call.ts';

const failure = (name: FailureClass, pauseMs: number | null = null, atRisk: bigint | null = null): AttemptFailure => ({
  class: name,
  pauseMs,
  atRisk,
});

/** A route of targets with these names, and calls to it on a clock that starts at 0. */
function rig(plans: Readonly<Record<string, Omit<TargetPlan, 'name'>>>, call: Partial<PlannedCall> = {}) {
  const events: HealthEvent[] = [];
  const state = new RoutingState(
    (event) => events.push(event),
    () => 0.5,
  );
  const targets = Object.entries(plans).map(([name, plan]) => makeTarget({ name, ...plan }));
  const plan = (more: Partial<PlannedCall> = {}) =>
    new AttemptPlan(state, makeCandidates(targets), makeCall({ ...call, ...more }));
  const target = (name: string) => {
    const found = targets.find((one) => one.name === name);
    if (found === undefined) throw new Error(name);
    return found;
  };
  return { state, events, plan, target };
}

/** The attempt under way, as `target/credential why`. */
const said = ({ target, credential, why }: AttemptPlan) => `${target?.name}/${credential} ${why}`;

describe('a failure', () => {
  test.each(['fault', 'overloaded', 'timeout', 'config', 'ours'] as const)('%s goes to the next target', (name) => {
    const { plan } = rig({ one: {}, two: {} });
    const call = plan();
    expect(call.begin(0)).toBe('try');
    expect(said(call)).toBe('one/0 order');
    expect(call.failed(failure(name), 10)).toBe('try');
    expect(said(call)).toBe('two/0 fallback');
    call.answered(5, 20);
    call.ended(false, 30);
    expect(call.made).toBe(2);
  });

  test.each(['content', 'overflow', 'policy', 'client'] as const)('%s ends the call', (name) => {
    const call = rig({ one: {}, two: {} }).plan();
    call.begin(0);
    expect(call.failed(failure(name), 10)).toBe('end');
    expect(call.best?.class).toBe(name);
  });

  test.each(['unreached', 'reset'] as const)('%s is tried once more at once, then elsewhere', (name) => {
    const call = rig({ one: {}, two: {} }).plan();
    call.begin(0);
    call.failed(failure(name), 1);
    expect(said(call)).toBe('one/0 retry');
    call.failed(failure(name), 2);
    expect(said(call)).toBe('two/0 fallback');
    expect(call.failed(failure('fault'), 3)).toBe('end');
    expect(call.made).toBe(3);
  });

  test('a connection that was closed while idle is replaced once, whatever the request may cost', () => {
    const dear = failure('reset', null, 600_000_000n);
    const call = rig({ one: {}, two: {} }, { routing: { ...makeCall().routing, maxExtraAttempts: 0 } }).plan();
    call.begin(0);
    call.failed(dear, 1);
    expect([said(call), call.isFresh]).toEqual(['one/0 retry', true]);
    expect(call.failed(dear, 2)).toBe('end');
    const never = rig({ one: {} }, { routing: { ...makeCall().routing, uncertainRetry: 0n } }).plan();
    never.begin(0);
    expect(never.failed(dear, 1)).toBe('end');
  });

  test.each(['rate', 'quota', 'credential'] as const)('%s goes to another credential first', (name) => {
    const call = rig({ one: { credentials: [{}, {}] }, two: {} }).plan();
    call.begin(0);
    call.failed(failure(name), 1);
    expect(said(call)).toBe('one/1 fallback');
    call.failed(failure(name), 2);
    expect(said(call)).toBe('two/0 fallback');
  });

  test('overflow goes to a target known to take more, where the route says so', () => {
    const routing = { ...makeCall().routing, fallbackOn: ['overflow'] as const };
    const sizes = { one: { inputTokensMax: 100 }, two: { inputTokensMax: 100 }, three: { inputTokensMax: 200 } };
    const call = rig(sizes, { routing }).plan();
    call.begin(0);
    call.failed(failure('overflow'), 1);
    expect(said(call)).toBe('three/0 fallback');
    expect(call.failed(failure('overflow'), 2)).toBe('end');
  });
});

describe('without another target', () => {
  test('a fault is tried twice more, each after a random part of a growing time', () => {
    const call = rig({ one: {} }).plan();
    call.begin(0);
    expect(call.failed(failure('fault'), 100)).toBe('wait');
    expect(call.untilMs).toBe(100 + 125);
    expect(call.resume(225)).toBe('try');
    expect(said(call)).toBe('one/0 retry');
    expect(call.failed(failure('fault'), 300)).toBe('wait');
    expect(call.untilMs).toBe(300 + 250);
    call.resume(550);
    expect(call.failed(failure('fault'), 600)).toBe('end');
    expect(call.best?.class).toBe('fault');
  });

  test('the provider’s pause is the least, and a long one ends the call', () => {
    const call = rig({ one: {} }).plan();
    call.begin(0);
    call.failed(failure('overloaded', 3_000), 100);
    expect(call.untilMs).toBe(3_100);
    call.resume(3_100);
    expect(call.failed(failure('overloaded', 30_000), 3_200)).toBe('end');
  });

  test('a rate limit is waited for up to five seconds in all; longer ones are told', () => {
    const { plan } = rig({ one: {} });
    const call = plan();
    call.begin(0);
    expect(call.failed(failure('rate', 4_000), 0)).toBe('wait');
    expect(call.untilMs).toBe(4_200);
    expect(call.resume(4_200)).toBe('try');
    expect(call.failed(failure('rate', 23_000), 4_300)).toBe('end');
    expect(call.best?.class).toBe('rate');
    expect(call.retryAfterMs).toBe(23_000 * 1.05);

    const later = plan();
    expect(later.begin(5_000)).toBe('end');
    expect(later.refusal).toBe('rate');
    expect(later.made).toBe(0);
  });

  test('where the pause is a guess, one call in two seconds finds out', () => {
    const { plan } = rig({ one: {} });
    for (let guess = 0, nowMs = 0; guess < 3; guess++) {
      const call = plan();
      expect(call.begin(nowMs)).toBe('try');
      call.failed(failure('rate'), nowMs);
      nowMs += 10_000;
      call.abandoned(nowMs);
    }
    // The third guess, eight seconds from 20 s on, has ended; the fourth lasts sixteen.
    const fourth = plan();
    fourth.begin(30_000);
    fourth.failed(failure('rate'), 30_000);
    const refused = plan();
    expect(refused.begin(31_000)).toBe('end');
    const trial = plan();
    expect(trial.begin(32_000)).toBe('try');
    expect(said(trial)).toBe('one/0 probe');
    expect(plan().begin(32_500)).toBe('end');
    trial.answered(10, 33_000);
    trial.ended(false, 33_000);
    expect(plan().begin(33_100)).toBe('try');
  });
});

describe('a call', () => {
  test('begins no attempt with less than a second left', () => {
    const { plan } = rig({ one: {}, two: {} });
    const late = plan({ endMs: 999 });
    expect(late.begin(0)).toBe('end');
    expect(late.refusal).toBe('timeout');
    const call = plan({ endMs: 10_000 });
    expect(call.begin(0)).toBe('try');
    expect(call.failed(failure('fault'), 9_001)).toBe('end');
    expect(call.best?.class).toBe('fault');
  });

  test('makes at most the configured number of extra attempts', () => {
    const routing = { ...makeCall().routing, maxExtraAttempts: 1 };
    const call = rig({ one: {}, two: {}, three: {} }, { routing }).plan();
    call.begin(0);
    expect(call.failed(failure('fault'), 1)).toBe('try');
    expect(call.failed(failure('fault'), 2)).toBe('end');
  });

  test('goes on after attempts of unknown cost only within its limit', () => {
    const { plan } = rig({ one: {}, two: {}, three: {} });
    const call = plan();
    call.begin(0);
    expect(call.failed(failure('timeout', null, 400_000_000n), 1)).toBe('try');
    expect(call.failed(failure('timeout', null, 200_000_000n), 2)).toBe('end');

    const never = plan({ routing: { ...makeCall().routing, uncertainRetry: 0n } });
    never.begin(0);
    expect(never.failed(failure('timeout', null, 0n), 1)).toBe('end');
    const free = plan({ routing: { ...makeCall().routing, uncertainRetry: 0n } });
    free.begin(0);
    expect(free.failed(failure('overloaded'), 1)).toBe('try');
  });

  test.each([
    [['rate', 'rate'], 'rate'],
    [['rate', 'fault'], 'fault'],
    [['fault', 'overloaded'], 'overloaded'],
    [['fault', 'timeout'], 'timeout'],
    [['timeout', 'overloaded'], 'overloaded'],
    [['credential', 'fault'], 'fault'],
    [['rate', 'timeout'], 'rate'],
    [['fault', 'content'], 'content'],
    [['rate', 'content'], 'content'],
  ] as const)('that met %p tells %s', (classes, told) => {
    const call = rig({ one: {}, two: {} }).plan();
    call.begin(0);
    call.failed(failure(classes[0], 60_000), 1);
    expect(call.failed(failure(classes[1], 60_000), 2)).toBe('end');
    expect(call.best?.class).toBe(told);
  });

  test('skips a target without an attempt', () => {
    const call = rig({ one: {}, two: {} }).plan();
    call.begin(0);
    expect(call.skip(1)).toBe('try');
    expect(said(call)).toBe('two/0 fallback');
    expect(call.made).toBe(1);
    expect(call.skip(2)).toBe('end');
    expect(call.refusal).toBe('overloaded');
  });
});

describe('an overdue attempt', () => {
  /** A hundred and fifty answers of 300 ms, then as many calls without an answer. */
  function stalled(names: readonly string[]) {
    const { plan, state, target } = rig(Object.fromEntries(names.map((name) => [name, {}])));
    for (let answer = 0; answer < 150; answer++) {
      const call = plan();
      call.begin(answer);
      call.answered(300, answer + 300);
      call.ended(false, answer + 300);
    }
    const calls = Array.from({ length: 30 }, () => {
      const call = plan();
      call.begin(10_000);
      return call;
    });
    return { plan, state, target, calls };
  }

  test('is known after ten seconds, once a hundred answers are', () => {
    const fresh = rig({ one: {} }).plan();
    fresh.begin(0);
    expect(fresh.overdueAtMs(0)).toBe(Number.POSITIVE_INFINITY);
    const [call] = stalled(['one']).calls;
    expect(call?.overdueAtMs(10_000)).toBe(20_000);
  });

  test('counts as one fault, and moves on only when its target is switched off', () => {
    const { calls, state, target } = stalled(['one', 'two']);
    const answers = calls.map((call) => call.overdue(null, 20_000));
    const opened = answers.indexOf(null);
    expect(opened).toBe(9);
    expect(answers.slice(0, opened)).toEqual(Array.from({ length: opened }, () => 21_000));
    expect(state.of(target('one')).target).toMatchObject({ overdue: 30, open: 30 });
    const [first] = calls;
    expect(first?.overdue(null, 21_000)).toBeNull();
    expect(first?.failed(failure('timeout'), 21_000)).toBe('try');
    expect(first?.target?.name).toBe('two');
    expect(state.of(target('one')).target).toMatchObject({ overdue: 29, open: 29 });
    expect(state.of(target('one')).target.breaker.trips).toBe(1);
  });

  test('that fails in the end counts as the one fault', () => {
    const { calls, state, target } = stalled(['one', 'two']);
    for (const call of calls.slice(0, 3)) call.overdue(null, 20_000);
    const before = state.of(target('one')).target.breaker.faults;
    for (const call of calls.slice(0, 3)) call.failed(failure('fault'), 22_000);
    expect(state.of(target('one')).target.breaker.faults).toBe(before);
  });

  test('moves on even if its target is back by then', () => {
    const { calls, state, target } = stalled(['one', 'two']);
    const last = calls.pop();
    for (const call of calls) call.overdue(null, 20_000);
    state.close(target('one'), 20_100);
    expect(last?.overdue(null, 20_200)).toBeNull();
  });

  test('goes on waiting where no other target is left, or no money for another attempt', () => {
    const alone = stalled(['one']);
    for (const call of alone.calls) expect(call.overdue(null, 20_000)).toBe(21_000);
    const { calls } = stalled(['one', 'two']);
    for (const call of calls) expect(call.overdue(600_000_000n, 20_000)).toBe(21_000);
  });

  test('has a short time limit while no target is usable', () => {
    const { plan, calls } = stalled(['one']);
    for (const call of calls) call.overdue(null, 20_000);
    const limping = plan();
    limping.begin(20_001);
    expect(limping.why).toBe('limp');
    expect(limping.limpFirstByteMs(20_001)).toBe(10_000);
    expect(calls[0]?.limpFirstByteMs(20_001)).toBeNull();
  });

  test('never is where the first byte was given more than five minutes', () => {
    const timeouts = { connectMs: 1, firstByteMs: 300_001, firstBytePlainMs: 1, idleMs: 1, totalMs: 1 };
    const { plan } = rig({ one: { timeouts } });
    for (let answer = 0; answer < 150; answer++) {
      const call = plan();
      call.begin(answer);
      call.answered(300, answer + 300);
      call.ended(false, answer + 300);
    }
    const call = plan();
    call.begin(1_000);
    expect(call.overdueAtMs(1_000)).toBe(Number.POSITIVE_INFINITY);
  });
});

test('a model without a closed target for a minute raises one alarm', () => {
  const { plan, events } = rig({ one: {} });
  for (let nowMs = 0; nowMs < 100_000; nowMs += 1_000) {
    const call = plan();
    call.begin(nowMs);
    call.failed(failure('fault', null, 1_000_000_000n), nowMs);
  }
  expect(events.filter(({ kind }) => kind === 'limp')).toEqual([{ kind: 'limp', route: 'm', isAlarm: true }]);
});
