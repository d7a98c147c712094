/** Tests that money stays exact while an administrator changes modes, mark-ups, budgets and balances under load. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { formatNanoUsd } from '../../src/billing/money.ts';
import { EXHAUSTIVE } from '../fault/calls.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { post } from '../http-contract/calls.ts';
import { control } from '../http-contract/make-key.ts';
import { burst, type Shot } from './burst.ts';
import { type Customer, moneyConfig, moneyOf, newCustomer, newPrepaid, topUp, verified } from './money-rig.ts';

const ROUNDS = EXHAUSTIVE ? 20 : 1;
/** Calls that fit a budget or balance. */
const FITS = EXHAUSTIVE ? 1_000 : 300;
const LANES = 40;
const TOKENS = 40;
const COST = 200_000n;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((url) =>
    moneyConfig(url, { exact: { host: 'chat', model: `long:${TOKENS}`, price: { input: 0, output: 5 } } }),
  );
});
afterAll(() => pair.stop());

const bodyOf = (index: number) => ({
  model: 'exact',
  max_tokens: TOKENS,
  messages: [{ role: 'user', content: 'Go.' }],
  stream: index % 2 === 0,
});

/**
 * Sends calls in parallel lanes, one after another in each, until each lane was refused; returns the number of each
 * status.
 */
async function callUntilRefused({ key }: Customer, change: (turn: number) => Promise<unknown>) {
  const counts = new Map<number, number>();
  let lanes = LANES;
  const lane = async (index: number) => {
    for (;;) {
      const response = await post({ url: pair.gateway.url, key }, 'chat', bodyOf(index));
      await response.text();
      counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
      if (response.status !== 200) break;
    }
    lanes -= 1;
  };
  const calling = Promise.all(Array.from({ length: lanes }, (_, index) => lane(index)));
  let turns = 0;
  while (lanes > 0) await change(turns++);
  await calling;
  expect(turns).toBeGreaterThan(5);
  return counts;
}

test('steady requests on a budget whose rule keeps changing: exactly those that fit pass', async () => {
  const { gateway } = pair;
  for (let round = 0; round < ROUNDS; round++) {
    const customer = await newCustomer(gateway, { key: { budget_usd: formatNanoUsd(COST * BigInt(FITS)) } });
    const counts = await callUntilRefused(customer, (turn) =>
      control(gateway, 'keys.set', { id: customer.keyId, concurrency: 1_000 + (turn % 2) }),
    );
    expect(Object.fromEntries(counts)).toEqual({ 200: FITS, 429: LANES });
    expect((await moneyOf(gateway, customer)).charged).toBe(COST * BigInt(FITS));
  }
  await verified(pair);
}, 60_000);

test('steady requests on a balance whose account keeps changing: exactly those that fit pass', async () => {
  const { gateway } = pair;
  for (let round = 0; round < ROUNDS; round++) {
    const customer = await newPrepaid(gateway, COST * BigInt(FITS));
    const counts = await callUntilRefused(customer, (turn) =>
      control(gateway, 'accounts.set', { id: customer.account, time_zone: turn % 2 === 0 ? 'Europe/Berlin' : 'UTC' }),
    );
    expect(Object.fromEntries(counts)).toEqual({ 200: FITS, 429: LANES });
    expect(await moneyOf(gateway, customer)).toMatchObject({ available: 0n, charged: COST * BigInt(FITS) });
  }
  await verified(pair);
}, 60_000);

test('top-ups meanwhile are spent to the last cent, and not a cent more', async () => {
  const { gateway } = pair;
  const customer = await newPrepaid(gateway, COST * 200n);
  const counts = await callUntilRefused(customer, (turn) =>
    turn < 30 ? topUp(gateway, customer, COST) : moneyOf(gateway, customer),
  );
  const { available, charged, held } = await moneyOf(gateway, customer);
  expect(held).toBe(0n);
  expect(counts.get(429)).toBe(LANES);
  expect(charged).toBe(COST * BigInt(counts.get(200) ?? 0));
  const left = Number(available / COST);
  const { key } = customer;
  const shots = Array.from({ length: left + 50 }, (_, index): Shot => ({ side: 'chat', key, body: bodyOf(index) }));
  const rest = await burst(gateway.url, shots);
  expect(rest.filter(({ status }) => status === 200)).toHaveLength(left);
  expect((await moneyOf(gateway, customer)).available).toBe(0n);
  await verified(pair);
}, 60_000);

test('steady requests whose account becomes prepaid: exactly those that fit pass', async () => {
  const { gateway } = pair;
  for (let round = 0; round < ROUNDS; round++) {
    const customer = await newCustomer(gateway);
    await topUp(gateway, customer, COST * BigInt(FITS));
    const counts = await callUntilRefused(customer, async (turn) => {
      if (turn === 3) await control(gateway, 'accounts.set', { id: customer.account, mode: 'prepaid' });
      else await moneyOf(gateway, customer);
    });
    expect(Object.fromEntries(counts)).toEqual({ 200: FITS, 429: LANES });
    expect(await moneyOf(gateway, customer)).toMatchObject({ available: 0n, charged: COST * BigInt(FITS), held: 0n });
  }
  await verified(pair);
}, 60_000);
