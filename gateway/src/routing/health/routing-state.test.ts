/** Tests what the states keep over reloads, what operators may change by hand, and what a snapshot says. */
import { expect, test } from 'bun:test';
import { AttemptPlan } from '../attempt-plan.ts';
import { makeTarget } from '../choose/testing/routes.ts';
import type { FailureClass } from './failure-table.ts';
import { type HealthEvent, RoutingState } from './routing-state.ts';
import { makeCall, makeCandidates } from './testing/make-candidates.ts';

function rig() {
  const events: HealthEvent[] = [];
  const state = new RoutingState(
    (event) => events.push(event),
    () => 0.5,
  );
  const targets = [makeTarget({ name: 'one' }), makeTarget({ name: 'two' })];
  const [one, two] = targets;
  if (one === undefined || two === undefined) throw new Error('no targets');
  const begin = (nowMs: number) => {
    const plan = new AttemptPlan(state, makeCandidates(targets), makeCall());
    plan.begin(nowMs);
    return plan;
  };
  /** Fails calls at the first target; each is then abandoned. */
  const fail = (name: FailureClass, times: number, nowMs: number, pauseMs: number | null = null) => {
    for (let time = 0; time < times; time++) {
      const plan = begin(nowMs);
      if (plan.target === one) plan.failed({ class: name, pauseMs, atRisk: null }, nowMs);
      plan.abandoned(nowMs);
    }
  };
  const stateOf = (nowMs: number) => state.snapshot(nowMs).targets.map((target) => target.state);
  return { state, events, one, two, begin, fail, stateOf };
}

test('ten faults in its first minute open a target, later five; a probe closes it', () => {
  const { events, begin, fail, stateOf, one, two } = rig();
  fail('fault', 9, 0);
  expect(stateOf(0)).toEqual(['closed', 'closed']);
  fail('fault', 1, 0);
  expect(stateOf(0)).toEqual(['open', 'closed']);
  expect(events).toMatchObject([{ kind: 'opened', scope: 'target', provider: 'one', why: 'fault', isAlarm: false }]);
  expect(begin(4_999).target).toBe(two);
  const probe = begin(5_000);
  expect(probe.target).toBe(one);
  expect(probe.why).toBe('probe');
  expect(begin(5_000).target).toBe(two);
  probe.answered(100, 5_100);
  expect(stateOf(5_100)).toEqual(['closed', 'closed']);
  expect(events.at(-1)).toMatchObject({ kind: 'closed', provider: 'one' });
  fail('fault', 4, 5_200);
  fail('fault', 1, 65_200);
  expect(stateOf(65_200)).toEqual(['open', 'closed']);
});

test('an operator closes a breaker and ends benches by hand', () => {
  const { state, one, begin, fail, stateOf } = rig();
  fail('fault', 10, 0);
  state.close(one, 1);
  expect(stateOf(1)).toEqual(['closed', 'closed']);
  fail('credential', 1, 2);
  expect(state.snapshot(2).credentials[0]).toMatchObject({ state: 'benched', why: 'credential', untilMs: 600_002 });
  state.close(one, 3);
  expect(begin(3).target).toBe(one);
});

test('a credential for which no token could be had is probed after its pause', () => {
  const { state, one, begin, fail } = rig();
  fail('credential', 1, 0, 10_000);
  expect(state.snapshot(0).credentials[0]).toMatchObject({ state: 'benched', why: 'credential', untilMs: 10_000 });
  const probe = begin(10_000);
  expect([probe.target, probe.why]).toEqual([one, 'probe']);
  probe.answered(100, 10_100);
  expect(state.snapshot(10_100).credentials[0]).toMatchObject({ state: 'usable' });
});

test('a used-up quota of one model pauses the credential there alone, for its time, with one alarm', () => {
  const { state, events } = rig();
  const [one, other] = ['m1', 'm2'].map((model) => makeTarget({ name: model, provider: 'p', model }));
  if (one === undefined || other === undefined) throw new Error('no targets');
  const plans = [0, 1].map(() => new AttemptPlan(state, makeCandidates([one]), makeCall()));
  for (const plan of plans) plan.begin(0);
  for (const plan of plans) {
    plan.failed({ class: 'rate', pauseMs: 20 * 3_600_000, atRisk: null }, 0);
    plan.abandoned(0);
  }
  expect(state.of(one).verdict(0, 19 * 3_600_000)).toBe('cooling');
  expect(state.of(other).verdict(0, 1)).toBe('usable');
  expect(state.snapshot(1).credentials).toMatchObject([
    { state: 'usable', cooling: [{ model: 'm1', isGuess: false }] },
  ]);
  const alarm = { kind: 'benched', scope: 'target', model: 'm1', credential: 'key-0', why: 'quota', isAlarm: true };
  expect(events).toMatchObject([alarm]);
});

test('a reload keeps what stays, forgets what went, and lets benches be probed', () => {
  const { state, one, two, begin, fail, stateOf } = rig();
  fail('config', 1, 0);
  expect(stateOf(0)).toEqual(['benched', 'closed']);
  state.reload([makeTarget({ name: 'one' })], 1_000);
  expect(stateOf(1_000)).toEqual(['half_open']);
  expect(begin(1_000).why).toBe('probe');
  expect(begin(1_000).target).toBe(two);
  expect(state.of(one).verdict(0, 1_000)).toBe('open');
});
