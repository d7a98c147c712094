/**
 * Tests both official SDKs when a model of the other format fails: typed errors, errors in streams, disconnects,
 * retries. Wire C.6.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { Scenario } from '../fake-upstream/scenario.ts';
import { eventually } from '../harness/eventually.ts';
import { pointAt } from '../harness/point-at.ts';
import { startScheduledClock } from '../harness/scheduled-clock.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { anthropic, drainStream, openAi, rejection, watchedFetch } from './sdk-rig.ts';

/** Each call has a model and a provider of its own, because a failure switches off its credential or its target. */
const MODELS = {
  claude: Array.from({ length: 40 }, (_, n) => `claude-${n}`),
  own: Array.from({ length: 40 }, (_, n) => `own-${n}`),
};
const unused = { claude: MODELS.claude.values(), own: MODELS.own.values() };

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((fakeUrl) =>
    pointAt(fakeUrl, {
      chat: MODELS.own,
      messages: MODELS.claude,
      apart: true,
      routing: { max_extra_attempts: 0 },
    }),
  );
});
afterAll(() => pair.stop());

/** Returns a model that no call has used, with this script. */
function scripted(side: keyof typeof unused, script: Scenario | readonly Scenario[]): string {
  const { value: model } = unused[side].next();
  if (model === undefined) throw new Error(`all ${MODELS[side].length} models are in use`);
  pair.fake.script(model, script);
  return model;
}

const ABORT_MS_MAX = 1_000;
const messages = [{ role: 'user' as const, content: 'Good day.' }];
type Raised = new (...given: never[]) => Error;
/** `retryAfter`: SDKs repeat a failed call, but only where the operator's account or the request is not the cause. */
type Row = readonly [
  condition: string,
  scenario: Scenario,
  raised: Raised,
  error: object,
  retryAfter: '5' | '60' | null,
];

const says = (status: number, json: object): Scenario => ({ status, json });
const bare = (status: number, headers = {}): Scenario => ({ status, errorBodyBytes: 100, headers });
const HTML: Scenario = {
  status: 502,
  body: '<html>Bad gateway at 10.0.0.7</html>',
  headers: { 'content-type': 'text/html' },
};

describe('an OpenAI client of a messages model', () => {
  const client = () => openAi(pair);
  const wrong = (message: string, type = 'invalid_request_error') => ({ type: 'error', error: { type, message } });
  const FAULT = { status: 500, code: 'internal_error', type: 'api_error' };
  const rows: readonly Row[] = [
    [
      'a prompt that is too long',
      says(400, wrong('prompt is too long: 210000 tokens > 200000 maximum')),
      OpenAI.BadRequestError,
      {
        status: 400,
        code: 'context_length_exceeded',
        message: expect.stringContaining('maximum context length is 200000'),
      },
      null,
    ],
    [
      'a prompt that does not fit with the answer',
      says(400, wrong('input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000')),
      OpenAI.BadRequestError,
      { status: 400, code: 'context_length_exceeded', message: expect.stringContaining('210000') },
      null,
    ],
    [
      'our credential',
      says(401, wrong('invalid x-api-key', 'authentication_error')),
      OpenAI.InternalServerError,
      FAULT,
      null,
    ],
    ['our bill', says(402, wrong('pay', 'billing_error')), OpenAI.InternalServerError, FAULT, null],
    ['our rights', says(403, wrong('not for you', 'permission_error')), OpenAI.InternalServerError, FAULT, null],
    [
      'a model that upstream does not know',
      says(404, wrong('model: claude-9', 'not_found_error')),
      OpenAI.InternalServerError,
      FAULT,
      null,
    ],
    ['a body too large', bare(413), OpenAI.APIError, { status: 413, code: 'invalid_request_error' }, null],
    [
      'content refused',
      says(422, wrong('no.')),
      OpenAI.UnprocessableEntityError,
      { status: 422, message: '422 no.' },
      null,
    ],
    [
      'the rate',
      bare(429, { 'retry-after': '37800' }),
      OpenAI.RateLimitError,
      { status: 429, code: 'rate_limit_exceeded' },
      '60',
    ],
    ['a failure', bare(500), OpenAI.InternalServerError, FAULT, '5'],
    ['a timeout', bare(504), OpenAI.InternalServerError, FAULT, '5'],
    ['overload', bare(529), OpenAI.InternalServerError, FAULT, '5'],
    ['vector 33: a page', HTML, OpenAI.InternalServerError, FAULT, '5'],
    [
      'vector 32: an error under a 200',
      { json: wrong('Overloaded', 'overloaded_error') },
      OpenAI.InternalServerError,
      FAULT,
      '5',
    ],
  ];
  test.each(rows)('%s, plain and streamed', async (_, scenario, raised, expected, retryAfter) => {
    for (const stream of [false, true]) {
      const { fetch, replies } = watchedFetch();
      const model = scripted('claude', scenario);
      const error = await rejection(openAi(pair, { fetch }).chat.completions.create({ model, messages, stream }));
      expect(error).toBeInstanceOf(raised);
      expect(error).toMatchObject(expected);
      expect(error).toHaveProperty('requestID', replies[0]?.headers.get('x-request-id') ?? 'none');
      expect(String(error)).not.toMatch(/html|10\.0\.0\.7|not for you|\bpay\b/);
      expect(replies.map(({ headers }) => headers.get('retry-after'))).toEqual([retryAfter]);
    }
  });

  test.each([
    ['an error record', { answer: 'long:9', errorEvent: 6 }],
    ['vector 29: a reset', { answer: 'long:9', cut: { at: 1_100, how: 'rst' } }],
    ['an early end', { answer: 'long:9', cut: { at: 1_100, how: 'fin' } }],
    ['a stream without its end', { answer: 'long:9', omitEnd: true }],
  ] as const)('%s in a stream is an error, never a quiet end', async (_, scenario) => {
    const ask = { model: scripted('claude', scenario), messages };
    const { items, error } = await drainStream(await client().chat.completions.create({ ...ask, stream: true }));
    expect(items.length).toBeGreaterThan(1);
    expect(error).toBeInstanceOf(OpenAI.APIError);
    expect(error).toMatchObject({ message: expect.stringMatching(/\S/), type: 'api_error', code: 'internal_error' });
    const helped = client().chat.completions.stream(ask);
    expect(await rejection(helped.finalChatCompletion())).toBeInstanceOf(OpenAI.OpenAIError);
  });

  test('vector 34: leaving a stream cancels the call upstream', async () => {
    const model = scripted('claude', { answer: 'long:2000', delayBetweenEventsMs: 20 });
    const { data: stream, response } = await client()
      .chat.completions.create({ model, messages, stream: true })
      .withResponse();
    let deltas = 0;
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content && ++deltas === 3) break;
    await expectLeft(model, response);
  });

  test('retries of the SDK succeed, and each attempt has its record', async () => {
    const model = scripted('claude', [bare(529), bare(429, { 'retry-after': '1' }), { answer: 'ok' }]);
    const { fetch, replies } = watchedFetch();
    const answer = await openAi(pair, { fetch, maxRetries: 2 }).chat.completions.create({ model, messages });
    expect(answer.choices[0]?.message.content).toBe('Good day to you.');
    expect(replies.map(({ status }) => status)).toEqual([500, 429, 200]);
    await expectRecords(replies, [null, 'upstream_rate_limited', 'upstream_overloaded']);
  });
});

describe('an Anthropic client of a chat model', () => {
  const client = () => anthropic(pair);
  const ask = { max_tokens: 64, messages };
  const wrong = (message: string, code: string | null = null) => ({ error: { message, type: 'x', param: null, code } });
  const of = (status: number, type: string, says = '') => ({ status, type, apiMessage: expect.stringContaining(says) });
  const rows: readonly Row[] = [
    [
      'a prompt that is too long',
      says(
        400,
        wrong(
          "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
          'context_length_exceeded',
        ),
      ),
      Anthropic.BadRequestError,
      of(400, 'invalid_request_error', 'prompt is too long: 9001 tokens > 8192 maximum'),
      null,
    ],
    [
      'our credential',
      says(401, wrong('Incorrect API key')),
      Anthropic.InternalServerError,
      of(500, 'api_error'),
      null,
    ],
    ['our bill', says(402, wrong('pay')), Anthropic.InternalServerError, of(500, 'api_error'), null],
    ['our rights', says(403, wrong('not for you')), Anthropic.InternalServerError, of(500, 'api_error'), null],
    [
      'a model that upstream does not know',
      says(404, wrong('no model x', 'model_not_found')),
      Anthropic.InternalServerError,
      of(500, 'api_error', 'does not know the model'),
      null,
    ],
    ['a body too large', bare(413), Anthropic.ContentTooLargeError, of(413, 'request_too_large'), null],
    [
      'content refused',
      says(422, wrong('no.')),
      Anthropic.UnprocessableEntityError,
      of(422, 'invalid_request_error', 'no.'),
      null,
    ],
    ['the rate', bare(429, { 'retry-after': '37800' }), Anthropic.RateLimitError, of(429, 'rate_limit_error'), '60'],
    ['a failure', bare(500), Anthropic.InternalServerError, of(500, 'api_error'), '5'],
    ['a timeout', bare(504), Anthropic.GatewayTimeoutError, of(504, 'timeout_error'), '5'],
    [
      'overload',
      says(503, wrong('The model is overloaded')),
      Anthropic.OverloadedError,
      of(529, 'overloaded_error'),
      '5',
    ],
    ['vector 33: a page', HTML, Anthropic.InternalServerError, of(500, 'api_error'), '5'],
    [
      'vector 32: an error under a 200',
      { json: wrong('no room left') },
      Anthropic.InternalServerError,
      of(500, 'api_error'),
      '5',
    ],
  ];
  test.each(rows)('%s, plain and streamed', async (_, scenario, raised, expected, retryAfter) => {
    for (const stream of [false, true]) {
      const { fetch, replies } = watchedFetch();
      const model = scripted('own', scenario);
      const error = await rejection(anthropic(pair, { fetch }).messages.create({ ...ask, model, stream }));
      expect(error).toBeInstanceOf(raised);
      expect(error).toMatchObject(expected);
      const id = replies[0]?.headers.get('request-id') ?? 'none';
      expect(error).toMatchObject({ requestID: id, error: { request_id: id } });
      expect(String(error)).not.toMatch(/html|10\.0\.0\.7|not for you|\bpay\b/);
      expect(replies.map(({ headers }) => headers.get('retry-after'))).toEqual([retryAfter]);
    }
  });

  test.each([
    ['an error record', { answer: 'long:9', errorEvent: 5 }, 'api_error'],
    ['vector 29: a reset', { answer: 'long:9', cut: { at: 900, how: 'rst' } }, 'api_error'],
    ['an early end', { answer: 'long:9', cut: { at: 900, how: 'fin' } }, 'api_error'],
  ] as const)('%s in a stream is an error, never a quiet end', async (_, scenario, type) => {
    const request = { ...ask, model: scripted('own', scenario) };
    const { items, error } = await drainStream(await client().messages.create({ ...request, stream: true }));
    expect(items.length).toBeGreaterThan(1);
    expect(items.map((item) => item.type)).not.toContain('message_stop');
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect(error).toMatchObject({ type });
    expect(await rejection(client().messages.stream(request).finalMessage())).toBeInstanceOf(Anthropic.AnthropicError);
  });

  test('vector 34: leaving a stream cancels the call upstream', async () => {
    const model = scripted('own', { answer: 'long:2000', delayBetweenEventsMs: 20 });
    const { data: stream, response } = await client()
      .messages.create({ ...ask, model, stream: true })
      .withResponse();
    let deltas = 0;
    for await (const event of stream) if (event.type === 'content_block_delta' && ++deltas === 3) break;
    await expectLeft(model, response);
  });

  test('retries of the SDK succeed, and each attempt has its record', async () => {
    const model = scripted('own', [bare(503), bare(429, { 'retry-after': '1' }), { answer: 'ok' }]);
    const { fetch, replies } = watchedFetch();
    const answer = await anthropic(pair, { fetch, maxRetries: 2 }).messages.create({ ...ask, model });
    expect(answer.content).toMatchObject([{ type: 'text', text: 'Good day to you.' }]);
    expect(replies.map(({ status }) => status)).toEqual([500, 429, 200]);
    await expectRecords(replies, [null, 'upstream_rate_limited', 'upstream_failed']);
  });
});

/** Expects that upstream sees the disconnect within a second, and that the record says so. */
async function expectLeft(model: string, response: Response): Promise<void> {
  const scheduledMs = startScheduledClock();
  await pair.fake.until(() => pair.fake.served(model).some(({ leftAtMs }) => leftAtMs !== null));
  expect(scheduledMs()).toBeLessThan(ABORT_MS_MAX);
  const id = response.headers.get('x-request-id') ?? '';
  const record = await eventually('the record', async () => (await pair.gateway.calls('--request-id', id))[0]);
  expect(record).toMatchObject({ status: 499, error: 'client_left', stream: true });
  expect(record.usage.output).toBeGreaterThan(0);
}

/** Expects these errors in the newest records, newest first; each has its own request id. */
async function expectRecords(replies: readonly Response[], errors: readonly (string | null)[]): Promise<void> {
  const records = await pair.gateway.calls('--limit', String(errors.length));
  expect(records.map(({ error }) => error)).toEqual([...errors]);
  const ids = replies.map(({ headers }) => headers.get('x-request-id') ?? '');
  expect(records.map(({ request_id }) => request_id).reverse()).toEqual(ids);
}
