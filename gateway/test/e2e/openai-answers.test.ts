/** Tests the official OpenAI SDK through the gateway: plain answers, streams, helpers, tools, models, base URLs. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type OpenAI from 'openai';
import type { ChatCompletionTool } from 'openai/resources/chat/completions';
import type { Pair } from '../harness/start-pair.ts';
import { drainStream, openAi, startSdkRig, watchedFetch } from './sdk-rig.ts';

let pair: Pair;
let client: OpenAI;
beforeAll(async () => {
  pair = await startSdkRig();
  client = openAi(pair);
});
afterAll(() => pair.stop());

const TEXT = 'Good day to you.';
const messages = [{ role: 'user', content: 'Good day.' }] as const;
const ask = (model: string) => ({ model, messages: [...messages] });

describe('an answer in one piece', () => {
  test('has text, usage and the request id of the reply', async () => {
    const { data: answer, response } = await client.chat.completions.create(ask('ok')).withResponse();
    expect(answer.choices[0]?.message.content).toBe(TEXT);
    expect(answer.choices[0]?.finish_reason).toBe('stop');
    expect(answer.usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 });
    const id = response.headers.get('x-request-id') ?? '';
    expect(id).toMatch(/^req_[0-9a-f]{32}$/);
    expect(answer).toHaveProperty('_request_id', id);
  });

  test('comes from the demo as well', async () => {
    const answer = await client.chat.completions.create(ask('demo'));
    expect(answer.object).toBe('chat.completion');
    expect(answer.choices[0]?.message.content).toMatch(/\w+/);
    expect(answer.usage?.total_tokens).toBeGreaterThan(0);
  });

  test('the answer fits the requested schema', async () => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    };
    const answer = await client.chat.completions.parse({
      ...ask('demo'),
      response_format: { type: 'json_schema', json_schema: { name: 'place', strict: true, schema } },
    });
    expect(answer.choices[0]?.message.parsed).toEqual({ city: expect.any(String) });
  });

  test('keeps reasoning that the SDK does not know', async () => {
    const answer = await client.chat.completions.create(ask('think'));
    expect(answer.choices[0]?.message).toMatchObject({
      content: 'The sum is 4.',
      reasoning_content: 'Two and two are four.',
    });
  });
});

describe('a stream', () => {
  const join = (chunks: readonly OpenAI.ChatCompletionChunk[]) =>
    chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');

  for (const model of ['ok', 'demo']) {
    test.concurrent(`${model}: raw: one id, the role first, a finish reason last, no usage unless requested`, async () => {
      const { items, error } = await drainStream(await client.chat.completions.create({ ...ask(model), stream: true }));
      expect(error).toBeNull();
      expect(new Set(items.map(({ id }) => id)).size).toBe(1);
      expect(items[0]?.choices[0]?.delta.role).toBe('assistant');
      expect(items.at(-1)?.choices[0]?.finish_reason).toBe('stop');
      expect(items.filter(({ usage }) => usage !== undefined && usage !== null)).toEqual([]);
      expect(items.every(({ choices }) => choices.length > 0)).toBe(true);
      if (model === 'ok') expect(join(items)).toBe(TEXT);
    });

    test.concurrent(`${model}: with include_usage the last chunk has it and no choices`, async () => {
      const asked = { ...ask(model), stream: true, stream_options: { include_usage: true } } as const;
      const { items, error } = await drainStream(await client.chat.completions.create(asked));
      expect(error).toBeNull();
      expect(items.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
      expect(items.slice(0, -1).every(({ choices }) => choices.length > 0)).toBe(true);
    });

    test.concurrent(`${model}: the helper folds it into the answer in one piece`, async () => {
      const runner = client.chat.completions.stream(ask(model));
      let received = '';
      runner.on('content', (delta) => {
        received += delta;
      });
      const folded = await runner.finalChatCompletion();
      const plain = await client.chat.completions.create(ask(model));
      expect(folded.choices[0]?.message.content).toBe(plain.choices[0]?.message.content ?? '');
      expect(received).toBe(plain.choices[0]?.message.content ?? '');
      expect(await runner.finalContent()).toBe(received);
    });
  }

  test('of nine events arrives event by event and whole', async () => {
    const { items } = await drainStream(await client.chat.completions.create({ ...ask('long:9'), stream: true }));
    expect(join(items)).toBe('w1 w2 w3 w4 w5 w6 w7 w8 w9 ');
  });

  test('carries the request id in its head', async () => {
    const { response } = await client.chat.completions.create({ ...ask('ok'), stream: true }).withResponse();
    expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
    await response.body?.cancel();
  });
});

describe('tools', () => {
  const WEATHER = 'get_weather';
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const asked = [{ role: 'user', content: 'What is the weather in Zürich and in Oslo?' }] as const;

  function weatherTool(cities: string[]) {
    return {
      type: 'function',
      function: {
        name: WEATHER,
        description: 'Says the weather of a city',
        parameters,
        parse: JSON.parse as (text: string) => { city: string },
        function: ({ city }: { city: string }) => {
          cities.push(city);
          return `sunny in ${city}`;
        },
      },
    } as const;
  }

  test('runTools plays parallel calls and their results back, plain and streamed', async () => {
    for (const stream of [false, true]) {
      const model = stream ? 'tools-streamed' : 'tools';
      const cities: string[] = [];
      const body = { model, messages: [...asked], tools: [weatherTool(cities)] };
      const runner = stream
        ? client.chat.completions.runTools({ ...body, stream: true })
        : client.chat.completions.runTools(body);
      expect(await runner.finalContent()).toBe(TEXT);
      expect(cities.sort()).toEqual(['Oslo', 'Zürich']);
      const [first, second] = pair.fake.served(model);
      expect(pair.fake.served(model).length).toBe(2);
      expect(first?.stream).toBe(stream);
      const sent = JSON.parse(Buffer.from(second?.requestBody ?? []).toString()) as OpenAI.ChatCompletionCreateParams;
      expect(sent.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool']);
      expect(sent.messages.slice(2).map(({ content }) => content)).toEqual(['sunny in Zürich', 'sunny in Oslo']);
    }
  });

  for (const stream of [false, true]) {
    test.concurrent(`runTools with the demo${stream ? ', streamed' : ''}: it calls the tool and then answers`, async () => {
      const cities: string[] = [];
      const body = { model: 'demo', messages: [...asked], tools: [weatherTool(cities)] };
      const runner = stream
        ? client.chat.completions.runTools({ ...body, stream: true })
        : client.chat.completions.runTools(body);
      expect(await runner.finalContent()).toMatch(/\w+/);
      expect(cities.length).toBeGreaterThan(0);
    });
  }

  test('raw deltas carry an index, and the type and id first', async () => {
    const tools: ChatCompletionTool[] = [{ type: 'function', function: { name: WEATHER, parameters } }];
    const { items } = await drainStream(
      await client.chat.completions.create({
        model: 'demo',
        messages: [...asked],
        tools,
        tool_choice: 'required',
        stream: true,
      }),
    );
    const deltas = items.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
    expect(deltas[0]).toMatchObject({
      index: 0,
      id: expect.any(String),
      type: 'function',
      function: { name: WEATHER },
    });
    expect(items.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
  });
});

describe('models', () => {
  test('list goes through all of them, retrieve finds each, slashes and colons too', async () => {
    const listed: string[] = [];
    for await (const model of client.models.list()) listed.push(model.id);
    expect(listed).toEqual(expect.arrayContaining(['ok', 'm-ok', 'demo', 'claude-demo', 'vendor/renamed', 'long:9']));
    for (const id of ['ok', 'demo', 'vendor/renamed', 'long:9']) {
      expect(await client.models.retrieve(id)).toMatchObject({ id, object: 'model', created: expect.any(Number) });
    }
  });
});

describe('base URLs and credentials', () => {
  for (const suffix of ['', '/', '/v1', '/v1/', '/v1/v1']) {
    test(`base URL with ${JSON.stringify(suffix)}`, async () => {
      const other = openAi(pair, { baseURL: pair.gateway.url + suffix });
      expect((await other.chat.completions.create(ask('ok'))).choices[0]?.message.content).toBe(TEXT);
      expect((await other.models.retrieve('ok')).id).toBe('ok');
    });
  }

  test('a query string in the base URL, an organization, a project and other headers do no harm', async () => {
    const { fetch, requests } = watchedFetch();
    const other = openAi(pair, {
      fetch,
      organization: 'org',
      project: 'proj',
      defaultQuery: { 'api-version': '2024-10-21' },
      defaultHeaders: { 'x-own': 'x' },
    });
    expect((await other.chat.completions.create(ask('ok'))).choices[0]?.message.content).toBe(TEXT);
    expect(requests[0]?.url).toEndWith('/v1/chat/completions?api-version=2024-10-21');
    const sent =
      pair.fake
        .served('ok')
        .at(-1)
        ?.headers.map(([name]) => name) ?? [];
    for (const name of ['x-own', 'openai-organization', 'openai-project', 'x-stainless-lang'])
      expect(sent).not.toContain(name);
  });

  test('the key in x-api-key alone', async () => {
    const other = openAi(pair, { defaultHeaders: { authorization: null, 'x-api-key': pair.gateway.key } });
    expect((await other.chat.completions.create(ask('ok'))).choices[0]?.message.content).toBe(TEXT);
  });
});
