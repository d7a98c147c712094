/** Tests what an attempt teaches the choice: the pin of its conversation and the limits of its credential. */
import { expect, test } from 'bun:test';
import { LONG_PIN_MS, PIN_MS } from './affinity.ts';
import { isUsable } from './candidate.ts';
import { choose } from './choose.ts';
import type { RoutedRequest } from './routed-request.ts';
import { makeRequest, makeRoute, makeState } from './testing/routes.ts';
import { TrackedAttempt } from './track-attempt.ts';

const TARGETS = [
  { name: 'a', catalog: { provider: 'deepseek', model: 'm' } },
  { name: 'b', credentials: [{}, {}] },
];

function answered(request: RoutedRequest, from: 'a' | 'b', credential = 0) {
  const made = makeState();
  const candidates = choose(makeRoute(TARGETS), request, made.state, 0, 1).filter(isUsable);
  const candidate = candidates.find(({ target }) => target.name === from);
  if (candidate === undefined) throw new Error('expected a candidate');
  const tracked = new TrackedAttempt(made.state, request, candidate.target, credential, candidate.why);
  return { ...made, tracked, upstream: candidate.target.upstream };
}

test('the conversation stays where it was answered, for as long as the cache lives', () => {
  const usual = makeRequest({ conversation: 7 });
  const long = { ...usual, marks: { signed: false, marksCache: true, longCache: true } };
  const cases = [
    [usual, 'b', PIN_MS],
    [long, 'b', LONG_PIN_MS],
    [usual, 'a', LONG_PIN_MS],
  ] as const;
  for (const [request, from, lifeMs] of cases) {
    const { state, tracked } = answered(request, from);
    tracked.onAnswer(1_000);
    expect(state.affinity.find(7)).toMatchObject({ upstream: `${from} m`, untilMs: 1_000 + lifeMs });
  }
});

test('a request without a conversation leaves no pin', () => {
  const { state, tracked } = answered(makeRequest(), 'b');
  tracked.onAnswer(1_000);
  expect(state.affinity.size).toBe(0);
});

test('an attempt with a credential of a pool counts as sent until it ends, once', () => {
  const { state, tracked, upstream } = answered(makeRequest({ inputTokens: 300 }), 'b', 1);
  expect([0, 1].map((one) => state.headroom.shareOf(upstream, one, 0))).toEqual([1, 0]);
  tracked.onHead(
    [
      ['x-ratelimit-limit-tokens', '1000'],
      ['x-ratelimit-remaining-tokens', '600'],
    ],
    5,
    5,
  );
  expect(state.headroom.shareOf(upstream, 1, 6)).toBe(0.6);
  tracked.onEnd();
  tracked.onEnd();
  const next = new TrackedAttempt(state, makeRequest({ inputTokens: 300 }), targetOf(upstream), 1, 'order');
  expect(state.headroom.shareOf(upstream, 1, 6)).toBeCloseTo(0.3);
  next.onEnd();
  expect(state.headroom.shareOf(upstream, 0, 6)).toBe(1);
});

function targetOf(upstream: { readonly key: string }) {
  const target = makeRoute(TARGETS).targets.find((one) => one.upstream.key === upstream.key);
  if (target === undefined) throw new Error('expected a target');
  return target;
}
