/**
 * Attacks each kind of cap with calls whose upstream ignores the output limit: the operator writes off at most one
 * slice per target, plain and streamed, in both formats, with several answers at once. Runs a sample of the attacks;
 * all of them with TOLLGATE_EXHAUSTIVE=1.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { formatNanoUsd } from '../../src/billing/money.ts';
import { eventually } from '../harness/eventually.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { post, type Side } from '../http-contract/calls.ts';
import { control } from '../http-contract/make-key.ts';
import { type AskedOfHost, type LimitHosts, NATURAL_TOKENS, startLimitHosts } from './limit-hosts.ts';
import { type Customer, moneyOf, newCustomer, newPrepaid } from './money-rig.ts';

/** USD per million tokens. */
const PRICE = { input: 1, output: 10 };
const OUTPUT = 10_000n;
const SLICE = 2_048n * OUTPUT;
const LITTLE_USD = '0.003';
const LITTLE = 3_000_000n;
const PLENTY = 10_000_000_000n;
const CALLS = 40;
const EXHAUSTIVE = process.env.TOLLGATE_EXHAUSTIVE === '1';

/** Each cap leaves a customer 0.003 USD. */
const CAPS: Readonly<Record<string, () => Promise<Customer>>> = {
  'a prepaid balance': () => newPrepaid(gateway, LITTLE),
  'a prepaid balance with strict holds': () => newPrepaid(gateway, LITTLE, { holds: 'strict' }),
  'a key budget': () => newCustomer(gateway, { key: { budget_usd: LITTLE_USD } }),
  'a key budget with strict holds': () => newCustomer(gateway, { key: { budget_usd: LITTLE_USD, holds: 'strict' } }),
  'an account budget': async () => {
    const customer = await newCustomer(gateway);
    await control(gateway, 'limits.set', { account: customer.account, budget_usd: LITTLE_USD });
    return customer;
  },
  'a workspace budget': async () => {
    const customer = await newCustomer(gateway);
    await control(gateway, 'limits.set', { workspace: customer.workspace, budget_usd: LITTLE_USD });
    return customer;
  },
};

let hosts: LimitHosts;
let gateway: RunningGateway;
/** Models that the tests have called. Each is a separate target whose limits are unproven. */
const models: string[] = [];
const modelOf = (host: string, side: Side = 'chat') => {
  const free = models.find((name) => name.startsWith(`${host}-${side}-`));
  if (free === undefined) throw new Error(`no target is left of ${host} over ${side}`);
  models.splice(models.indexOf(free), 1);
  return free;
};

const EACH_OF = { deaf: EXHAUSTIVE ? 48 : 16, older: 4, newer: 2, either: 2, lone: 1, unstreamed: 2 };

beforeAll(async () => {
  hosts = startLimitHosts();
  const base_url = `${hosts.url}/v1`;
  const served: Record<string, object> = {};
  for (const [host, count] of Object.entries(EACH_OF)) {
    for (const side of ['chat', 'messages'] as const) {
      for (let nth = 0; nth < count; nth++) {
        served[`${host}-${side}-${nth}`] = { targets: [{ provider: side }], price: PRICE };
      }
    }
  }
  models.push(...Object.keys(served));
  gateway = await startGateway({
    config: {
      providers: {
        chat: { kind: 'openai-compatible', base_url, api_key: 'none' },
        messages: { kind: 'anthropic', base_url, api_key: 'none' },
      },
      models: served,
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await hosts.stop();
});

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

async function ask({ key }: Customer, side: Side, members: object): Promise<Reply> {
  const body = { messages: [{ role: 'user', content: 'Go on and on.' }], ...members };
  const response = await post({ url: gateway.url, key }, side, body);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Sends all calls at once; returns the statuses, and the customer's money afterwards. */
async function attack(customer: Customer, side: Side, members: object) {
  const replies = await Promise.all(Array.from({ length: CALLS }, () => ask(customer, side, members)));
  const money = await eventually('all holds to end', async () => {
    const found = await moneyOf(gateway, customer);
    return found.held === 0n ? found : null;
  });
  return { replies, statuses: new Set(replies.map(({ status }) => status)), ...money };
}

/** The last request body sent to a model. */
const lastAsked = (model: string) => JSON.parse(hosts.askedOf(model).at(-1) ?? 'null') as AskedOfHost;

interface Attack {
  readonly words: string;
  readonly side: Side;
  /** Upstream's format. */
  readonly host: Side;
  readonly members: object;
}

const BOTH = { max_completion_tokens: 1, max_tokens: 20_000 };

/** The members sent to a host that reads none of them. */
const ATTACKS: readonly Attack[] = [
  { words: 'plain chat calls with both limits', side: 'chat', host: 'chat', members: BOTH },
  { words: 'chat streams with both limits', side: 'chat', host: 'chat', members: { ...BOTH, stream: true } },
  { words: 'plain chat calls for 8 answers each', side: 'chat', host: 'chat', members: { max_tokens: 1, n: 8 } },
  { words: 'plain messages calls', side: 'messages', host: 'messages', members: { max_tokens: 1 } },
  { words: 'plain chat calls, translated', side: 'chat', host: 'messages', members: BOTH },
  { words: 'plain messages calls, translated', side: 'messages', host: 'chat', members: { max_tokens: 1 } },
  { words: 'messages streams', side: 'messages', host: 'messages', members: { max_tokens: 1, stream: true } },
  { words: 'plain calls with another spelling', side: 'chat', host: 'chat', members: { max_tokens: 1, MAX_TOKENS: 9 } },
];

/** Every attack under the first cap and the first attack under every cap; or all of them. */
const ATTACKED = Object.entries(CAPS).flatMap(([cap, newVictim], nth) =>
  ATTACKS.slice(0, nth === 0 || EXHAUSTIVE ? ATTACKS.length : 1).map((how) => ({ cap, newVictim, how })),
);

test.each(ATTACKED.map((attacked) => [attacked.cap, attacked.how.words, attacked] as const))(
  'under %s of 0.003 USD 40 %s write off less than a slice',
  async (cap, words, { newVictim, how }) => {
    const model = modelOf('deaf', how.host);
    const { statuses, charged, writtenOff } = await attack(await newVictim(), how.side, { model, ...how.members });
    console.log(
      `${cap}, 40 ${words}: charged ${formatNanoUsd(charged)} USD, written off ${formatNanoUsd(writtenOff)} USD`,
    );
    for (const status of statuses) expect([200, 429]).toContain(status);
    expect(statuses).toContain(200);
    expect(charged).toBeGreaterThan(0n);
    expect(charged).toBeLessThanOrEqual(LITTLE);
    expect(writtenOff).toBeLessThanOrEqual(SLICE);
  },
);

describe('of two limits upstream gets the one that it knows, with the value that applies', () => {
  test.each([
    ['a plain call', 'older', {}],
    ['a stream', 'older', { stream: true }],
    ['a plain call to a host that reads either', 'either', {}],
  ] as const)('%s', async (_, host, members) => {
    const model = modelOf(host);
    const customer = await newPrepaid(gateway, LITTLE);
    const { status, headers } = await ask(customer, 'chat', { model, ...BOTH, ...members });
    expect([status, headers.get('x-tollgate-dropped')]).toEqual([200, 'max_tokens']);
    const { max_tokens, max_completion_tokens } = lastAsked(model);
    expect([max_tokens, max_completion_tokens]).toEqual([1, undefined]);
    expect(await moneyOf(gateway, customer)).toMatchObject({ held: 0n, writtenOff: 0n });
  });

  test('one limit alone goes as it came, and both with one value drop nothing', async () => {
    const model = modelOf('newer');
    const customer = await newCustomer(gateway);
    await ask(customer, 'chat', { model, max_completion_tokens: 7 });
    expect(hosts.askedOf(model)).toEqual([expect.stringContaining('"max_completion_tokens":7')]);
    expect(hosts.askedOf(model)[0]).not.toContain('"max_tokens"');
    const { headers } = await ask(customer, 'chat', { model, max_completion_tokens: 7, max_tokens: 7 });
    expect(headers.get('x-tollgate-dropped')).toBeNull();
  });
});

describe('a plain call is streamed because of its limit', () => {
  const streamed = (model: string) =>
    hosts.askedOf(model).map((text) => (JSON.parse(text) as AskedOfHost).stream === true);

  test.each([
    ['chat', 'older', { max_tokens: 5 }],
    ['chat', 'newer', { max_completion_tokens: 5 }],
    ['messages', 'older', { max_tokens: 5 }],
  ] as const)('over %s until an answer of a host that honors the %s one ended at it', async (side, host, members) => {
    const model = modelOf(host, side);
    const customer = await newPrepaid(gateway, PLENTY);
    const strict = await newPrepaid(gateway, PLENTY, { holds: 'strict' });
    for (const one of [strict, customer, customer])
      expect((await ask(one, side, { model, ...members })).status).toBe(200);
    expect(streamed(model)).toEqual([true, false, false]);
  });

  test('never for a key without a cap, and its answers prove the target too', async () => {
    const model = modelOf('older');
    await ask(await newCustomer(gateway), 'chat', { model, max_tokens: 5 });
    await ask(await newPrepaid(gateway, PLENTY), 'chat', { model, max_tokens: 5 });
    expect(streamed(model)).toEqual([false, false]);
  });

  test('is unproven again after an answer above it, and the operator is warned', async () => {
    const model = modelOf('deaf');
    const customer = await newPrepaid(gateway, PLENTY);
    const { status } = await ask(customer, 'chat', { model, max_tokens: NATURAL_TOKENS - 1 });
    expect(status).toBe(200);
    const alarm = await eventually('the alarm', async () =>
      gateway
        .stderr()
        .split('\n')
        .find((line) => line.includes('exceeded the output limit') && line.includes(model)),
    );
    expect(alarm).toContain(`"limit":${NATURAL_TOKENS - 1},"output":${NATURAL_TOKENS}`);
    const money = await moneyOf(gateway, customer);
    expect(money).toMatchObject({ held: 0n, writtenOff: 0n });
    expect(money.charged).toBeGreaterThan(BigInt(NATURAL_TOKENS) * OUTPUT);
    // A limit below a slice is no longer trusted.
    expect((await ask(await newPrepaid(gateway, LITTLE), 'chat', { model, max_tokens: 1 })).status).toBe(429);
  });
});

describe('a target that does not stream', () => {
  test('answers in one piece if its maximum cost can be held, and later calls are sent so at once', async () => {
    const model = modelOf('unstreamed');
    const customer = await newPrepaid(gateway, PLENTY);
    expect((await ask(customer, 'chat', { model, max_tokens: 5, temperature: 0 })).status).toBe(200);
    expect(hosts.askedOf(model)).toHaveLength(2);
    expect(await moneyOf(gateway, customer)).toMatchObject({ held: 0n, writtenOff: 0n });
    expect((await ask(customer, 'chat', { model, max_tokens: 5 })).status).toBe(200);
    expect(hosts.askedOf(model)).toHaveLength(3);
  });

  test('is refused with 429 otherwise, at once after the first time', async () => {
    const model = modelOf('unstreamed');
    for (let calls = 0; calls < 2; calls++) {
      const { status, text } = await ask(await newPrepaid(gateway, LITTLE), 'chat', { model, max_tokens: 5 });
      expect([status, text]).toEqual([429, expect.stringContaining('lower its maximum of output tokens')]);
    }
    expect(hosts.askedOf(model)).toHaveLength(1);
  });

  test('and ignores limits as well is found out by its first answer: then it is held for at its longest', async () => {
    const model = modelOf('lone');
    const [first, second] = [await newPrepaid(gateway, LITTLE), await newPrepaid(gateway, LITTLE)];
    expect((await ask(first, 'chat', { model, max_tokens: 1 })).status).toBe(200);
    const { statuses, writtenOff } = await attack(second, 'chat', { model, max_tokens: 1 });
    expect([[...statuses], writtenOff]).toEqual([[429], 0n]);
    expect((await ask(await newPrepaid(gateway, PLENTY), 'chat', { model, max_tokens: 1 })).status).toBe(200);
  });
});

test.each([[0], [129], [1e9], [-4], [1.5], ['2'], [[]]])('n: %j is refused by name', async (n) => {
  const { status, text } = await ask(await newCustomer(gateway), 'chat', { model: 'deaf-chat-0', n });
  expect([status, JSON.parse(text).error.param]).toEqual([400, 'n']);
});

test('the ledger proves all of it', async () => {
  const { status, stdout } = await gateway.run('verify');
  expect([status, stdout]).toEqual([0, expect.stringContaining('The ledger is valid')]);
});
