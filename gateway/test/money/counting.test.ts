/** Tests which limits apply to token counting, and that counting consumes nothing of what calls have. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { post, type Side } from '../http-contract/calls.ts';
import { expectRefusal } from '../http-contract/expect-refusal.ts';
import { type Customer, moneyConfig, newCustomer, newPrepaid } from './money-rig.ts';

const COUNT = '/v1/messages/count_tokens';
const PRICE = { input: 1, output: 5 };
/** The provider of the first has a counter; for the second we count ourselves. */
const MODELS = ['messages-ok', 'chat-ok'] as const;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((url) =>
    moneyConfig(url, {
      'chat-ok': { host: 'chat', model: 'ok', price: PRICE },
      'messages-ok': { host: 'messages', model: 'ok', price: PRICE },
      slow: { host: 'messages', model: 'slow', price: PRICE },
    }),
  );
});
afterAll(() => pair.stop());

const MESSAGES = [{ role: 'user', content: 'Good day.' }];
const ask = (to: Side | typeof COUNT, { key }: Customer, model: string) =>
  post({ url: pair.gateway.url, key }, to, { model, messages: MESSAGES, max_tokens: 100 });

async function statusOf(answering: Promise<Response>): Promise<number> {
  const response = await answering;
  await response.text();
  return response.status;
}

describe.each(MODELS)('counting for %s', (model) => {
  const countersAsked = () => pair.fake.served().filter(({ endpoint }) => endpoint === 'count-tokens').length;

  test('has its own requests per minute, as many as calls have', async () => {
    const customer = await newCustomer(pair.gateway, { key: { rpm: 2 } });
    const before = countersAsked();
    for (const remaining of ['1', '0']) {
      const counted = await ask(COUNT, customer, model);
      expect(await counted.json()).toEqual({ input_tokens: expect.any(Number) });
      expect(counted.headers.get('anthropic-ratelimit-requests-limit')).toBe('2');
      expect(counted.headers.get('anthropic-ratelimit-requests-remaining')).toBe(remaining);
    }
    for (let times = 0; times < 4; times++) {
      const refused = await ask(COUNT, customer, model);
      expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 31);
      expect(refused.headers.get('anthropic-ratelimit-requests-remaining')).toBe('0');
      await expectRefusal(refused, 'messages', {
        status: 429,
        type: 'rate_limit_error',
        says: /the limit of 2 requests per minute of this API key is reached/,
        shouldRetry: null,
      });
    }
    expect(countersAsked() - before).toBe(model === 'messages-ok' ? 2 : 0);
    const calls = [];
    for (let times = 0; times < 3; times++) calls.push(await statusOf(ask('messages', customer, model)));
    expect(calls).toEqual([200, 200, 429]);
  });

  test('passes where no call would for tokens, a budget or the balance', async () => {
    const customer = await newPrepaid(pair.gateway, 0n, { tpm: 1, budget_usd: '0', budget_window: 'day' });
    const counted = await ask(COUNT, customer, model);
    expect([counted.status, counted.headers.get('anthropic-ratelimit-tokens-limit')]).toEqual([200, null]);
    expect(await statusOf(ask('messages', customer, model))).toBe(429);
  });
});

test('counting has its own slots, separate from those of calls, and returns them', async () => {
  const customer = await newCustomer(pair.gateway, { key: { concurrency: 1 } });
  pair.fake.script('count-tokens:slow', [{ delayBeforeFirstByteMs: 2_000, json: { input_tokens: 3 } }, {}]);
  const slow = statusOf(ask(COUNT, customer, 'slow'));
  await pair.fake.waitFor(({ model }) => model === 'slow');
  await expectRefusal(await ask(COUNT, customer, 'slow'), 'messages', {
    status: 429,
    type: 'rate_limit_error',
    says: /the limit of 1 concurrent requests of this API key is reached/,
  });
  expect(await statusOf(ask('messages', customer, 'messages-ok'))).toBe(200);
  expect(await slow).toBe(200);
  expect(await statusOf(ask(COUNT, customer, 'slow'))).toBe(200);
});
