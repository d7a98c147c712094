/** Tests Claude on Vertex AI through a gateway: plain, streamed, counted, and in a tool loop from both client formats. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { createSigningClaude, eventsOf, renderSse } from './signing-claude.ts';
import { ask as askAt, LOOP_TURNS, LOOPS, loopTold } from './tool-loop.ts';

const MODEL = 'claude-opus-4-8@20260401';
const METADATA = '/computeMetadata/v1/instance/service-accounts/default/token';

interface Arrived {
  readonly path: string;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

let arrived: Arrived[] = [];
let tokens = 0;
let claude = createSigningClaude(MODEL);
/** Answers instead of Claude; null: Claude does. */
let play: (() => Response) | null = null;
let vertex: Bun.Server<undefined>;
let gateway: RunningGateway;

beforeAll(async () => {
  vertex = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer });
  const url = `http://127.0.0.1:${vertex.port}`;
  gateway = await startGateway({
    environment: { GCE_METADATA_HOST: `127.0.0.1:${vertex.port}`, HOME: '/nonexistent' },
    config: {
      server: { private_origins: [url] },
      defaults: { routing: { max_extra_attempts: 0 } },
      providers: { vertex: { kind: 'vertex', project: 'p1', location: 'eu', credentials: 'adc', base_url: url } },
      models: {
        claude: { targets: [{ provider: 'vertex', model: MODEL }], price: { input: 1, output: 5 } },
        disabled: { targets: [{ provider: 'vertex', model: 'claude-none' }], price: { input: 1, output: 5 } },
        gemini: { targets: [{ provider: 'vertex', model: 'gemini-3.5-flash' }], price: { input: 1, output: 5 } },
        llama: {
          targets: [{ provider: 'vertex', model: 'meta/llama-5-maas' }],
          price: { input: 1, output: 5 },
        },
      },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await vertex.stop(true);
});
beforeEach(() => {
  arrived = [];
  claude = createSigningClaude(MODEL);
  play = null;
});

async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === METADATA) {
    if (request.headers.get('metadata-flavor') !== 'Google') return new Response('', { status: 403 });
    tokens += 1;
    // Long enough for requests in parallel to find no token yet.
    await Bun.sleep(20);
    const token = { access_token: `ya29.token-${tokens}`, expires_in: 3_599, token_type: 'Bearer' };
    return Response.json(token, { headers: { 'metadata-flavor': 'Google' } });
  }
  const text = await request.text();
  const one = { path: pathname, headers: request.headers, text, body: JSON.parse(text) };
  arrived.push(one);
  if (!/^Bearer ya29\.token-\d$/.test(request.headers.get('authorization') ?? ''))
    return new Response('', { status: 401 });
  return play?.() ?? answerModel(one);
}

function answerModel({ path, body }: Arrived): Response {
  if (path.endsWith('count-tokens:rawPredict')) return Response.json({ input_tokens: 42 });
  if (path.endsWith('/endpoints/openapi/chat/completions')) {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }];
    const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
    return Response.json({ id: 'c1', object: 'chat.completion', created: 1, model: body.model, choices, usage });
  }
  if (path.includes('/publishers/google/')) return answerGemini(path);
  const found = claude.answer(body as never);
  if (found.status !== 200 || path.endsWith(':rawPredict')) return Response.json(found.body, { status: found.status });
  return new Response(renderSse(eventsOf(found.body)), { headers: { 'content-type': 'text/event-stream' } });
}

function answerGemini(path: string): Response {
  const partOf = (text: string) => ({ content: { role: 'model', parts: [{ text }] } });
  const usageMetadata = { promptTokenCount: 8, candidatesTokenCount: 2, totalTokenCount: 10, trafficType: 'ON_DEMAND' };
  const rest = { modelVersion: 'gemini-3.5-flash', responseId: 'r1' };
  const whole = { candidates: [{ ...partOf('Hello'), finishReason: 'STOP' }], usageMetadata, ...rest };
  if (path.endsWith(':generateContent')) return Response.json(whole);
  const traffic = { trafficType: 'ON_DEMAND' };
  const records = [
    { candidates: [partOf('Hel')], usageMetadata: traffic, ...rest },
    { candidates: [{ ...partOf('lo'), finishReason: 'STOP' }], usageMetadata, ...rest },
  ];
  const text = records.map((record) => `data: ${JSON.stringify(record)}\r\n\r\n`).join('');
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
}

const ask = (path: string, body: object, headers: Record<string, string> = {}) => askAt(gateway, path, body, headers);

const HELLO = { max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };
const PUBLISHER = '/v1/projects/p1/locations/eu/publishers/anthropic/models';

test('200 parallel requests share one exchange of a token', async () => {
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => ask('/v1/messages', { model: 'claude', ...HELLO })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(arrived.map(({ headers }) => headers.get('authorization'))).toEqual(Array(200).fill('Bearer ya29.token-1'));
  expect(tokens).toBe(1);
});

describe('a request of messages', () => {
  test('vector 27: is streamed at streamRawPredict, with stream and anthropic_version, without model', async () => {
    const sent =
      '{"model":"claude","max_tokens":10, "stream":true,"messages":[{"role":"user","content":"hi"}],"x_own":1}';
    const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
    const reply = await fetch(`${gateway.url}/v1/messages`, { method: 'POST', headers, body: sent });
    const text = await reply.text();
    expect(text).toBe(renderSse(eventsOf(claude.answer(HELLO as never).body)));
    const [{ path, text: body } = { path: '', text: '' }] = arrived;
    expect(path).toBe(`${PUBLISHER}/${MODEL}:streamRawPredict`);
    expect(body).toBe(
      '{"max_tokens":10, "stream":true,"messages":[{"role":"user","content":"hi"}],"x_own":1,"anthropic_version":"vertex-2023-10-16"}',
    );
  });

  test('is answered plain at rawPredict, by the bytes of the provider', async () => {
    const reply = await ask('/v1/messages', { model: 'claude', ...HELLO }, { 'anthropic-beta': 'b-1' });
    expect(await reply.json()).toEqual(claude.answer(HELLO as never).body);
    const [{ path, headers, body } = { path: '', headers: new Headers(), body: {} }] = arrived;
    expect([path, headers.get('anthropic-beta')]).toEqual([`${PUBLISHER}/${MODEL}:rawPredict`, 'b-1']);
    expect(Object.keys(body)).toEqual(['max_tokens', 'messages', 'anthropic_version']);
    const [record] = await gateway.calls();
    expect(record).toMatchObject({ status: 200, served_model: MODEL, usage: { input: 10, output: 5 } });
    expect(record?.attempts[0]).toMatchObject({ region: 'eu' });
    expect(record?.attempts[0]).not.toHaveProperty('door');
  });

  test('of the unified version gets it', async () => {
    const version = { 'anthropic-version': '2026-10-21' };
    await ask('/v1/messages', { model: 'claude', ...HELLO }, version);
    expect(arrived[0]?.body.anthropic_version).toBe('2026-10-21');
  });

  test('goes out once more without a beta that Vertex does not know, which is named', async () => {
    const message = 'Unexpected value(s) `oauth-2025-04-20` for the `anthropic-beta` header.';
    const error = { type: 'error', error: { type: 'invalid_request_error', message } };
    play = () => {
      play = null;
      return Response.json(error, { status: 400 });
    };
    const betas = { 'anthropic-beta': 'interleaved-thinking-2025-05-14,oauth-2025-04-20' };
    const reply = await ask('/v1/messages', { model: 'claude', ...HELLO }, betas);
    expect([reply.status, reply.headers.get('x-tollgate-dropped')]).toEqual([200, 'anthropic-beta.oauth-2025-04-20']);
    expect(arrived.map(({ headers }) => headers.get('anthropic-beta'))).toEqual([
      'interleaved-thinking-2025-05-14,oauth-2025-04-20',
      'interleaved-thinking-2025-05-14',
    ]);
    const [record] = await gateway.calls();
    expect(record).toMatchObject({ status: 200, attempts: [{ exchanges: 2 }] });
  });

  test('has its cache mark on the last block, which Vertex takes there only, in both formats', async () => {
    const mark = { type: 'ephemeral', ttl: '1h' };
    const replies = [
      await ask('/v1/messages', { model: 'claude', ...HELLO, cache_control: mark }),
      await ask('/v1/chat/completions', { model: 'claude', ...HELLO, cache_control: mark }),
    ];
    expect(replies.map(({ status, headers }) => [status, headers.get('x-tollgate-dropped')])).toEqual([
      [200, null],
      [200, null],
    ]);
    const content = [{ type: 'text', text: 'hi', cache_control: mark }];
    expect(arrived.map(({ body }) => [body.cache_control, body.messages])).toEqual(
      replies.map(() => [undefined, [{ role: 'user', content }]]),
    );
  });

  test('is counted there, with its model', async () => {
    const { max_tokens: _, ...counted } = HELLO;
    const reply = await ask('/v1/messages/count_tokens', { model: 'claude', ...counted });
    expect(await reply.json()).toEqual({ input_tokens: 42 });
    expect(arrived[0]).toMatchObject({
      path: `${PUBLISHER}/count-tokens:rawPredict`,
      body: { model: MODEL, anthropic_version: 'vertex-2023-10-16' },
    });
  });
});

describe('a request of Gemini', () => {
  const GOOGLE = '/v1beta1/projects/p1/locations/eu/publishers/google/models/gemini-3.5-flash';

  test('is answered plain and streamed, in both formats', async () => {
    const plain = await ask('/v1/chat/completions', { model: 'gemini', messages: HELLO.messages });
    expect(await plain.json()).toMatchObject({
      choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 8, completion_tokens: 2 },
    });
    const streamed = await ask('/v1/messages', { model: 'gemini', ...HELLO, stream: true });
    const text = await streamed.text();
    expect(text).toContain('"text":"Hel"');
    expect(text).toContain('event: message_stop');
    expect(arrived.map(({ path }) => path)).toEqual([`${GOOGLE}:generateContent`, `${GOOGLE}:streamGenerateContent`]);
    const [record] = await gateway.calls();
    expect(record).toMatchObject({ status: 200, usage: { input: 8, output: 2 } });
  });

  test('has no ids on its calls and results', async () => {
    const calls = [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } }];
    const messages = [
      ...HELLO.messages,
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', tool_call_id: 'call_1', content: 'seen' },
    ];
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
    expect((await ask('/v1/chat/completions', { model: 'gemini', tools, messages })).status).toBe(200);
    const contents = JSON.stringify(arrived[0]?.body.contents);
    expect(contents).toContain('"functionCall":{"name":"look","args":{"a":1}}');
    expect(contents).not.toContain('call_1');
  });
});

test('a model of another publisher is called over chat completions', async () => {
  const reply = await ask('/v1/chat/completions', { model: 'llama', messages: HELLO.messages });
  expect([reply.status, arrived[0]?.path]).toEqual([
    200,
    '/v1/projects/p1/locations/eu/endpoints/openapi/chat/completions',
  ]);
  expect(arrived[0]?.body.model).toBe('meta/llama-5-maas');
});

describe('a tool loop of ten turns with thinking', () => {
  test.each(LOOPS)('is never refused from %s, streamed: %p', async (_, stream, loop) => {
    expect(await loop({ gateway, model: 'claude', stream })).toEqual(loopTold('toolu'));
    expect(claude.refusals).toEqual([]);
    expect(arrived).toHaveLength(LOOP_TURNS + 1);
  });

  test('is refused where a signature is altered or missing, and its message is the client’s', async () => {
    const thought = { type: 'thinking', thinking: 'Thought 0 🤔', signature: 'altered' };
    const call = { type: 'tool_use', id: 'toolu_0', name: 'look', input: {} };
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_0', content: 'x' }] };
    const [user] = HELLO.messages;
    const messages = [user, { role: 'assistant', content: [thought, call] }, result];
    expect((await ask('/v1/messages', { model: 'claude', max_tokens: 10, messages })).status).toBe(400);
    expect(claude.refusals[0]).toContain('Invalid `signature`');
  });
});

describe('errors', () => {
  test('of a model that is not enabled are the operator’s', async () => {
    google(400, 'Project `p1` is not allowed to use Publisher Model `projects/p1/x`', 'FAILED_PRECONDITION');
    const reply = await ask('/v1/messages', { model: 'disabled', ...HELLO });
    expect([reply.status, await reply.json()]).toMatchObject([500, { error: { type: 'api_error' } }]);
    expect((await gateway.calls())[0]).toMatchObject({ error: 'upstream_misconfigured' });
  });

  const google = (status: number, message: string, word: string) => {
    play = () => Response.json([{ error: { code: status, message, status: word } }], { status });
  };

  test('in Google’s shape are read like Anthropic’s', async () => {
    const words =
      'Quota exceeded for aiplatform.googleapis.com/online_prediction_requests_per_base_model with base model: anthropic-claude-opus.';
    google(429, words, 'RESOURCE_EXHAUSTED');
    const reply = await ask('/v1/messages', { model: 'claude', ...HELLO });
    expect([reply.status, await reply.json()]).toMatchObject([429, { error: { type: 'rate_limit_error' } }]);
  });
});
