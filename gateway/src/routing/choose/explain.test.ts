/** Tests the explanation of a choice: the layout's facts for chosen, fallback, skipped and filtered targets. */
import { expect, test } from 'bun:test';
import { PIN_MS } from './affinity.ts';
import { explainRoute } from './explain.ts';
import { makeRequest, makeRoute, makeState, NO_NEEDS } from './testing/routes.ts';

const ROUTE = makeRoute([
  { name: 'anthropic/main', model: 'claude-sonnet-4-6', price: [3, 0.3, 15] },
  { name: 'bedrock/eu', model: 'eu.anthropic.claude-sonnet-4-6-v1', price: [3, 0.3, 15], tags: ['eu'] },
  { name: 'vertex/global', model: 'claude-sonnet-4-6', priority: 2, price: [3, 0.3, 15] },
  { name: 'lab/qwen3', model: 'qwen3', price: null, takes: { image: false } },
]);

test('every target has its verdict, its cost, the price of a cold cache and what is stripped', () => {
  const { state, health } = makeState();
  health.set('anthropic/main', { verdicts: ['open'], until: 61_000 });
  const [main] = ROUTE.targets;
  state.affinity.pin(7, main, 0, 'order', 0, PIN_MS);
  const request = makeRequest({
    needs: { ...NO_NEEDS, tools: true, image: true },
    marks: { signed: true, marksCache: false, longCache: false },
    inputTokens: 41_000,
    conversation: 7,
  });
  const explained = explainRoute(ROUTE, request, state, 60_000, 1);
  expect(explained).toMatchObject({ model: 'm', strategy: 'order', pin: 'anthropic/main', refusal: null });
  expect(explained.needs).toEqual(['tools', 'images']);
  // 41,000 × $3/M + 500 × $15/M; cold: 41,000 × $2.70/M more than warm.
  const cold = { estimate: 130_500_000n, cache: 'cold', coldCache: 110_700_000n, strips: 'claude anthropic/main' };
  expect(explained.targets).toMatchObject([
    { target: 'bedrock/eu', verdict: 'chosen', why: 'fallback', credential: 'key-0', untilMs: null, ...cold },
    { target: 'vertex/global', verdict: 'fallback', why: 'fallback', priority: 2, ...cold },
    {
      target: 'anthropic/main',
      verdict: 'skipped',
      why: 'breaker',
      untilMs: 61_000,
      credential: null,
      estimate: 19_800_000n,
      cache: 'warm',
      coldCache: 0n,
      strips: null,
    },
    { target: 'lab/qwen3', verdict: 'filtered', why: 'images', lacks: 'takes images', estimate: null, coldCache: 0n },
  ]);
});

test('a request that no target can carry is explained with its error', () => {
  const { state } = makeState();
  const explained = explainRoute(ROUTE, makeRequest({ tags: ['zdr'] }), state, 0, 1);
  expect(explained.refusal).toContain('required data tags (zdr)');
  expect(explained.targets.map(({ why }) => why)).toEqual(['tag', 'tag', 'tag', 'tag']);
});

test('the learned length of answers counts for the estimate', () => {
  const { state } = makeState();
  state.answerLengths.learn('m', 'k', 2_000);
  const [first] = explainRoute(ROUTE, makeRequest({ inputTokens: 0 }), state, 0, 1).targets;
  expect(first?.estimate).toBe(30_000_000n);
});
