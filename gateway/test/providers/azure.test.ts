/** Tests Azure OpenAI and Claude on Foundry through a gateway, with the answers that only Azure gives. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { createSigningClaude, eventsOf, renderSse } from './signing-claude.ts';
import { ask as askAt, LOOPS, loopTold } from './tool-loop.ts';

interface Arrived {
  readonly path: string;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

let arrived: Arrived[] = [];
let claude = createSigningClaude('claude-prod');
/** The answer to chat completions. */
let play: () => Response = () => new Response('', { status: 500 });
let azure: Bun.Server<undefined>;
let gateway: RunningGateway;

beforeAll(async () => {
  azure = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer });
  const provider = { kind: 'azure', base_url: `http://127.0.0.1:${azure.port}`, api_key: 'azure-key-1' };
  const price = { input: 1, output: 5 };
  gateway = await startGateway({
    config: {
      defaults: { routing: { max_extra_attempts: 0 } },
      providers: { azure: provider, dated: { ...provider, api_version: '2024-10-21' } },
      models: {
        'gpt-5-mini': { targets: [{ provider: 'azure', model: 'prod' }], price },
        older: { targets: [{ provider: 'dated', model: 'prod' }], price },
        claude: { targets: [{ provider: 'azure', model: 'claude-prod' }], price },
      },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await azure.stop(true);
});
beforeEach(() => {
  arrived = [];
  claude = createSigningClaude('claude-prod');
});

async function answer(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const body = (await request.json()) as Arrived['body'];
  arrived.push({ path: pathname + search, headers: request.headers, body });
  if (request.headers.get('api-key') !== 'azure-key-1') return new Response('', { status: 401 });
  if (!pathname.startsWith('/anthropic/')) return play();
  if (pathname.endsWith('/count_tokens')) return Response.json({ input_tokens: 7 });
  const found = claude.answer(body as never);
  if (found.status !== 200 || body.stream !== true) return Response.json(found.body, { status: found.status });
  return new Response(renderSse(eventsOf(found.body)), { headers: { 'content-type': 'text/event-stream' } });
}

const ask = (path: string, body: object) => askAt(gateway, path, body);

const MESSAGES = [{ role: 'user', content: 'hi' }];
const chat = (members: object = {}) =>
  ask('/v1/chat/completions', { model: 'gpt-5-mini', messages: MESSAGES, ...members });

const FIRST =
  '{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}}}]}';
const chunk = (members: object) =>
  JSON.stringify({ id: 'chatcmpl-az1', object: 'chat.completion.chunk', created: 7, model: 'gpt-5-mini', ...members });
const STREAM = [
  FIRST,
  chunk({
    choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null, content_filter_results: {} }],
  }),
  chunk({ choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null, content_filter_results: {} }] }),
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop', content_filter_results: {} }] }),
  chunk({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 } }),
  '[DONE]',
]
  .map((data) => `data: ${data}\n\n`)
  .join('');

describe('vector 46: a first chunk with the results of the filter alone', () => {
  const stream = () => new Response(STREAM, { headers: { 'content-type': 'text/event-stream' } });

  test('passes, and no chunk gets another id', async () => {
    play = stream;
    const reply = await chat({ stream: true, stream_options: { include_usage: true } });
    expect(await reply.text()).toBe(STREAM);
    const [record] = await gateway.calls();
    expect(record).toMatchObject({ status: 200, served_model: 'gpt-5-mini', usage: { input: 9, output: 2 } });
  });

  test('is not taken for usage that the client did not ask for', async () => {
    play = stream;
    const text = await (await chat({ stream: true })).text();
    expect(text).toContain(FIRST);
    expect(text).not.toContain('"usage"');
  });

  test('is dropped for a client of messages', async () => {
    play = stream;
    const body = { model: 'gpt-5-mini', max_tokens: 50, messages: MESSAGES, stream: true };
    const text = await (await ask('/v1/messages', body)).text();
    const events = text
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice(6)));
    expect(events[0]).toMatchObject({ type: 'message_start', message: { model: 'gpt-5-mini', content: [] } });
    expect(text).not.toContain('filter');
    expect(events.at(-2)).toMatchObject({ type: 'message_delta', usage: { input_tokens: 9, output_tokens: 2 } });
  });
});

describe('a prompt that the filter refuses', () => {
  const error = {
    message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
    type: null,
    param: 'prompt',
    code: 'content_filter',
    status: 400,
    innererror: { code: 'ResponsibleAIPolicyViolation', content_filter_result: { jailbreak: { filtered: true } } },
  };

  test('vector 47: reaches the client as it came, and the target stays closed', async () => {
    play = () => Response.json({ error }, { status: 400 });
    const failed = 30;
    for (let count = 0; count < failed; count++) {
      const reply = await chat();
      expect([reply.status, await reply.json()]).toEqual([400, { error }]);
    }
    const [record] = await gateway.calls();
    expect(record).toMatchObject({ status: 400, attempts: [{ class: 'policy' }] });
    play = () =>
      Response.json({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      });
    expect((await chat()).status).toBe(200);
  });

  test('may come as the first record of a stream', async () => {
    play = () =>
      new Response(`data: ${JSON.stringify({ error })}\n\n`, { headers: { 'content-type': 'text/event-stream' } });
    const reply = await chat({ stream: true });
    expect([reply.status, await reply.json()]).toMatchObject([400, { error: { message: error.message } }]);
  });
});

test('vector 48: of two delays the larger is told', async () => {
  play = () =>
    Response.json(
      { error: { code: '429', message: 'Requests have exceeded call rate limit.' } },
      { status: 429, headers: { 'retry-after': '1', 'retry-after-ms': '0' } },
    );
  const reply = await chat();
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([429, '1']);
});

test('a dated version goes to the deployment’s path', async () => {
  play = () =>
    Response.json(
      { error: { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' } },
      { status: 404 },
    );
  expect((await chat({ model: 'older' })).status).toBe(500);
  expect(arrived[0]?.path).toBe('/openai/deployments/prod/chat/completions?api-version=2024-10-21');
});

describe('Claude on Foundry', () => {
  test.each(LOOPS)('runs a tool loop of ten turns with thinking from %s, streamed: %p', async (_, stream, loop) => {
    expect(await loop({ gateway, model: 'claude', stream })).toEqual(loopTold('toolu'));
    expect(claude.refusals).toEqual([]);
    expect(new Set(arrived.map(({ path }) => path))).toEqual(new Set(['/anthropic/v1/messages']));
    expect(arrived.every(({ headers }) => headers.get('x-api-key') === 'azure-key-1')).toBe(true);
    expect(arrived[0]?.body.model).toBe('claude-prod');
  });

  test('counts tokens', async () => {
    const reply = await ask('/v1/messages/count_tokens', { model: 'claude', messages: MESSAGES });
    expect([await reply.json(), arrived[0]?.path]).toEqual([
      { input_tokens: 7 },
      '/anthropic/v1/messages/count_tokens',
    ]);
  });
});
