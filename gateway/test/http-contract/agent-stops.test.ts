/** Tests the status by which agents that repeat every 429 end where no money is left. Contract, 10.25. */
import { beforeAll, expect, test } from 'bun:test';
import type { SharedPair } from '../harness/start-pair.ts';
import { goodBody, post, type Side } from './calls.ts';
import { shareContractPair } from './contract-config.ts';
import { control, createKey } from './make-key.ts';

const OPENCODE = 'opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14';
const QWEN_CODE = 'QwenCode/0.15.10 (linux; x64)';

let pair: SharedPair;
/** Keys whose requests nothing pays for, by the reason. */
const keys = new Map<string, string>();
beforeAll(async () => {
  pair = await shareContractPair();
  await control(pair.gateway, 'accounts.create', { id: 'stopped', mode: 'prepaid' });
  await control(pair.gateway, 'workspaces.create', { id: 'stopped', account: 'stopped' });
  keys.set('an empty balance', (await createKey(pair.gateway, { workspace: 'stopped' })).key);
  keys.set('a budget', (await createKey(pair.gateway, { budget_usd: '0.000001' })).key);
});

async function ask(reason: string, userAgent: string, side: Side) {
  const address = { url: pair.gateway.url, key: keys.get(reason) ?? '' };
  const reply = await post(address, side, goodBody(side, { stream: true }), { 'user-agent': userAgent });
  const { error } = (await reply.json()) as { readonly error: object };
  const id = reply.headers.get('x-request-id');
  const record = (await pair.gateway.calls()).find(({ request_id }) => request_id === id);
  return { status: reply.status, error, recorded: [record?.status, record?.error] };
}

test.each([
  ['a budget', OPENCODE],
  ['an empty balance', OPENCODE],
  ['a budget', QWEN_CODE],
  ['an empty balance', QWEN_CODE],
])('%s is a 402 to %s, with the words of the format, and so in the record', async (reason, userAgent) => {
  expect(await ask(reason, userAgent, 'chat')).toMatchObject({
    status: 402,
    error: { type: 'insufficient_quota', code: 'insufficient_quota' },
    recorded: [402, 'quota_exceeded'],
  });
  expect(await ask(reason, userAgent, 'messages')).toMatchObject({
    status: 402,
    error: { type: 'billing_error' },
    recorded: [402, 'quota_exceeded'],
  });
});

test.each([
  [OPENCODE, 'insufficient_quota'],
  ['OpenAI/JS 7.57.0', 'rate_limit_exceeded'],
])('a stream that money cuts ends for %s with the code %s', async (userAgent, code) => {
  const { gateway } = pair;
  const account = `low-${code.slice(0, 4)}`;
  await control(gateway, 'accounts.create', { id: account, mode: 'prepaid' });
  await control(gateway, 'workspaces.create', { id: account, account });
  // A slice of 2,048 tokens.
  await control(gateway, 'accounts.topup', { account, usd: '0.0105' });
  const { key } = await createKey(gateway, { workspace: account });
  const body = goodBody('chat', { model: 'endless', stream: true });
  const reply = await post({ url: gateway.url, key }, 'chat', body, { 'user-agent': userAgent });
  const error = JSON.parse((await reply.text()).trimEnd().split('data: ').at(-1) ?? '').error;
  expect([reply.status, error.type, error.code]).toEqual([200, 'insufficient_quota', code]);
});

test.each(['a budget', 'an empty balance'])('%s is a 429 to others', async (reason) => {
  expect(await ask(reason, 'OpenAI/JS 7.57.0', 'chat')).toMatchObject({
    status: 429,
    error: { type: 'insufficient_quota' },
    recorded: [429, 'quota_exceeded'],
  });
});
