/**
 * Tests that of many concurrent calls exactly those that fit a balance, budget or limit pass, when each call costs its
 * worst case; and that the ledger agrees. Runs a sample of the seeds; all 200, with 500 calls each, with
 * TOLLGATE_EXHAUSTIVE=1.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { formatNanoUsd } from '../../src/billing/money.ts';
import type { Scenario } from '../fake-upstream/scenario.ts';
import { eventually } from '../harness/eventually.ts';
import { SEED } from '../harness/exhaustive.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import type { Side } from '../http-contract/calls.ts';
import { control } from '../http-contract/make-key.ts';
import { AT_ONCE, beginning, burst, fire, type Shot } from './burst.ts';
import { type Customer, moneyConfig, moneyOf, newCustomer, newPrepaid, verified } from './money-rig.ts';

const EXHAUSTIVE = process.env.TOLLGATE_EXHAUSTIVE === '1';
const OUTPUT_TOKENS = 40;
/** 40 tokens at 5 USD per million. Input is free, so the worst case is the actual cost. */
const COST = 200_000n;
const PRICE = { input: 0, output: 5 };
/** Prompt tokens that the fake upstream reports. */
const INPUT_TOKENS = 11;
/** With this body length our estimate equals upstream's count, input and output. */
const BODY_BYTES = (INPUT_TOKENS + OUTPUT_TOKENS) * 4;
const SIDES: readonly Side[] = ['chat', 'messages'];
const HOSTS = ['chat', 'messages'] as const;

const CAPS = ['balance', 'key', 'workspace', 'account', 'end_user', 'model', 'rpm', 'tpm', 'concurrency'] as const;
type Cap = (typeof CAPS)[number];

interface Seed {
  readonly fits: number;
  /** Capacity beyond `fits` calls, in billionths of one more call; never enough for it. */
  readonly rest: number;
  /** For each shot one of the five kinds of calls: client format, upstream format, stream. */
  readonly sorts: readonly number[];
}

const seeds = fc.record({
  fits: fc.integer({ min: 0, max: 60 }),
  rest: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 999_999_999 })),
  sorts: fc.array(fc.nat(7), { minLength: 16, maxLength: 16 }),
});

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((url) =>
    moneyConfig(
      url,
      Object.fromEntries(
        HOSTS.flatMap((host) => [
          [`${host}-exact`, { host, model: `long:${OUTPUT_TOKENS}`, price: PRICE }],
          [`${host}-capped`, { host, model: `long:${OUTPUT_TOKENS}`, price: PRICE }],
          [`${host}-stalls`, { host, price: PRICE }],
        ]),
      ),
    ),
  );
  const stalls: Scenario = { answer: `long:${OUTPUT_TOKENS}`, stallAfterEvent: 5 };
  for (const host of HOSTS) pair.fake.script(`${host}-stalls`, stalls);
});
afterAll(() => pair.stop());

/** Renders a body of exactly BODY_BYTES; the prompt is padded. */
function bodyOf(side: Side, model: string, stream: boolean, endUser: string): string {
  const render = (content: string) =>
    JSON.stringify({
      model,
      max_tokens: OUTPUT_TOKENS,
      messages: [{ role: 'user', content }],
      stream,
      ...(side === 'chat' ? { user: endUser } : { metadata: { user_id: endUser } }),
    });
  return render('x'.repeat(BODY_BYTES - render('').length));
}

function shotsOf({ key }: Customer, { sorts }: Seed, of: { name: string; host?: Side; stream?: boolean }): Shot[] {
  return Array.from({ length: AT_ONCE }, (_, index) => {
    const sort = sorts[index % sorts.length] ?? 0;
    const side = SIDES[sort & 1] ?? 'chat';
    const host = of.host ?? HOSTS[(sort >> 1) & 1] ?? 'chat';
    return { side, key, body: bodyOf(side, `${host}-${of.name}`, of.stream ?? (sort & 4) !== 0, 'eve') };
  });
}

const spentOnModel = { chat: 0, messages: 0 };

/** Creates a customer whose cap lets `fits` calls pass. */
async function capped(cap: Cap, { fits, rest }: Seed, host: Side): Promise<Customer> {
  const { gateway } = pair;
  const slack = (COST * BigInt(rest)) / 1_000_000_000n;
  const amount = COST * BigInt(fits) + slack;
  if (cap === 'balance') return newPrepaid(gateway, amount);
  const customer = await newCustomer(gateway);
  const { account, workspace, keyId: id } = customer;
  const budget_usd = formatNanoUsd(amount);
  if (cap === 'key') await control(gateway, 'keys.set', { id, budget_usd });
  if (cap === 'workspace') await control(gateway, 'limits.set', { workspace, budget_usd });
  if (cap === 'account') await control(gateway, 'limits.set', { account, budget_usd });
  if (cap === 'end_user') await control(gateway, 'limits.set', { account, end_user: 'eve', budget_usd });
  if (cap === 'model') {
    const all = COST * BigInt(spentOnModel[host]) + amount;
    await control(gateway, 'limits.set', { model: `${host}-capped`, budget_usd: formatNanoUsd(all) });
    spentOnModel[host] += fits;
  }
  if (cap === 'rpm') await control(gateway, 'keys.set', { id, rpm: fits });
  if (cap === 'tpm') {
    const tpm = fits * (BODY_BYTES / 4) + Math.floor(((BODY_BYTES / 4) * rest) / 1_000_000_000);
    await control(gateway, 'keys.set', { id, tpm });
  }
  if (cap === 'concurrency') await control(gateway, 'keys.set', { id, concurrency: fits });
  return customer;
}

const WORDS: Readonly<Record<Cap, RegExp>> = {
  balance: /credit balance of the account/,
  key: /the budget of this API key/,
  workspace: /the budget of the workspace/,
  account: /the budget of the account/,
  end_user: /the budget of this end user/,
  model: /the budget of this model/,
  rpm: /requests per minute/,
  tpm: /tokens per minute/,
  concurrency: /concurrent requests/,
};

/** Sends all calls at once; checks the answers, upstream's own count, the records and the customer's money. */
async function checkExactlyFits(cap: Cap, seed: Seed): Promise<void> {
  const { fake, gateway } = pair;
  const host = HOSTS[seed.sorts.length % 2 === 0 ? (seed.rest % 2 === 0 ? 0 : 1) : 0] ?? 'chat';
  const customer = await capped(cap, seed, host);
  const before = fake.served().length;
  const of = cap === 'model' ? { name: 'capped', host } : { name: 'exact' };
  const answers = await burst(gateway.url, shotsOf(customer, seed, of));
  const refused = answers.filter(({ status }) => status !== 200);
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]));
  for (const { text } of refused) expect(text).toMatch(WORDS[cap]);
  expect(answers.length - refused.length).toBe(seed.fits);
  expect(fake.served().length - before).toBe(seed.fits);
  const spent = COST * BigInt(seed.fits);
  const available = cap === 'balance' ? (COST * BigInt(seed.rest)) / 1_000_000_000n : -spent;
  expect(await moneyOf(gateway, customer)).toEqual({ available, held: 0n, charged: spent, writtenOff: 0n });
  const records = await gateway.calls('--key', customer.keyId);
  expect(records).toHaveLength(AT_ONCE);
  const costs = Map.groupBy(records, ({ status, cost_nano_usd }) => `${status} ${cost_nano_usd}`);
  expect(costs.get(`200 ${COST}`)?.length ?? 0).toBe(seed.fits);
  expect(costs.get('429 0')?.length).toBe(AT_ONCE - seed.fits);
}

/**
 * The calls never end by themselves and keep their slots until their clients disconnect; then the same number passes
 * again.
 */
async function checkSlots(seed: Seed): Promise<void> {
  const { fake, gateway } = pair;
  const customer = await capped('concurrency', seed, 'chat');
  for (let round = 1; round <= 2; round++) {
    const before = fake.served().length;
    const clients = await fire(gateway.url, shotsOf(customer, seed, { name: 'stalls', stream: true }));
    const statuses = await Promise.all(clients.map(beginning));
    expect(statuses.filter((status) => status === 429)).toHaveLength(AT_ONCE - seed.fits);
    expect(statuses.filter((status) => status === 200)).toHaveLength(seed.fits);
    expect(fake.served().length - before).toBe(seed.fits);
    for (const client of clients) client.leave('rst');
    await eventually('the end of all calls', async () =>
      (await moneyOf(gateway, customer)).held === 0n ? true : null,
    );
    const settled = () => gateway.calls('--key', customer.keyId);
    await eventually('all records', async () => ((await settled()).length === round * AT_ONCE ? true : null));
  }
}

/** 200 seeds: about 23 for each cap. Limits per minute drain: 10 of them are far slower than 500 calls. */
const SEEDS_PER_CAP = EXHAUSTIVE ? 23 : 1;

describe(`${AT_ONCE} calls at once, each on the last cent`, () => {
  for (const cap of CAPS) {
    const perMinute = cap === 'rpm' || cap === 'tpm' || cap === 'concurrency';
    const drawn = fc.sample(seeds, { seed: SEED + CAPS.indexOf(cap), numRuns: SEEDS_PER_CAP });
    test(`${cap}: exactly what fits passes (${SEEDS_PER_CAP} seeds)`, async () => {
      for (const seed of drawn) {
        const tried = perMinute ? { ...seed, fits: 1 + (seed.fits % 10) } : seed;
        await (cap === 'concurrency' ? checkSlots(tried) : checkExactlyFits(cap, tried));
      }
      await verified(pair);
    });
  }
});
