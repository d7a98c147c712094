/** Tests that holds do not starve agents: their worst-case cost is far above the balance, their actual cost is not. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { hasTerminal } from '../fault/calls.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import type { Side } from '../http-contract/calls.ts';
import { burst, type Shot } from './burst.ts';
import { moneyConfig, moneyOf, newPrepaid, verified } from './money-rig.ts';

const AGENTS = 30;
const BALANCE = 25_000_000_000n;
const MAX_TOKENS = 64_000;
/** USD per million: one call costs 11 × 15 + 264 × 75 = 19,965 µUSD, two cents. */
const PRICE = { input: 15, output: 75 };
const OUTPUT_TOKENS = 264;
const COST = 19_965_000n;
const WORST = 75_000n * BigInt(MAX_TOKENS);

let pair: Pair;
beforeAll(async () => {
  const of = (host: Side) => ({ host, price: PRICE });
  pair = await startPair((url) => moneyConfig(url, { 'chat-agent': of('chat'), 'messages-agent': of('messages') }));
  for (const host of ['chat', 'messages']) {
    pair.fake.script(`${host}-agent`, { answer: `long:${OUTPUT_TOKENS}`, delayBeforeFirstByteMs: 500 });
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
  const answers = await burst(pair.gateway.url, shots);
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: AGENTS }, () => 200));
  for (const [index, { text }] of answers.entries()) {
    expect(hasTerminal(shots[index]?.side ?? 'chat', text)).toBe(true);
  }
  const served = pair.fake.served();
  expect(served).toHaveLength(AGENTS);
  // All ran concurrently: the last had arrived before the first ended.
  expect(Math.max(...served.map(({ arrivedMs }) => arrivedMs))).toBeLessThan(
    Math.min(...served.map(({ endedMs }) => endedMs ?? 0)),
  );
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
