/**
 * Tests a plain call whose caps cover a slice but not its worst case: the gateway requests a stream from upstream,
 * meters it and answers in one piece. When the money runs out on the way, the answer is what arrived. Same and
 * translated formats.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { eventually } from '../harness/eventually.ts';
import { type CallLine, type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { callHeaders, PATHS as ENDPOINTS, type Side } from '../http-contract/calls.ts';
import { type GatedCall, type GatedUpstream, startGatedUpstream } from './gated-upstream.ts';
import { type Customer, moneyConfig, moneyOf, newCustomer, newPrepaid } from './money-rig.ts';

/** Output at 5 USD per million tokens; input at 1, estimated as a quarter of the body's bytes. */
const OUTPUT = 5_000n;
const INPUT = 1_000n;
const SLICE_TOKENS = 2_048;
const SLICE = OUTPUT * BigInt(SLICE_TOKENS);
const INPUT_TOKENS = 11;
const BYTES_PER_TOKEN = 4;
const MAX_TOKENS = 64_000;

const WAYS = (['chat', 'messages'] as const).flatMap((side) =>
  (['chat', 'messages'] as const).map((host) => ({ side, host, words: side === host ? 'same format' : 'translated' })),
);

let upstream: GatedUpstream;
/** An upstream without streams: `refusing` returns an error, `ignoring` answers in one piece. */
let unstreamed: ReturnType<typeof Bun.serve>;
let gateway: RunningGateway;
beforeAll(async () => {
  upstream = startGatedUpstream();
  unstreamed = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answerUnstreamed });
  const price = { input: 1, output: 5 };
  const { providers, models } = moneyConfig(upstream.url, {
    'chat-gated': { host: 'chat', price },
    'messages-gated': { host: 'messages', price },
  }) as { readonly providers: object; readonly models: object };
  const target = (model: string) => ({ targets: [{ provider: 'unstreamed', model }], price });
  gateway = await startGateway({
    config: {
      providers: {
        ...providers,
        unstreamed: { kind: 'openai-compatible', base_url: `http://127.0.0.1:${unstreamed.port}/v1`, api_key: 'none' },
      },
      models: { ...models, 'chat-refusing': target('refusing'), 'chat-ignoring': target('ignoring') },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
  await unstreamed.stop(true);
});

async function answerUnstreamed(request: Request): Promise<Response> {
  const { model } = (await request.json()) as { readonly model: string };
  if (model === 'refusing') {
    const message = "Unsupported value: 'stream' does not support true with this model.";
    return Response.json({ error: { message, type: 'invalid_request_error', param: 'stream' } }, { status: 400 });
  }
  const message = { role: 'assistant', content: 'all at once' };
  return Response.json({
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: INPUT_TOKENS, completion_tokens: 3, total_tokens: INPUT_TOKENS + 3 },
  });
}

const bodyOf = (model: string) => ({
  model,
  max_tokens: MAX_TOKENS,
  messages: [{ role: 'user', content: 'Go on and on.' }],
});

/** The hold for a call's input and `tokens` of its output. */
function holdOf(model: string, tokens: number): bigint {
  const estimate = Math.ceil(JSON.stringify(bodyOf(model)).length / BYTES_PER_TOKEN);
  return INPUT * BigInt(Math.ceil((estimate * 115) / 100)) + OUTPUT * BigInt(tokens);
}

interface Plain {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Sends the call; its answer arrives once upstream has answered. */
async function ask(
  customer: Customer,
  side: Side,
  model: string,
  { signal, name }: { readonly signal?: AbortSignal; readonly name?: string } = {},
): Promise<Plain> {
  const response = await fetch(`${gateway.url}${ENDPOINTS[side]}`, {
    method: 'POST',
    headers: callHeaders(customer.key, name === undefined ? {} : { 'idempotency-key': name }),
    body: JSON.stringify(bodyOf(model)),
    ...(signal === undefined ? {} : { signal }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function start(customer: Customer, side: Side, host: Side, how: Parameters<typeof ask>[3] = {}) {
  const answer = ask(customer, side, `${host}-gated`, how);
  // The rejection is handled where the answer is awaited; a test that ends before reports its own failure.
  answer.catch(() => undefined);
  return { answer, call: await upstream.next() };
}

/** Resolves once the hold covers exactly that many tokens of the call's output. */
function heldFor(customer: Customer, model: string, tokens: number): Promise<true> {
  return eventually(`a hold of ${tokens} tokens`, async () =>
    (await moneyOf(gateway, customer)).held === holdOf(model, tokens) ? true : null,
  );
}

/** Parses an answer in one piece as a client of this format does. */
function read(side: Side, text: string) {
  const answer = JSON.parse(text);
  return side === 'chat'
    ? {
        answerText: answer.choices[0].message.content,
        finish: answer.choices[0].finish_reason,
        input: answer.usage.prompt_tokens,
        output: answer.usage.completion_tokens,
      }
    : {
        answerText: answer.content[0].text,
        finish: answer.stop_reason,
        input: answer.usage.input_tokens,
        output: answer.usage.output_tokens,
      };
}

async function onlyRecord(customer: Customer): Promise<CallLine> {
  return eventually('the record', async () => (await gateway.calls('--key', customer.keyId))[0]);
}

function costOf({ usage }: CallLine): bigint {
  return INPUT * BigInt(usage.input ?? -1) + OUTPUT * BigInt(usage.output ?? -1);
}

const streams = ({ body }: GatedCall) => (body as { readonly stream?: unknown }).stream;

for (const { side, host, words } of WAYS) {
  describe(`a plain call over ${side} to a ${host} host (${words})`, () => {
    const model = `${host}-gated`;

    test('a call whose maximum cost is not covered is sent as a stream, held slice by slice, and answered in one piece', async () => {
      const balance = holdOf(model, 3 * SLICE_TOKENS);
      const customer = await newPrepaid(gateway, balance);
      const { answer, call } = await start(customer, side, host);
      expect(streams(call)).toBe(true);
      await heldFor(customer, model, SLICE_TOKENS);
      call.say(1_800);
      await heldFor(customer, model, 2 * SLICE_TOKENS);
      call.say(1_200);
      call.finish(3_000);
      const { status, headers, text } = await answer;
      expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
      expect(headers.get('x-tollgate-cut')).toBeNull();
      const finish = side === 'chat' ? 'stop' : 'end_turn';
      expect(read(side, text)).toEqual({
        answerText: 'tok '.repeat(3_000),
        finish,
        input: INPUT_TOKENS,
        output: 3_000,
      });
      const cost = INPUT * BigInt(INPUT_TOKENS) + OUTPUT * 3_000n;
      expect(await moneyOf(gateway, customer)).toEqual({
        available: balance - cost,
        held: 0n,
        charged: cost,
        writtenOff: 0n,
      });
      expect(await onlyRecord(customer)).toMatchObject({ error: null, usage_source: 'upstream', stream: false });
    });

    test('a call that outgrows its balance gets the paid part of its answer, with the reason', async () => {
      const balance = holdOf(model, SLICE_TOKENS) + SLICE / 2n;
      const customer = await newPrepaid(gateway, balance);
      const { answer, call } = await start(customer, side, host);
      call.say(10_000);
      const { status, headers, text } = await answer;
      await call.left;
      expect([status, headers.get('x-tollgate-cut')]).toEqual([200, 'insufficient_quota']);
      const record = await onlyRecord(customer);
      const { answerText, finish, input, output } = read(side, text);
      expect([answerText, finish]).toEqual([
        'tok '.repeat(SLICE_TOKENS + 1),
        side === 'chat' ? 'length' : 'max_tokens',
      ]);
      expect(record).toMatchObject({ error: 'quota_exceeded', status: 200, usage_source: 'partial', stream: false });
      expect(record.reason).toMatchObject({ kind: 'money_ran_out', rule: { cap: 'balance' }, at_step: 'answer' });
      expect([record.usage.input, record.usage.output]).toEqual([input, output]);
      expect(output).toBe(SLICE_TOKENS + 1);
      expect(await moneyOf(gateway, customer)).toEqual({
        available: balance - costOf(record),
        held: 0n,
        charged: costOf(record),
        writtenOff: 0n,
      });
    });

    test('a call whose client disconnects pays for the output until then', async () => {
      const customer = await newPrepaid(gateway, holdOf(model, 3 * SLICE_TOKENS));
      const leaving = new AbortController();
      const { call } = await start(customer, side, host, { signal: leaving.signal });
      call.say(1_800);
      await heldFor(customer, model, 2 * SLICE_TOKENS);
      leaving.abort();
      await call.left;
      const record = await onlyRecord(customer);
      expect(record).toMatchObject({ error: 'client_left', stream: false, usage: { output: 1_800 } });
      expect(await moneyOf(gateway, customer)).toMatchObject({ held: 0n, charged: costOf(record), writtenOff: 0n });
    });

    test('a call whose upstream breaks off costs nothing', async () => {
      const balance = holdOf(model, SLICE_TOKENS);
      const customer = await newPrepaid(gateway, balance);
      const { answer, call } = await start(customer, side, host);
      call.say(100);
      call.breakOff();
      expect((await answer).status).toBe(500);
      expect(await onlyRecord(customer)).toMatchObject({ error: 'upstream_truncated', usage_source: 'void' });
      expect(await moneyOf(gateway, customer)).toMatchObject({ available: balance, held: 0n, charged: 0n });
    });

    test('a call whose caps do not cover a slice is refused', async () => {
      const customer = await newPrepaid(gateway, holdOf(model, SLICE_TOKENS) - 1n);
      const { status, text } = await ask(customer, side, model);
      expect([status, text]).toEqual([429, expect.stringContaining('insufficient quota')]);
    });

    test('a call whose maximum cost is covered holds all of it, and is streamed until its limit is proven', async () => {
      const customer = await newPrepaid(gateway, holdOf(model, MAX_TOKENS));
      const { answer, call } = await start(customer, side, host);
      expect(streams(call)).toBe(true);
      await heldFor(customer, model, MAX_TOKENS);
      call.say(1);
      call.breakOff();
      await answer;
    });

    test('a call without a balance or budget is not sent as a stream', async () => {
      const leaving = new AbortController();
      const { call } = await start(await newCustomer(gateway), side, host, { signal: leaving.signal });
      expect(streams(call)).toBeUndefined();
      leaving.abort();
      await call.left;
    });
  });
}

test('a cut answer is replayed by its idempotency key, free of charge', async () => {
  const customer = await newPrepaid(gateway, holdOf('chat-gated', SLICE_TOKENS));
  const { answer, call } = await start(customer, 'chat', 'chat', { name: 'once' });
  call.say(3_000);
  const first = await answer;
  const money = await moneyOf(gateway, customer);
  const again = await ask(customer, 'chat', 'chat-gated', { name: 'once' });
  const shown = ({ status, text, headers }: Plain) => [status, text, headers.get('x-tollgate-cut')];
  expect(shown(again)).toEqual(shown(first));
  expect([again.headers.get('x-tollgate-replayed'), first.headers.get('x-tollgate-cut')]).toEqual([
    'true',
    'insufficient_quota',
  ]);
  expect(await moneyOf(gateway, customer)).toEqual(money);
});

describe('a host that does not stream', () => {
  test.each(['chat', 'messages'] as const)('and says so: refused over %s as before, for nothing', async (side) => {
    const balance = holdOf('chat-refusing', SLICE_TOKENS);
    const customer = await newPrepaid(gateway, balance);
    const { status, text } = await ask(customer, side, 'chat-refusing');
    expect([status, text]).toEqual([429, expect.stringContaining('lower its maximum of output tokens')]);
    expect(await moneyOf(gateway, customer)).toEqual({ available: balance, held: 0n, charged: 0n, writtenOff: 0n });
  });

  test.each(['chat', 'messages'] as const)('and answers in one piece: that is the answer over %s', async (side) => {
    const balance = holdOf('chat-ignoring', SLICE_TOKENS);
    const customer = await newPrepaid(gateway, balance);
    const { status, text } = await ask(customer, side, 'chat-ignoring');
    expect(status).toBe(200);
    expect(read(side, text)).toMatchObject({ answerText: 'all at once', output: 3 });
    const charged = INPUT * BigInt(INPUT_TOKENS) + OUTPUT * 3n;
    expect(await moneyOf(gateway, customer)).toMatchObject({ held: 0n, charged, writtenOff: 0n });
  });
});

test('the ledger proves all of it', async () => {
  const { status, stdout } = await gateway.run('verify');
  expect([status, stdout]).toEqual([0, expect.stringContaining('The ledger is valid')]);
});
