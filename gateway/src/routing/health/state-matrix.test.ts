/**
 * Tests every state of a target and its credential against every outcome of an attempt: the matrix is generated, so that
 * no cell is missing, and every change of a state has to occur. Source: design of routing, section 4.
 */
import { describe, expect, test } from 'bun:test';
import { AttemptPlan } from '../attempt-plan.ts';
import { makeTarget } from '../choose/testing/routes.ts';
import { FAILURES, type FailureClass } from './failure-table.ts';
import { RoutingState } from './routing-state.ts';
import { makeCall, makeCandidates } from './testing/make-candidates.ts';

const CLASSES = Object.keys(FAILURES) as FailureClass[];
type Outcome = FailureClass | 'answer';
const OUTCOMES: readonly Outcome[] = [...CLASSES, 'answer'];

/** What the design says of an outcome, so that the table below needs one column for each. */
const COLUMNS = {
  answer: ['answer', 'cut'],
  fault: ['fault', 'overloaded', 'timeout'],
  unreached: ['unreached'],
  config: ['config'],
  credential: ['credential'],
  quota: ['quota'],
  rate: ['rate'],
  refusal: ['ours', 'overflow', 'policy', 'content'],
  nothing: ['reset', 'client'],
} as const satisfies Record<string, readonly Outcome[]>;
type Column = keyof typeof COLUMNS;

const LATER_MS = 100_000;

class Rig {
  readonly #target = makeTarget({ name: 'one' });
  readonly state = new RoutingState(undefined, () => 0.5);
  nowMs = 0;

  /** One attempt with its outcome, at the present time. `limp`: others than the state's own choice are not possible. */
  attempt(outcome: Outcome): void {
    const plan = new AttemptPlan(this.state, makeCandidates([this.#target]), makeCall());
    expect(plan.begin(this.nowMs)).toBe('try');
    if (outcome === 'answer' || outcome === 'cut') {
      plan.answered(1, this.nowMs);
      plan.ended(outcome === 'cut', this.nowMs);
    } else {
      // No money is left for a second attempt, which would be another cell.
      plan.failed({ class: outcome, pauseMs: null, atRisk: 1_000_000_000n }, this.nowMs);
    }
    plan.abandoned(this.nowMs);
    expect(this.state.snapshot(this.nowMs)).toMatchObject({ targets: [{ open: 0 }], credentials: [{ open: 0 }] });
  }

  repeat(outcome: Outcome, times: number): void {
    for (let time = 0; time < times; time++) this.attempt(outcome);
  }

  /** The states of the target, its origin and its credential, without the usual ones. */
  get said(): string {
    const { target } = this.state.of(this.#target);
    const [credential] = this.state.snapshot(this.nowMs).credentials;
    const parts = [
      target.breaker.state(this.nowMs),
      `origin ${target.origin.state(this.nowMs)}`,
      credential?.why ?? '',
      (credential?.cooling.length ?? 0) > 0 ? 'cooling' : '',
    ];
    return parts.filter((part) => !['closed', 'origin closed', ''].includes(part)).join(', ') || 'closed';
  }
}

interface State {
  /** Brings a new target there. */
  readonly reach: (rig: Rig) => void;
  readonly after: Readonly<Record<Column, string>>;
}

const wait = (rig: Rig, ms: number) => {
  rig.nowMs += ms;
};
const usual = { credential: 'credential', quota: 'quota', rate: 'cooling', config: 'benched' };
const SAME_CLOSED = { answer: 'closed', fault: 'closed', unreached: 'closed', refusal: 'closed', nothing: 'closed' };

const STATES: Readonly<Record<string, State>> = {
  closed: { reach: () => {}, after: { ...SAME_CLOSED, ...usual } },
  'closed, one fault before its trip': {
    reach: (rig) => rig.repeat('fault', 9),
    after: { ...SAME_CLOSED, ...usual, fault: 'open' },
  },
  'closed, its origin one fault before its trip': {
    reach: (rig) => rig.repeat('unreached', 9),
    after: { ...SAME_CLOSED, ...usual, unreached: 'origin open' },
  },
  'open, and no other left': {
    reach: (rig) => rig.repeat('fault', 10),
    after: {
      answer: 'open',
      fault: 'open',
      unreached: 'open',
      config: 'benched',
      credential: 'open, credential',
      quota: 'open, quota',
      rate: 'open, cooling',
      refusal: 'open',
      nothing: 'open',
    },
  },
  'half open': {
    reach: (rig) => {
      rig.repeat('fault', 10);
      wait(rig, 5_000);
    },
    after: {
      answer: 'closed',
      fault: 'open',
      unreached: 'half_open',
      config: 'benched',
      credential: 'half_open, credential',
      quota: 'half_open, quota',
      rate: 'half_open, cooling',
      refusal: 'half_open',
      nothing: 'half_open',
    },
  },
  'origin open, and no other left': {
    reach: (rig) => rig.repeat('unreached', 10),
    after: {
      answer: 'origin open',
      fault: 'origin open',
      unreached: 'origin open',
      config: 'benched, origin open',
      credential: 'origin open, credential',
      quota: 'origin open, quota',
      rate: 'origin open, cooling',
      refusal: 'origin open',
      nothing: 'origin open',
    },
  },
  'origin half open': {
    reach: (rig) => {
      rig.repeat('unreached', 10);
      wait(rig, 5_000);
    },
    // Whatever it answers, it is there.
    after: { ...SAME_CLOSED, ...usual, unreached: 'origin open', nothing: 'origin half_open' },
  },
  'benched, one call in two seconds': {
    reach: (rig) => {
      rig.attempt('config');
      wait(rig, 2_000);
    },
    after: {
      answer: 'closed',
      fault: 'open',
      unreached: 'benched',
      config: 'benched',
      credential: 'benched, credential',
      quota: 'benched, quota',
      rate: 'benched, cooling',
      refusal: 'benched',
      nothing: 'benched',
    },
  },
  'benched long ago': {
    reach: (rig) => {
      rig.attempt('config');
      wait(rig, 300_000);
    },
    after: {
      answer: 'closed',
      fault: 'open',
      unreached: 'half_open',
      config: 'benched',
      credential: 'half_open, credential',
      quota: 'half_open, quota',
      rate: 'half_open, cooling',
      refusal: 'half_open',
      nothing: 'half_open',
    },
  },
  'cooling for a guessed time, one call in two seconds': {
    reach: (rig) => {
      for (let guess = 0; guess < 3; guess++) {
        rig.attempt('rate');
        wait(rig, 10_000);
      }
      rig.attempt('rate');
      wait(rig, 2_000);
    },
    after: {
      answer: 'closed',
      fault: 'cooling',
      unreached: 'cooling',
      config: 'benched, cooling',
      credential: 'credential, cooling',
      quota: 'quota, cooling',
      rate: 'cooling',
      refusal: 'cooling',
      nothing: 'cooling',
    },
  },
  'a refused credential, one call in two seconds': {
    reach: (rig) => {
      rig.attempt('credential');
      wait(rig, 2_000);
    },
    after: {
      answer: 'closed',
      fault: 'credential',
      unreached: 'credential',
      config: 'benched, credential',
      credential: 'credential',
      quota: 'quota',
      rate: 'credential, cooling',
      refusal: 'credential',
      nothing: 'credential',
    },
  },
  'a used-up quota, probed after its time': {
    reach: (rig) => {
      rig.attempt('quota');
      wait(rig, 900_000);
    },
    after: {
      answer: 'closed',
      fault: 'quota',
      unreached: 'quota',
      config: 'benched, quota',
      credential: 'credential',
      quota: 'quota',
      rate: 'quota, cooling',
      refusal: 'quota',
      nothing: 'quota',
    },
  },
};

const columnOf = new Map(
  Object.entries(COLUMNS).flatMap(([column, outcomes]) => outcomes.map((outcome) => [outcome, column] as const)),
);
const arrows = new Set<string>();

describe.each(Object.entries(STATES))('%s', (_, { reach, after }) => {
  test.each(OUTCOMES)('and %s', (outcome) => {
    const rig = new Rig();
    wait(rig, LATER_MS);
    reach(rig);
    const before = rig.said;
    rig.attempt(outcome);
    const column = columnOf.get(outcome) as Column | undefined;
    expect(rig.said).toBe(column === undefined ? 'no column' : after[column]);
    if (rig.said !== before) arrows.add(`${before} → ${rig.said}`);
  });
});

test('every class has a column, and every change of one state has been seen', () => {
  expect(new Set(columnOf.keys())).toEqual(new Set<Outcome>(OUTCOMES));
  const expected = [
    'closed → open',
    'closed → benched',
    'closed → origin open',
    'closed → cooling',
    'closed → credential',
    'closed → quota',
    'open → benched',
    'half_open → closed',
    'half_open → open',
    'half_open → benched',
    'origin half_open → closed',
    'origin half_open → origin open',
    'benched → closed',
    'benched → open',
    'cooling → closed',
    'credential → closed',
    'credential → quota',
    'quota → closed',
    'quota → credential',
  ];
  expect([...arrows]).toEqual(expect.arrayContaining(expected));
});
