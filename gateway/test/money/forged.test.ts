/**
 * Tests that no kind of call is free and none is charged twice: disconnecting before the usage arrives, forged ids,
 * duplicate headers, replays, and wrong counters from upstream. The upstream's own count is the reference.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connectRaw, rawRequest } from '../fake-upstream/raw-client.ts';
import { eventually } from '../harness/eventually.ts';
import type { CallLine } from '../harness/start-gateway.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { PATHS, post, type Side } from '../http-contract/calls.ts';
import { nextAnswer } from '../http-contract/wire.ts';
import { burst } from './burst.ts';
import { type Customer, moneyConfig, moneyOf, newPrepaid, verified } from './money-rig.ts';

const SIDES = ['chat', 'messages'] as const;
const WAYS = SIDES.flatMap((side) => SIDES.map((host) => [side, host] as const));
const BALANCE = 1_000_000_000n;
const PRICE = { input: 1, output: 5 };
/** The fake's `ok` answer: 11 tokens of input, 5 of output. */
const OK_COST = 11_000n + 25_000n;
const WORDS = 200;

let pair: Pair;
beforeAll(async () => {
  const models = WAYS.flatMap(([side, host]) => [
    [`${side}-${host}-stalls`, { host, price: PRICE }] as const,
    [`${side}-${host}-ok`, { host, model: 'ok', price: PRICE }] as const,
  ]);
  const lying = LIES.map((_, index) => [`lies-${index}`, { host: 'chat', price: PRICE }] as const);
  pair = await startPair((url) => moneyConfig(url, Object.fromEntries([...models, ...lying])));
  for (const [side, host] of WAYS) {
    // Sends all words but no usage: nothing follows the last word.
    pair.fake.script(`${side}-${host}-stalls`, {
      answer: `long:${WORDS}`,
      stallAfterEvent: host === 'chat' ? WORDS + 1 : WORDS + 3,
    });
  }
  for (const [index, usage] of LIES.entries()) pair.fake.script(`lies-${index}`, { json: chatAnswer(usage) });
});
afterAll(() => pair.stop());

const bodyOf = (model: string, members: object = {}) => ({
  model,
  max_tokens: 1_000,
  messages: [{ role: 'user', content: 'Good day.' }],
  ...members,
});

async function recordsOf({ keyId }: Customer, count: number): Promise<CallLine[]> {
  return eventually(`${count} records`, async () => {
    const records = await pair.gateway.calls('--key', keyId);
    return records.length >= count ? records : null;
  });
}

/** Expects that the customer paid exactly for that many plain `ok` answers, and holds nothing. */
async function expectPaid(customer: Customer, calls: number): Promise<void> {
  const charged = OK_COST * BigInt(calls);
  expect(await moneyOf(pair.gateway, customer)).toEqual({
    available: BALANCE - charged,
    held: 0n,
    charged,
    writtenOff: 0n,
  });
}

describe('reading everything and closing before the usage comes', () => {
  for (const [side, host] of WAYS) {
    test(`over ${side} from a ${host} host is not free`, async () => {
      const { gateway, fake } = pair;
      const customer = await newPrepaid(gateway, BALANCE);
      const model = `${side}-${host}-stalls`;
      const body = JSON.stringify(bodyOf(model, { stream: true }));
      const client = await connectRaw(gateway.url);
      client.send(rawRequest('POST', PATHS[side], body, { authorization: `Bearer ${customer.key}` }));
      await client.until(() => client.received().includes(`w${WORDS} `));
      client.leave('rst');
      const [record] = await recordsOf(customer, 1);
      const [served] = await fake.waitFor((call) => call.model === model && call.leftAtMs !== null);
      expect(served?.usage?.outputTokens ?? null).not.toBe(WORDS);
      const output = Math.ceil(Array.from({ length: WORDS }, (_, index) => `w${index + 1} `).join('').length / 4);
      // Messages report input usage with the first event; for chat completions we use our estimate.
      const input = host === 'messages' ? 11 : Math.ceil(body.length / 4);
      const usage_source = host === 'messages' ? 'partial' : 'counted';
      expect(record).toMatchObject({ status: 499, error: 'client_left', usage_source, usage: { input, output } });
      const charged = BigInt(input) * 1_000n + BigInt(output) * 5_000n;
      expect(record?.cost_nano_usd).toBe(`${charged}`);
      expect(await moneyOf(gateway, customer)).toEqual({
        available: BALANCE - charged,
        held: 0n,
        charged,
        writtenOff: 0n,
      });
    });
  }
});

describe('forged ids', () => {
  const NAMES = ['x-request-id', 'request-id', 'x-tollgate-call-id', 'x-call-id', 'x-client-request-id', 'traceparent'];
  for (const [side, host] of WAYS) {
    test(`over ${side} from a ${host} host are labels: each call has an id and a bill of its own`, async () => {
      const { gateway } = pair;
      const customer = await newPrepaid(gateway, BALANCE);
      const body = bodyOf(`${side}-${host}-ok`);
      const address = { url: gateway.url, key: customer.key };
      const first = await post(address, side, body);
      await first.text();
      const stolen = first.headers.get('x-request-id') ?? '';
      const forged = Object.fromEntries(NAMES.map((name) => [name, stolen]));
      const ids = [stolen];
      for (const stream of [false, true, false]) {
        const again = await post(address, side, { ...body, stream }, forged);
        expect(again.status).toBe(200);
        await again.text();
        ids.push(again.headers.get('x-request-id') ?? '');
      }
      expect(new Set(ids).size).toBe(4);
      const records = await recordsOf(customer, 4);
      expect(records.map(({ request_id }) => request_id).sort()).toEqual([...ids].sort());
      for (const { cost_nano_usd } of records) expect(cost_nano_usd).toBe(`${OK_COST}`);
      await expectPaid(customer, 4);
    });
  }
});

describe('the same bytes again', () => {
  for (const [side, host] of WAYS) {
    test(`over ${side} from a ${host} host: billed each time; with an idempotency key once, and run once`, async () => {
      const { gateway, fake } = pair;
      const customer = await newPrepaid(gateway, BALANCE);
      const shot = { side, key: customer.key, body: bodyOf(`${side}-${host}-ok`) };
      const before = fake.served().length;
      const plain = await burst(gateway.url, [shot, shot, shot]);
      expect(plain.map(({ status }) => status)).toEqual([200, 200, 200]);
      await expectPaid(customer, 3);
      const named = { ...shot, headers: { 'idempotency-key': 'one and the same' } };
      const [first] = await burst(gateway.url, [named]);
      const replays = await burst(gateway.url, [named, named, named, named]);
      for (const { status, text } of replays) expect([status, text]).toEqual([200, first?.text ?? '']);
      expect(fake.served().length - before).toBe(4);
      await expectPaid(customer, 4);
      const records = await recordsOf(customer, 8);
      expect(records.filter(({ usage_source }) => usage_source === 'cache')).toHaveLength(4);
    });
  }
});

describe('headers that come twice', () => {
  const request = (side: Side, body: string, lines: readonly string[]) =>
    `POST ${PATHS[side]} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n${body}`;
  const TWICE: readonly (readonly [name: string, lines: (key: string, length: number) => readonly string[]])[] = [
    [
      'the same key',
      (key, length) => [`authorization: Bearer ${key}`, `authorization: Bearer ${key}`, `content-length: ${length}`],
    ],
    [
      'two credentials',
      (key, length) => [`authorization: Bearer ${key}`, 'x-api-key: tg_other', `content-length: ${length}`],
    ],
    [
      'two request ids',
      (key, length) => [
        `authorization: Bearer ${key}`,
        'x-request-id: a',
        'x-request-id: b',
        `content-length: ${length}`,
      ],
    ],
    [
      'two idempotency keys',
      (key, length) => [
        `authorization: Bearer ${key}`,
        'idempotency-key: a',
        'idempotency-key: b',
        `content-length: ${length}`,
      ],
    ],
    [
      'two lengths',
      (key, length) => [`authorization: Bearer ${key}`, `content-length: ${length}`, `content-length: ${length + 1}`],
    ],
    [
      'a length and chunks',
      (key, length) => [`authorization: Bearer ${key}`, `content-length: ${length}`, 'transfer-encoding: chunked'],
    ],
  ];
  for (const side of SIDES) {
    for (const [name, lines] of TWICE) {
      test(`over ${side}, ${name}: the request that reached upstream is charged, once, and nothing else`, async () => {
        const { gateway, fake } = pair;
        const customer = await newPrepaid(gateway, BALANCE);
        const before = fake.served().length;
        const body = JSON.stringify(bodyOf(`${side}-${side}-ok`));
        const client = await connectRaw(gateway.url);
        client.send(request(side, body, lines(customer.key, body.length)));
        const answer = await nextAnswer(client);
        client.leave('rst');
        const served = fake.served().length - before;
        expect(served).toBe(answer?.status === 200 ? 1 : 0);
        if (answer?.status !== 200) expect(answer?.status ?? 400).toBeOneOf([400, 401]);
        await eventually('no open hold', async () => ((await moneyOf(gateway, customer)).held === 0n ? true : null));
        await expectPaid(customer, served);
      });
    }
  }
});

const chatAnswer = (usage: unknown) => ({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Good day to you.' }, finish_reason: 'stop' }],
  usage,
});

/** Impossible counters, or ones too large to pay. */
const LIES: readonly unknown[] = [
  { prompt_tokens: -5, completion_tokens: 5 },
  { prompt_tokens: 1.5, completion_tokens: 5 },
  { prompt_tokens: '11', completion_tokens: 5 },
  { prompt_tokens: 11, completion_tokens: 9_007_199_254_740_991 },
  { prompt_tokens: 9_007_199_254_740_991, completion_tokens: 9_007_199_254_740_991 },
  { prompt_tokens: 11, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 50 } },
  { prompt_tokens: 11, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 50 } },
  null,
  'free',
];

describe('an upstream that lies about usage', () => {
  for (const [index, usage] of LIES.entries()) {
    test(`${JSON.stringify(usage)}: the answer arrives, the customer pays something and never more than the balance`, async () => {
      const customer = await newPrepaid(pair.gateway, BALANCE);
      const response = await post({ url: pair.gateway.url, key: customer.key }, 'chat', bodyOf(`lies-${index}`));
      expect([response.status, await response.text()]).toEqual([200, JSON.stringify(chatAnswer(usage))]);
      const [record] = await recordsOf(customer, 1);
      const money = await moneyOf(pair.gateway, customer);
      expect(money.held).toBe(0n);
      expect(money.charged).toBeGreaterThan(0n);
      expect(money.available + money.charged).toBe(BALANCE);
      expect(`${money.charged + money.writtenOff}`).toBe(record?.cost_nano_usd ?? '');
    });
  }
});

test('the ledger proves all of it', async () => {
  expect(await verified(pair)).toBeGreaterThan(0);
});
