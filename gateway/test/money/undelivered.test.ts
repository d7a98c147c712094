/**
 * Tests who pays when upstream answered 200 with usage but its client got no answer: the record has the usage, the
 * account pays nothing, the operator writes it off. Plain, folded and streamed, both formats. Usage from a broken
 * stream is accepted.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ZERO_USAGE } from '../../src/generation/usage.ts';
import { eventually } from '../harness/eventually.ts';
import { type CallLine, type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { post, type Side } from '../http-contract/calls.ts';
import { type Customer, moneyConfig, moneyOf, newCustomer, newPrepaid } from './money-rig.ts';

/** USD per million tokens; in nano-USD per token a thousand times as much. */
const PRICE = { input: 1, output: 5 };
const TOLD = { input: 11, output: 70 };
const COST = 1_000n * 11n + 5_000n * 70n;
const BALANCE = 1_000_000_000n;

const CHAT_USAGE = { prompt_tokens: 11, completion_tokens: 70, total_tokens: 81 };
const MESSAGES_USAGE = { input_tokens: 11, output_tokens: 70 };

/** By upstream model name: a 200 in one piece with usage that is not a valid answer. */
const BODIES: Readonly<Record<string, object>> = {
  'chat-no-choices': { id: 'c', object: 'chat.completion', model: 'm', choices: [], usage: CHAT_USAGE },
  'chat-error': { error: { message: 'it broke', type: 'server_error' }, usage: CHAT_USAGE },
  'messages-no-content': { id: 'm', type: 'message', role: 'assistant', model: 'm', usage: MESSAGES_USAGE },
  'messages-error': { type: 'error', error: { type: 'api_error', message: 'it broke' }, usage: MESSAGES_USAGE },
};

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (choices: object[], usage: object | null = null) =>
  data({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices, usage });
const says = (content: string, usage: object | null = null) =>
  chunk([{ index: 0, delta: { content }, finish_reason: null }], usage);
const STOP = chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]);
const event = (type: string, members: object = {}) => `event: ${type}\n${data({ type, ...members })}`;
const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null };
const BEGIN =
  event('message_start', { message: { ...message, usage: { input_tokens: 11, output_tokens: 1 } } }) +
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'word '.repeat(40) } }) +
  event('content_block_stop', { index: 0 });
const END = event('message_delta', {
  delta: { stop_reason: 'end_turn', stop_sequence: null },
  usage: { output_tokens: 70 },
});

/** Streams that report their usage and then break: by an invalid event or by an error. */
const STREAMS: Readonly<Record<string, string>> = {
  'chat-nonsense': `${says('word '.repeat(40))}${STOP}${chunk([], CHAT_USAGE)}data: {"broken\n\n`,
  'messages-nonsense': `${BEGIN}${END}event: message_stop\ndata: {"broken\n\n`,
  'chat-told-then-failed': `${says('word '.repeat(40), CHAT_USAGE)}${data({ error: { message: 'it broke', type: 'server_error' } })}`,
  'messages-told-then-failed': `${BEGIN}${event('message_delta', { delta: {}, usage: { output_tokens: 70 } })}${event('error', { error: { type: 'api_error', message: 'it broke' } })}`,
};

let hosts: ReturnType<typeof Bun.serve>;
let gateway: RunningGateway;
beforeAll(async () => {
  hosts = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { model } = (await request.json()) as { readonly model: string };
      const stream = STREAMS[model];
      if (stream !== undefined) return new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
      return Response.json(BODIES[model] ?? {});
    },
  });
  const names = [...Object.keys(BODIES), ...Object.keys(STREAMS)];
  const modelOf = (name: string) => ({ host: name.startsWith('chat') ? 'chat' : 'messages', price: PRICE }) as const;
  const models = Object.fromEntries(names.map((name) => [name, modelOf(name)]));
  gateway = await startGateway({ config: moneyConfig(`http://127.0.0.1:${hosts.port}`, models) });
});
afterAll(async () => {
  await gateway.stop();
  await hosts.stop(true);
});

async function ask({ key, keyId }: Customer, side: Side, model: string, members: object = {}) {
  const body = { model, max_tokens: 500, messages: [{ role: 'user', content: 'Good day.' }], ...members };
  const response = await post({ url: gateway.url, key }, side, body);
  const text = await response.text();
  const record = await eventually('the record', async () => (await gateway.calls('--key', keyId))[0]);
  return { status: response.status, text, record };
}

/** Expects that the account paid nothing and the operator wrote everything off. */
async function expectWrittenOff(customer: Customer, record: CallLine, available: bigint) {
  expect(record).toMatchObject({ usage: TOLD, usage_source: 'upstream', cost_nano_usd: String(COST) });
  expect(await moneyOf(gateway, customer)).toEqual({ available, held: 0n, charged: 0n, writtenOff: COST });
}

const SIDES = ['chat', 'messages'] as const;

describe.each(SIDES.flatMap((side) => Object.keys(BODIES).map((model) => [side, model] as const)))(
  'over %s a 200 with usage that is no answer (%s)',
  (side, model) => {
    test.each([
      ['plain', {}],
      ['asked for as a stream', { stream: true }],
    ])('%s: 500, and written off', async (_, members) => {
      const customer = await newCustomer(gateway);
      const { status, record } = await ask(customer, side, model, members);
      expect(status).toBe(500);
      expect(record.error).not.toBeNull();
      await expectWrittenOff(customer, record, 0n);
    });

    test('sent as a stream because of its limit: 500, and written off', async () => {
      const customer = await newPrepaid(gateway, BALANCE);
      const { status, record } = await ask(customer, side, model);
      expect(status).toBe(500);
      await expectWrittenOff(customer, record, BALANCE);
    });
  },
);

describe.each(SIDES.flatMap((side) => SIDES.map((host) => [side, host] as const)))(
  'over %s a %s stream that told its usage',
  (side, host) => {
    test('a malformed end costs the operator if the client requested a plain answer', async () => {
      const customer = await newPrepaid(gateway, BALANCE);
      const { status, record } = await ask(customer, side, `${host}-nonsense`);
      expect([status, record.error]).toEqual([500, 'upstream_malformed']);
      if (side === host) await expectWrittenOff(customer, record, BALANCE);
      else {
        // A translated answer is complete only with its last event: until then the attempt may have been billed.
        expect(record).toMatchObject({ usage: ZERO_USAGE, usage_source: 'void', cost_nano_usd: '0' });
        expect(record.attempts).toMatchObject([{ billed: 'maybe', usage: TOLD, cost_nano_usd: String(COST) }]);
        const money = { available: BALANCE, held: 0n, charged: 0n, writtenOff: 0n };
        expect(await moneyOf(gateway, customer)).toEqual(money);
      }
    });

    test('and failed before its end is charged by upstream’s number, not by ours', async () => {
      const customer = await newCustomer(gateway);
      const { status, record } = await ask(customer, side, `${host}-told-then-failed`, { stream: true });
      expect(status).toBe(200);
      expect(record).toMatchObject({ usage: TOLD, usage_source: 'partial', error: 'upstream_failed' });
      expect(await moneyOf(gateway, customer)).toMatchObject({ charged: COST, writtenOff: 0n });
    });
  },
);

test.each(SIDES)('a %s stream with usage and finish reason but a malformed end is written off', async (side) => {
  const customer = await newCustomer(gateway);
  const { status, record } = await ask(customer, side, `${side}-nonsense`, { stream: true });
  expect([status, record.error]).toEqual([200, 'upstream_malformed']);
  await expectWrittenOff(customer, record, 0n);
});

test('the name of an idempotent call that was not delivered is free again', async () => {
  const customer = await newCustomer(gateway);
  const body = { model: 'chat-no-choices', messages: [{ role: 'user', content: 'Good day.' }] };
  const once = () => post({ url: gateway.url, key: customer.key }, 'chat', body, { 'idempotency-key': 'once' });
  expect([(await once()).status, (await once()).status]).toEqual([500, 500]);
});

test('the ledger proves all of it', async () => {
  const { status, stdout } = await gateway.run('verify');
  expect([status, stdout]).toEqual([0, expect.stringContaining('The ledger is valid')]);
});
