/**
 * Tests the official Anthropic SDK through the gateway: plain answers, streams, helpers, tools, counting, models, both
 * API versions.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type Anthropic from '@anthropic-ai/sdk';
import type { Pair } from '../harness/start-pair.ts';
import { anthropic, drainStream, startSdkRig, watchedFetch } from './sdk-rig.ts';

let pair: Pair;
let client: Anthropic;
beforeAll(async () => {
  pair = await startSdkRig();
  client = anthropic(pair);
});
afterAll(() => pair.stop());

const TEXT = 'Good day to you.';
const ask = (model: string) => ({
  model,
  max_tokens: 256,
  messages: [{ role: 'user' as const, content: 'Good day.' }],
});
const textOf = (message: { readonly content: ReadonlyArray<{ readonly type: string; readonly text?: string }> }) =>
  message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');

/** Returns the headers of a model's last upstream call. */
function sentHeaders(model: string): Readonly<Record<string, string>> {
  return Object.fromEntries(pair.fake.served(model).at(-1)?.headers ?? []);
}

describe('an answer in one piece', () => {
  test('has text, usage and the request id of the reply', async () => {
    const { data: answer, response, request_id } = await client.messages.create(ask('m-ok')).withResponse();
    expect(textOf(answer)).toBe(TEXT);
    expect(answer).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn' });
    expect(answer.usage).toMatchObject({ input_tokens: 11, output_tokens: 5 });
    const id = response.headers.get('x-request-id') ?? '';
    expect(id).toMatch(/^req_[0-9a-f]{32}$/);
    expect(request_id).toBe(id);
    expect(answer).toHaveProperty('_request_id', id);
  });

  test('comes from the demo as well, thinking too', async () => {
    const answer = await client.messages.create({
      ...ask('claude-demo'),
      max_tokens: 4_096,
      thinking: { type: 'enabled', budget_tokens: 1_024 },
    });
    expect(answer.content.map(({ type }) => type)).toEqual(['thinking', 'text']);
    expect(textOf(answer)).toMatch(/\w+/);
  });

  test('keeps thinking and its signature', async () => {
    const answer = await client.messages.create(ask('m-think'));
    expect(answer.content[0]).toMatchObject({ type: 'thinking', thinking: 'Two and two are four.' });
    expect(textOf(answer)).toBe('The sum is 4.');
  });
});

describe('a stream', () => {
  for (const model of ['m-ok', 'claude-demo']) {
    test.concurrent(`${model}: raw: the events of the protocol in their order`, async () => {
      const { items, error } = await drainStream(await client.messages.create({ ...ask(model), stream: true }));
      expect(error).toBeNull();
      const types = items.map(({ type }) => type);
      expect(types[0]).toBe('message_start');
      expect(types.slice(-2)).toEqual(['message_delta', 'message_stop']);
      expect(types.filter((type) => type === 'content_block_start').length).toBe(
        types.filter((type) => type === 'content_block_stop').length,
      );
      const delta = items.at(-2);
      expect(delta).toMatchObject({ delta: { stop_reason: 'end_turn' }, usage: { output_tokens: expect.any(Number) } });
    });

    test.concurrent(`${model}: the helper folds it into the answer in one piece`, async () => {
      const runner = client.messages.stream(ask(model));
      let received = '';
      runner.on('text', (delta) => {
        received += delta;
      });
      const folded = await runner.finalMessage();
      const plain = await client.messages.create(ask(model));
      expect(textOf(folded)).toBe(textOf(plain));
      expect(received).toBe(textOf(plain));
      expect(folded.usage).toMatchObject({ output_tokens: plain.usage.output_tokens });
      expect(await runner.finalText()).toBe(received);
      expect(runner.request_id).toMatch(/^req_[0-9a-f]{32}$/);
    });
  }

  test('thinking is streamed as such', async () => {
    const message = await client.messages.stream(ask('m-think')).finalMessage();
    expect(message.content[0]).toMatchObject({ type: 'thinking', thinking: 'Two and two are four.' });
  });

  test('of nine events arrives whole', async () => {
    expect(await client.messages.stream(ask('m-long:9')).finalText()).toBe('w1 w2 w3 w4 w5 w6 w7 w8 w9 ');
  });
});

describe('tools', () => {
  const input_schema = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };
  const opening = [{ role: 'user' as const, content: 'What is the weather in Zürich and in Oslo?' }];

  function weatherTool(cities: string[]) {
    return {
      type: 'custom' as const,
      name: 'get_weather',
      description: 'Says the weather of a city',
      input_schema,
      parse: (content: unknown) => content as { city: string },
      run: ({ city }: { city: string }) => {
        cities.push(city);
        return `sunny in ${city}`;
      },
    };
  }

  /** Returns the bodies that upstream received for a model. */
  const sentBodies = (model: string) =>
    pair.fake.served(model).map(({ requestBody }) => JSON.parse(Buffer.from(requestBody).toString()) as Sent);

  interface Sent {
    readonly messages: Anthropic.MessageParam[];
    readonly thread?: { readonly type: string; readonly previous_message_id?: string };
  }

  async function runTools(model: string, more: { readonly stream: boolean; readonly thread?: false }): Promise<void> {
    const cities: string[] = [];
    const body = { model, max_tokens: 256, messages: opening, tools: [weatherTool(cities)] };
    const runner = client.beta.messages.toolRunner({ ...body, ...more });
    expect(textOf(await runner.runUntilDone())).toBe(TEXT);
    expect(cities.sort()).toEqual(['Oslo', 'Zürich']);
  }

  const roles = ({ messages }: Sent) => messages.map(({ role }) => role);
  const results = [
    { type: 'tool_result', tool_use_id: 'toolu_fake_1' },
    { type: 'tool_result', tool_use_id: 'toolu_fake_2' },
  ];

  test('the tool runner plays parallel calls and their results back, plain and streamed', async () => {
    for (const stream of [false, true]) {
      const model = stream ? 'm-tools-streamed' : 'm-tools';
      await runTools(model, { stream, thread: false });
      const sent = sentBodies(model);
      expect(sent.map(roles)).toEqual([['user'], ['user', 'assistant', 'user']]);
      expect(sent[1]?.messages[2]?.content).toMatchObject(results);
      expect(pair.fake.served(model).map((call) => call.stream)).toEqual([stream, stream]);
    }
  });

  test('message threads, which the tool runner requests by itself, reach upstream unchanged', async () => {
    await runTools('m-tools-threaded', { stream: false });
    const sent = sentBodies('m-tools-threaded');
    expect(sent.map(({ thread }) => thread)).toEqual([
      { type: 'create' },
      { type: 'continue', previous_message_id: expect.any(String) },
    ]);
    expect(sent[1]?.messages).toMatchObject([{ role: 'user', content: results }]);
    expect(sentHeaders('m-tools-threaded')['anthropic-beta']).toContain('message-threads');
  });

  test("upstream's error that it has no threads reaches the runner, which continues without", async () => {
    await runTools('m-tools-threadless', { stream: false });
    const sent = sentBodies('m-tools-threadless');
    expect(sent.map(({ thread }) => thread?.type)).toEqual(['create', undefined, undefined]);
    expect(sent.map(roles)).toEqual([['user'], ['user'], ['user', 'assistant', 'user']]);
  });

  for (const stream of [false, true]) {
    test.concurrent(`the tool runner with the demo${stream ? ', streamed' : ''}: it calls the tool and then answers`, async () => {
      const cities: string[] = [];
      const runner = client.beta.messages.toolRunner({
        model: 'claude-demo',
        max_tokens: 256,
        messages: opening,
        tools: [weatherTool(cities)],
        stream,
      });
      expect(textOf(await runner.runUntilDone())).toMatch(/\w+/);
      expect(cities.length).toBeGreaterThan(0);
    });
  }
});

describe('counting and models', () => {
  test('count_tokens uses upstream’s counter; the demo has its own', async () => {
    for (const model of ['m-ok', 'claude-demo']) {
      const { input_tokens } = await client.messages.countTokens({ model, messages: ask(model).messages });
      expect(input_tokens).toBeGreaterThan(0);
    }
    expect(pair.fake.served('m-ok').some(({ endpoint }) => endpoint === 'count-tokens')).toBe(true);
  });

  test('list goes from page to page through all models once; retrieve finds each', async () => {
    const listed: string[] = [];
    for await (const model of client.models.list({ limit: 3 })) listed.push(model.id);
    expect(new Set(listed).size).toBe(listed.length);
    const whole = await client.models.list({ limit: 1_000 });
    expect(listed).toEqual(whole.data.map(({ id }) => id));
    expect(listed).toEqual(expect.arrayContaining(['ok', 'm-ok', 'demo', 'claude-demo', 'vendor/renamed']));
    for (const id of ['m-ok', 'claude-demo', 'vendor/renamed', 'm-long:9']) {
      const model = await client.models.retrieve(id);
      expect(model).toMatchObject({ id, type: 'model', display_name: expect.any(String) });
      expect(Number.isNaN(Date.parse(model.created_at))).toBe(false);
    }
  });
});

describe('API versions and credentials', () => {
  test('SDK 1.x: bearer and 2026-10-21; upstream sees the version and not the key', async () => {
    const { fetch, requests } = watchedFetch();
    await anthropic(pair, { fetch }).messages.create(ask('m-ok'));
    expect(requests[0]?.headers.get('authorization')).toBe(`Bearer ${pair.gateway.key}`);
    expect(requests[0]?.headers.get('anthropic-version')).toBe('2026-10-21');
    expect(sentHeaders('m-ok')['anthropic-version']).toBe('2026-10-21');
    expect(JSON.stringify(sentHeaders('m-ok'))).not.toContain(pair.gateway.key.slice(3));
  });

  test('as SDK 0.x: x-api-key and 2023-06-01, alone and with a bearer that is not ours', async () => {
    const older = { 'x-api-key': pair.gateway.key, 'anthropic-version': '2023-06-01' };
    for (const headers of [{ ...older, authorization: null }, older]) {
      const other = anthropic(pair, { apiKey: null, authToken: 'not-a-key-of-ours', defaultHeaders: headers });
      const answer = await other.messages.create({ ...ask('m-ok'), metadata: { user_id: 'someone' } });
      expect(textOf(answer)).toBe(TEXT);
      expect(sentHeaders('m-ok')['anthropic-version']).toBe('2023-06-01');
      expect(await other.messages.stream(ask('m-ok')).finalText()).toBe(TEXT);
    }
  });

  test('authToken and apiKey alike', async () => {
    const other = anthropic(pair, { apiKey: null, authToken: pair.gateway.key });
    expect(textOf(await other.messages.create(ask('m-ok')))).toBe(TEXT);
  });

  test('betas and the query of older clients', async () => {
    const answer = await client.beta.messages.create(
      { ...ask('m-ok'), betas: ['context-management-2025-06-27', 'one-that-nobody-knows'] },
      { query: { beta: 'true' } },
    );
    expect(textOf(answer)).toBe(TEXT);
    expect(sentHeaders('m-ok')['anthropic-beta']).toBe('context-management-2025-06-27,one-that-nobody-knows');
  });

  for (const suffix of ['', '/', '/v1', '/v1/']) {
    test(`base URL with ${JSON.stringify(suffix)}`, async () => {
      const other = anthropic(pair, { baseURL: pair.gateway.url + suffix });
      expect(textOf(await other.messages.create(ask('m-ok')))).toBe(TEXT);
      expect((await other.models.retrieve('m-ok')).id).toBe('m-ok');
      expect(
        (await other.messages.countTokens({ model: 'm-ok', messages: ask('m-ok').messages })).input_tokens,
      ).toBeGreaterThan(0);
    });
  }
});
