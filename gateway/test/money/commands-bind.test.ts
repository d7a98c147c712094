/**
 * Tests that a change by command applies to a running server within 2 s, and to a restarted one as if it had never
 * stopped.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { startScheduledClock } from '../harness/scheduled-clock.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { post } from '../http-contract/calls.ts';
import { control } from '../http-contract/make-key.ts';
import { type Customer, moneyConfig, moneyOf, newCustomer, newPrepaid } from './money-rig.ts';

/** The fake's `ok` answer: 11 tokens of input at 1 USD per million, 5 of output at 5. */
const COST = 36_000n;
const BOUND_MS = 2_000;

let fake: FakeUpstream;
let home: string;
let gateway: RunningGateway;
const start = () =>
  startGateway({
    dataDir: join(home, 'data'),
    config: moneyConfig(fake.url, {
      ok: { host: 'chat', model: 'ok', price: { input: 1, output: 5 } },
      budgeted: { host: 'chat', model: 'ok', price: { input: 1, output: 5 } },
      unpriced: { host: 'chat', model: 'ok' },
    }),
  });
beforeAll(async () => {
  fake = await startFakeUpstream();
  home = mkdtempSync(join(tmpdir(), 'tollgate-money-'));
  gateway = await start();
});
afterAll(async () => {
  await gateway.stop();
  await fake.stop();
  rmSync(home, { recursive: true, force: true });
});

async function call({ key }: Customer, model = 'ok', members: object = {}): Promise<Response> {
  const messages = [{ role: 'user', content: 'Good day.' }];
  const response = await post({ url: gateway.url, key }, 'chat', { model, max_tokens: 100, messages, ...members });
  return new Response(await response.text(), { status: response.status, headers: response.headers });
}
const statusOf = async (...given: Parameters<typeof call>) => (await call(...given)).status;

/** Runs a command as a user does, and makes a call within 2 s of its end. */
async function after(words: readonly string[], check: () => Promise<void>): Promise<void> {
  const { status, stderr } = await gateway.run(...words);
  expect([status, stderr]).toEqual([0, '']);
  const scheduledMs = startScheduledClock();
  await check();
  expect(scheduledMs()).toBeLessThan(BOUND_MS);
}

test('limits of keys, accounts, workspaces, end users and models, set and removed', async () => {
  const customer = await newCustomer(gateway);
  const { keyId, account, workspace } = customer;
  expect(await statusOf(customer)).toBe(200);
  for (const words of [
    ['keys', 'set', keyId],
    ['accounts', 'set', account],
    ['limits', 'set', '--account', account],
    ['limits', 'set', '--workspace', workspace],
    ['limits', 'set', '--account', account, '--end-user', 'eve'],
    ['limits', 'set', '--account', account, '--end-user', '*'],
    ['limits', 'set', '--model', 'ok'],
  ]) {
    await after([...words, '--budget-usd', '0'], async () => {
      expect([words, await statusOf(customer, 'ok', { user: 'eve' })]).toEqual([words, 429]);
    });
    await after([...words, '--budget-usd', 'none'], async () => {
      expect([words, await statusOf(customer, 'ok', { user: 'eve' })]).toEqual([words, 200]);
    });
  }
}, 60_000);

test('an account becomes prepaid, is topped up, and becomes postpaid again', async () => {
  const customer = await newCustomer(gateway);
  await after(['accounts', 'set', customer.account, '--mode', 'prepaid'], async () => {
    expect(await statusOf(customer)).toBe(429);
  });
  await after(['topup', customer.account, '--usd', '0.01'], async () => {
    expect(await statusOf(customer)).toBe(200);
  });
  expect((await moneyOf(gateway, customer)).available).toBe(10_000_000n - COST);
  await after(['accounts', 'set', customer.account, '--mode', 'postpaid'], async () => {
    expect(await statusOf(customer)).toBe(200);
  });
});

test('a mark-up and a discount are charged to the nano', async () => {
  const customer = await newPrepaid(gateway, 1_000_000_000n);
  let charged = 0n;
  for (const [percent, cost] of [
    ['12.5', 40_500n],
    ['-10', 32_400n],
    ['0.0005', 36_000n],
    ['0.0014', 36_001n],
    ['0', 36_000n],
    ['-100', 0n],
  ] as const) {
    await control(gateway, 'accounts.set', { id: customer.account, mark_up_percent: percent });
    const response = await call(customer);
    expect([percent, response.headers.get('x-tollgate-cost-usd')]).toEqual([percent, usdOf(cost)]);
    charged += cost;
    expect(await moneyOf(gateway, customer)).toMatchObject({ held: 0n, charged, writtenOff: 0n });
  }
});

function usdOf(nano: bigint): string {
  return nano === 0n ? '0' : `0.${String(nano).padStart(9, '0').replace(/0+$/, '')}`;
}

test('a model without a price is refused if money is limited, and otherwise served without a cost', async () => {
  const free = await newCustomer(gateway);
  const served = await call(free, 'unpriced');
  expect([served.status, served.headers.get('x-tollgate-cost-usd')]).toEqual([200, null]);
  const [record] = await gateway.calls('--key', free.keyId);
  expect(record).toMatchObject({ cost_nano_usd: null, price_version: null, usage: { input: 11, output: 5 } });
  const before = fake.served().length;
  for (const bound of [
    await newPrepaid(gateway, 1_000_000_000n),
    await newCustomer(gateway, { key: { budget_usd: '1' } }),
    await newCustomer(gateway, { account: { budget_usd: '1' } }),
  ]) {
    const refused = await call(bound, 'unpriced');
    expect([refused.status, await refused.text()]).toEqual([
      500,
      expect.stringContaining('\\"unpriced\\" has no price'),
    ]);
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(await moneyOf(gateway, bound)).toMatchObject({ held: 0n, charged: 0n });
  }
  expect(fake.served().length).toBe(before);
});

test('budgets and balances are the same after a restart', async () => {
  const body = { model: 'ok', max_tokens: 100, messages: [{ role: 'user', content: 'Good day.' }] };
  // The hold of one more call: its input plus 15 %, and its maximum output.
  const hold = BigInt(Math.ceil((Math.ceil(JSON.stringify(body).length / 4) * 115) / 100)) * 1_000n + 500_000n;
  const usdOfTwo = `0.${String(COST + hold).padStart(9, '0')}`;
  const of = async (given: object) => {
    const made = await newCustomer(gateway);
    if ('key' in given)
      await control(gateway, 'keys.set', { id: made.keyId, budget_usd: usdOfTwo, ...(given.key as object) });
    return made;
  };
  const byKey = await of({ key: { budget_window: 'month' } });
  const [byWorkspace, byAccount, byEndUser, byModel, byBalance] = [
    await of({}),
    await of({}),
    await of({}),
    await of({}),
    await newPrepaid(gateway, COST + hold),
  ];
  await control(gateway, 'limits.set', { workspace: byWorkspace.workspace, budget_usd: usdOfTwo });
  await control(gateway, 'limits.set', { account: byAccount.account, budget_usd: usdOfTwo, budget_window: 'day' });
  await control(gateway, 'limits.set', { account: byEndUser.account, end_user: '*', budget_usd: usdOfTwo });
  await control(gateway, 'limits.set', { model: 'budgeted', budget_usd: usdOfTwo });
  const all: readonly (readonly [Customer, string, object])[] = [
    [byKey, 'ok', {}],
    [byWorkspace, 'ok', {}],
    [byAccount, 'ok', {}],
    [byBalance, 'ok', {}],
    // Their bodies are longer than the hold was computed for; the output is shorter by a little more.
    [byEndUser, 'ok', { user: 'eve', max_tokens: 97 }],
    [byModel, 'budgeted', { max_tokens: 97 }],
  ];
  for (const given of all) expect(await statusOf(...given)).toBe(200);
  await gateway.stop(true);
  gateway = await start();
  for (const given of all) expect(await statusOf(...given)).toBe(200);
  for (const given of all) expect(await statusOf(...given)).toBe(429);
  expect(await statusOf(byEndUser, 'ok', { user: 'bob', max_tokens: 97 })).toBe(200);
  const { status } = await gateway.run('verify');
  expect(status).toBe(0);
});
