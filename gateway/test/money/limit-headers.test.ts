/**
 * Tests exactly what a limit reports to its caller: the headers of contract 8 in both formats, `retry-after`, and
 * whether to retry.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { get, post, type Side } from '../http-contract/calls.ts';
import { expectRefusal } from '../http-contract/expect-refusal.ts';
import { moneyConfig, moneyOf, newCustomer, newPrepaid, topUp, verified } from './money-rig.ts';

const SIDES: readonly Side[] = ['chat', 'messages'];
const PRICE = { input: 1, output: 5 };

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((url) =>
    moneyConfig(url, {
      'chat-ok': { host: 'chat', model: 'ok', price: PRICE },
      'messages-ok': { host: 'messages', model: 'ok', price: PRICE },
    }),
  );
});
afterAll(() => pair.stop());

const bodyOf = (side: Side, max_tokens = 100) => ({
  model: `${side}-ok`,
  max_tokens,
  messages: [{ role: 'user', content: 'Good day.' }],
});
const ask = (side: Side, { key }: { readonly key: string }, max_tokens?: number) =>
  post({ url: pair.gateway.url, key }, side, bodyOf(side, max_tokens));

const NAMES = {
  chat: (member: string, sort: string) => `x-ratelimit-${member}-${sort}`,
  messages: (member: string, sort: string) => `anthropic-ratelimit-${sort}-${member}`,
};

/** Returns the limit headers. Asserts that none of the other format is present. */
function limitsOf({ headers }: Response, side: Side): Record<string, string> {
  const found = [...headers].filter(([name]) => name.includes('ratelimit'));
  expect(found.filter(([name]) => name.startsWith('x-') !== (side === 'chat'))).toEqual([]);
  return Object.fromEntries(found);
}

/** Expects a reset that is `afterMs` after a moment in the given range, in the format's own notation. */
function expectReset(side: Side, text: string, afterMs: number, [fromMs, toMs]: readonly [number, number]): void {
  if (side === 'messages') {
    const atMs = Date.parse(text);
    expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(atMs).toBeGreaterThanOrEqual(fromMs + afterMs);
    expect(atMs).toBeLessThanOrEqual(toMs + afterMs + 1_000);
    return;
  }
  const [, minutes = '0', seconds = '0', milliseconds = '0'] = /^(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/.exec(text) ?? [
    text,
    'none',
  ];
  const leftMs = Number(minutes) * 60_000 + Number(seconds) * 1_000 + Number(milliseconds);
  expect(leftMs).toBeLessThan(afterMs + 1_000);
  expect(leftMs).toBeGreaterThanOrEqual(afterMs - (toMs - fromMs));
}

for (const side of SIDES) {
  describe(`over ${side}`, () => {
    test('rpm 2 admits two at once, then one each 30 s', async () => {
      const customer = await newCustomer(pair.gateway, { key: { rpm: 2 } });
      const beganMs = Date.now();
      const name = NAMES[side];
      for (const remaining of [1, 0]) {
        const response = await ask(side, customer);
        await response.text();
        const { [name('reset', 'requests')]: reset = '', ...others } = limitsOf(response, side);
        expect([response.status, others]).toEqual([
          200,
          { [name('limit', 'requests')]: '2', [name('remaining', 'requests')]: String(remaining) },
        ]);
        expectReset(side, reset, 30_000 * (2 - remaining), [beganMs, Date.now()]);
      }
      const refused = await ask(side, customer);
      const leastSeconds = Math.ceil((30_000 - (Date.now() - beganMs)) / 1_000);
      const retryAfter = Number(refused.headers.get('retry-after'));
      expect(retryAfter).toBeGreaterThanOrEqual(leastSeconds);
      expect(retryAfter).toBeLessThanOrEqual(30);
      expect(limitsOf(refused, side)).toMatchObject({
        [name('limit', 'requests')]: '2',
        [name('remaining', 'requests')]: '0',
      });
      await expectRefusal(refused, side, {
        status: 429,
        type: 'rate_limit_error',
        code: 'rate_limit_exceeded',
        param: null,
        says: /the limit of 2 requests per minute of this API key is reached/,
        shouldRetry: null,
      });
    });

    test('tokens per minute: the estimate is taken, then corrected to the usage', async () => {
      const customer = await newCustomer(pair.gateway, { key: { tpm: 100 } });
      const taken = Math.ceil(JSON.stringify(bodyOf(side)).length / 4);
      const name = NAMES[side];
      const first = await ask(side, customer);
      await first.text();
      expect(limitsOf(first, side)).toMatchObject({
        [name('limit', 'tokens')]: '100',
        [name('remaining', 'tokens')]: String(100 - taken),
      });
      // The fake used 16; the rest of the hold was returned, and 100 a minute drain.
      const second = await ask(side, customer);
      await second.text();
      expect(Number(limitsOf(second, side)[name('remaining', 'tokens')])).toBeOneOf([
        100 - 16 - taken,
        101 - 16 - taken,
      ]);
    });

    test('an exhausted balance or budget suggests no retry and no wait', async () => {
      const words = { status: 429, param: null, says: /^insufficient quota: /, shouldRetry: 'false' } as const;
      const type = side === 'chat' ? 'insufficient_quota' : 'billing_error';
      for (const customer of [
        await newPrepaid(pair.gateway, 1_000n),
        await newCustomer(pair.gateway, { key: { budget_usd: '0.000001', budget_window: 'day' } }),
      ]) {
        const refused = await ask(side, customer);
        expect(refused.headers.get('retry-after')).toBeNull();
        await expectRefusal(refused, side, { ...words, type, code: 'rate_limit_exceeded' });
      }
    });

    test('a refused call has a record without cost, is not sent and holds nothing', async () => {
      const customer = await newPrepaid(pair.gateway, 1_000n);
      const before = pair.fake.served().length;
      const refused = await ask(side, customer);
      await refused.text();
      expect(pair.fake.served().length).toBe(before);
      expect(await moneyOf(pair.gateway, customer)).toEqual({
        available: 1_000n,
        held: 0n,
        charged: 0n,
        writtenOff: 0n,
      });
      const [record] = await pair.gateway.calls('--key', customer.keyId);
      expect(record).toMatchObject({
        request_id: refused.headers.get('x-request-id'),
        status: 429,
        error: 'quota_exceeded',
        usage_source: 'void',
        cost_nano_usd: '0',
        reason: {
          kind: 'balance_empty',
          subject: { type: 'account', id: customer.account },
          rule: { id: `account:${customer.account}`, cap: 'balance' },
          limit: '1000',
          at_step: 'limits',
        },
        attempts: [],
      });
      expect(BigInt(record?.reason?.needed ?? 0)).toBeGreaterThan(1_000n);
      await topUp(pair.gateway, customer, 1_000_000n);
      expect((await ask(side, customer)).status).toBe(200);
    });
  });
}

test.each([
  ['requests', { rpm: 1 }, 1, { cap: 'requests_per_minute' }, { used: 1, limit: 1, needed: 1 }],
  ['tokens', { tpm: 1 }, 0, { cap: 'tokens_per_minute' }, { used: 0, limit: 1 }],
  [
    'a budget',
    { budget_usd: '0.000001', budget_window: 'day' },
    0,
    { cap: 'budget', window: 'day' },
    { used: '0', limit: '1000' },
  ],
] as const)(
  'the record of a call that %s refused says which rule, whose, and how it stood',
  async (_, key, passing, rule, amounts) => {
    const customer = await newCustomer(pair.gateway, { key });
    for (let call = 0; call < passing; call++) expect((await ask('chat', customer)).status).toBe(200);
    expect((await ask('chat', customer)).status).toBe(429);
    const [record] = await pair.gateway.calls('--key', customer.keyId);
    expect(record?.reason).toMatchObject({
      subject: { type: 'key', id: customer.keyId, name: 'a test' },
      rule: { id: `key:${customer.keyId}`, ...rule },
      ...amounts,
      at_step: 'limits',
    });
  },
);

test('GET /v1/key shows used and remaining amounts', async () => {
  const own = async ({ key }: { readonly key: string }) =>
    (await get({ url: pair.gateway.url, key }, '/v1/key')).json() as Promise<Record<string, unknown>>;
  const none = { requests: 0, input: 0, output: 0, cost_nano_usd: '0' };
  const unlimited = await newCustomer(pair.gateway);
  expect(await own(unlimited)).toMatchObject({ usage: { day: none, month: none }, limits: [] });
  const customer = await newCustomer(pair.gateway, { key: { rpm: 2, tpm: 1_000, concurrency: 3 } });
  for (const side of SIDES) await (await ask(side, customer)).text();
  const used = { requests: 2, input: 22, output: 10, cost_nano_usd: '72000' };
  const { usage, limits } = await own(customer);
  expect(usage).toMatchObject({ day: used, month: used });
  expect(limits).toMatchObject([
    {
      rpm: 2,
      requests: { used: 2, remaining: 0, resets_at: expect.any(String) },
      tokens: { used: expect.any(Number), remaining: expect.any(Number) },
      calls: { running: 0, remaining: 3 },
      budget: null,
    },
  ]);
  await (await ask('chat', customer)).text();
  expect((await own(customer)).usage).toMatchObject({ day: { ...used, requests: 3 } });
});

test('the ledger proves all of it', async () => {
  await verified(pair);
});
