/**
 * Tests that a request whose first target fails before its first content is answered by the second: of the same format
 * or of the other, plain and streamed, with one record and one charge.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Scenario } from '../fake-upstream/scenario.ts';
import { eventually } from '../harness/eventually.ts';
import type { CallLine } from '../harness/start-gateway.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { ask, endsInError, hasTerminal, PROTOCOLS, type ProtocolName, recordsById } from './calls.ts';

/** How a first target fails. `stream`: only streams can fail so. */
interface Failing {
  readonly name: string;
  readonly scenario: Scenario;
  readonly stream?: true;
  readonly class: string;
  readonly status: number | null;
}

const FAILING: readonly Failing[] = [
  { name: 'a refused credential', scenario: { status: 401, errorBodyBytes: 90 }, class: 'credential', status: 401 },
  { name: 'a spent account', scenario: { status: 402, errorBodyBytes: 90 }, class: 'quota', status: 402 },
  {
    name: 'a rate limit',
    scenario: { status: 429, errorBodyBytes: 90, headers: { 'retry-after': '30' } },
    class: 'rate',
    status: 429,
  },
  { name: 'a fault', scenario: { status: 500, errorBodyBytes: 90 }, class: 'fault', status: 500 },
  { name: 'an overload', scenario: { status: 529, errorBodyBytes: 90 }, class: 'overloaded', status: 529 },
  { name: 'no answer', scenario: { cut: { at: 'before-headers', how: 'rst' } }, class: 'fault', status: null },
  { name: 'silence', scenario: { delayBeforeFirstByteMs: 60_000 }, class: 'timeout', status: null },
  { name: 'an error as the first event', scenario: { errorEvent: 1 }, stream: true, class: 'fault', status: null },
  { name: 'a stream of nothing', scenario: { hollow: true }, stream: true, class: 'fault', status: null },
  {
    name: 'an end after the opening records',
    scenario: { answer: 'long:40', cut: { at: 200, how: 'fin' } },
    stream: true,
    class: 'fault',
    status: null,
  },
];

const FIRST_BYTE_MS = 1_500;
const DEAD = 'http://127.0.0.1:9';

const cases = PROTOCOLS.flatMap((protocol) =>
  PROTOCOLS.flatMap((second) =>
    FAILING.flatMap((failing) =>
      [false, true]
        .filter((stream) => stream || failing.stream === undefined)
        .map((stream) => ({ protocol, second, failing, stream })),
    ),
  ),
).map((one, index) => ({ ...one, model: `case-${index}` }));

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((url) => {
    const timeouts = { first_byte: `${FIRST_BYTE_MS}ms`, first_byte_plain: `${FIRST_BYTE_MS}ms` };
    const provider = (protocol: ProtocolName, host = url) => ({
      kind: protocol === 'chat' ? 'openai-compatible' : 'anthropic',
      base_url: `${host}/v1`,
      api_key: 'none',
      timeouts,
    });
    const price = { input: 1, output: 5 };
    // A provider for each first target: a refused credential must fail one case only.
    const firsts = cases.map(({ model, protocol }) => [`first-${model}`, provider(protocol)] as const);
    const models = cases.map(({ model, second }) => [
      model,
      {
        price,
        targets: [
          { provider: `first-${model}`, model: `${model}-first` },
          { provider: `second-${second}`, model: `${model}-second` },
        ],
      },
    ]);
    const targets = [
      { provider: 'unreachable', model: 'm' },
      { provider: 'second-chat', model: 'after-dead' },
    ];
    return {
      providers: {
        ...Object.fromEntries(firsts),
        'second-chat': provider('chat'),
        'second-messages': provider('messages'),
        unreachable: provider('chat', DEAD),
      },
      models: {
        ...Object.fromEntries(models),
        unreachable: { price, targets },
        'unavailable-0': {
          price,
          routing: { uncertain_retry: 0 },
          targets: ['unavailable', 'available'].map((model) => ({ provider: 'second-chat', model })),
        },
        pausing: { price, targets: [{ provider: 'second-chat', model: 'pausing' }] },
        limited: {
          price,
          targets: ['limited-one', 'limited-two'].map((model) => ({ provider: 'second-chat', model })),
        },
        'paused-alone': { price, targets: [{ provider: 'second-chat', model: 'paused' }] },
        'paused-first': {
          price,
          targets: ['paused', 'asked'].map((model) => ({ provider: 'second-chat', model })),
        },
        crowded: { price, targets: [{ provider: 'second-chat', model: 'crowded', max_concurrency: 1 }] },
        broken: { price, targets: ['broken-one', 'broken-two'].map((model) => ({ provider: 'second-chat', model })) },
        ...Object.fromEntries(
          [undefined, 0].map((uncertain_retry) => [
            `stale-${uncertain_retry ?? 'usual'}`,
            { price, routing: { uncertain_retry }, targets: [{ provider: 'second-chat', model: 'stale' }] },
          ]),
        ),
        late: {
          price,
          targets: [
            { provider: 'second-chat', model: 'late-one', timeouts: { total: '3s' } },
            { provider: 'second-chat', model: 'late-two', timeouts: { first_byte: '30s', total: '30s' } },
          ],
        },
      },
    };
  });
});
afterAll(() => pair.stop());

/** Messages providers say in the event of an error that they are overloaded. */
function classOf({ scenario, class: failure }: Failing, protocol: ProtocolName): string {
  return scenario.errorEvent === 1 && protocol === 'messages' ? 'overloaded' : failure;
}

function expectAnswer(record: CallLine | undefined, provider: string): void {
  expect(record).toMatchObject({ status: 200, error: null, provider, usage: { input: 11, output: 5 } });
  expect(record?.cost_nano_usd).toBe('36000');
}

describe.each(PROTOCOLS.map((protocol) => [protocol] as const))('a %s client', (protocol) => {
  test.each(PROTOCOLS.map((second) => [second] as const))(
    'whose first target fails gets the answer of a second, which speaks %s',
    async (second) => {
      const own = cases.filter((one) => one.protocol === protocol && one.second === second);
      const answers = await Promise.all(
        own.map(async ({ model, failing, stream }) => {
          pair.fake.script(`${model}-first`, failing.scenario);
          pair.fake.script(`${model}-second`, { answer: 'ok' });
          return ask(pair.gateway, { protocol, model, stream });
        }),
      );
      const records = await recordsById(pair.gateway);
      for (const [index, { failing, model, stream }] of own.entries()) {
        const answer = answers[index];
        const named = [failing.name, stream];
        expect([...named, answer?.status]).toEqual([...named, 200]);
        if (answer === undefined || !stream) expect(JSON.parse(answer?.text ?? '')).toHaveProperty('usage');
        else expect([...named, hasTerminal(protocol, answer.text)]).toEqual([...named, true]);
        const told = ['provider', 'model', 'attempts', 'route'].map((name) =>
          answer?.headers.get(`x-tollgate-${name}`),
        );
        const record = records.get(answer?.requestId ?? '');
        // A first target that ends a reused connection without an answer is asked again on a new one.
        const attempts = record?.attempts.filter((one) => one.class !== 'reset') ?? [];
        const made = String(record?.attempts.length);
        expect([...named, ...told]).toEqual([...named, `second-${second}`, `${model}-second`, made, 'fallback']);
        expectAnswer(record, `second-${second}`);
        expect([...named, attempts]).toMatchObject([
          ...named,
          [
            { provider: `first-${model}`, status: failing.status, class: classOf(failing, protocol) },
            { provider: `second-${second}`, status: 200, error: null, why: 'fallback' },
          ],
        ]);
        expect(attempts[1]?.format).toBe(second === protocol ? undefined : second);
      }
    },
  );
});

test('a target that refuses connections is left at once', async () => {
  pair.fake.script('after-dead', { answer: 'ok' });
  const answer = await ask(pair.gateway, { protocol: 'chat', model: 'unreachable', stream: false });
  expect([answer.status, answer.headers.get('x-tollgate-route')]).toEqual([200, 'fallback']);
  const record = (await recordsById(pair.gateway)).get(answer.requestId);
  expectAnswer(record, 'second-chat');
  expect(record?.attempts.map(({ class: failure }) => failure)).toEqual(['unreached', 'unreached', undefined]);
});

test.each(PROTOCOLS)('after the first content of a %s stream nothing is tried again', async (protocol) => {
  pair.fake.script('broken-one', { answer: 'long:40', cut: { at: 3_000, how: 'rst' } });
  pair.fake.script('broken-two', { answer: 'ok' });
  const answer = await ask(pair.gateway, { protocol, model: 'broken', stream: true });
  expect([answer.status, hasTerminal(protocol, answer.text), endsInError(protocol, answer.text)]).toEqual([
    200,
    false,
    true,
  ]);
  expect(pair.fake.served('broken-two')).toEqual([]);
});

test('a refusal of the caller’s content is final', async () => {
  pair.fake.script('broken-one', { status: 422, json: { error: { message: 'not like this', type: 'odd' } } });
  const answer = await ask(pair.gateway, { protocol: 'chat', model: 'broken', stream: false });
  expect([answer.status, answer.headers.get('x-tollgate-attempts')]).toEqual([422, '1']);
  expect(pair.fake.served('broken-two')).toEqual([]);
});

test('a refusal with 503 is not billed, so that another target is tried even where no uncertain attempt is', async () => {
  pair.fake.script('unavailable', { status: 503, errorBodyBytes: 90 });
  pair.fake.script('available', { answer: 'ok' });
  const answer = await ask(pair.gateway, { protocol: 'chat', model: 'unavailable-0', stream: false });
  expect([answer.status, answer.headers.get('x-tollgate-model')]).toEqual([200, 'available']);
  const record = (await recordsById(pair.gateway)).get(answer.requestId);
  expectAnswer(record, 'second-chat');
  expect(record?.attempts[0]).toMatchObject({ status: 503, class: 'fault' });
  expect(record?.attempts[0]).not.toHaveProperty('billed');
});

test('a failing provider gets the pause that it names before the same target is tried again', async () => {
  pair.fake.script('pausing', [{ status: 503, headers: { 'retry-after': '1' }, errorBodyBytes: 90 }, { answer: 'ok' }]);
  const startMs = performance.now();
  const answer = await ask(pair.gateway, { protocol: 'chat', model: 'pausing', stream: false });
  expect([answer.status, answer.headers.get('x-tollgate-attempts')]).toEqual([200, '2']);
  expect(performance.now() - startMs).toBeGreaterThanOrEqual(1_000);
});

test('where all targets limit the rate, the client hears the earliest pause', async () => {
  for (const [model, seconds] of [
    ['limited-one', 10],
    ['limited-two', 50],
  ] as const) {
    pair.fake.script(model, { status: 429, headers: { 'retry-after': `${seconds}` }, errorBodyBytes: 90 });
  }
  const answer = await ask(pair.gateway, { protocol: 'chat', model: 'limited', stream: false });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '10']);
});

test('a target that was not asked, because it pauses, may be back before the one that was', async () => {
  for (const [model, seconds] of [
    ['paused', 12],
    ['asked', 50],
  ] as const) {
    pair.fake.script(model, { status: 429, headers: { 'retry-after': `${seconds}` }, errorBodyBytes: 90 });
  }
  await ask(pair.gateway, { protocol: 'chat', model: 'paused-alone', stream: false });
  const answer = await ask(pair.gateway, { protocol: 'chat', model: 'paused-first', stream: false });
  expect(answer.status).toBe(429);
  expect(pair.fake.served('asked')).toHaveLength(1);
  // A pause is up to a tenth longer than the provider says.
  expect(Number(answer.headers.get('retry-after'))).toBeWithin(10, 15);
});

test('where the only target has no place, the refusal says when to come back', async () => {
  pair.fake.script('crowded', { answer: 'long:40', holdAfterEvent: 5 });
  const leaving = new AbortController();
  const { signal } = leaving;
  const first = ask(pair.gateway, { protocol: 'chat', model: 'crowded', stream: true, signal }).catch(() => null);
  await eventually('the first request', () => pair.fake.served('crowded').length > 0 || null);
  const post = (path: string, body: object) =>
    fetch(pair.gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${pair.gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'crowded', ...body }),
    });
  const messages = [{ role: 'user', content: 'Count the carts.' }];
  const answers = await Promise.all([
    post('/v1/chat/completions', { messages }),
    post('/v1/messages', { messages, max_tokens: 9 }),
    post('/v1/responses', { input: 'Count the carts.' }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 500]);
  const records = await recordsById(pair.gateway);
  for (const { headers } of answers) {
    expect(headers.get('retry-after')).toBe('1');
    const record = records.get(headers.get('x-request-id') ?? '');
    expect(record).toMatchObject({ error: 'targets_full', cost_nano_usd: '0', reason: { kind: 'no_target' } });
    expect(record?.attempts).toEqual([]);
  }
  leaving.abort();
  await first;
});

test('the time of a request holds for all attempts together', async () => {
  for (const model of ['late-one', 'late-two']) pair.fake.script(model, { delayBeforeFirstByteMs: 60_000 });
  const startMs = performance.now();
  const answer = await ask(pair.gateway, { protocol: 'chat', model: 'late', stream: true });
  expect(answer.status).toBe(500);
  expect(answer.headers.get('retry-after')).toBe('5');
  const record = (await recordsById(pair.gateway)).get(answer.requestId);
  expect(record?.attempts.map(({ model }) => model)).toEqual(['late-one', 'late-two']);
  // The second has only what the first left.
  expect(record?.attempts[1]?.duration_ms).toBeLessThan(3_000);
  expect(performance.now() - startMs).toBeLessThan(20_000);
});

describe('a connection that its provider closed while it was idle', () => {
  const STALE = { class: 'reset', phase: 'sent', status: null, billed: 'maybe' };

  async function askOverStale(model: string) {
    pair.fake.script('stale', [{ answer: 'ok', resetAtNextRequest: true }, { answer: 'ok' }]);
    await ask(pair.gateway, { protocol: 'chat', model, stream: false });
    const answer = await ask(pair.gateway, { protocol: 'chat', model, stream: false });
    return { answer, record: (await recordsById(pair.gateway)).get(answer.requestId) };
  }

  test('costs an attempt that may be billed, and another one on a new connection answers', async () => {
    const { answer, record } = await askOverStale('stale-usual');
    expect([answer.status, answer.headers.get('x-tollgate-attempts')]).toEqual([200, '2']);
    expectAnswer(record, 'second-chat');
    expect(record?.attempts).toMatchObject([STALE, { status: 200, why: 'retry' }]);
    expect(Number(record?.attempts[0]?.cost_nano_usd)).toBeGreaterThan(0);
  });

  test('fails the request where attempts of unknown cost are not to be repeated', async () => {
    const { answer, record } = await askOverStale('stale-0');
    expect([answer.status, record?.attempts.length]).toEqual([500, 1]);
    expect(record?.attempts).toMatchObject([STALE]);
  });
});
