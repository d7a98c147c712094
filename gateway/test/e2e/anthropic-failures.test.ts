/**
 * Tests the official Anthropic SDK on failures: typed errors, errors in streams, disconnects, retries, and their
 * records.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import { eventually } from '../harness/eventually.ts';
import { startScheduledClock } from '../harness/scheduled-clock.ts';
import type { Pair } from '../harness/start-pair.ts';
import { anthropic, drainStream, rejection, startSdkRig, watchedFetch } from './sdk-rig.ts';

let pair: Pair;
let client: Anthropic;
beforeAll(async () => {
  pair = await startSdkRig();
  client = anthropic(pair);
});
afterAll(() => pair.stop());

const ask = (model: string) => ({
  model,
  max_tokens: 256,
  messages: [{ role: 'user' as const, content: 'Good day.' }],
});
const ABORT_MS_MAX = 1_000;

describe('typed errors', () => {
  interface Row {
    readonly name: string;
    readonly raised: new (...given: never[]) => Error;
    readonly call: (with_: Anthropic) => PromiseLike<unknown>;
    readonly status: number;
    readonly type: string;
    readonly says?: string;
    readonly key?: string;
  }
  const create =
    (model: string, more: object = {}) =>
    (with_: Anthropic) =>
      with_.messages.create({ ...ask(model), ...more });
  const invalid = { status: 400, type: 'invalid_request_error' };
  const rows: readonly Row[] = [
    {
      name: 'no turn',
      raised: Anthropic.BadRequestError,
      call: create('m-ok', { messages: [] }),
      ...invalid,
      says: 'messages',
    },
    {
      name: 'a chat parameter',
      raised: Anthropic.BadRequestError,
      call: create('m-ok', { stop: 'x' }),
      ...invalid,
      says: 'stop_sequences',
    },
    {
      name: 'temperature under 2026-10-21',
      raised: Anthropic.BadRequestError,
      call: create('m-ok', { temperature: 1 }),
      ...invalid,
      says: 'temperature',
    },
    {
      name: 'a wrong key',
      raised: Anthropic.AuthenticationError,
      call: create('m-ok'),
      key: 'sk-ant-wrong',
      status: 401,
      type: 'authentication_error',
    },
    {
      name: 'an unknown model',
      raised: Anthropic.NotFoundError,
      call: create('claude-none'),
      status: 404,
      type: 'not_found_error',
      says: 'claude-none',
    },
    {
      name: 'a model of the other endpoint',
      raised: Anthropic.NotFoundError,
      call: create('chat-only'),
      status: 404,
      type: 'not_found_error',
      says: 'chat/completions',
    },
    { name: "upstream's 400", raised: Anthropic.BadRequestError, call: create('m-says-400'), ...invalid },
    {
      name: "upstream's 404",
      raised: Anthropic.NotFoundError,
      call: create('m-says-404'),
      status: 404,
      type: 'not_found_error',
    },
    {
      name: "upstream's 422",
      raised: Anthropic.UnprocessableEntityError,
      call: create('m-says-422'),
      status: 422,
      type: 'invalid_request_error',
    },
    {
      name: "upstream's 429",
      raised: Anthropic.RateLimitError,
      call: create('m-says-429'),
      status: 429,
      type: 'rate_limit_error',
    },
    {
      name: "upstream's 500",
      raised: Anthropic.InternalServerError,
      call: create('m-says-500'),
      status: 500,
      type: 'api_error',
    },
    {
      name: "upstream's 504",
      raised: Anthropic.GatewayTimeoutError,
      call: create('m-says-504'),
      status: 504,
      type: 'timeout_error',
    },
    {
      name: "upstream's 529",
      raised: Anthropic.OverloadedError,
      call: create('m-says-529'),
      status: 529,
      type: 'overloaded_error',
    },
    {
      name: 'an unknown model retrieved',
      raised: Anthropic.NotFoundError,
      call: (with_) => with_.models.retrieve('claude-none'),
      status: 404,
      type: 'not_found_error',
      says: 'claude-none',
    },
    {
      name: 'batches',
      raised: Anthropic.NotFoundError,
      call: (with_) => with_.messages.batches.list(),
      status: 404,
      type: 'not_found_error',
    },
    {
      name: 'a body over 32 MiB',
      raised: Anthropic.ContentTooLargeError,
      call: create('m-ok', { system: 's'.repeat(33 * 1024 * 1024) }),
      status: 413,
      type: 'request_too_large',
    },
  ];
  for (const { name, raised, call, status, type, says, key } of rows) {
    test(name, async () => {
      const { fetch, replies } = watchedFetch();
      const error = await rejection(call(anthropic(pair, { fetch, ...(key === undefined ? {} : { apiKey: key }) })));
      expect(error).toBeInstanceOf(raised);
      expect(error).toMatchObject({ status, type, apiMessage: expect.stringContaining(says ?? '') });
      const id = replies[0]?.headers.get('request-id') ?? '';
      expect(id).toMatch(/^req_[0-9a-f]{32}$/);
      expect(error).toHaveProperty('requestID', id);
      if (!name.startsWith("upstream's 4") || status === 429) expect(error).toHaveProperty('error.request_id', id);
    });
  }

  test('of streams that never began are the same', async () => {
    for (const [model, raised] of [
      ['m-says-429', Anthropic.RateLimitError],
      ['m-says-500', Anthropic.InternalServerError],
      ['m-says-529', Anthropic.OverloadedError],
      ['claude-none', Anthropic.NotFoundError],
    ] as const) {
      expect(await rejection(client.messages.create({ ...ask(model), stream: true }))).toBeInstanceOf(raised);
      expect(await rejection(client.messages.stream(ask(model)).finalMessage())).toBeInstanceOf(raised);
    }
  });
});

describe('a stream that fails in the middle is an error, never a quiet end', () => {
  for (const [model, type] of [
    ['m-error-later', 'overloaded_error'],
    ['m-no-end', 'api_error'],
    ['m-reset', 'api_error'],
  ] as const) {
    test(`${model}: raw, with the type that clients branch on`, async () => {
      const { items, error } = await drainStream(await client.messages.create({ ...ask(model), stream: true }));
      expect(items.length).toBeGreaterThan(1);
      expect(items.map((item) => item.type)).not.toContain('message_stop');
      expect(error).toBeInstanceOf(Anthropic.APIError);
      expect(error).toMatchObject({ type });
    });

    test(`${model}: by the helper`, async () => {
      expect(await rejection(client.messages.stream(ask(model)).finalMessage())).toBeInstanceOf(
        Anthropic.AnthropicError,
      );
    });
  }
});

describe('leaving', () => {
  const leftAt = (model: string) => pair.fake.served(model).filter(({ leftAtMs }) => leftAtMs !== null).length;

  test('aborting a stream, or breaking out of its loop, aborts the call at upstream', async () => {
    for (const how of ['abort', 'break'] as const) {
      const before = leftAt('m-paced');
      const { data: stream, response } = await client.messages
        .create({ ...ask('m-paced'), stream: true })
        .withResponse();
      for await (const event of stream) if (event.type === 'content_block_delta') break;
      const scheduledMs = startScheduledClock();
      if (how === 'abort') stream.controller.abort();
      await pair.fake.until(() => leftAt('m-paced') > before);
      expect(scheduledMs()).toBeLessThan(ABORT_MS_MAX);
      const id = response.headers.get('request-id') ?? '';
      const [record] = await eventually('the record', async () => {
        const found = await pair.gateway.calls('--request-id', id);
        return found.length > 0 ? found : null;
      });
      expect(record).toMatchObject({ status: 499, error: 'client_left', protocol: 'messages', stream: true });
    }
  });

  test('aborting the helper, and a call that waits for its answer', async () => {
    const before = { paced: leftAt('m-paced'), silent: leftAt('m-silent') };
    const runner = client.messages.stream(ask('m-paced'));
    runner.once('text', () => runner.abort());
    expect(await rejection(runner.finalMessage())).toBeInstanceOf(Anthropic.APIUserAbortError);
    await pair.fake.until(() => leftAt('m-paced') > before.paced);
    const leave = new AbortController();
    const failed = rejection(client.messages.create(ask('m-silent'), { signal: leave.signal }));
    await pair.fake.waitFor(({ model }) => model === 'm-silent');
    leave.abort();
    await pair.fake.until(() => leftAt('m-silent') > before.silent);
    expect(await failed).toBeInstanceOf(Anthropic.APIUserAbortError);
  });
});

describe('retries of the SDK', () => {
  const retrying = (changes: { apiKey?: string } = {}) => {
    const watched = watchedFetch();
    return { ...watched, client: anthropic(pair, { fetch: watched.fetch, maxRetries: 2, ...changes }) };
  };
  const recordsOf = async (model: string) =>
    (await pair.gateway.calls()).filter((record) => record.model === model).map(({ status, error }) => [status, error]);

  test.concurrent('a 429 is sent again after retry-after; each attempt of the client has a record', async () => {
    const { client: patient, replies } = retrying();
    await patient.messages.create(ask('m-limits-once'));
    expect(replies.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
      [429, '1'],
      [200, null],
    ]);
    expect(await recordsOf('m-limits-once')).toEqual([
      [200, null],
      [429, 'upstream_rate_limited'],
    ]);
  });

  test.concurrent('a 500 is sent again after retry-after, plain and streamed', async () => {
    const plain = retrying();
    const streamed = retrying();
    await Promise.all([
      plain.client.messages.create(ask('m-fails-once')),
      streamed.client.messages.stream(ask('m-fails-once-streamed')).finalMessage(),
    ]);
    for (const { replies } of [plain, streamed]) {
      expect(replies.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
        [500, '5'],
        [200, null],
      ]);
    }
    for (const model of ['m-fails-once', 'm-fails-once-streamed']) {
      expect(await recordsOf(model)).toEqual([
        [200, null],
        [500, 'upstream_failed'],
      ]);
    }
  });

  test.concurrent('the SDK sees no failure that the gateway outlasts, plain and streamed', async () => {
    const { client: patient, replies } = retrying();
    await patient.messages.create(ask('m-recovers'));
    await patient.messages.stream(ask('m-recovers-streamed')).finalMessage();
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    for (const model of ['m-recovers', 'm-recovers-streamed']) {
      expect(await recordsOf(model)).toEqual([[200, null]]);
      expect(pair.fake.served(model).length).toBe(3);
    }
  });

  test.concurrent('a failure that a repetition cannot mend is not sent again', async () => {
    const wrongKey = retrying({ apiKey: 'sk-ant-wrong' });
    expect(await rejection(wrongKey.client.messages.create(ask('m-ok')))).toBeInstanceOf(Anthropic.AuthenticationError);
    expect(wrongKey.replies.map(({ status, headers }) => [status, headers.get('x-should-retry')])).toEqual([
      [401, 'false'],
    ]);
    const { client: patient, replies } = retrying();
    await rejection(patient.messages.create(ask('claude-none')));
    await rejection(patient.messages.create({ ...ask('m-ok'), messages: [] }));
    expect(replies.map(({ status }) => status)).toEqual([404, 400]);
  });
});
