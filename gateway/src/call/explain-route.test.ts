/** Tests the explanation of a route for a request: its body, the tags and budget of its key, and times. */
import { expect, test } from 'bun:test';
import type { Principal } from '../identity/principal.ts';
import { CLIENT_PROTOCOLS } from '../protocols/registry.ts';
import { CONTEXT } from '../protocols/testing/outline-of.ts';
import { AttemptPlan } from '../routing/attempt-plan.ts';
import { ChoiceState, choose } from '../routing/choose/choose.ts';
import { makeRequest, makeRoute } from '../routing/choose/testing/routes.ts';
import { RoutingState } from '../routing/health/routing-state.ts';
import { makeCall } from '../routing/health/testing/make-candidates.ts';
import type { CallDeps } from './deps.ts';
import { explainRouteOf, type RouteQuery } from './explain-route.ts';
import { routedCall } from './testing/routed-call.ts';

const ROUTE = makeRoute([
  { name: 'first', takes: { image: false } },
  { name: 'second', tags: ['eu'], price: null },
  { name: 'third', tags: ['eu'] },
]);

function makeDeps() {
  const routing = new RoutingState();
  const billing = { rules: { bindingCapsOf: () => [] }, budgetZoneOf: () => 'UTC' };
  const settings = {
    config: { defaults: { unpriced: 'refuse' }, limits: CONTEXT.limits },
    routes: new Map([['m', ROUTE]]),
  };
  const deps = { routing, choice: new ChoiceState(routing), billing, settings };
  return deps as unknown as Pick<CallDeps, 'settings' | 'billing' | 'choice' | 'routing'>;
}

const QUERY: RouteQuery = {
  model: 'm',
  protocol: CLIENT_PROTOCOLS.chat,
  body: null,
  principal: null,
  tags: [],
  session: null,
};

async function explained(query: Partial<RouteQuery>, deps = makeDeps()): Promise<readonly string[]> {
  const { targets } = await explainRouteOf(deps, { ...QUERY, ...query });
  return targets.map(({ target, verdict, why }) => `${target} ${verdict} ${why}`);
}

/** A key of a prepaid account that requires `eu`. */
const KEY: Principal = { ...routedCall({ mode: 'prepaid' }).principal, requiredTags: ['eu'] };

test('without a body, a short text is assumed, in either format', async () => {
  for (const protocol of Object.values(CLIENT_PROTOCOLS)) {
    expect(await explained({ protocol })).toEqual([
      'first chosen order',
      'second fallback fallback',
      'third fallback fallback',
    ]);
  }
});

test('the body counts, whatever model it names', async () => {
  const content = [{ type: 'image_url', image_url: { url: 'https://example.test/a.png' } }];
  const body = Buffer.from(JSON.stringify({ model: 'other', messages: [{ role: 'user', content }] }));
  expect(await explained({ body })).toEqual([
    'second chosen order',
    'third fallback fallback',
    'first filtered images',
  ]);
  await expect(explained({ body: Buffer.from('{') })).rejects.toThrow('the body is not JSON');
});

test('the tags and the money of the key count', async () => {
  expect(await explained({ principal: KEY })).toEqual([
    'third chosen order',
    'first filtered tag',
    'second filtered price',
  ]);
  const { refusal } = await explainRouteOf(makeDeps(), { ...QUERY, principal: KEY, tags: ['zdr'] });
  expect(refusal).toContain('(eu, zdr)');
});

test('the end of a pause is told as unix time', async () => {
  const deps = makeDeps();
  const nowMs = performance.now();
  const plan = new AttemptPlan(
    deps.routing,
    choose(ROUTE, makeRequest(), deps.choice, nowMs, 1),
    makeCall({ endMs: Number.POSITIVE_INFINITY }),
  );
  plan.begin(nowMs);
  plan.failed({ class: 'rate', pauseMs: 60_000, atRisk: null }, nowMs);
  const { targets } = await explainRouteOf(deps, QUERY);
  const cooling = targets.find(({ target }) => target === 'first');
  expect(cooling).toMatchObject({ verdict: 'skipped', why: 'cooling' });
  const leftMs = (cooling?.untilMs ?? 0) - Date.now();
  expect(leftMs).toBeGreaterThan(55_000);
  expect(leftMs).toBeLessThan(67_000);
});

test('an unknown model is refused', () => {
  return expect(explained({ model: 'unknown' })).rejects.toThrow('is not served here');
});
