/** Tests the cost on another model: its price with the account's mark-up, its range, its refusals. */
import { expect, test } from 'bun:test';
import { fillPrice, parsePriceVersion, withMarkUp } from '../../billing/price.ts';
import { bookOf } from '../../billing/price-book.ts';
import type { RouteTable } from '../../routing/route.ts';
import type { WhatIfAnswer, WhatIfQuestion } from '../../store/ports/calls/what-if.ts';
import { tenancyOf } from '../kernel/actor.ts';
import { person } from '../testing/policy-rig.ts';
import { type WhatIfParts, whatIfHandlers } from './what-if.ts';

const ROUTE = 'GET /accounts/{account}/what-if';
const NOW_MS = Date.UTC(2026, 10, 22, 12);
const PRICE = fillPrice({ input: 1_000_000n, output: 5_000_000n }, 'config');
const GROUP = { keyId: 'key_1', keyName: 'prod', requests: 2, otherReasoning: 5n, reasoningTokens: 3 };
const ANSWER: WhatIfAnswer = {
  groups: [
    { ...GROUP, model: 'claude', served: 'claude-opus-4-8', now: 1_000n, other: 300n, otherUncached: 900n },
    { ...GROUP, model: 'gpt-5', served: 'gpt-5', now: 4_000n, other: 100n, otherUncached: 100n },
  ],
  tiered: 1,
  unpriced: 2,
  otherFormats: 3,
  next: { id: 'req_019aa', countedFromMs: NOW_MS - 60_000 },
};

const routeOf = (price: typeof PRICE | null) =>
  ({ targets: [{ upstream: { provider: 'lab', model: 'gpt-5-mini' }, prices: bookOf(price) }] }) as const;
// Only the members that the handler reads.
const ROUTES = new Map([
  ['mini', routeOf(PRICE)],
  ['unpriced', routeOf(null)],
]) as unknown as RouteTable;

async function ask(query: Record<string, string>) {
  const asked: WhatIfQuestion[] = [];
  const handlers = whatIfHandlers({
    usage: {
      readWhatIf: async (question) => {
        asked.push(question);
        return ANSWER;
      },
    },
    labelsOf: async () => {
      throw new Error('no filter needs labels');
    },
    nowMs: () => NOW_MS,
    routes: () => ROUTES,
    priced: withMarkUp,
    directory: { accounts: new Map([['team', { markUpPpm: 100_000 }]]) } as unknown as WhatIfParts['directory'],
  });
  const call = { tenancy: tenancyOf(person('per_1', 'team', 'viewer'), 'team'), query, path: { account: 'team' } };
  return { reply: await handlers[ROUTE](call as unknown as Parameters<(typeof handlers)[typeof ROUTE]>[0]), asked };
}

test('recomputes at the price of the first target with the mark-up, and adds up by model and key', async () => {
  const { reply, asked } = await ask({ other_model: 'mini', q: 'status:200', before: 'req_02' });
  expect(asked).toMatchObject([
    {
      tenant: { account: 'team', workspaces: null },
      fromMs: NOW_MS - 86_400_000,
      toMs: NOW_MS + 1,
      beforeId: 'req_02',
      terms: [{ field: 'status' }],
    },
  ]);
  expect(parsePriceVersion(asked[0]?.priceVersion ?? '')).toMatchObject({ input: 1_000_000n, markUpPpm: 100_000n });
  expect(reply).toMatchObject({
    model: 'mini',
    provider: 'lab',
    requests: 4,
    now_nano_usd: '5000',
    then_nano_usd: '400',
    then_uncached_nano_usd: '1000',
    then_reasoning_nano_usd: '10',
    reasoning_tokens: 6,
    tiered: 1,
    unpriced: 2,
    other_formats: 3,
    by_model: [{ model: 'gpt-5', now_nano_usd: '4000' }, { model: 'claude' }],
    by_key: [{ key: 'key_1', name: 'prod', requests: 4, now_nano_usd: '5000', then_nano_usd: '400' }],
    counted_from: '2026-11-22T11:59:00.000Z',
    next: 'req_019aa',
  });
  // Claude's tokenizer takes more tokens; that of the GPT models is the same.
  const [low, high] = [Number(reply.then_low_nano_usd), Number(reply.then_high_nano_usd)];
  expect(low).toBeGreaterThan(100 + 300 / 2);
  expect(high).toBeLessThan(400);
  expect(low).toBeLessThanOrEqual(high);
});

test.each([
  ['unknown', 'expected a model of this gateway'],
  ['unpriced', 'has no price'],
])('refuses the model %s', async (model, message) => {
  await expect(ask({ other_model: model })).rejects.toThrow(message);
});
