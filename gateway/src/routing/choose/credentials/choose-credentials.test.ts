/** Tests the order of a pool's credentials: pins, organisations, headroom, weights, and rates of refusals at full load. */
import { describe, expect, test } from 'bun:test';
import { AttemptPlan } from '../../attempt-plan.ts';
import { RoutingState } from '../../health/routing-state.ts';
import { makeCall } from '../../health/testing/make-candidates.ts';
import { Dice } from '../random.ts';
import type { TargetPlan } from '../testing/routes.ts';
import { makeRoute, SetHealth } from '../testing/routes.ts';
import { chooseCredentials } from './choose-credentials.ts';
import { Headroom } from './headroom.ts';

const targetOf = (credentials: NonNullable<TargetPlan['credentials']>) =>
  makeRoute([{ name: 't', credentials }]).targets[0];

const limits = (limit: number, remaining: number, reset = '60') =>
  [
    ['x-ratelimit-limit-tokens', String(limit)],
    ['x-ratelimit-remaining-tokens', String(remaining)],
    ['x-ratelimit-reset-tokens', reset],
  ] as const;

interface Case {
  readonly credentials?: NonNullable<TargetPlan['credentials']>;
  readonly verdicts?: SetHealth['verdicts'];
  readonly untilMs?: number;
  readonly pinned?: string | null;
  readonly learn?: (headroom: Headroom, upstream: ReturnType<typeof targetOf>['upstream']) => void;
  readonly nowMs?: number;
  readonly seed?: number;
}

function choice({
  credentials = [{}, {}, {}],
  verdicts,
  untilMs = 0,
  pinned = null,
  learn,
  nowMs = 0,
  seed = 1,
}: Case) {
  const target = targetOf(credentials);
  const headroom = new Headroom();
  learn?.(headroom, target.upstream);
  const health = new SetHealth();
  if (verdicts !== undefined) health.verdicts = verdicts;
  health.until = untilMs;
  const conditions = { headroom, nowMs, dice: new Dice(seed) };
  return chooseCredentials(target, health, 100, pinned, conditions);
}

/** How often each credential comes first, of 3,000 choices. */
function firsts(given: Case): readonly number[] {
  const counts = (given.credentials ?? [{}, {}, {}]).map(() => 0);
  for (let seed = 0; seed < 3_000; seed += 1) {
    const [first = -1] = choice({ ...given, seed: seed * 7_919 }).usable;
    counts[first] = (counts[first] ?? 0) + 1;
  }
  return counts;
}

describe('new sessions', () => {
  test('go to all credentials by weight while nothing is known', () => {
    const counts = firsts({ credentials: [{ weight: 2 }, { weight: 1 }, { weight: 1 }] });
    expect(counts[0]).toBeGreaterThan(1_350);
    expect(counts[0]).toBeLessThan(1_650);
  });

  test('go to the credential with more headroom', () => {
    const learn: Case['learn'] = (headroom, upstream) => {
      for (const [index, remaining] of [900, 500].entries()) {
        headroom.learn(headroom.send(upstream, index, 0), limits(1_000, remaining), 0, 0);
      }
    };
    expect(firsts({ credentials: [{}, {}], learn })).toEqual([3_000, 0]);
  });

  test('a new key takes them at once, one of weight 0 takes none', () => {
    expect(firsts({ credentials: [{ weight: 0 }, { weight: 1 }] })).toEqual([0, 3_000]);
    expect(choice({ credentials: [{ weight: 0 }, { weight: 1 }], pinned: 't key-0' }).usable).toEqual([0, 1]);
    expect(choice({ credentials: [{ weight: 0 }, { weight: 1 }], verdicts: ['usable', 'cooling'] }).usable).toEqual([
      0,
    ]);
  });

  test('a credential with less left than the call needs is last', () => {
    const learn: Case['learn'] = (headroom, upstream) => {
      headroom.learn(headroom.send(upstream, 0, 0), limits(1_000, 99), 0, 0);
    };
    expect(firsts({ learn })[0]).toBe(0);
    expect(choice({ learn }).usable.at(-1)).toBe(0);
    expect(choice({ learn, pinned: 't key-0' }).usable.at(-1)).toBe(0);
    expect(choice({ learn, pinned: 't key-0', nowMs: 60_000 }).usable[0]).toBe(0);
  });
});

describe('a pinned credential', () => {
  const credentials = [{}, { organisation: 'acme' }, { organisation: 'acme', weight: 0 }];

  test('comes first; a key of its organisation replaces it before any other', () => {
    expect(choice({ credentials, pinned: 't key-1' }).usable).toEqual([1, 2, 0]);
    expect(choice({ credentials, pinned: 't key-2', verdicts: ['usable', 'usable', 'benched'] }).usable).toEqual([
      1, 0,
    ]);
  });

  test('is waited for while it cools for two seconds', () => {
    const cooling = { pinned: 't key-0', verdicts: ['cooling', 'usable'] } as const;
    expect(choice({ ...cooling, nowMs: 1_000, untilMs: 3_000 })).toMatchObject({ usable: [0], notBeforeMs: 3_000 });
    const left = choice({ ...cooling, nowMs: 1_000, untilMs: 3_001 });
    expect(left.notBeforeMs).toBe(0);
    expect([...left.usable].sort()).toEqual([1, 2]);
  });
});

describe('an organisation whose limits one key has met', () => {
  const credentials = [{ organisation: 'acme' }, { organisation: 'acme' }, {}];

  test('is last for new sessions and for its own', () => {
    const verdicts = ['cooling', 'usable', 'usable'] as const;
    expect(choice({ credentials, verdicts, untilMs: 9_000 }).usable).toEqual([2, 1]);
    expect(choice({ credentials, verdicts, untilMs: 9_000, pinned: 't key-0' }).usable).toEqual([2, 1]);
  });

  test('is not asked again by the same call', () => {
    const route = makeRoute([{ name: 't', credentials }, { name: 'other' }]);
    const state = new RoutingState();
    const candidates = route.targets.map((target, place) =>
      place === 0
        ? { target, verdict: 'chosen' as const, why: 'order', credentials: [0, 1, 2] }
        : { target, verdict: 'fallback' as const, why: 'fallback' },
    );
    const plan = new AttemptPlan(state, candidates, makeCall());
    const tried = [];
    for (
      let step = plan.begin(0);
      step === 'try';
      step = plan.failed({ class: 'rate', pauseMs: 60_000, atRisk: null }, 0)
    ) {
      tried.push(`${plan.target?.name} ${plan.credential}`);
    }
    expect(tried).toEqual(['t 0', 't 2', 'other 0']);
  });
});

test('without a usable one, the first to come back says why', () => {
  expect(choice({ verdicts: ['benched'], untilMs: 900 }).blocked).toEqual({ verdict: 'benched', untilMs: 900 });
  const open = choice({ verdicts: ['benched', 'open', 'cooling'], untilMs: 900 });
  expect(open).toMatchObject({ usable: [], open: [1], blocked: { verdict: 'benched', untilMs: 900 } });
});

describe('headroom', () => {
  const { upstream } = targetOf([{}, { organisation: 'acme' }, { organisation: 'acme' }]);

  test('is what the last answer said, less the estimates sent since, and full after the reset', () => {
    const headroom = new Headroom();
    const first = headroom.send(upstream, 0, 100);
    const second = headroom.send(upstream, 0, 200);
    headroom.learn(first, limits(1_000, 800), 0, 0);
    expect(headroom.shareOf(upstream, 0, 1)).toBeCloseTo(0.6);
    headroom.learn(second, limits(1_000, 550), 0, 0);
    expect(headroom.shareOf(upstream, 0, 1)).toBeCloseTo(0.55);
    // A late answer to the first call says less than is known.
    headroom.learn(first, limits(1_000, 800), 0, 0);
    expect(headroom.shareOf(upstream, 0, 1)).toBeCloseTo(0.55);
    expect(headroom.shareOf(upstream, 0, 60_000)).toBe(1);
  });

  test('keys of one organisation share limits', () => {
    const headroom = new Headroom();
    headroom.learn(headroom.send(upstream, 1, 100), limits(1_000, 300), 0, 0);
    headroom.send(upstream, 2, 100);
    expect([0, 1, 2].map((index) => headroom.shareOf(upstream, index, 1))).toEqual([1, 0.2, 0.2]);
  });

  test('unknown, it is the share of open calls that the others have', () => {
    const headroom = new Headroom();
    const sent = headroom.send(upstream, 0, 1);
    headroom.send(upstream, 1, 1);
    headroom.send(upstream, 1, 1);
    headroom.send(upstream, 1, 1);
    expect([0, 1].map((index) => headroom.shareOf(upstream, index, 0))).toEqual([0.75, 0.25]);
    expect([0, 1].map((index) => headroom.statedShareOf(upstream, index, 0))).toEqual([null, null]);
    headroom.end(sent);
    expect(headroom.shareOf(upstream, 0, 0)).toBe(1);
  });

  test('of a single credential is what its last answer said, until the reset', () => {
    const headroom = new Headroom();
    const { upstream: single } = targetOf([{}]);
    expect(headroom.statedShareOf(single, 0, 0)).toBeNull();
    headroom.lastAnswers.set(single.key, { head: { headers: limits(1_000, 300) }, nowMs: 0 });
    expect([1, 60_000].map((nowMs) => headroom.statedShareOf(single, 0, nowMs))).toEqual([0.3, 1]);
  });
});

/**
 * Three keys, each with a bucket of tokens that refills evenly, as OpenAI's: calls at just below the sum of the three
 * rates. Returns the share of calls that a key refused although another could have taken them.
 */
function refusedShare(picks: 'headroom' | 'random'): number {
  const target = targetOf([{}, {}, {}]);
  const { upstream } = target;
  const headroom = new Headroom();
  const health = new SetHealth();
  const perMs = 2;
  const full = 24_000;
  const left = [full, full, full];
  const late: { readonly atMs: number; readonly answer: () => void }[] = [];
  const dice = new Dice(11);
  let refused = 0;
  let calls = 0;
  for (let nowMs = 0; nowMs < 900_000; nowMs += 10) {
    for (const index of left.keys()) left[index] = Math.min(full, (left[index] ?? 0) + perMs * 10);
    while (late[0] !== undefined && late[0].atMs <= nowMs) late.shift()?.answer();
    // 0.99 of what the keys allow together, in calls of 100 to 1,100 tokens.
    if (dice.roll() >= (0.99 * 3 * perMs * 10) / 600) continue;
    const tokens = 100 + Math.floor(dice.roll() * 1_000);
    const ordered = chooseCredentials(target, health, tokens, null, {
      headroom: picks === 'random' ? new Headroom() : headroom,
      nowMs,
      dice,
    }).usable;
    const [index = 0] = ordered;
    calls += 1;
    const sent = headroom.send(upstream, index, tokens);
    const rest = left[index] ?? 0;
    if (rest < tokens) refused += 1;
    else left[index] = rest - tokens;
    const now = left[index] ?? 0;
    const reset = `${Math.ceil((full - now) / perMs)}ms`;
    late.push({
      atMs: nowMs + 400,
      answer: () => {
        headroom.learn(sent, limits(full, Math.floor(now), reset), nowMs, nowMs);
        headroom.end(sent);
      },
    });
  }
  expect(calls).toBeGreaterThan(8_000);
  return refused / calls;
}

test('at full load of three keys, headroom leaves at most 0.03% refusals', () => {
  expect(refusedShare('headroom')).toBeLessThanOrEqual(0.000_3);
  expect(refusedShare('random')).toBeGreaterThan(0.000_5);
});
