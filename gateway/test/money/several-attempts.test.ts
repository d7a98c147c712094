/** Tests who pays for a request that takes several attempts: the customer for one, the operator for the others. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { attemptsConfig, priceOf } from '../attempts/failing-targets.ts';
import { type Asking, ask, send } from '../fault/calls.ts';
import { eventually } from '../harness/eventually.ts';
import type { CallLine } from '../harness/start-gateway.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { type Customer, moneyOf, newCustomer, newPrepaid, verified } from './money-rig.ts';

let pair: Pair;
let customer: Customer;
beforeAll(async () => {
  pair = await startPair((url) => {
    const config = attemptsConfig(url) as { readonly models: object };
    const alone = { targets: [{ provider: 'first', model: 'first-alone' }], price: { input: 1, output: 5 } };
    return { ...config, models: { ...config.models, alone } };
  });
}, 60_000);
beforeEach(async () => {
  pair.fake.reset();
  for (const model of MODELS) pair.fake.script(model, { answer: 'ok' });
  customer = await newCustomer(pair.gateway);
});
afterAll(async () => {
  await verified(pair);
  await pair.stop();
}, 60_000);

const MODELS = ['first-stream', 'second-stream', 'third-stream', 'second-plain'];
const STREAM: Asking = { protocol: 'chat', model: 'stream', stream: true };
const FAILS = { status: 500, errorBodyBytes: 90 } as const;
const [FIRST, SECOND] = ['first-stream', 'second-stream'].map(priceOf);

function costAt(price: ReturnType<typeof priceOf> | undefined, input: number, output: number): string {
  if (price === undefined) throw new Error('there is a price');
  return (BigInt(input) * price.input + BigInt(output) * price.output).toString();
}

/** The only record of the customer's key. */
async function recordOf({ keyId }: Customer): Promise<CallLine> {
  const look = async () => (await pair.gateway.calls('--key', keyId)).at(0);
  return eventually('the record', look);
}

test('an attempt that made tokens that the client never saw is the operator’s; the answer has the price of its target', async () => {
  const usage = { prompt_tokens: 70, completion_tokens: 9, total_tokens: 79 };
  const error = { type: 'server_error', message: 'no' };
  pair.fake.script('first-plain', { status: 200, json: { error, usage } });
  const plain = { protocol: 'chat', model: 'plain', stream: false, key: customer.key } as const;
  const { status } = await ask(pair.gateway, plain);
  expect(status).toBe(200);
  const record = await recordOf(customer);
  expect(record).toMatchObject({ served_model: 'second-plain', cost_nano_usd: costAt(SECOND, 11, 5) });
  expect(record.attempts).toMatchObject([
    { provider: 'first', billed: 'yes', usage: { input: 70, output: 9 }, cost_nano_usd: costAt(FIRST, 70, 9) },
    { provider: 'second', why: 'fallback' },
  ]);
  expect(record.attempts[1]).not.toHaveProperty('billed');
  expect(await moneyOf(pair.gateway, customer)).toMatchObject({
    charged: BigInt(costAt(SECOND, 11, 5)),
    writtenOff: 0n,
  });
});

test('a client that leaves in the second attempt pays its input once, at the price of that target', async () => {
  pair.fake.script('first-stream', FAILS);
  pair.fake.script('second-stream', { delayBeforeFirstByteMs: 60_000 });
  const leaving = new AbortController();
  const sent = send(pair.gateway, { ...STREAM, key: customer.key, signal: leaving.signal }).catch(() => null);
  await pair.fake.waitFor(({ model }) => model === 'second-stream');
  leaving.abort();
  await sent;
  const record = await recordOf(customer);
  const { input = 0 } = record.usage;
  expect(record).toMatchObject({
    error: 'client_left',
    usage_source: 'counted',
    cost_nano_usd: costAt(SECOND, input, 0),
  });
  expect(input).toBeGreaterThan(10);
  expect(record.attempts).toMatchObject([
    { provider: 'first', billed: 'maybe', cost_nano_usd: costAt(FIRST, input, 0) },
    { provider: 'second' },
  ]);
  expect(record.attempts[1]).not.toHaveProperty('billed');
});

test('a client that leaves while no attempt runs pays nothing', async () => {
  pair.fake.script('first-alone', { status: 429, errorBodyBytes: 90, headers: { 'retry-after': '4' } });
  const leaving = new AbortController();
  const asking = { ...STREAM, model: 'alone', key: customer.key, signal: leaving.signal };
  const sent = send(pair.gateway, asking).catch(() => null);
  await pair.fake.waitFor(({ model, finished }) => model === 'first-alone' && finished === 'complete');
  // The pause begins as the refused attempt ends.
  await eventually('the end of the attempt', async () => {
    const metrics = await (await fetch(`${pair.gateway.url}/metrics`)).text();
    return (
      /^tollgate_target_open\{provider="first",target="[^"]*first-alone",model="[^"]*"\} 0$/m.test(metrics) || null
    );
  });
  leaving.abort();
  await sent;
  const record = await recordOf(customer);
  expect(record).toMatchObject({ error: 'client_left', usage_source: 'void', cost_nano_usd: '0' });
  expect(record.attempts).toMatchObject([{ provider: 'first', class: 'rate' }]);
  expect(record.attempts[0]).not.toHaveProperty('billed');
});

test('a request whose attempts all fail costs the customer nothing; each row has what it may have cost', async () => {
  for (const model of MODELS) pair.fake.script(model, FAILS);
  expect((await ask(pair.gateway, { ...STREAM, key: customer.key })).status).toBe(500);
  const record = await recordOf(customer);
  expect(record).toMatchObject({ usage_source: 'void', cost_nano_usd: '0' });
  expect(record.attempts.map(({ billed }) => billed)).toEqual(record.attempts.map(() => 'maybe'));
  expect(record.attempts.length).toBeGreaterThan(1);
  expect(await moneyOf(pair.gateway, customer)).toMatchObject({ charged: 0n, held: 0n, writtenOff: 0n });
});

test('a dearer target that the balance does not cover is passed over, and the next one answers', async () => {
  pair.fake.script('first-stream', FAILS);
  // A first slice costs 10.4 million nano-USD at the first target, 31 million at the second, 1.9 million at the third.
  const poor = await newPrepaid(pair.gateway, 15_000_000n);
  const { status } = await ask(pair.gateway, { ...STREAM, key: poor.key });
  expect(status).toBe(200);
  const record = await recordOf(poor);
  expect(record).toMatchObject({ served_model: 'third-stream' });
  expect(record.attempts.map(({ provider }) => provider)).toEqual(['first', 'third']);
  expect(pair.fake.served('second-stream')).toEqual([]);
});
