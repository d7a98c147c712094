/**
 * Tests that audio, images and upstream tools reach the record, the bill and the balance, plain and streamed, in the
 * same format and translated; and that a tool without a fee is reported.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { eventually } from '../harness/eventually.ts';
import type { CallLine } from '../harness/start-gateway.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { post, type Side } from '../http-contract/calls.ts';
import { moneyConfig, moneyOf, newPrepaid, verified } from './money-rig.ts';

/** Each command is a process of its own, and a machine may be busy. */
setDefaultTimeout(20_000);

const BALANCE = 10_000_000_000n;
const SPOKEN = { input: 1, output: 5, audio_input: 40, audio_output: 80, image_input: 3 };
const SEARCHING = { input: 1, output: 5, per_1000_requests: { web_search: 10, web_fetch: 0 } };

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((url) =>
    moneyConfig(url, {
      'chat-spoken': { host: 'chat', price: SPOKEN },
      'chat-searching': { host: 'chat', price: SEARCHING },
      'messages-searching': { host: 'messages', price: SEARCHING },
      'messages-no-fee': { host: 'messages', price: { input: 1, output: 5 } },
    }),
  );
  pair.fake.script('chat-spoken', { json: chatAnswer(SPOKEN_USAGE) });
  pair.fake.script('chat-searching', { json: chatAnswer({ ...TOKENS, server_tool_use: { web_search_requests: 2 } }) });
});
afterAll(() => pair.stop());

const TOKENS = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
const SPOKEN_USAGE = {
  ...TOKENS,
  prompt_tokens_details: { audio_tokens: 30, image_tokens: 10 },
  completion_tokens_details: { audio_tokens: 8 },
};

function chatAnswer(usage: object): object {
  const message = { role: 'assistant', content: 'Good.', refusal: null };
  const choices = [{ index: 0, message, finish_reason: 'stop', logprobs: null }];
  return { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'm', choices, usage };
}

const MESSAGES_USAGE = { input_tokens: 100, output_tokens: 20 };

function scriptMessages(model: string, stream: boolean, server_tool_use: object): void {
  const usage = { ...MESSAGES_USAGE, server_tool_use };
  const content = [{ type: 'text', text: 'Good.' }];
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model, content, stop_reason: 'end_turn', usage };
  const event = (type: string, members: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
  const records = [
    event('message_start', { message: { ...message, content: [], stop_reason: null, usage: MESSAGES_USAGE } }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Good.' } }),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage }),
    event('message_stop', {}),
  ];
  pair.fake.script(model, stream ? { records } : { json: message });
}

/** Returns the call's whole answer, its record, and what it took from a new balance. */
async function paidCall(side: Side, model: string, stream: boolean) {
  const customer = await newPrepaid(pair.gateway, BALANCE);
  const members = { model, stream, max_tokens: 500, messages: [{ role: 'user', content: 'Look it up.' }] };
  const response = await post({ url: pair.gateway.url, key: customer.key }, side, members);
  const text = await response.text();
  const [record] = await pair.gateway.calls('--request-id', response.headers.get('x-request-id') ?? '');
  if (record === undefined) throw new Error(`no record of a call that got ${response.status}: ${text}`);
  const { available, charged } = await moneyOf(pair.gateway, customer);
  expect(available + charged).toBe(BALANCE);
  expect(record.cost_nano_usd).toBe(String(charged));
  return { text, record, charged };
}

const BOTH = [false, true];
const SIDES: readonly Side[] = ['chat', 'messages'];
const unpricedOf = (record: CallLine) => (record as { readonly unpriced_server_tools?: unknown }).unpriced_server_tools;

test.each(SIDES)('audio and images are charged at their prices, for a client of %s', async (side) => {
  const { record, charged } = await paidCall(side, 'chat-spoken', false);
  expect(record.usage).toMatchObject({ input: 100, output: 20, audio_input: 30, image_input: 10, audio_output: 8 });
  expect(charged).toBe(60n * 1_000n + 30n * 40_000n + 10n * 3_000n + 12n * 5_000n + 8n * 80_000n);
});

describe.each(SIDES)('a client of %s', (side) => {
  test.each(BOTH)('pays for each search that a messages upstream ran, stream %p', async (stream) => {
    scriptMessages('messages-searching', stream, { web_search_requests: 3, web_fetch_requests: 1 });
    const { record, charged } = await paidCall(side, 'messages-searching', stream);
    expect(record.usage).toMatchObject({ input: 100, output: 20, server_tools: { web_search: 3, web_fetch: 1 } });
    expect(unpricedOf(record)).toBeUndefined();
    expect(charged).toBe(200_000n + 30_000_000n);
  });
});

test('a client of messages gets the searches that a chat upstream ran', async () => {
  const { text, charged } = await paidCall('messages', 'chat-searching', false);
  expect(JSON.parse(text).usage.server_tool_use).toEqual({ web_search_requests: 2, web_fetch_requests: 0 });
  expect(charged).toBe(200_000n + 20_000_000n);
});

test('a tool without a fee is billed nothing, and the record and the log say so, the log once', async () => {
  scriptMessages('messages-no-fee', false, { web_search_requests: 2 });
  for (const side of SIDES) {
    const { record, charged } = await paidCall(side, 'messages-no-fee', false);
    expect([charged, unpricedOf(record)]).toEqual([200_000n, ['web_search']]);
  }
  const warnings = await eventually('the warning', () => {
    const lines = pair.gateway.stderr().split('\n').slice(0, -1);
    const found = lines.filter((line) => line.includes('"unpriced":true'));
    return found.length === 0 ? null : found;
  });
  expect(warnings).toHaveLength(1);
  expect(JSON.parse(warnings[0] ?? '')).toMatchObject({ model: 'messages-no-fee', server_tool: 'web_search' });
});

describe('a balance that does not cover three searches', () => {
  const LITTLE = 10_000_000n;
  const search = (max_uses: number) => ({ tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses }] });

  test('refuses a call that declares them, before anything is sent', async () => {
    const customer = await newPrepaid(pair.gateway, LITTLE);
    const served = pair.fake.served('messages-searching').length;
    const response = await postSearch(customer.key, search(3));
    expect([response.status, (await response.text()).includes('billing_error')]).toEqual([429, true]);
    expect(pair.fake.served('messages-searching')).toHaveLength(served);
    expect(await moneyOf(pair.gateway, customer)).toMatchObject({ available: LITTLE, held: 0n });
  });

  test('is never overdrawn by undeclared searches: the operator pays the excess', async () => {
    scriptMessages('messages-searching', false, { web_search_requests: 3 });
    const customer = await newPrepaid(pair.gateway, LITTLE);
    const response = await postSearch(customer.key, {});
    expect(response.status).toBe(200);
    await response.text();
    expect(await moneyOf(pair.gateway, customer)).toEqual({
      available: 0n,
      held: 0n,
      charged: LITTLE,
      writtenOff: 30_200_000n - LITTLE,
    });
  });

  const postSearch = (key: string, members: object) => {
    const messages = [{ role: 'user', content: 'Look it up.' }];
    return post({ url: pair.gateway.url, key }, 'messages', {
      model: 'messages-searching',
      max_tokens: 500,
      messages,
      ...members,
    });
  };
});

test('the ledger is valid, with each charge recomputed', async () => {
  expect(await verified(pair)).toBeGreaterThan(0);
});
