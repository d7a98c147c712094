/**
 * Tests that members which name other models or change the price affect the key's permissions, the hold, the bill and
 * the ledger check: in both formats, plain and streamed, unchanged and translated.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { eventually } from '../harness/eventually.ts';
import type { CallLine } from '../harness/start-gateway.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { post, type Side } from '../http-contract/calls.ts';
import { moneyConfig, moneyOf, newCustomer, newPrepaid, verified } from './money-rig.ts';

/** Each command is a process of its own, and a machine may be busy. */
setDefaultTimeout(20_000);

const BALANCE = 10_000_000_000n;
const CHEAP = { input: 1, output: 5, modifiers: { speed: { fast: 2 }, inference_geo: { us: 1.1 } } };
const DEAR = { input: 5, output: 25, modifiers: { speed: { fast: 6 } } };
const TIERED = { input: 1, output: 5, modifiers: { service_tier: { priority: 2, flex: 0.5 } } };
const LONG = { input: 1, output: 5, tiers: [{ above: 1_000, input: 10, output: 50 }] };

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((url) =>
    moneyConfig(url, {
      'claude-cheap': { host: 'messages', price: CHEAP },
      'claude-dear': { host: 'messages', price: DEAR },
      'claude-long': { host: 'messages', price: LONG },
      // A public name that resembles a different model of the provider.
      'claude-hidden': { host: 'messages', model: 'claude-cheap', price: CHEAP },
      'chat-cheap': { host: 'chat', price: TIERED },
      'chat-dear': { host: 'chat', price: DEAR },
      'chat-plain': { host: 'chat', price: { input: 1, output: 5 } },
    }),
  );
});
afterAll(async () => {
  await verified(pair);
  await pair.stop();
});

type Members = Readonly<Record<string, unknown>>;
const BOTH = [false, true];

function scriptMessages(model: string, stream: boolean, usage: object, more: Members = {}): void {
  const content =
    more.stop_reason === 'compaction' ? [{ type: 'compaction', content: 'Short.' }] : [{ type: 'text', text: 'Good.' }];
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: 'end_turn',
    usage,
    ...more,
  };
  const event = (type: string, members: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
  const first = { input_tokens: 1, output_tokens: 1 };
  const records = [
    event('message_start', {
      message: { ...message, model, content: [], stop_reason: null, stop_details: null, usage: first },
    }),
    ...(message.model === model
      ? []
      : [
          event('content_block_start', { index: 0, content_block: { type: 'fallback', to: { model: message.model } } }),
          event('content_block_stop', { index: 0 }),
        ]),
    ...content.flatMap((block, index) => [
      event('content_block_start', { index: index + 1, content_block: { ...block, text: '' } }),
      event('content_block_delta', { index: index + 1, delta: { type: 'text_delta', text: 'Good.' } }),
      event('content_block_stop', { index: index + 1 }),
    ]),
    event('message_delta', { delta: { stop_reason: message.stop_reason, stop_details: more.stop_details }, usage }),
    event('message_stop', {}),
  ];
  pair.fake.script(model, stream ? { records } : { json: message });
}

function scriptChat(model: string, stream: boolean, usage: object, more: Members = {}): void {
  const head = { id: 'c', created: 1, model, ...more };
  const message = { role: 'assistant', content: 'Good.', refusal: null };
  const choice = { index: 0, finish_reason: 'stop', logprobs: null };
  const chunk = (members: object) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...members })}\n\n`;
  const records = [
    chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Good.' }, finish_reason: null }] }),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    chunk({ choices: [], usage }),
    'data: [DONE]\n\n',
  ];
  pair.fake.script(
    model,
    stream ? { records } : { json: { ...head, object: 'chat.completion', choices: [{ ...choice, message }], usage } },
  );
}

const M_USAGE = { input_tokens: 100, output_tokens: 20 };
const C_USAGE = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };

function ask(key: string, side: Side | '/v1/messages/count_tokens', members: Members): Promise<Response> {
  const body = { max_tokens: 500, messages: [{ role: 'user', content: 'Good day.' }], ...members };
  return post({ url: pair.gateway.url, key }, side, body);
}

interface Paid {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly record: CallLine;
  readonly charged: bigint;
}

/** Returns the call's whole answer, its record, and what it took from a new balance. */
async function paid(side: Side, members: Members): Promise<Paid> {
  const customer = await newPrepaid(pair.gateway, BALANCE);
  const response = await ask(customer.key, side, members);
  const text = await response.text();
  const [record] = await pair.gateway.calls('--request-id', response.headers.get('x-request-id') ?? '');
  if (record === undefined) throw new Error(`no record of a call that got ${response.status}: ${text}`);
  const { charged, held, writtenOff } = await moneyOf(pair.gateway, customer);
  expect([held, writtenOff]).toEqual([0n, 0n]);
  expect(record.cost_nano_usd).toBe(String(charged));
  return { status: response.status, text, headers: response.headers, record, charged };
}

const extrasOf = (record: CallLine) => record.usage as unknown as Readonly<Record<string, unknown>>;

describe('a key that may use one model', () => {
  let key: string;
  beforeAll(async () => {
    ({ key } = await newCustomer(pair.gateway, { key: { models: ['claude-cheap', 'chat-cheap', 'claude-hidden'] } }));
  });

  const advisor = { type: 'advisor_20260301', name: 'advisor', model: 'claude-dear' };
  const named: readonly (readonly [string, Side, Members])[] = [
    ['fallbacks.0.model', 'messages', { fallbacks: [{ model: 'claude-dear' }] }],
    ['fallbacks.1.model', 'messages', { fallbacks: [{ model: 'claude-cheap' }, { model: 'claude-dear' }] }],
    ['fallbacks.0', 'messages', { fallbacks: ['claude-dear'] }],
    ['tools.0.model', 'messages', { tools: [advisor] }],
    ['models.0', 'messages', { models: ['claude-dear'] }],
    [
      'context_management.edits.0.model',
      'messages',
      { context_management: { edits: [{ type: 'x', model: 'claude-dear' }] } },
    ],
    ['models.1', 'chat', { models: ['chat-cheap', 'chat-dear'] }],
    ['fallbacks.0', 'chat', { fallbacks: ['chat-dear'] }],
    ['plugins.0.models.0', 'chat', { plugins: [{ id: 'fusion', models: ['chat-dear'] }] }],
    [
      'compound_custom.models.reasoning_model',
      'chat',
      { compound_custom: { models: { reasoning_model: 'chat-dear' } } },
    ],
    [
      'tools.0.parameters.model',
      'chat',
      { tools: [{ type: 'openrouter:advisor', parameters: { model: 'chat-dear' } }] },
    ],
  ];

  test.each(named)('is refused another one that %s names over %s, as for model', async (path, side, members) => {
    const model = side === 'chat' ? 'chat-cheap' : 'claude-cheap';
    const served = pair.fake.served(model).length;
    for (const stream of BOTH) {
      const response = await ask(key, side, { model, stream, ...members });
      const text = await response.text();
      expect([response.status, text.includes(`${path}: this API key may not use`)]).toEqual([403, true]);
      if (side === 'chat') expect(JSON.parse(text).error).toMatchObject({ code: 'forbidden', param: path });
      else expect(JSON.parse(text).error.type).toBe('permission_error');
    }
    expect(pair.fake.served(model)).toHaveLength(served);
  });

  test('is refused it where tokens are counted, too', async () => {
    const response = await ask(key, '/v1/messages/count_tokens', { model: 'claude-cheap', tools: [advisor] });
    expect(response.status).toBe(403);
    await response.text();
  });

  test('is refused a choice that is left to the provider', async () => {
    const response = await ask(key, 'messages', { model: 'claude-cheap', fallbacks: 'default' });
    expect([
      response.status,
      (await response.text()).includes('fallbacks: it lets the provider choose a model'),
    ]).toEqual([403, true]);
  });

  test('a name that its provider does not serve here is reported like an unknown model', async () => {
    for (const name of ['claude-hidden', 'gpt-nobody-knows', 'chat-cheap']) {
      const response = await ask(key, 'messages', { model: 'claude-cheap', fallbacks: [{ model: name }] });
      expect([response.status, JSON.parse(await response.text()).error.type]).toEqual([404, 'not_found_error']);
    }
  });

  test('may name its own models, and names in a caller’s own tools are no models', async () => {
    scriptMessages('claude-cheap', false, M_USAGE);
    const own = { name: 'f', input_schema: { type: 'object', properties: { model: { const: 'claude-dear' } } } };
    const response = await ask(key, 'messages', {
      model: 'claude-cheap',
      fallbacks: [{ model: 'claude-cheap' }],
      tools: [own],
    });
    expect(response.status).toBe(200);
    await response.text();
  });
});

describe('members of a wrong type', () => {
  const wrong: readonly (readonly [string, Side, Members])[] = [
    ['fallbacks', 'messages', { fallbacks: 5 }],
    ['fallbacks', 'messages', { fallbacks: { model: 'x' } }],
    ['fallbacks.0', 'messages', { fallbacks: [[]] }],
    ['fallbacks.0.model', 'messages', { fallbacks: [{}] }],
    ['fallbacks.0.speed', 'messages', { fallbacks: [{ model: 'claude-cheap', speed: 3 }] }],
    ['speed', 'messages', { speed: ['fast'] }],
    ['speed', 'messages', { speed: 'fast\u0000' }],
    ['inference_geo', 'messages', { inference_geo: {} }],
    ['tools.0.model', 'messages', { tools: [{ type: 'advisor_20260301', name: 'a', model: 7 }] }],
    ['service_tier', 'chat', { service_tier: 1 }],
    ['models', 'chat', { models: { a: 1 } }],
    ['models.1', 'chat', { models: ['chat-cheap', null] }],
    ['plugins', 'chat', { plugins: 'web' }],
    ['plugins.0', 'chat', { plugins: ['web'] }],
    ['provider', 'chat', { provider: [] }],
    ['fallback_credit_token', 'messages', { fallback_credit_token: 9 }],
    ['models', 'chat', { models: Array.from({ length: 5_000 }, () => 'chat-cheap') }],
  ];
  test.each(wrong)('%s over %s is a clear 400', async (path, side, members) => {
    const { key } = await newCustomer(pair.gateway);
    const response = await ask(key, side, { model: side === 'chat' ? 'chat-cheap' : 'claude-cheap', ...members });
    expect([response.status, (await response.text()).includes(path)]).toEqual([400, true]);
  });
});

describe.each(BOTH)('the statements of an answer decide its price, stream %p', (stream) => {
  const call = (members: Members) => paid('messages', { model: 'claude-cheap', stream, ...members });

  test('a fallback is charged as the model that answered, and is the record’s served model', async () => {
    scriptMessages('claude-cheap', stream, M_USAGE, { model: 'claude-dear' });
    const { record, charged } = await call({ fallbacks: [{ model: 'claude-dear' }] });
    expect(charged).toBe(100n * 5_000n + 20n * 25_000n);
    expect([record.model, record.served_model]).toEqual(['claude-cheap', 'claude-dear']);
  });

  test('a fallback that did not answer is not', async () => {
    scriptMessages('claude-cheap', stream, M_USAGE);
    expect((await call({ fallbacks: [{ model: 'claude-dear' }] })).charged).toBe(200_000n);
  });

  test('a try with output before it was declined is charged in addition to the fallback, each at its own price', async () => {
    const iterations = [
      { type: 'message', model: 'claude-cheap', input_tokens: 90, output_tokens: 10 },
      { type: 'fallback_message', model: 'claude-dear', ...M_USAGE },
    ];
    scriptMessages('claude-cheap', stream, { ...M_USAGE, iterations }, { model: 'claude-dear' });
    const { record, charged } = await call({ fallbacks: [{ model: 'claude-dear' }] });
    expect(charged).toBe(90n * 1_000n + 10n * 5_000n + 100n * 5_000n + 20n * 25_000n);
    expect(record.usage).toMatchObject({ input: 190, output: 30 });
    expect(extrasOf(record).parts).toMatchObject([
      { model: 'claude-cheap', input: 90 },
      { model: 'claude-dear', input: 100 },
    ]);
  });

  test('an advisor is charged at its own price, in addition to the advised model', async () => {
    const iterations = [
      { type: 'message', input_tokens: 60, output_tokens: 15 },
      { type: 'advisor_message', model: 'claude-dear-20260101', input_tokens: 70, output_tokens: 9 },
      { type: 'message', input_tokens: 40, output_tokens: 5 },
    ];
    scriptMessages('claude-cheap', stream, { ...M_USAGE, iterations });
    const { record, charged } = await call({
      tools: [{ type: 'advisor_20260301', name: 'advisor', model: 'claude-dear', max_uses: 1 }],
    });
    expect(charged).toBe(200_000n + 70n * 5_000n + 9n * 25_000n);
    expect(record.usage).toMatchObject({ input: 170, output: 29 });
  });

  test('a paused compaction is charged', async () => {
    const iterations = [{ type: 'compaction', input_tokens: 600, output_tokens: 70 }];
    scriptMessages(
      'claude-cheap',
      stream,
      { input_tokens: 0, output_tokens: 0, iterations },
      { stop_reason: 'compaction' },
    );
    const { record, charged } = await call({});
    expect(charged).toBe(600n * 1_000n + 70n * 5_000n);
    expect([record.finish_reason, record.usage.input]).toEqual(['compaction', 600]);
  });

  test('each run of several counts its own length for the price of long input', async () => {
    const run = { type: 'message', input_tokens: 900, output_tokens: 10 };
    scriptMessages('claude-long', stream, {
      input_tokens: 900,
      output_tokens: 10,
      iterations: [{ ...run, type: 'compaction' }, run],
    });
    const { charged } = await paid('messages', { model: 'claude-long', stream });
    expect(charged).toBe(1_800n * 1_000n + 20n * 5_000n);
  });

  test.each([
    ['fast, answered fast', { speed: 'fast' }, { speed: 'fast' }, 400_000n],
    ['fast, answered standard', { speed: 'fast' }, { speed: 'standard' }, 200_000n],
    ['fast, and the answer does not say', { speed: 'fast' }, {}, 400_000n],
    ['fast and in the US', { speed: 'fast', inference_geo: 'us' }, { speed: 'fast', inference_geo: 'us' }, 440_000n],
    ['nothing, answered fast', {}, { speed: 'fast' }, 400_000n],
    [
      'standard_only, and a tier that has no price',
      { service_tier: 'standard_only' },
      { service_tier: 'priority' },
      200_000n,
    ],
    [
      'what stands for the list price',
      { speed: 'standard', inference_geo: 'global', service_tier: 'auto' },
      {},
      200_000n,
    ],
  ] as const)('asked for %s', async (_, members, stated, charged) => {
    scriptMessages('claude-cheap', stream, { ...M_USAGE, ...stated });
    const call = await paid('messages', { model: 'claude-cheap', stream, ...members });
    expect(call.charged).toBe(charged);
  });

  test.each([
    ['priority, answered priority', { service_tier: 'priority' }, { service_tier: 'priority' }, 400_000n],
    ['priority, answered default', { service_tier: 'priority' }, { service_tier: 'default' }, 200_000n],
    ['flex', { service_tier: 'flex' }, { service_tier: 'flex' }, 100_000n],
    ['auto, answered priority', { service_tier: 'auto' }, { service_tier: 'priority' }, 400_000n],
    ['nothing, answered flex', {}, { service_tier: 'flex' }, 100_000n],
    ['default', { service_tier: 'default' }, { service_tier: null }, 200_000n],
  ] as const)('over chat, asked for %s', async (_, members, stated, charged) => {
    scriptChat('chat-cheap', stream, C_USAGE, stated);
    expect((await paid('chat', { model: 'chat-cheap', stream, ...members })).charged).toBe(charged);
  });

  test('over chat, another model of the list is charged at its own price', async () => {
    scriptChat('chat-cheap', stream, C_USAGE, { model: 'chat-dear' });
    const { record, charged } = await paid('chat', {
      model: 'chat-cheap',
      stream,
      models: ['chat-cheap', 'chat-dear'],
    });
    expect(charged).toBe(100n * 5_000n + 20n * 25_000n);
    expect(record.served_model).toBe('chat-dear');
  });

  test('translated, a tier that the answer states is charged too', async () => {
    scriptChat('chat-cheap', stream, C_USAGE, { service_tier: 'priority' });
    const { charged } = await paid('messages', { model: 'chat-cheap', stream, service_tier: 'auto' });
    expect(charged).toBe(400_000n);
  });

  test('translated, members of the other format are not sent and cost nothing', async () => {
    scriptMessages('claude-cheap', stream, M_USAGE);
    const members = { models: ['claude-dear'], provider: { only: ['x'] }, plugins: [{ id: 'web' }], speed: 'fast' };
    const { status, charged, headers } = await paid('chat', { model: 'claude-cheap', stream, ...members });
    expect([status, charged]).toEqual([200, 200_000n]);
    for (const name of Object.keys(members)) expect(headers.get('x-tollgate-dropped')).toContain(name);
  });

  test('translated, a paused compaction is charged and not shown as a complete stop', async () => {
    const iterations = [{ type: 'compaction', input_tokens: 600, output_tokens: 70 }];
    scriptMessages(
      'claude-cheap',
      stream,
      { input_tokens: 0, output_tokens: 0, iterations },
      { stop_reason: 'compaction' },
    );
    const { text, charged, record, headers } = await paid('chat', { model: 'claude-cheap', stream });
    expect(charged).toBe(600n * 1_000n + 70n * 5_000n);
    expect([text.includes('"finish_reason":"length"'), record.finish_reason]).toEqual([true, 'length']);
    if (!stream) expect(headers.get('x-tollgate-dropped')).toContain('compaction');
  });
});

describe('where a balance or a budget pays', () => {
  const unknown: readonly (readonly [string, Side, string, Members])[] = [
    ['speed', 'messages', 'claude-cheap', { speed: 'ludicrous' }],
    ['inference_geo', 'messages', 'claude-cheap', { inference_geo: 'moon' }],
    ['service_tier', 'messages', 'claude-cheap', { service_tier: 'priority' }],
    ['inference_geo', 'messages', 'claude-cheap', { fallbacks: [{ model: 'claude-dear', inference_geo: 'us' }] }],
    ['billing_policy', 'messages', 'claude-cheap', { billing_policy: { a: 1 } }],
    ['service_tier', 'chat', 'chat-plain', { service_tier: 'priority' }],
    ['service_tier', 'chat', 'chat-cheap', { service_tier: 'scale' }],
    ['speed', 'chat', 'chat-plain', { speed: 'fast' }],
    ['provider', 'chat', 'chat-plain', { provider: { sort: 'throughput' } }],
    ['plugins', 'chat', 'chat-plain', { plugins: [{ id: 'web' }] }],
    ['preset', 'chat', 'chat-plain', { preset: 'dear' }],
    ['tools.0', 'chat', 'chat-plain', { tools: [{ type: 'openrouter:web_search' }] }],
  ];
  const members: readonly (readonly [string, Side, string, Members, string])[] = unknown.map(
    (row) => [...row, 'balance'] as const,
  );

  test.each(members)('%s over %s is refused if its cost is unknown (%s)', async (path, side, model, more) => {
    const served = pair.fake.served(model).length;
    const prepaid = await newPrepaid(pair.gateway, BALANCE);
    const budgeted = await newCustomer(pair.gateway, { key: { budget_usd: '5', budget_window: 'day' } });
    for (const { key } of [prepaid, budgeted]) {
      const response = await ask(key, side, { model, ...more });
      const text = await response.text();
      expect([response.status, JSON.parse(text).error.message]).toEqual([400, expect.stringContaining(`${path}: `)]);
    }
    expect(pair.fake.served(model)).toHaveLength(served);
    expect(await moneyOf(pair.gateway, prepaid)).toMatchObject({ available: BALANCE, held: 0n });
  });

  test.each([
    ['messages', 'claude-cheap', ['auto', 'standard_only']],
    ['chat', 'chat-plain', ['auto', 'default']],
  ] as const)('%s never refuses the words that stand for the list price', async (side, model, words) => {
    if (side === 'chat') scriptChat(model, false, C_USAGE);
    else scriptMessages(model, false, M_USAGE);
    for (const service_tier of words) expect((await paid(side, { model, service_tier })).charged).toBe(200_000n);
  });

  test('void members cost nothing', async () => {
    scriptChat('chat-plain', false, C_USAGE);
    const none = { provider: {}, plugins: [], models: [], fallbacks: null, speed: null };
    expect((await paid('chat', { model: 'chat-plain', ...none })).charged).toBe(200_000n);
  });

  /** 500 output tokens and a short prompt: about 2.5 million nano-USD at the cheap price. */
  test.each([
    ['a dearer fallback', 'messages', 'claude-cheap', { fallbacks: [{ model: 'claude-dear' }] }],
    ['a dearer tier', 'messages', 'claude-cheap', { speed: 'fast' }],
    ['a tier that auto may mean', 'chat', 'chat-cheap', { service_tier: 'auto' }],
    ['a dearer model of the list', 'chat', 'chat-cheap', { models: ['chat-cheap', 'chat-dear'] }],
    [
      'an advisor',
      'messages',
      'claude-cheap',
      { tools: [{ type: 'advisor_20260301', name: 'a', model: 'claude-dear', max_uses: 1, max_tokens: 1024 }] },
    ],
  ] as const)(
    '%s is held for: a balance that covers the cheap answer alone is not enough',
    async (_, side, model, more) => {
      if (side === 'chat') scriptChat(model, false, C_USAGE);
      else scriptMessages(model, false, M_USAGE);
      const customer = await newPrepaid(pair.gateway, 3_000_000n);
      const plain = await ask(customer.key, side, { model });
      expect([plain.status, await plain.text()]).toEqual([200, expect.any(String)]);
      const served = pair.fake.served(model).length;
      const response = await ask(customer.key, side, { model, ...more });
      expect([
        response.status,
        (await response.text()).includes(side === 'chat' ? 'insufficient_quota' : 'billing_error'),
      ]).toEqual([429, true]);
      expect(pair.fake.served(model)).toHaveLength(served);
    },
  );
});

test('a postpaid account without a budget is served, and the operator hears of a tier without a price', async () => {
  scriptMessages('claude-cheap', false, { ...M_USAGE, speed: 'ludicrous' });
  const { key } = await newCustomer(pair.gateway);
  const response = await ask(key, 'messages', { model: 'claude-cheap', speed: 'ludicrous' });
  expect(response.status).toBe(200);
  await response.text();
  const [record] = await pair.gateway.calls('--request-id', response.headers.get('x-request-id') ?? '');
  expect(record?.cost_nano_usd).toBe('200000');
  expect(record === undefined ? null : extrasOf(record).tier).toEqual({ speed: 'ludicrous' });
  await eventually('the warning', () => (pair.gateway.stderr().includes('speed \\"ludicrous\\"') ? true : null));
});

describe('the token of a refusal', () => {
  const refused = { stop_reason: 'refusal', stop_details: { type: 'refusal', fallback_credit_token: 'fct_secret' } };

  test.each(BOTH)(
    'goes back to the provider that issued it, for the workspace that got it, and nowhere else (stream %p)',
    async (stream) => {
      const token = `fct_${stream}`;
      const [own, stranger] = [await newCustomer(pair.gateway), await newCustomer(pair.gateway)];
      scriptMessages('claude-cheap', stream, M_USAGE, {
        ...refused,
        stop_details: { ...refused.stop_details, fallback_credit_token: token },
      });
      await (await ask(own.key, 'messages', { model: 'claude-cheap', stream })).text();
      scriptMessages('claude-dear', false, M_USAGE);
      const retry = { model: 'claude-dear', fallback_credit_token: token };
      const sent = async (key: string) => {
        const response = await ask(key, 'messages', retry);
        await response.text();
        const body = pair.fake.served('claude-dear').at(-1)?.requestBody ?? '';
        return [response.status, String(body).includes(token), response.headers.get('x-tollgate-dropped')];
      };
      expect(await sent(own.key)).toEqual([200, true, null]);
      expect(await sent(stranger.key)).toEqual([200, false, 'fallback_credit_token']);
    },
  );
});
