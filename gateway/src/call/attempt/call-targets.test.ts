/** Tests how a call is led over its targets: failures, money, places, pauses, and what is told back. */
import { describe, expect, test } from 'bun:test';
import type { CallFailure } from '../../errors/call-failure.ts';
import { ChoiceState, choose } from '../../routing/choose/choose.ts';
import { makeRequest, makeRoute, type TargetPlan } from '../../routing/choose/testing/routes.ts';
import type { FailureClass } from '../../routing/health/failure-table.ts';
import { RoutingState } from '../../routing/health/routing-state.ts';
import type { AttemptFailure } from '../../routing/planned-call.ts';
import { type Held, setMoney, setRoute } from '../call.ts';
import { holdCall } from '../money/hold-call.ts';
import { planCall } from '../plan/plan-call.ts';
import { RefusedMembers } from '../plan/refused-members.ts';
import type { UpstreamCall } from '../plan/upstream-call.ts';
import { budgetOf, openDesk } from '../testing/open-desk.ts';
import { routedCall } from '../testing/routed-call.ts';
import { CallTargets, type NextRequest, planFirst } from './call-targets.ts';

interface Rig {
  readonly call: Held;
  readonly targets: CallTargets<AttemptFailure>;
  readonly choice: ChoiceState;
  readonly routing: RoutingState;
  /** `a`: the request goes to the target a; else the kind of the failure that the client is told. */
  name(next: NextRequest<AttemptFailure> | Promise<NextRequest<AttemptFailure>>): Promise<string>;
}

const BODY = '{"model":"m","seed":7}';

async function open(
  plans: readonly TargetPlan[],
  shared?: ChoiceState,
  budget = 1_000_000_000n,
  plan: (call: Held) => UpstreamCall = planCall,
): Promise<Rig> {
  const routing = new RoutingState(undefined, () => 0);
  const choice = shared ?? new ChoiceState(routing);
  const desk = openDesk([[{ kind: 'key', id: 'key_1' }, budgetOf(budget)]]);
  const deps = { routing, choice, refusedMembers: new RefusedMembers() };
  const call = routedCall({ billing: desk.billing, body: BODY }, deps);
  const route = makeRoute(plans);
  setRoute(call, route, route.targets[0]);
  call.routed = makeRequest({ conversation: 7 });
  call.candidates = choose(route, call.routed, choice, performance.now(), 1);
  const first = plan(call as Held);
  setMoney(call, await holdCall(call));
  const held = call as Held;
  const targets = new CallTargets<AttemptFailure>(held, first);
  return {
    call: held,
    targets,
    choice,
    routing,
    async name(next) {
      const request = await next;
      if (!('kind' in request)) return held.target.name;
      return request.best?.class ?? request.refusal?.kind ?? '';
    },
  };
}

const failureOf = (failure: FailureClass, pauseMs: number | null = null): AttemptFailure => ({
  class: failure,
  pauseMs,
  atRisk: null,
});

describe('the next request', () => {
  test('is synchronous for a target that is ready', async () => {
    const { targets, call } = await open([{ name: 'a' }, { name: 'b' }]);
    const first = targets.begin();
    expect(first).not.toBeInstanceOf(Promise);
    expect([call.target.name, targets.plan.why]).toEqual(['a', 'order']);
  });

  test('goes to the next target after a failure, and the best failure is told at the end', async () => {
    const { targets, name } = await open([{ name: 'a' }, { name: 'b' }]);
    expect(await name(targets.begin())).toBe('a');
    expect(await name(targets.failed(failureOf('timeout')))).toBe('b');
    expect(targets.plan.why).toBe('fallback');
    expect(await name(targets.failed(failureOf('content')))).toBe('content');
  });

  test('is planned for its target, from the client’s own request', async () => {
    const { targets, name, call } = await open([{ name: 'a' }, { name: 'b', model: 'other' }]);
    await name(targets.begin());
    const next = await targets.failed(failureOf('overloaded'));
    if ('kind' in next) throw new Error('expected a request');
    expect(Buffer.from(next.body).toString()).toBe('{"model":"other","seed":7}');
    expect(call.target.upstream.model).toBe('other');
  });

  test('skips a target that is too dear, and one that cannot carry the request', async () => {
    const plans = [{ name: 'a' }, { name: 'b', price: [9_000, 0.1, 9_000] as const }, { name: 'c' }];
    const { targets, name, call } = await open(plans, undefined, 6_000_000n);
    expect(await name(targets.begin())).toBe('a');
    expect(await name(targets.failed(failureOf('fault')))).toBe('c');
    expect(call.target.name).toBe('c');
  });

  test('comes after a pause that is short', async () => {
    const { targets, name } = await open([{ name: 'a' }]);
    expect(await name(targets.begin())).toBe('a');
    const startMs = performance.now();
    expect(await name(targets.failed(failureOf('rate', 60)))).toBe('a');
    expect(performance.now() - startMs).toBeGreaterThan(55);
  });

  test('without a usable target, the refusal says why and when', async () => {
    const { choice, call, targets, name } = await open([{ name: 'a' }]);
    const earlier = new CallTargets<AttemptFailure>(call, planCall(call));
    await name(earlier.begin());
    expect(await name(earlier.failed(failureOf('rate', 60_000)))).toBe('rate');
    const next = await targets.begin();
    expect(next).toMatchObject({ kind: 'no_target', best: null });
    const { refusal } = next as { readonly refusal: CallFailure };
    expect([refusal.kind, refusal.details.retryAfterSeconds]).toEqual(['upstream_rate_limited', 60]);
    expect(choice.affinity.size).toBe(0);
  });
});

describe('where nothing is left to try, the client is to come back when the first target is', () => {
  test('a target that pauses was not asked, and comes back before the one that was', async () => {
    const { call, targets, name } = await open([{ name: 'a' }, { name: 'b' }]);
    const earlier = new CallTargets<AttemptFailure>(call, planCall(call));
    await name(earlier.begin());
    await name(earlier.failed(failureOf('rate', 20_000)));
    earlier.abandoned();
    expect(await name(targets.begin())).toBe('b');
    const end = await targets.failed(failureOf('rate', 50_000));
    expect(end).toMatchObject({ kind: 'no_target', best: { pauseMs: 50_000 }, retryAfterSeconds: 20 });
  });

  test('a target that is full has a place before the one that pauses', async () => {
    const plans = [{ name: 'a', maxConcurrency: 1 }, { name: 'b' }];
    const one = await open(plans);
    const pausing = new CallTargets<AttemptFailure>(one.call, planCall(one.call), [...one.call.candidates].reverse());
    await one.name(pausing.begin());
    const waiting = pausing.failed(failureOf('rate', 40_000));
    expect(await one.name(waiting)).toBe('a');
    void one.targets.begin();
    const three = new CallTargets<AttemptFailure>(one.call, planCall(one.call));
    const { kind, refusal } = (await three.begin()) as { readonly kind: string; readonly refusal: CallFailure };
    expect([kind, refusal.kind, refusal.details.retryAfterSeconds]).toEqual(['no_target', 'targets_full', 1]);
    one.targets.abandoned();
  });
});

describe('a target that cannot express the request', () => {
  // The body has no messages, which only a translation needs.
  const PLANS = [
    { name: 'a', speaks: 'messages' },
    { name: 'b', model: 'other' },
  ] as const;

  test('is passed over, without a step of the plan and with its reason', async () => {
    const { targets, call } = await open(PLANS, undefined, undefined, planFirst);
    expect(call.candidates.map(({ target, verdict, why }) => [target.name, verdict, why])).toEqual([
      ['a', 'filtered', 'request'],
      ['b', 'fallback', 'fallback'],
    ]);
    const next = targets.begin();
    expect(next).not.toBeInstanceOf(Promise);
    expect([call.target.name, targets.plan.why, targets.plan.made]).toEqual(['b', 'fallback', 1]);
  });

  test('is reported if no other target is left', async () => {
    const alone = open([...PLANS.slice(0, 1), { ...PLANS[0], name: 'c' }], undefined, undefined, planFirst);
    expect(await alone.catch(({ kind }: CallFailure) => kind)).toBe('invalid_request');
  });
});

describe('places', () => {
  const PLANS = [
    { name: 'a', maxConcurrency: 1 },
    { name: 'b', model: 'other' },
  ];

  test('a second call waits for the first one’s place', async () => {
    const one = await open(PLANS);
    expect(await one.name(one.targets.begin())).toBe('a');
    const two = await open(PLANS, one.choice);
    const waiting = two.name(two.targets.begin());
    await Promise.resolve();
    expect(one.choice.queues.waitingAt(two.call.route.targets[0])).toBe(1);
    one.targets.answered(5);
    one.targets.ended(false);
    expect(await waiting).toBe('a');
  });

  test('a third one goes to the next target, and one that leaves frees its place in the queue', async () => {
    const one = await open(PLANS);
    await one.name(one.targets.begin());
    const two = await open(PLANS, one.choice);
    void two.targets.begin();
    const three = await open(PLANS, one.choice);
    const next = await three.targets.begin();
    expect(await three.name(next)).toBe('b');
    if (!('kind' in next)) expect(Buffer.from(next.body).toString()).toContain('"model":"other"');
    two.targets.abandoned();
    expect(one.choice.queues.waitingAt(one.call.route.targets[0])).toBe(0);
  });
});

test('an answer pins the conversation to its target, and the states learn of it', async () => {
  const { targets, name, choice, call, routing } = await open([{ name: 'a' }, { name: 'b' }]);
  await name(targets.begin());
  await name(targets.failed(failureOf('fault')));
  targets.onHead({ status: 200, headers: [] });
  targets.answered(10);
  targets.ended(false);
  expect(choice.affinity.find(7)).toMatchObject({ upstream: 'b m' });
  const [a, b] = call.route.targets.map((target) => routing.of(target));
  expect([a?.faultShare(), b?.faultShare(), a?.open, b?.open]).toEqual([1, 0, 0, 0]);
});
