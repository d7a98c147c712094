/**
 * Tests with random calls side by side that attempts end, that their number and waits are bounded, and that no outcome
 * leaves a place or a probe behind, which would keep a target away for ever.
 */
import { describe, expect, test } from 'bun:test';
import { seededRandom } from '../store/testing/random-calls.ts';
import { AttemptPlan } from './attempt-plan.ts';
import { makeTarget } from './choose/testing/routes.ts';
import { FAILURES, type FailureClass } from './health/failure-table.ts';
import { RoutingState } from './health/routing-state.ts';
import { makeCall, makeCandidates } from './health/testing/make-candidates.ts';
import type { Step } from './planned-call.ts';

const CLASSES = Object.keys(FAILURES).filter((name) => name !== 'cut' && name !== 'client') as FailureClass[];
const HOUR_MS = 3_600_000;
const TOTAL_MS = 600_000;

interface Running {
  readonly plan: AttemptPlan;
  readonly startMs: number;
  step: Step | 'answering';
  waitedMs: number;
  readonly extraMax: number;
}

function play(seed: number) {
  const random = seededRandom(seed);
  const pick = <One>(list: readonly One[]): One => list[Math.floor(random() * list.length)] as One;
  const state = new RoutingState(undefined, random);
  const targets = [
    makeTarget({ name: 'one', credentials: [{}, {}] }),
    makeTarget({ name: 'two' }),
    makeTarget({ name: 'three', credentials: [{}, {}, {}] }),
  ];
  let nowMs = 0;
  const running: Running[] = [];
  const most = { beyond: 0, waitedMs: 0 };

  function begin(): void {
    const own = targets.filter(() => random() < 0.7);
    if (own.length === 0) return;
    const routing = {
      ...makeCall().routing,
      maxExtraAttempts: Math.floor(random() * 4),
      fallbackOn: ['overflow'] as const,
    };
    const call = makeCall({ routing, workspace: pick(['w1', 'w2']), endMs: nowMs + TOTAL_MS });
    const plan = new AttemptPlan(state, makeCandidates(own), call);
    const one: Running = {
      plan,
      startMs: nowMs,
      step: plan.begin(nowMs),
      waitedMs: 0,
      extraMax: routing.maxExtraAttempts,
    };
    note(one);
    if (one.step !== 'end') running.push(one);
  }

  function note(one: Running): void {
    most.beyond = Math.max(most.beyond, one.plan.made - one.extraMax);
    if (one.step === 'wait') one.waitedMs += Math.max(0, one.plan.untilMs - nowMs);
  }

  /** Does something to the call that can happen to it now. False: it is over. */
  function advance(one: Running, mayEnd: boolean): boolean {
    const { plan } = one;
    const chance = random();
    if (one.step === 'wait') {
      if (mayEnd && chance < 0.1) {
        plan.abandoned(nowMs);
        return false;
      }
      if (nowMs < plan.untilMs) return true;
      one.step = plan.resume(nowMs);
    } else if (one.step === 'answering') {
      plan.ended(chance < 0.3, nowMs);
      return false;
    } else if (chance < 0.15 && !plan.isOverdue) one.step = plan.skip(nowMs);
    else if (chance < 0.25) {
      plan.abandoned(nowMs);
      return false;
    } else if (chance < 0.45) {
      plan.answered(pick([1, 50, 4_000]), nowMs);
      one.step = 'answering';
      return true;
    } else {
      if (chance < 0.6 && plan.overdue(null, nowMs) !== null) return true;
      const pauseMs = pick([null, null, 0, 900, 30_000, 2 * HOUR_MS]);
      one.step = plan.failed({ class: pick(CLASSES), pauseMs, atRisk: pick([null, 1n]) }, nowMs);
    }
    note(one);
    return one.step !== 'end';
  }

  for (let turn = 0; turn < 4_000; turn++) {
    nowMs += pick([0, 0, 1, 20, 300, 4_000]);
    if (random() < 0.002) nowMs += HOUR_MS;
    if (running.length < 12 && random() < 0.4) begin();
    for (const one of [...running]) {
      if (random() < 0.4 || advance(one, true)) continue;
      most.waitedMs = Math.max(most.waitedMs, one.waitedMs);
      running.splice(running.indexOf(one), 1);
    }
  }
  while (running.length > 0) {
    nowMs += 10_000;
    for (const one of [...running]) if (!advance(one, false)) running.splice(running.indexOf(one), 1);
  }
  return { state, targets, nowMs, most };
}

describe('random calls', () => {
  test.each(Array.from({ length: 20 }, (_, seed) => seed))('leave nothing behind: %d', (seed) => {
    const { state, targets, nowMs, most } = play(seed);
    for (const target of targets) {
      const health = state.of(target);
      expect([target.name, health.open, health.target.overdue]).toEqual([target.name, 0, 0]);
      for (const credential of target.upstream.credentials.keys()) {
        const verdict = health.verdict(credential, nowMs + 25 * HOUR_MS);
        expect([target.name, credential, ['usable', 'probe'].includes(verdict), verdict]).toEqual([
          target.name,
          credential,
          true,
          verdict,
        ]);
      }
    }
    // For pauses in all, and before each of two repetitions.
    expect(most.waitedMs).toBeLessThanOrEqual(5_000 + 2 * 5_000);
    // The first, and repetitions on a new connection of one whose connection was closed while idle.
    expect(most.beyond).toBeLessThanOrEqual(3);
  });
});
