/**
 * Tests the cost of a stream for a prepaid customer: its hold grows slice by slice, the stream is stopped in-band when
 * nothing covers more, never takes more than the balance, and continues when money is added in time. Same and
 * translated formats.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { endsInError, hasTerminal } from '../fault/calls.ts';
import { eventually } from '../harness/eventually.ts';
import { type CallLine, type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import type { Side } from '../http-contract/calls.ts';
import { control } from '../http-contract/make-key.ts';
import { type GatedUpstream, startGatedUpstream } from './gated-upstream.ts';
import { type Customer, moneyConfig, moneyOf, newPrepaid, topUp } from './money-rig.ts';
import { openStreamed, wordsIn } from './streamed-client.ts';

/** Output at 5 USD per million tokens; input at 1, estimated as a quarter of the body's bytes. */
const OUTPUT = 5_000n;
const INPUT = 1_000n;
const SLICE_TOKENS = 2_048;
const SLICE = OUTPUT * BigInt(SLICE_TOKENS);
/** Prompt tokens by upstream's count. */
const INPUT_TOKENS = 11;
const LEARNT_MAX = 4;

const PATHS = (['chat', 'messages'] as const).flatMap((side) =>
  (['chat', 'messages'] as const).map((host) => ({ side, host, words: side === host ? 'same format' : 'translated' })),
);

let upstream: GatedUpstream;
let gateway: RunningGateway;
beforeAll(async () => {
  upstream = startGatedUpstream();
  const price = { input: 1, output: 5 };
  gateway = await startGateway({
    config: moneyConfig(upstream.url, {
      'chat-gated': { host: 'chat', price },
      'messages-gated': { host: 'messages', price },
    }),
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const bodyOf = (host: Side) => ({
  model: `${host}-gated`,
  max_tokens: 64_000,
  stream: true,
  messages: [{ role: 'user', content: 'Go on and on.' }],
});

/** The first hold of a call: the input estimate plus 15 %, rounded up, and a slice of output. */
function firstHold(host: Side): bigint {
  const estimate = Math.ceil(JSON.stringify(bodyOf(host)).length / LEARNT_MAX);
  return INPUT * BigInt(Math.ceil((estimate * 115) / 100)) + SLICE;
}

async function start(customer: Customer, side: Side, host: Side) {
  const client = openStreamed({ url: gateway.url, key: customer.key }, side, bodyOf(host));
  return { client, call: await upstream.next() };
}

async function recordOf(requestId: string): Promise<CallLine> {
  return eventually('the record', async () => (await gateway.calls('--request-id', requestId))[0]);
}

/** Cost of a record's usage. */
function costOf({ usage }: CallLine): bigint {
  return INPUT * BigInt(usage.input ?? -1) + OUTPUT * BigInt(usage.output ?? -1);
}

async function expectStopped(customer: Customer, requestId: string, side: Side, text: string) {
  expect(hasTerminal(side, text)).toBe(false);
  expect(endsInError(side, text)).toBe(true);
  expect(text.slice(-400)).toContain('insufficient quota');
  const record = await recordOf(requestId);
  expect(record).toMatchObject({ status: 200, error: 'quota_exceeded', usage_source: 'partial', stream: true });
  const money = await moneyOf(gateway, customer);
  expect(record.cost_nano_usd).toBe(String(costOf(record)));
  expect(money.charged + money.writtenOff).toBe(costOf(record));
  expect(money.held).toBe(0n);
  return { record, money };
}

for (const { side, host, words } of PATHS) {
  describe(`a stream over ${side} from a ${host} host (${words})`, () => {
    test('holds slice by slice, and pays for its usage at the end', async () => {
      const customer = await newPrepaid(gateway, 1_000_000_000n);
      const { client, call } = await start(customer, side, host);
      expect((await moneyOf(gateway, customer)).held).toBe(firstHold(host));
      call.say(1_500);
      await client.words(1_500);
      expect((await moneyOf(gateway, customer)).held).toBe(firstHold(host));
      call.say(300);
      await client.words(1_800);
      await eventually('the second slice', async () =>
        (await moneyOf(gateway, customer)).held === firstHold(host) + SLICE ? true : null,
      );
      call.say(1_200);
      await client.words(3_000);
      call.finish(3_000);
      expect(hasTerminal(side, await client.end())).toBe(true);
      const cost = INPUT * BigInt(INPUT_TOKENS) + OUTPUT * 3_000n;
      expect(await moneyOf(gateway, customer)).toEqual({
        available: 1_000_000_000n - cost,
        held: 0n,
        charged: cost,
        writtenOff: 0n,
      });
      expect(await recordOf(client.requestId)).toMatchObject({ error: null, usage_source: 'upstream' });
    });

    test('a stream that outgrows its balance is stopped in-band; no unpaid output is forwarded', async () => {
      const balance = firstHold(host) + SLICE / 2n;
      const customer = await newPrepaid(gateway, balance);
      const { client, call } = await start(customer, side, host);
      call.say(2_000);
      await client.words(2_000);
      call.say(100);
      const text = await client.end();
      await call.left;
      const { record, money } = await expectStopped(customer, client.requestId, side, text);
      expect(wordsIn(text)).toBe(SLICE_TOKENS);
      // Only the first uncovered word was read; half a slice was left to pay for it.
      expect(record.usage.output).toBe(SLICE_TOKENS + 1);
      expect(record.reason).toMatchObject({
        kind: 'money_ran_out',
        subject: { type: 'account', id: customer.account },
        rule: { cap: 'balance' },
        limit: String(SLICE / 2n),
        needed: String(SLICE),
        at_step: 'answer',
      });
      expect(money).toEqual({ available: balance - costOf(record), held: 0n, charged: costOf(record), writtenOff: 0n });
    });

    test('a stream that overshoots at once costs the customer the whole balance, and the operator at most a slice', async () => {
      const balance = firstHold(host) + SLICE / 8n;
      const customer = await newPrepaid(gateway, balance);
      const { client, call } = await start(customer, side, host);
      call.say(2_000);
      await client.words(2_000);
      call.blurt(SLICE_TOKENS);
      const text = await client.end();
      await call.left;
      const { record, money } = await expectStopped(customer, client.requestId, side, text);
      expect(record.usage.output).toBe(2_000 + SLICE_TOKENS);
      expect(wordsIn(text)).toBe(2_000);
      expect(text).not.toContain('blurt');
      expect(money).toEqual({ available: 0n, held: 0n, charged: balance, writtenOff: costOf(record) - balance });
      expect(money.writtenOff).toBeGreaterThan(0n);
      expect(money.writtenOff).toBeLessThanOrEqual(SLICE);
    });

    test('a stream whose answer comes in one write is forwarded, read and charged as far as it is held', async () => {
      const balance = firstHold(host) + SLICE / 8n;
      const customer = await newPrepaid(gateway, balance);
      const { client, call } = await start(customer, side, host);
      call.pour(10_000);
      const text = await client.end();
      const { record, money } = await expectStopped(customer, client.requestId, side, text);
      expect(wordsIn(text)).toBe(SLICE_TOKENS);
      // Only the first uncovered word was read.
      expect(record.usage.output).toBe(SLICE_TOKENS + 1);
      expect(money).toEqual({ available: balance - costOf(record), held: 0n, charged: costOf(record), writtenOff: 0n });
    });

    test('a stream whose answer comes in one write is complete if it can be paid', async () => {
      const customer = await newPrepaid(gateway, 1_000_000_000n);
      const { client, call } = await start(customer, side, host);
      call.pour(10_000);
      const text = await client.end();
      expect(hasTerminal(side, text)).toBe(true);
      expect(wordsIn(text)).toBe(10_000);
      const charged = INPUT * BigInt(INPUT_TOKENS) + OUTPUT * 10_000n;
      expect(await moneyOf(gateway, customer)).toMatchObject({ held: 0n, charged, writtenOff: 0n });
    });

    test('a stream that was refused early continues after a top-up', async () => {
      const customer = await newPrepaid(gateway, firstHold(host));
      const { client, call } = await start(customer, side, host);
      call.say(1_800);
      await client.words(1_800);
      expect(await moneyOf(gateway, customer)).toMatchObject({ available: 0n, held: firstHold(host) });
      await topUp(gateway, customer, SLICE * 2n);
      call.say(1_200);
      await client.words(3_000);
      call.finish(3_000);
      expect(hasTerminal(side, await client.end())).toBe(true);
      const cost = INPUT * BigInt(INPUT_TOKENS) + OUTPUT * 3_000n;
      expect(await moneyOf(gateway, customer)).toMatchObject({ held: 0n, charged: cost, writtenOff: 0n });
    });

    test('a stream whose budget is removed while it runs ends at its slice', async () => {
      const customer = await newPrepaid(gateway, 1_000_000_000n, { budget_usd: '1' });
      const { client, call } = await start(customer, side, host);
      call.say(1_000);
      await client.words(1_000);
      await control(gateway, 'keys.set', { id: customer.keyId, budget_usd: '0' });
      call.say(1_200);
      const text = await client.end();
      await call.left;
      const { money, record } = await expectStopped(customer, client.requestId, side, text);
      expect(money.charged).toBeLessThanOrEqual(firstHold(host));
      expect(record.reason).toMatchObject({
        kind: 'money_ran_out',
        subject: { type: 'key', id: customer.keyId, name: 'a test' },
        rule: { id: `key:${customer.keyId}`, cap: 'budget' },
        limit: '0',
      });
    });
  });
}

test('the ledger proves all of it', async () => {
  const { status, stdout } = await gateway.run('verify');
  expect([status, stdout]).toEqual([0, expect.stringContaining('The ledger is valid')]);
});
