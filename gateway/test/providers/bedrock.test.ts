/**
 * Tests Claude on Amazon Bedrock through a gateway, at a fake of both services that verifies signatures: plain, streamed,
 * counted, refused, and in a tool loop from both client formats.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { encodeChunk, encodeEvent, encodeException } from '../../src/framing/testing/encode-frame.ts';
import { findSignatureFault } from '../../src/providers/kinds/bedrock/testing/verify-signature.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { createSigningClaude, eventsOf, renderSse } from './signing-claude.ts';
import { ask as askAt, LOOP_TURNS, LOOPS, loopTold } from './tool-loop.ts';

const PROFILE = 'us.anthropic.claude-sonnet-4-6-v1:0';
const BARE = 'anthropic.claude-opus-4-8';
const REGION = 'us-east-1';
const INVOKE = `/model/${encodeURIComponent(PROFILE)}/invoke`;
const MANTLE = '/anthropic/v1/messages';
const ENVIRONMENT = {
  AWS_ACCESS_KEY_ID: 'ASIA1',
  AWS_SECRET_ACCESS_KEY: 'canary-secret',
  AWS_SESSION_TOKEN: 'canary-token',
};

const APART = Array.from({ length: 8 }, (_, index) => `apart-${index}`);

interface Arrived {
  readonly path: string;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

let arrived: Arrived[] = [];
let faults: string[] = [];
let claude = createSigningClaude(PROFILE);
/** Answers instead of Claude; null: Claude does. */
let play: ((path: string) => Response | null) | null = null;
let clockMs = 0;
let bedrock: Bun.Server<undefined>;
let gateway: RunningGateway;

beforeAll(async () => {
  bedrock = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer });
  const base_url = `http://127.0.0.1:${bedrock.port}`;
  const price = { input: 1, output: 5 };
  const at = (provider: string, model: string) => ({ targets: [{ provider, model }], price });
  gateway = await startGateway({
    environment: ENVIRONMENT,
    config: {
      server: { private_origins: [base_url] },
      defaults: { routing: { max_extra_attempts: 0 } },
      providers: {
        aws: { kind: 'bedrock', region: REGION, credentials: 'chain', base_url },
        // A refusal of the account benches the credential of one provider.
        ...Object.fromEntries(
          APART.map((name) => [name, { kind: 'bedrock', region: REGION, credentials: 'chain', base_url }]),
        ),
        skewed: {
          kind: 'bedrock',
          region: REGION,
          access_key_id: 'AKIA2',
          secret_access_key: 'canary-secret-2',
          base_url,
        },
      },
      models: {
        invoked: at('aws', PROFILE),
        native: at('aws', BARE),
        moved: at('aws', 'anthropic.claude-haiku-4-5'),
        nova: at('aws', 'amazon.nova-pro-v1:0'),
        either: {
          targets: [PROFILE, BARE].map((model) => ({ provider: 'aws', model })),
          routing: { max_extra_attempts: 1 },
          price,
        },
        oss: at('apart-7', 'openai.gpt-oss-120b-1:0'),
        late: at('skewed', PROFILE),
        ...Object.fromEntries(APART.map((name) => [name, at(name, PROFILE)])),
      },
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  await bedrock.stop(true);
});
beforeEach(() => {
  arrived = [];
  faults = [];
  claude = createSigningClaude(PROFILE);
  play = null;
  clockMs = 0;
});

async function answer(request: Request): Promise<Response> {
  const { pathname: path } = new URL(request.url);
  const { method, headers } = request;
  const text = await request.text();
  const fault = findSignatureFault(
    { method, path, headers, body: text },
    {
      service: path.startsWith('/model/') || path.startsWith('/openai/') ? 'bedrock' : 'bedrock-mantle',
      region: REGION,
      secrets: { ASIA1: 'canary-secret', AKIA2: 'canary-secret-2' },
      nowMs: Date.now() + clockMs,
    },
  );
  if (fault !== null) {
    faults.push(fault);
    return refuse(403, fault, 'Signature expired');
  }
  arrived.push({ path, headers, text, body: JSON.parse(text) });
  return play?.(path) ?? answerModel(path, JSON.parse(text));
}

function refuse(status: number, exception: string, message: string): Response {
  const date = new Date(Date.now() + clockMs).toUTCString();
  return Response.json(
    { message },
    { status, headers: { 'x-amzn-errortype': exception, date, 'x-amzn-requestid': 'amzn-1' } },
  );
}

function answerModel(path: string, body: Record<string, unknown>): Response {
  if (path.endsWith('/count_tokens')) return Response.json({ input_tokens: 42 });
  if (path.endsWith('/count-tokens')) return Response.json({ inputTokens: 4242 });
  if (path.includes('/converse')) return answerConverse(path);
  const isInvoke = path.startsWith('/model/');
  if (isInvoke && ('model' in body || 'stream' in body || body.anthropic_version !== 'bedrock-2023-05-31')) {
    return refuse(400, 'ValidationException', 'extraneous key');
  }
  const found = claude.answer(body as never);
  const isStream = isInvoke ? path.endsWith('-stream') : body.stream === true;
  if (found.status !== 200 || !isStream) return Response.json(found.body, { status: found.status });
  const events = eventsOf(found.body);
  if (!isInvoke) return new Response(renderSse(events), { headers: { 'content-type': 'text/event-stream' } });
  const frames = Buffer.concat(events.map((event) => encodeChunk(event)));
  return new Response(frames, { headers: { 'content-type': 'application/vnd.amazon.eventstream' } });
}

const USAGE = { inputTokens: 7, outputTokens: 3, totalTokens: 10 };

function answerConverse(path: string): Response {
  const message = { role: 'assistant', content: [{ text: 'Good day.' }] };
  if (path.endsWith('/converse')) return Response.json({ output: { message }, stopReason: 'end_turn', usage: USAGE });
  const frames = Buffer.concat([
    encodeEvent('messageStart', { role: 'assistant', p: 'ab' }),
    encodeEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Good day.' } }),
    encodeEvent('contentBlockStop', { contentBlockIndex: 0 }),
    encodeEvent('messageStop', { stopReason: 'end_turn' }),
    encodeEvent('metadata', { usage: USAGE, metrics: { latencyMs: 1 } }),
  ]);
  return new Response(frames, { headers: { 'content-type': 'application/vnd.amazon.eventstream' } });
}

const ask = (path: string, body: object, headers: Record<string, string> = {}) => askAt(gateway, path, body, headers);

async function errorOf(reply: Response): Promise<{ readonly type: string }> {
  return ((await reply.json()) as { readonly error: { readonly type: string } }).error;
}

const HELLO = { max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };

describe('a request of messages', () => {
  test('is invoked, signed with the keys that were found, and answered by the bytes of the provider', async () => {
    const reply = await ask('/v1/messages', { model: 'invoked', ...HELLO });
    expect(await reply.json()).toEqual(claude.answer(HELLO as never).body);
    expect([arrived[0]?.path, arrived[0]?.headers.get('x-amz-security-token')]).toEqual([INVOKE, 'canary-token']);
    const [record] = await gateway.calls();
    expect(record).toMatchObject({ status: 200, usage: { input: 10, output: 5 } });
    expect(record?.attempts[0]).not.toHaveProperty('exchanges');
    expect(record?.attempts[0]).toMatchObject({ door: 'runtime', region: REGION });
  });

  test('vector 28: is streamed at a path of its own, and its frames become the events of Anthropic', async () => {
    const reply = await ask(
      '/v1/messages',
      { model: 'invoked', stream: true, ...HELLO },
      { 'anthropic-beta': 'effort-2025-11-24' },
    );
    expect(await reply.text()).toBe(renderSse(eventsOf(claude.answer(HELLO as never).body)));
    expect(reply.headers.get('content-type')).toStartWith('text/event-stream');
    const [first] = arrived;
    expect([first?.path, first?.body.anthropic_beta, first?.headers.has('anthropic-beta')]).toEqual([
      `${INVOKE}-with-response-stream`,
      ['effort-2025-11-24'],
      false,
    ]);
  });

  test('goes to Mantle as it is for a bare id, and is counted there', async () => {
    const reply = await ask('/v1/messages', { model: 'native', stream: true, ...HELLO });
    expect(await reply.text()).toBe(renderSse(eventsOf(claude.answer(HELLO as never).body)));
    const { max_tokens: _, ...counted } = HELLO;
    expect(await (await ask('/v1/messages/count_tokens', { model: 'native', ...counted })).json()).toEqual({
      input_tokens: 42,
    });
    expect(arrived.map(({ path }) => path)).toEqual([MANTLE, `${MANTLE}/count_tokens`]);
    expect(arrived[0]?.body.model).toBe(BARE);
    const [record] = await gateway.calls('--limit', '1');
    expect(record?.attempts).toMatchObject([{ door: 'mantle', region: REGION }]);
  });

  test('that Mantle does not have is invoked, in one attempt, and benches nothing', async () => {
    play = (path) => (path.startsWith(MANTLE) ? refuse(404, 'ResourceNotFoundException', 'no such model') : null);
    for (const exchanges of [2, undefined]) {
      expect((await ask('/v1/messages', { model: 'moved', ...HELLO })).status).toBe(200);
      const [record] = await gateway.calls('--limit', '1');
      expect([record?.attempts.length, record?.attempts[0]?.exchanges]).toEqual([1, exchanges]);
      expect(record?.attempts[0]).toMatchObject({ status: 200, door: 'runtime', region: REGION });
    }
    const { max_tokens: _, ...counted } = HELLO;
    const count = await ask('/v1/messages/count_tokens', { model: 'moved', ...counted });
    expect(await count.json()).toEqual({ input_tokens: 4242 });
    expect(arrived.map(({ path }) => path.split('/').at(-1))).toEqual([
      'messages',
      'invoke',
      'invoke',
      'count_tokens',
      'count-tokens',
    ]);
  });

  test('vector 29: names the betas that Bedrock does not get, also those of a second try without any', async () => {
    const betas = 'claude-code-20250219,oauth-2025-04-20,advanced-tool-use-2025-11-20';
    const known = await ask('/v1/messages', { model: 'invoked', ...HELLO }, { 'anthropic-beta': betas });
    expect(known.headers.get('x-tollgate-dropped')).toBe('anthropic-beta.oauth-2025-04-20');
    expect(arrived[0]?.body.anthropic_beta).toEqual(['claude-code-20250219', 'tool-search-tool-2025-10-19']);
    play = () =>
      'anthropic_beta' in (arrived.at(-1)?.body ?? {}) ? refuse(400, 'ValidationException', 'invalid beta flag') : null;
    const stream = await ask('/v1/messages', { model: 'invoked', stream: true, ...HELLO }, { 'anthropic-beta': betas });
    expect([stream.status, stream.headers.get('x-tollgate-dropped')?.match(/anthropic-beta/g)?.length]).toEqual([
      200, 3,
    ]);
    expect(await stream.text()).toContain('message_stop');
  });

  test('refuses a strict key where a beta would be dropped, and sends nothing', async () => {
    const { stdout } = await gateway.run('keys', 'create', '--name', 'stern', '--strict', '--json');
    const { key }: { readonly key: string } = JSON.parse(stdout);
    const headers = { authorization: `Bearer ${key}`, 'anthropic-beta': 'effort-2025-11-24,oauth-2025-04-20' };
    for (const stream of [false, true]) {
      const reply = await ask('/v1/messages', { model: 'invoked', stream, ...HELLO }, headers);
      const body = await reply.text();
      expect([reply.status, body.includes('anthropic-beta.oauth-2025-04-20')]).toEqual([400, true]);
      const [record] = await gateway.calls('--limit', '1');
      expect(record).toMatchObject({ status: 400, error: 'invalid_request', cost_nano_usd: '0' });
    }
    const { max_tokens: _, ...counted } = HELLO;
    expect((await ask('/v1/messages/count_tokens', { model: 'native', ...counted }, headers)).status).toBe(400);
    expect(arrived).toEqual([]);
    const elsewhere = { ...headers, 'anthropic-beta': 'tide-2026-01-01' };
    const other = await ask('/v1/messages', { model: 'either', ...HELLO }, elsewhere);
    expect([other.status, other.headers.get('x-tollgate-dropped')]).toEqual([200, null]);
    expect(arrived.map(({ path }) => path)).toEqual([MANTLE]);
    const kept = { ...headers, 'anthropic-beta': 'effort-2025-11-24' };
    expect((await ask('/v1/messages', { model: 'invoked', ...HELLO }, kept)).status).toBe(200);
  });
});

test.each([false, true])('a model of another vendor answers over Converse, streamed: %p', async (stream) => {
  const reply = await ask('/v1/chat/completions', { model: 'nova', stream, messages: HELLO.messages });
  const text = await reply.text();
  expect([reply.status, text.includes('Good day.')]).toEqual([200, true]);
  expect(arrived[0]?.path).toBe(`/model/amazon.nova-pro-v1%3A0/converse${stream ? '-stream' : ''}`);
  expect(arrived[0]?.body).toEqual({ messages: [{ role: 'user', content: [{ text: 'hi' }] }] });
  const [record] = await gateway.calls('--limit', '1');
  expect(record).toMatchObject({ status: 200, usage: { input: 7, output: 3 } });
});

describe('a count of tokens at the runtime service', () => {
  const { max_tokens: _, ...counted } = HELLO;
  const count = async (model: string) => {
    const reply = await ask('/v1/messages/count_tokens', { model, ...counted });
    return [reply.status, ((await reply.json()) as { readonly input_tokens: number }).input_tokens] as const;
  };

  test('of Claude is that of a body for InvokeModel', async () => {
    expect(await count('invoked')).toEqual([200, 4242]);
    const [{ path, body } = { path: '', body: {} }] = arrived;
    expect(path).toBe('/model/anthropic.claude-sonnet-4-6-v1%3A0/count-tokens');
    const { input } = body as { readonly input: { readonly invokeModel: { readonly body: string } } };
    expect(JSON.parse(Buffer.from(input.invokeModel.body, 'base64').toString())).toEqual({
      ...counted,
      anthropic_version: 'bedrock-2023-05-31',
      max_tokens: 1,
    });
  });

  test('of another vendor is that of a body for Converse, and an estimate where the model has no counter', async () => {
    expect(await count('nova')).toEqual([200, 4242]);
    expect([arrived[0]?.path, arrived[0]?.body]).toEqual([
      '/model/amazon.nova-pro-v1%3A0/count-tokens',
      { input: { converse: { messages: [{ role: 'user', content: [{ text: 'hi' }] }] } } },
    ]);
    play = () => refuse(400, 'ValidationException', "The provided model doesn't support counting tokens.");
    for (const model of ['nova', 'invoked']) {
      const [status, tokens] = await count(model);
      expect([status, tokens > 0 && tokens < 100]).toEqual([200, true]);
    }
    expect(arrived).toHaveLength(3);
  });

  test('is refused as the request would be, without details of our account', async () => {
    play = () => refuse(403, 'UnrecognizedClientException', 'The security token is invalid');
    const reply = await ask('/v1/messages/count_tokens', { model: 'apart-6', ...counted });
    expect([reply.status, (await errorOf(reply)).type]).toEqual([500, 'api_error']);
    play = () => refuse(400, 'ValidationException', 'messages: odd');
    expect((await ask('/v1/messages/count_tokens', { model: 'apart-7', ...counted })).status).toBe(400);
  });
});

describe('a refusal', () => {
  test.each([
    [400, 'ValidationException', 'messages: odd', 400, 'invalid_request_error', 'apart-0'],
    [403, 'AccessDeniedException', 'arn:aws:iam::1:user/x is not authorized', 500, 'api_error', 'apart-1'],
    [403, 'UnrecognizedClientException', 'The security token is invalid', 500, 'api_error', 'apart-2'],
    [400, 'ValidationException', 'The provided model identifier is invalid.', 500, 'api_error', 'apart-3'],
    [429, 'ThrottlingException', 'Too many requests', 429, 'rate_limit_error', 'apart-4'],
    [400, 'ServiceQuotaExceededException', 'no more', 429, 'rate_limit_error', 'apart-6'],
  ])('%p %s "%s" is told as %p %s', async (status, exception, message, told, type, model) => {
    play = () => refuse(status, exception, message);
    const reply = await ask('/v1/messages', { model, ...HELLO });
    const error = await errorOf(reply);
    expect([reply.status, error.type]).toEqual([told, type]);
    if (told === 500) expect(JSON.stringify(error)).not.toContain(message);
    const [record] = await gateway.calls('--limit', '1');
    expect(record?.attempts[0]?.upstream_request_id).toBe('amzn-1');
  });

  test('of our quota in a 400 is no fault of a client of chat completions', async () => {
    play = () => refuse(400, 'ServiceQuotaExceededException', 'no more');
    const reply = await ask('/v1/chat/completions', { model: 'oss', messages: HELLO.messages });
    expect([reply.status, (await errorOf(reply)).type]).toEqual([429, 'rate_limit_error']);
    expect(arrived[0]?.path).toBe('/openai/v1/chat/completions');
  });

  test('of the first frame is a status, not a stream', async () => {
    const frames = { headers: { 'content-type': 'application/vnd.amazon.eventstream' } };
    play = () =>
      new Response(encodeException('throttlingException', 'Too many tokens, please wait before trying again.'), frames);
    const reply = await ask('/v1/messages', { model: 'apart-5', stream: true, ...HELLO });
    expect([reply.status, (await errorOf(reply)).type]).toEqual([429, 'rate_limit_error']);
  });

  test('of a signature by a wrong clock is answered by one retry with the time of AWS', async () => {
    clockMs = 3_600_000;
    for (const exchanges of [2, undefined]) {
      const reply = await ask('/v1/messages', { model: 'late', ...HELLO });
      const [record] = await gateway.calls('--limit', '1');
      expect([reply.status, record?.attempts.length, record?.attempts[0]?.exchanges]).toEqual([200, 1, exchanges]);
    }
    expect(faults).toEqual(['InvalidSignatureException']);
    expect(gateway.stderr() + gateway.stdout()).toContain('the clock of this machine differs from that of AWS by');
  });
});

describe('a tool loop of ten turns with thinking', () => {
  test.each([
    ...LOOPS.map((row) => ['invoked', ...row] as const),
    ...LOOPS.filter(([, stream]) => stream).map((row) => ['native', ...row] as const),
  ])('is never refused at %s from %s, streamed: %p', async (model, _, stream, loop) => {
    expect(await loop({ gateway, model, stream })).toEqual(loopTold('toolu'));
    expect([claude.refusals, faults]).toEqual([[], []]);
    expect(arrived).toHaveLength(LOOP_TURNS + 1);
  });

  test('is refused where a signature is altered, and the message is the client’s', async () => {
    const thought = { type: 'thinking', thinking: 'Thought 0 🤔', signature: 'altered' };
    const call = { type: 'tool_use', id: 'toolu_0', name: 'look', input: {} };
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_0', content: 'x' }] };
    const messages = [...HELLO.messages, { role: 'assistant', content: [thought, call] }, result];
    expect((await ask('/v1/messages', { model: 'invoked', max_tokens: 10, messages })).status).toBe(400);
    expect(claude.refusals[0]).toContain('Invalid `signature`');
  });
});

test('no secret is in the logs', () => {
  for (const secret of ['canary-secret', 'canary-token']) {
    expect(gateway.stdout() + gateway.stderr()).not.toContain(secret);
  }
});
