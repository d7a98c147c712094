/**
 * Tests the operator's settings on a running server, by command and by reload: hold sizes, models without a price,
 * answers that break off, limits under an alias.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { eventually } from '../harness/eventually.ts';
import { startScheduledClock } from '../harness/scheduled-clock.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { get, type HeaderChanges, post } from '../http-contract/calls.ts';
import { type GatedUpstream, startGatedUpstream } from './gated-upstream.ts';
import { type Customer, moneyConfig, moneyOf, newCustomer, newPrepaid, verified } from './money-rig.ts';
import { openStreamed } from './streamed-client.ts';

const PRICE = { input: 1, output: 5 };
/**
 * More than a slice (2,048 tokens at 5 USD per million, plus the input), less than two, and far less than 64,000
 * tokens.
 */
const LITTLE = 15_000_000n;
const BOUND_MS = 2_000;
const RELOAD_MS_MAX = 5_000;
const UNPRICED_WARNING = 'a model without a price is in use';

/** `shortOf`: the model that has the alias `short`. */
function configOf(fakeUrl: string, defaults: object = {}, shortOf = 'ok'): object {
  const config = moneyConfig(fakeUrl, {
    ok: { host: 'chat', price: PRICE },
    other: { host: 'chat', model: 'ok', price: PRICE },
    cut: { host: 'chat', price: PRICE },
    unpriced: { host: 'chat', model: 'ok' },
  }) as { readonly providers: object; readonly models: Record<string, object> };
  const reasoner = { targets: [{ provider: 'openai', model: 'gpt-5-mini' }], price: PRICE };
  const slow = { targets: [{ provider: 'gated' }], price: PRICE };
  const { [shortOf]: named, ...models } = config.models;
  return {
    defaults,
    providers: {
      ...config.providers,
      gated: { kind: 'openai-compatible', base_url: `${gated.url}/v1`, api_key: 'none' },
      openai: { kind: 'openai', base_url: `${fakeUrl}/v1`, api_key: 'none' },
    },
    models: { ...models, [shortOf]: { ...named, alias: ['short'] }, reasoner, slow },
  };
}

let pair: Pair;
let gated: GatedUpstream;
beforeAll(async () => {
  gated = startGatedUpstream();
  pair = await startPair((fakeUrl) => configOf(fakeUrl));
  pair.fake.script('cut', { answer: 'long:20', cut: { at: 2_000, how: 'fin' } });
  pair.fake.script('gpt-5-mini', { answer: 'ok' });
});
afterAll(async () => {
  await pair.stop();
  await gated.stop();
});

let reloads = 0;
/** Writes the file and waits until the server has applied it. */
async function reload(defaults: object, shortOf?: string): Promise<void> {
  reloads += 1;
  const config = configOf(pair.fake.url, { ...defaults }, shortOf);
  // A number that changes with each reload, so that reloads can be told apart.
  writeFileSync(pair.gateway.configFile, JSON.stringify({ ...config, limits: { messages_max: 1_000 + reloads } }));
  const reloadCount = () => pair.gateway.stderr().split('the configuration was reloaded').length - 1;
  await eventually('the reload', () => (reloadCount() >= reloads ? true : null), RELOAD_MS_MAX);
}

/** Requests a stream with at most 64,000 output tokens and returns the outcome. */
async function stream({ key }: Customer, model = 'ok', headers: HeaderChanges = {}) {
  const body = { model, max_tokens: 64_000, stream: true, messages: [{ role: 'user', content: 'Go on.' }] };
  const response = await post({ url: pair.gateway.url, key }, 'chat', body, headers);
  return { status: response.status, text: await response.text(), id: response.headers.get('x-request-id') ?? '' };
}
const statusOf = async (customer: Customer, model?: string) => (await stream(customer, model)).status;

/** Runs a command as a user does, and checks within 2 s of its end. */
async function after(words: readonly string[], check: () => Promise<void>): Promise<void> {
  const { status, stderr } = await pair.gateway.run(...words);
  expect([words, status, stderr]).toEqual([words, 0, '']);
  const scheduledMs = startScheduledClock();
  await check();
  expect(scheduledMs()).toBeLessThan(BOUND_MS);
}

async function listed(what: 'keys' | 'accounts', id: string): Promise<Record<string, unknown> | undefined> {
  const { stdout } = await pair.gateway.run(what, 'list', '--json');
  const lines = stdout.split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>).find((view) => view.id === id);
}

async function ownHolds({ key }: Customer): Promise<unknown> {
  const response = await get({ url: pair.gateway.url, key }, '/v1/key');
  return ((await response.json()) as Record<string, unknown>).holds;
}

test('holds: the key’s setting, else its account’s, else the file’s', async () => {
  const customer = await newPrepaid(pair.gateway, LITTLE);
  const { keyId, account } = customer;
  const expectHolds = async (holds: 'adaptive' | 'strict') =>
    expect([await ownHolds(customer), await statusOf(customer)]).toEqual([holds, holds === 'strict' ? 429 : 200]);
  await expectHolds('adaptive');
  await after(['keys', 'set', keyId, '--holds', 'strict'], () => expectHolds('strict'));
  expect(await listed('keys', keyId)).toMatchObject({ holds: 'strict' });
  await after(['keys', 'set', keyId, '--holds', 'inherit'], () => expectHolds('adaptive'));
  await after(['accounts', 'set', account, '--holds', 'strict'], () => expectHolds('strict'));
  expect(await listed('accounts', account)).toMatchObject({ holds: 'strict' });
  await after(['keys', 'set', keyId, '--holds', 'adaptive'], () => expectHolds('adaptive'));
  await after(['keys', 'set', keyId, '--holds', 'inherit'], () => expectHolds('strict'));
  await after(['accounts', 'set', account, '--holds', 'inherit'], () => expectHolds('adaptive'));
  expect([(await listed('keys', keyId))?.holds, (await listed('accounts', account))?.holds]).toEqual([null, null]);
  await reload({ holds: 'strict' });
  await expectHolds('strict');
  await after(['keys', 'set', keyId, '--holds', 'adaptive'], () => expectHolds('adaptive'));
  await reload({});
});

test('a model that hides its reasoning is held at its maximum cost if less than two slices are left', async () => {
  const little = await newPrepaid(pair.gateway, LITTLE);
  expect([await statusOf(little), await statusOf(little, 'reasoner')]).toEqual([200, 429]);
  const plenty = await newPrepaid(pair.gateway, 2n * LITTLE);
  expect(await statusOf(plenty, 'reasoner')).toBe(200);
});

test('a model without a price is refused or served, as the file says, and never charged silently', async () => {
  const customer = await newPrepaid(pair.gateway, LITTLE);
  expect(await statusOf(customer, 'unpriced')).toBe(500);
  expect(pair.gateway.stderr()).not.toContain(UNPRICED_WARNING);
  await reload({ unpriced: 'allow' });
  for (let calls = 0; calls < 2; calls++) {
    const { status, id } = await stream(customer, 'unpriced');
    expect(status).toBe(200);
    const [record] = await pair.gateway.calls('--request-id', id);
    expect(record).toMatchObject({ cost_nano_usd: null, price_version: null, usage: { input: 11, output: 5 } });
  }
  await eventually('the warning', () => (pair.gateway.stderr().includes(UNPRICED_WARNING) ? true : null));
  expect(pair.gateway.stderr().split(UNPRICED_WARNING)).toHaveLength(2);
  expect(await moneyOf(pair.gateway, customer)).toEqual({ available: LITTLE, held: 0n, charged: 0n, writtenOff: 0n });
  await reload({});
  expect(await statusOf(customer, 'unpriced')).toBe(500);
});

test('an answer that breaks off is billed, or paid by the operator and recorded so in the ledger', async () => {
  const customer = await newPrepaid(pair.gateway, 10n * LITTLE, { budget_usd: '0.15' });
  const breakOff = async () => {
    const { status, text, id } = await stream(customer, 'cut');
    expect([status, text.includes('[DONE]')]).toEqual([200, false]);
    const [record] = await pair.gateway.calls('--request-id', id);
    expect(record).toMatchObject({ status: 200, usage_source: 'partial', error: expect.any(String) });
    return BigInt(record?.cost_nano_usd ?? 0n);
  };
  const billed = await breakOff();
  expect(billed).toBeGreaterThan(0n);
  const available = 10n * LITTLE - billed;
  expect(await moneyOf(pair.gateway, customer)).toEqual({ available, held: 0n, charged: billed, writtenOff: 0n });
  await reload({ broken_answers: 'free' });
  const borne = await breakOff();
  expect(borne).toBe(billed);
  expect(await moneyOf(pair.gateway, customer)).toEqual({ available, held: 0n, charged: billed, writtenOff: borne });
  const response = await get({ url: pair.gateway.url, key: customer.key }, '/v1/key');
  expect(await response.json()).toMatchObject({ limits: [{ budget: { spent_nano_usd: billed.toString() } }] });
  await reload({});
  await verified(pair);
});

test('a call keeps the setting for broken answers that applied when it was held', async () => {
  const customer = await newCustomer(pair.gateway);
  const body = { model: 'slow', max_tokens: 100, stream: true, messages: [{ role: 'user', content: 'Go on.' }] };
  const client = openStreamed({ url: pair.gateway.url, key: customer.key }, 'chat', body);
  const answer = await gated.next();
  answer.say(8);
  await client.words(8);
  await reload({ broken_answers: 'free' });
  answer.breakOff();
  await client.end();
  const { charged, writtenOff } = await moneyOf(pair.gateway, customer);
  expect([charged > 0n, writtenOff]).toEqual([true, 0n]);
  await reload({});
});

test('an idempotency key whose broken answer was charged is used up, and one whose answer was free can be used again', async () => {
  const customer = await newCustomer(pair.gateway);
  const statusesOf = async (name: string) => {
    const twice = [
      await stream(customer, 'cut', { 'idempotency-key': name }),
      await stream(customer, 'cut', { 'idempotency-key': name }),
    ];
    return twice.map(({ status }) => status);
  };
  expect(await statusesOf('charged')).toEqual([200, 409]);
  await reload({ broken_answers: 'free' });
  expect(await statusesOf('free')).toEqual([200, 200]);
  await reload({});
});

test('a limit under an alias binds its model under each of its names, and follows the alias to another model', async () => {
  const customer = await newCustomer(pair.gateway);
  const statuses = async () => [
    await statusOf(customer, 'ok'),
    await statusOf(customer, 'short'),
    await statusOf(customer, 'other'),
  ];
  expect(await statuses()).toEqual([200, 200, 200]);
  await after(['limits', 'set', '--model', 'short', '--budget-usd', '0'], async () => {
    expect(await statuses()).toEqual([429, 429, 200]);
  });
  await reload({}, 'other');
  expect(await statuses()).toEqual([200, 429, 429]);
  await after(['limits', 'set', '--model', 'short', '--budget-usd', 'none'], async () => {
    expect(await statuses()).toEqual([200, 200, 200]);
  });
  await reload({});
});
