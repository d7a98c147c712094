/**
 * Tests the official OpenAI SDK on failures: typed errors, errors in streams, disconnects, retries, and their records.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { eventually } from '../harness/eventually.ts';
import { startScheduledClock } from '../harness/scheduled-clock.ts';
import type { Pair } from '../harness/start-pair.ts';
import { drainStream, openAi, rejection, startSdkRig, watchedFetch } from './sdk-rig.ts';

let pair: Pair;
let client: OpenAI;
beforeAll(async () => {
  pair = await startSdkRig();
  client = openAi(pair);
});
afterAll(() => pair.stop());

const ask = (model: string) => ({ model, messages: [{ role: 'user' as const, content: 'Good day.' }] });
const ABORT_MS_MAX = 1_000;

describe('typed errors', () => {
  interface Row {
    readonly name: string;
    readonly raised: new (...given: never[]) => Error;
    readonly call: (with_: OpenAI) => PromiseLike<unknown>;
    readonly error: object;
    readonly key?: string;
  }
  const create =
    (model: string, more: object = {}) =>
    (with_: OpenAI) =>
      with_.chat.completions.create({ ...ask(model), ...more });
  const rows: readonly Row[] = [
    {
      name: 'a parameter out of range',
      raised: OpenAI.BadRequestError,
      call: create('ok', { temperature: 3 }),
      error: { status: 400, code: 'invalid_request_error', type: 'invalid_request_error', param: 'temperature' },
    },
    {
      name: 'a wrong key',
      raised: OpenAI.AuthenticationError,
      call: create('ok'),
      key: 'sk-wrong',
      error: { status: 401, code: 'unauthorized', type: 'authentication_error', param: null },
    },
    {
      name: 'an unknown model',
      raised: OpenAI.PermissionDeniedError,
      call: create('gpt-none'),
      error: { status: 403, code: 'forbidden', type: 'permission_error', param: 'model' },
    },
    {
      name: 'a model of the other endpoint',
      raised: OpenAI.BadRequestError,
      call: create('messages-only'),
      error: { status: 400, code: 'invalid_request_error', param: 'model' },
    },
    { name: "upstream's 404", raised: OpenAI.NotFoundError, call: create('says-404'), error: { status: 404 } },
    {
      name: "upstream's 422",
      raised: OpenAI.UnprocessableEntityError,
      call: create('says-422'),
      error: { status: 422 },
    },
    { name: "upstream's 400", raised: OpenAI.BadRequestError, call: create('says-400'), error: { status: 400 } },
    {
      name: "upstream's 429",
      raised: OpenAI.RateLimitError,
      call: create('says-429'),
      error: { status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error' },
    },
    ...['says-500', 'says-504', 'says-529'].map((model) => ({
      name: `upstream's ${model.slice(5)}`,
      raised: OpenAI.InternalServerError,
      call: create(model),
      error: { status: 500, code: 'internal_error', type: 'api_error' },
    })),
    {
      name: 'a path that is not served',
      raised: OpenAI.NotFoundError,
      call: (with_) => with_.fineTuning.jobs.list(),
      error: { status: 404, message: expect.stringContaining('there is no path "/v1/fine_tuning/jobs"') },
    },
    {
      name: 'a model of other endpoints',
      raised: OpenAI.NotFoundError,
      call: (with_) => with_.embeddings.create({ model: 'ok', input: 'x' }),
      error: { status: 404, message: expect.stringContaining('or POST /v1beta/models/MODEL:generateContent') },
    },
    {
      name: 'a stored response',
      raised: OpenAI.NotFoundError,
      call: (with_) => with_.responses.retrieve('resp_1'),
      error: { status: 404, code: 'not_found', message: expect.stringContaining('not stored for this workspace') },
    },
    {
      name: 'an unknown model retrieved',
      raised: OpenAI.NotFoundError,
      call: (with_) => with_.models.retrieve('gpt-none'),
      error: { status: 404, message: expect.stringContaining('gpt-none') },
    },
    {
      name: 'a body over 32 MiB',
      raised: OpenAI.APIError,
      call: create('ok', { user: 'u'.repeat(33 * 1024 * 1024) }),
      error: { status: 413, code: 'invalid_request_error' },
    },
  ];
  for (const { name, raised, call, error: expected, key } of rows) {
    test(name, async () => {
      const { fetch, replies } = watchedFetch();
      const error = await rejection(call(openAi(pair, { fetch, ...(key === undefined ? {} : { apiKey: key }) })));
      expect(error).toBeInstanceOf(raised);
      expect(error).toMatchObject(expected);
      const id = replies[0]?.headers.get('x-request-id') ?? '';
      expect(id).toMatch(/^req_/);
      expect(error).toHaveProperty('requestID', id);
    });
  }

  test('of streams that never began are the same', async () => {
    for (const [model, raised] of [
      ['says-429', OpenAI.RateLimitError],
      ['says-500', OpenAI.InternalServerError],
      ['says-422', OpenAI.UnprocessableEntityError],
      ['gpt-none', OpenAI.PermissionDeniedError],
    ] as const) {
      expect(await rejection(client.chat.completions.create({ ...ask(model), stream: true }))).toBeInstanceOf(raised);
    }
  });
});

describe('a stream that fails in the middle is an error, never a quiet end', () => {
  for (const model of ['error-later', 'no-end', 'reset']) {
    test(`${model}: raw`, async () => {
      const stream = await client.chat.completions.create({ ...ask(model), stream: true });
      const { items, error } = await drainStream(stream);
      expect(items.length).toBeGreaterThan(1);
      expect(error).toBeInstanceOf(OpenAI.APIError);
      expect(error).toMatchObject({ message: expect.stringMatching(/\S/) });
    });

    test(`${model}: by the helper`, async () => {
      const runner = client.chat.completions.stream(ask(model));
      expect(await rejection(runner.finalChatCompletion())).toBeInstanceOf(OpenAI.OpenAIError);
    });
  }
});

describe('leaving', () => {
  const leftAt = (model: string) => pair.fake.served(model).filter(({ leftAtMs }) => leftAtMs !== null).length;

  /** Waits until upstream sees that the client is gone, and returns how long it took. */
  async function untilUpstreamLeft(model: string, before: number, leave: () => void): Promise<number> {
    const scheduledMs = startScheduledClock();
    leave();
    await pair.fake.until(() => leftAt(model) > before);
    return scheduledMs();
  }

  test('aborting a stream, or breaking out of its loop, aborts the call at upstream', async () => {
    for (const how of ['abort', 'break'] as const) {
      const before = leftAt('paced');
      const { data: stream, response } = await client.chat.completions
        .create({ ...ask('paced'), stream: true })
        .withResponse();
      for await (const chunk of stream) if (chunk.choices[0]?.delta.content !== undefined) break;
      const tookMs = await untilUpstreamLeft('paced', before, () => {
        if (how === 'abort') stream.controller.abort();
      });
      expect(tookMs).toBeLessThan(ABORT_MS_MAX);
      const id = response.headers.get('x-request-id') ?? '';
      const [record] = await eventually('the record', async () => {
        const found = await pair.gateway.calls('--request-id', id);
        return found.length > 0 ? found : null;
      });
      expect(record).toMatchObject({ status: 499, error: 'client_left', stream: true });
    }
  });

  test('aborting a call that waits for its answer aborts it at upstream', async () => {
    for (const stream of [false, true]) {
      const before = { left: leftAt('silent'), served: pair.fake.served('silent').length };
      const leave = new AbortController();
      const failed = rejection(client.chat.completions.create({ ...ask('silent'), stream }, { signal: leave.signal }));
      await pair.fake.waitFor(({ model }) => model === 'silent', { count: before.served + 1 });
      expect(await untilUpstreamLeft('silent', before.left, () => leave.abort())).toBeLessThan(ABORT_MS_MAX);
      expect(await failed).toBeInstanceOf(OpenAI.APIUserAbortError);
    }
  });

  test("the SDK's own timeout does as well", async () => {
    const before = leftAt('silent');
    const failed = rejection(client.chat.completions.create(ask('silent'), { timeout: 1_000 }));
    await pair.fake.until(() => leftAt('silent') > before);
    expect(await failed).toBeInstanceOf(OpenAI.APIConnectionTimeoutError);
  });
});

describe('retries of the SDK', () => {
  const retrying = () => {
    const watched = watchedFetch();
    return { ...watched, client: openAi(pair, { fetch: watched.fetch, maxRetries: 2 }) };
  };
  const recordsOf = async (model: string) =>
    (await pair.gateway.calls()).filter((record) => record.model === model).map(({ status, error }) => [status, error]);

  test.concurrent('a 429 is sent again after retry-after; each attempt of the client has a record', async () => {
    const { client: patient, replies } = retrying();
    const startMs = performance.now();
    const answer = await patient.chat.completions.create(ask('limits-once'));
    expect(answer.choices[0]?.message.content).toMatch(/^Good/);
    expect(replies.map(({ status }) => status)).toEqual([429, 200]);
    expect(replies[0]?.headers.get('retry-after')).toBe('1');
    expect(performance.now() - startMs).toBeGreaterThan(900);
    expect(await recordsOf('limits-once')).toEqual([
      [200, null],
      [429, 'upstream_rate_limited'],
    ]);
  });

  test.concurrent('a 500 is sent again after retry-after, plain and streamed', async () => {
    const plain = retrying();
    const streamed = retrying();
    const [answer, stream] = await Promise.all([
      plain.client.chat.completions.create(ask('fails-once')),
      streamed.client.chat.completions.create({ ...ask('fails-once-streamed'), stream: true }),
    ]);
    expect(answer.choices[0]?.message.content).toMatch(/^Good/);
    expect((await drainStream(stream)).error).toBeNull();
    for (const { requests, replies } of [plain, streamed]) {
      expect(replies.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
        [500, '5'],
        [200, null],
      ]);
      expect(requests.map(({ headers }) => headers.get('x-stainless-retry-count'))).toEqual(['0', '1']);
    }
    for (const model of ['fails-once', 'fails-once-streamed']) {
      expect(await recordsOf(model)).toEqual([
        [200, null],
        [500, 'upstream_failed'],
      ]);
      expect(pair.fake.served(model).length).toBe(2);
    }
  });

  test.concurrent('the SDK sees no failure that the gateway outlasts, plain and streamed', async () => {
    const { client: patient, replies } = retrying();
    expect((await patient.chat.completions.create(ask('recovers'))).choices[0]?.message.content).toMatch(/^Good/);
    const stream = await patient.chat.completions.create({ ...ask('recovers-streamed'), stream: true });
    expect((await drainStream(stream)).error).toBeNull();
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    for (const model of ['recovers', 'recovers-streamed']) {
      expect(await recordsOf(model)).toEqual([[200, null]]);
      expect(pair.fake.served(model).length).toBe(3);
    }
  });

  test.concurrent('a failure that a repetition cannot mend is not sent again', async () => {
    const { fetch, replies } = watchedFetch();
    const wrongKey = openAi(pair, { fetch, maxRetries: 2, apiKey: 'sk-wrong' });
    expect(await rejection(wrongKey.chat.completions.create(ask('ok')))).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(replies.map(({ status, headers }) => [status, headers.get('x-should-retry')])).toEqual([[401, 'false']]);
    const { client: patient, replies: others } = retrying();
    await rejection(patient.chat.completions.create(ask('gpt-none')));
    await rejection(patient.chat.completions.create({ ...ask('ok'), temperature: 3 }));
    expect(others.map(({ status }) => status)).toEqual([403, 400]);
  });
});
