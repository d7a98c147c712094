/** Tests that holds do not starve agents: their worst-case cost is far above the balance, their actual cost is not. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { hasTerminal } from '../fault/calls.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import type { Side } from '../http-contract/calls.ts';
import { nextAnswer } from '../http-contract/wire.ts';
import { fire, type Shot } from './burst.ts';
import { moneyConfig, moneyOf, newPrepaid, verified } from './money-rig.ts';

const AGENTS = 30;
const BALANCE = 25_000_000_000n;
const MAX_TOKENS = 64_000;
/** USD per million: one call costs 11 × 15 + 264 × 75 = 19,965 µUSD, two cents. */
const PRICE = { input: 15, output: 75 };
const OUTPUT_TOKENS = 264;
const COST = 19_965_000n;
const EVENTS_BEFORE_ALL = 5;
const WORST = 75_000n * BigInt(MAX_TOKENS);

let pair: Pair;
beforeAll(async () => {
  const of = (host: Side) => ({ host, price: PRICE });
  pair = await startPair((url) => moneyConfig(url, { 'chat-agent': of('chat'), 'messages-agent': of('messages') }));
  for (const host of ['chat', 'messages']) {
    pair.fake.script(`${host}-agent`, { answer: `long:${OUTPUT_TOKENS}`, holdAfterEvent: EVENTS_BEFORE_ALL });
  }
});
afterAll(() => pair.stop());

test(`${AGENTS} parallel streams with max_tokens ${MAX_TOKENS} on 25 USD all pass, though all together they might cost 144`, async () => {
  expect(WORST * BigInt(AGENTS)).toBeGreaterThan(BALANCE * 5n);
  const customer = await newPrepaid(pair.gateway, BALANCE);
  const shots = Array.from({ length: AGENTS }, (_, index): Shot => {
    const model = index % 4 < 2 ? 'chat-agent' : 'messages-agent';
    const messages = [{ role: 'user', content: 'Mend the build.' }];
    return {
      side: index % 2 === 0 ? 'chat' : 'messages',
      key: customer.key,
      body: { model, max_tokens: MAX_TOKENS, stream: true, messages },
    };
  });
  const clients = await fire(pair.gateway.url, shots);
  // All run concurrently: none goes on before the last has begun.
  await pair.fake.waitFor(({ eventsSent }) => eventsSent === EVENTS_BEFORE_ALL, { count: AGENTS, timeoutMs: 20_000 });
  pair.fake.release();
  for (const [index, client] of clients.entries()) {
    const answer = await nextAnswer(client, 0, 20_000);
    expect(answer?.status).toBe(200);
    expect(hasTerminal(shots[index]?.side ?? 'chat', answer?.text ?? '')).toBe(true);
    client.leave();
  }
  expect(pair.fake.served()).toHaveLength(AGENTS);
  const charged = COST * BigInt(AGENTS);
  expect(await moneyOf(pair.gateway, customer)).toEqual({
    available: BALANCE - charged,
    held: 0n,
    charged,
    writtenOff: 0n,
  });
  for (const { cost_nano_usd } of await pair.gateway.calls('--key', customer.keyId))
    expect(cost_nano_usd).toBe(`${COST}`);
  await verified(pair);
});
