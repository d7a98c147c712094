/** Tests bedrock.ts: requests at a fake of both services that verifies signatures, and what follows refusals. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { Secret } from '../../lib/secret.ts';
import type { UpstreamFailure } from '../../upstream/connection.ts';
import type { UpstreamTap } from '../../upstream/exchange.ts';
import type { ResponseHead } from '../../upstream/response-head.ts';
import { type FakeMachine, FakeSurroundings } from '../credentials/testing/fake-surroundings.ts';
import {
  type CredentialPool,
  type RemoteKind,
  type RemoteProvider,
  type Secrets,
  type Settings,
  singleCredential,
  type UpstreamRequest,
} from '../provider.ts';
import { NO_QUIRKS } from '../quirks.ts';
import { openListing, openUpstream } from '../upstream.ts';
import { findSignatureFault } from './bedrock/testing/verify-signature.ts';
import { createBedrock } from './bedrock.ts';

const TIMEOUTS = { connectMs: 2_000, firstByteMs: 2_000, firstBytePlainMs: 2_000, idleMs: 2_000, totalMs: 5_000 };
const KEYS = { access_key_id: new Secret('AKIA1'), secret_access_key: new Secret('canary-1') };
const SECRETS: Readonly<Record<string, string>> = { AKIA1: 'canary-1', ASIAR1: 's/R1', ASIAR2: 's/R2' };
const CLAUDE = 'us.anthropic.claude-sonnet-4-6-v1:0';
const BARE = 'anthropic.claude-opus-4-8';
const START_MS = Date.UTC(2026, 10, 22, 12);

interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** Null: 200 with an empty object. */
type Play = (arrived: Arrived) => Response | null;

let server: Bun.Server<undefined>;
let arrived: Arrived[] = [];
let play: Play = () => null;
let serverMs = START_MS;

/** Both services have `/openai/v1`; ids with a version are of the runtime service. */
function serviceOf(path: string, body: string): string {
  if (path.startsWith('/openai/')) return /"model":"[^"]*:/.test(body) ? 'bedrock' : 'bedrock-mantle';
  return /^\/(?:model\/|foundation-models)/.test(path) ? 'bedrock' : 'bedrock-mantle';
}

function refuse(status: number, exception: string, message = 'no'): Response {
  const date = new Date(serverMs).toUTCString();
  return Response.json({ message }, { status, headers: { 'x-amzn-errortype': `${exception}:http://internal/`, date } });
}

beforeAll(() => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const { method, headers } = request;
      const one = { method, path: pathname + search, headers, body: await request.text() };
      arrived.push(one);
      const bearer = headers.get('authorization')?.startsWith('Bearer ') === true;
      const expected = {
        service: serviceOf(pathname, one.body),
        region: 'us-east-1',
        secrets: SECRETS,
        nowMs: serverMs,
      };
      const fault = bearer ? null : findSignatureFault({ ...one, path: pathname }, expected);
      if (fault !== null) return refuse(403, fault, 'Signature not accepted');
      return play(one) ?? Response.json({});
    },
  });
});
afterAll(() => server.stop(true));
beforeEach(() => {
  arrived = [];
  play = () => null;
  serverMs = START_MS;
});

interface Made {
  readonly machine?: FakeMachine;
  readonly secrets?: Secrets;
  readonly source?: string;
  readonly settings?: Settings;
  readonly pool?: CredentialPool;
  /** That of an earlier provider. */
  readonly kind?: RemoteKind;
}

function make({ machine, secrets = KEYS, source, settings = {}, pool, kind }: Made = {}) {
  const surroundings = new FakeSurroundings(machine);
  const origin = `http://127.0.0.1:${server.port}`;
  const provider: RemoteProvider = {
    name: 'aws',
    kind: kind ?? createBedrock(surroundings),
    baseUrl: origin,
    credentials: { origin, pool: pool ?? singleCredential(source === undefined ? secrets : {}, source ?? null) },
    settings: { region: 'us-east-1', ...settings },
    timeouts: TIMEOUTS,
    catalogProvider: null,
    quirks: NO_QUIRKS,
    provenLimits: [],
    maxConcurrency: null,
  };
  const upstreams = new Map<string, ReturnType<typeof openUpstream>>();
  const send = async (model: string, request: Partial<UpstreamRequest> = {}, credential = 0) => {
    const upstream = upstreams.get(model) ?? openUpstream({ provider, model, timeouts: null });
    upstreams.set(model, upstream);
    const protocol = upstream.protocols[0] ?? 'messages';
    const whole: UpstreamRequest = {
      protocol,
      operation: 'plain',
      headers: [['anthropic-version', '2023-06-01']],
      body: Buffer.from(`{"model":"${model}","max_tokens":1,"stream":false,"messages":[]}`),
      answers: 1,
      requestId: 'req_1',
      atMs: 0,
      ...request,
    };
    const heard: { status: number | null; body: string; failure: UpstreamFailure | null } = {
      status: null,
      body: '',
      failure: null,
    };
    const { promise, resolve } = Promise.withResolvers<void>();
    const tap: UpstreamTap = upstream.openExchange(whole, credential, 100_000, {
      onHead(head: ResponseHead) {
        heard.status = head.status;
      },
      onBody(span) {
        heard.body += Buffer.from(span).toString();
      },
      onEnd: () => resolve(),
      onFailure(failure) {
        heard.failure = failure;
        resolve();
      },
    });
    await promise;
    const { exchanges, dropped, door } = tap;
    return { ...heard, exchanges, dropped, door, secrets: upstream.secrets };
  };
  return { send, provider, surroundings };
}

const lines = () => arrived.map(({ method, path }) => `${method} ${path}`);
const bodyAt = (index: number) => JSON.parse(arrived[index]?.body ?? 'null');

describe('Claude at the runtime service', () => {
  test('is invoked: no model, no stream, and the version in the body', async () => {
    expect((await make().send(CLAUDE)).status).toBe(200);
    expect(lines()).toEqual(['POST /model/us.anthropic.claude-sonnet-4-6-v1%3A0/invoke']);
    expect(arrived[0]?.body).toBe('{"max_tokens":1,"messages":[],"anthropic_version":"bedrock-2023-05-31"}');
    const { headers } = arrived[0] ?? { headers: new Headers() };
    expect([headers.get('accept'), headers.has('anthropic-version')]).toEqual(['application/json', false]);
  });

  test('vector 28: a stream has its own path, and betas are in the body', async () => {
    const headers = [
      ['anthropic-version', '2023-06-01'],
      ['anthropic-beta', 'context-1m-2025-08-07, interleaved-thinking-2025-05-14'],
    ] as const;
    const body = Buffer.from('{"stream" : true, "model":"x","messages":[ ],"n":1.0}');
    await make().send(CLAUDE, { operation: 'stream', headers, body });
    expect(lines()).toEqual(['POST /model/us.anthropic.claude-sonnet-4-6-v1%3A0/invoke-with-response-stream']);
    expect(arrived[0]?.body).toBe(
      '{"messages":[ ],"n":1.0,"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["context-1m-2025-08-07","interleaved-thinking-2025-05-14"]}',
    );
    expect(arrived[0]?.headers.get('accept')).toBe('application/vnd.amazon.eventstream');
    expect(arrived[0]?.headers.has('anthropic-beta')).toBe(false);
  });

  test('gets the newer version of clients that use it', async () => {
    await make().send(CLAUDE, { headers: [['anthropic-version', '2026-10-21']] });
    expect(bodyAt(0).anthropic_version).toBe('2026-10-21');
  });

  test('has the id of a model as one segment, whatever is in it', async () => {
    const arn = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-1-v1:0';
    expect((await make().send(arn)).status).toBe(200);
    expect(lines()[0]).toBe(`POST /model/${encodeURIComponent(arn)}/invoke`);
  });

  test('gets the guardrail, tier and latency of the settings', async () => {
    const settings = { guardrail_id: 'gr1', guardrail_version: '2', service_tier: 'flex', latency: 'optimized' };
    await make({ settings }).send(BARE);
    const { headers, path } = arrived[0] ?? { headers: new Headers(), path: '' };
    expect(path).toBe('/model/anthropic.claude-opus-4-8/invoke');
    expect(
      ['guardrailidentifier', 'guardrailversion', 'service-tier', 'performanceconfig-latency'].map((name) =>
        headers.get(`x-amzn-bedrock-${name}`),
      ),
    ).toEqual(['gr1', '2', 'flex', 'optimized']);
    expect(headers.get('authorization')).toContain('x-amzn-bedrock-guardrailidentifier');
  });

  test('is counted there, signed', async () => {
    play = () => Response.json({ inputTokens: 7 });
    const { status, body } = await make().send(CLAUDE, { operation: 'count_tokens' });
    expect([status, body]).toEqual([200, '{"input_tokens":7}']);
    expect(lines()).toEqual(['POST /model/anthropic.claude-sonnet-4-6-v1%3A0/count-tokens']);
  });
});

test('Claude gets a cache mark of the whole request on its last block, at both services and in counts', async () => {
  const root = '"cache_control":{"type":"ephemeral","ttl":"1h"}';
  const whole = (content: string) =>
    Buffer.from(`{"max_tokens":1,${root},"messages":[{"role":"user","content":${content}}]}`);
  const placed = `"messages":[{"role":"user","content":[{"type":"text","text":"hi",${root}}]}]`;
  const { send } = make();
  const invoked = await send(CLAUDE, { body: whole('"hi"') });
  expect([invoked.status, invoked.dropped]).toEqual([200, []]);
  expect(arrived[0]?.body).toBe(`{"max_tokens":1,${placed},"anthropic_version":"bedrock-2023-05-31"}`);
  expect(await send(BARE, { body: whole('"hi"') })).toMatchObject({ status: 200, door: 'mantle', dropped: [] });
  expect(arrived[1]?.body).toBe(`{"max_tokens":1,${placed}}`);
  play = () => Response.json({ inputTokens: 7 });
  await send(CLAUDE, { operation: 'count_tokens', body: whole('"hi"') });
  expect(Buffer.from(bodyAt(2).input.invokeModel.body, 'base64').toString()).toContain(placed);
  const { dropped } = await send(CLAUDE, { body: whole('""') });
  expect([bodyAt(3).cache_control, dropped]).toEqual([undefined, ['cache_control']]);
  await expect(send(CLAUDE, { body: whole('""'), strict: true })).rejects.toThrow('cache_control: ');
  expect(arrived).toHaveLength(4);
});

describe('vector 29: betas', () => {
  const headers = [['anthropic-beta', 'claude-code-20250219,oauth-2025-04-20,advanced-tool-use-2025-11-20']] as const;

  test('that Bedrock has under another name are renamed, and others are left out and named', async () => {
    const { dropped } = await make().send(CLAUDE, { headers });
    expect(bodyAt(0).anthropic_beta).toEqual(['claude-code-20250219', 'tool-search-tool-2025-10-19']);
    expect(dropped).toEqual(['anthropic-beta.oauth-2025-04-20']);
  });

  test('for the scope of cache marks take the scopes with them, at both services', async () => {
    const headers = [['anthropic-beta', 'prompt-caching-scope-2026-01-05']] as const;
    for (const model of [CLAUDE, BARE]) {
      const mark = { type: 'ephemeral', scope: 'global' };
      const body = Buffer.from(JSON.stringify({ model, system: [{ type: 'text', text: 'hi', cache_control: mark }] }));
      const { dropped } = await make().send(model, { headers, body });
      expect(bodyAt(arrived.length - 1).system).toEqual([
        { type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } },
      ]);
      expect(dropped).toEqual(['anthropic-beta.prompt-caching-scope-2026-01-05', 'cache_control.scope']);
    }
  });

  test('that a model refuses are left out once, and for an hour', async () => {
    const { send, surroundings } = make();
    play = ({ body }) =>
      body.includes('anthropic_beta') ? refuse(400, 'ValidationException', 'invalid beta flag') : null;
    const first = await send(CLAUDE, { headers });
    expect([first.status, first.exchanges, first.dropped?.length]).toEqual([200, 2, 3]);
    expect('anthropic_beta' in bodyAt(1)).toBe(false);
    const second = await send(CLAUDE, { headers });
    expect([second.exchanges, arrived.length]).toEqual([1, 3]);
    await send('eu.anthropic.claude-sonnet-4-6-v1:0', { headers });
    await send(CLAUDE, { headers: [['anthropic-beta', 'effort-2025-11-24']] });
    expect(arrived.length).toBe(7);
    surroundings.now += 3_600_000;
    serverMs = surroundings.now;
    await send(CLAUDE, { headers });
    expect(arrived.length).toBe(9);
  });

  test('refused again without any are the client’s to hear', async () => {
    play = () => refuse(400, 'ValidationException', 'invalid beta flag');
    const { status, body, exchanges } = await make().send(CLAUDE, { headers });
    expect([status, exchanges]).toEqual([400, 2]);
    expect(JSON.parse(body)).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: 'invalid beta flag', code: 'ValidationException' },
    });
  });

  test('go to Mantle in the header, but for those that Bedrock never has', async () => {
    await make().send(BARE, { headers: [['anthropic-beta', 'new-2027-01-01,oauth-2025-04-20']] });
    expect(arrived[0]?.headers.get('anthropic-beta')).toBe('new-2027-01-01');
  });
});

describe('a bare model id', () => {
  test('goes to Mantle as it is', async () => {
    const { send } = make();
    expect((await send(BARE)).status).toBe(200);
    expect((await send(BARE, { operation: 'count_tokens' })).status).toBe(200);
    expect(lines()).toEqual(['POST /anthropic/v1/messages', 'POST /anthropic/v1/messages/count_tokens']);
    expect(bodyAt(0)).toMatchObject({ model: BARE, stream: false });
    expect(arrived[0]?.headers.get('anthropic-version')).toBe('2023-06-01');
  });

  test.each([
    [403, 'AccessDeniedException'],
    [404, 'ResourceNotFoundException'],
  ])('that Mantle answers %p is invoked, for an hour', async (status, exception) => {
    const { send, surroundings } = make();
    play = ({ path }) => (path.startsWith('/anthropic') ? refuse(status, exception) : null);
    const first = await send(BARE);
    expect([first.status, first.exchanges, first.door]).toEqual([200, 2, 'runtime']);
    expect(lines()).toEqual(['POST /anthropic/v1/messages', 'POST /model/anthropic.claude-opus-4-8/invoke']);
    expect(await send(BARE)).toMatchObject({ exchanges: 1, door: 'runtime' });
    expect((await send('anthropic.claude-haiku-4-5')).exchanges).toBe(2);
    surroundings.now += 3_600_000;
    serverMs = surroundings.now;
    expect((await send(BARE)).exchanges).toBe(2);
  });

  test('that Mantle has answered is not invoked after a refusal', async () => {
    const { send } = make();
    await send(BARE);
    play = () => refuse(403, 'AccessDeniedException');
    expect(await send(BARE)).toMatchObject({ status: 403, exchanges: 1 });
  });

  test('that only one credential may use at Mantle is invoked with the other', async () => {
    const second = { access_key_id: new Secret('ASIAR1'), secret_access_key: new Secret('s/R1') };
    const [one] = singleCredential(KEYS);
    const { send } = make({ pool: [one, { ...one, name: 'second', secrets: second }] });
    play = ({ path, headers }) =>
      path.startsWith('/anthropic') && headers.get('authorization')?.includes('ASIAR1/')
        ? refuse(403, 'AccessDeniedException')
        : null;
    expect(await send(BARE)).toMatchObject({ status: 200, exchanges: 1 });
    expect(await send(BARE, {}, 1)).toMatchObject({ status: 200, exchanges: 2 });
    expect(await send(BARE)).toMatchObject({ status: 200, exchanges: 1 });
    expect(lines().at(-1)).toBe('POST /anthropic/v1/messages');
  });

  test.each<Settings>([{ guardrail_id: 'g1', guardrail_version: '3' }, { door: 'runtime' }])(
    'that Mantle has answered goes to the runtime service once %j is set',
    async (settings) => {
      const { send, provider } = make();
      expect((await send(BARE)).status).toBe(200);
      const { kind, credentials } = provider;
      expect((await make({ kind, pool: credentials.pool, settings }).send(BARE)).status).toBe(200);
      expect(lines()).toEqual(['POST /anthropic/v1/messages', 'POST /model/anthropic.claude-opus-4-8/invoke']);
    },
  );

  test('that neither service has is tried at both each time', async () => {
    const { send } = make();
    play = () => refuse(404, 'ResourceNotFoundException');
    expect(await send(BARE)).toMatchObject({ status: 404, exchanges: 2 });
    play = () => null;
    expect(await send(BARE)).toMatchObject({ status: 200, exchanges: 1, door: 'mantle' });
  });

  test('of another vendor is spoken to in chat completions, at its path', async () => {
    const { send } = make();
    for (const model of ['qwen.qwen3-32b', 'openai.gpt-oss-120b', 'openai.gpt-6', 'google.gemma-4-9b', 'xai.grok-5']) {
      expect((await send(model)).status).toBe(200);
    }
    expect(lines().map((line) => line.slice('POST '.length))).toEqual([
      '/v1/chat/completions',
      '/v1/chat/completions',
      ...Array.from({ length: 3 }, () => '/openai/v1/chat/completions'),
    ]);
  });

  test('stays at the service of the setting', async () => {
    play = () => refuse(404, 'ResourceNotFoundException');
    expect((await make({ settings: { door: 'mantle' } }).send(BARE)).exchanges).toBe(1);
    expect((await make({ settings: { door: 'runtime' } }).send(BARE)).exchanges).toBe(1);
    expect(lines()).toEqual(['POST /anthropic/v1/messages', 'POST /model/anthropic.claude-opus-4-8/invoke']);
  });
});

test.each([
  ['amazon.nova-pro-v1:0', 'plain', '/model/amazon.nova-pro-v1%3A0/converse', 'application/json'],
  [
    'us.deepseek.r1-v1:0',
    'stream',
    '/model/us.deepseek.r1-v1%3A0/converse-stream',
    'application/vnd.amazon.eventstream',
  ],
] as const)('%s goes to Converse', async (model, operation, path, accept) => {
  const { send, provider } = make({ settings: { guardrail_id: 'g1', guardrail_version: '3', service_tier: 'flex' } });
  expect((await send(model, { operation, headers: [] })).status).toBe(200);
  expect([lines()[0], arrived[0]?.headers.get('accept')]).toEqual([`POST ${path}`, accept]);
  expect(provider.kind.converseTraits?.(provider.settings)).toEqual({
    guardrail: { identifier: 'g1', version: '3', trace: null, streamProcessing: null },
    serviceTier: 'flex',
    latency: null,
  });
});

test('an OpenAI model with a version is spoken to in chat completions at the runtime service', async () => {
  await make().send('openai.gpt-oss-120b-1:0');
  expect(lines()).toEqual(['POST /openai/v1/chat/completions']);
});

describe('a refused signature', () => {
  test('by a wrong clock is repeated once with the time of AWS, and then correct at once', async () => {
    const { send, surroundings } = make();
    serverMs = START_MS + 20 * 60_000;
    const first = await send(CLAUDE);
    expect([first.status, first.exchanges]).toEqual([200, 2]);
    expect((await send(CLAUDE)).exchanges).toBe(1);
    expect(surroundings.warnings).toEqual([
      'the clock of this machine differs from that of AWS by 1200 seconds; requests are signed with the time of AWS',
    ]);
    serverMs = START_MS;
    expect(await send(CLAUDE)).toMatchObject({ status: 200, exchanges: 2 });
  });

  test('by a wrong clock is repeated for each of 20 concurrent requests', async () => {
    const { send, surroundings } = make();
    serverMs = START_MS + 20 * 60_000;
    const all = await Promise.all(Array.from({ length: 20 }, () => send(CLAUDE)));
    expect(all.map(({ status, exchanges }) => [status, exchanges])).toEqual(Array(20).fill([200, 2]));
    expect(surroundings.warnings).toHaveLength(1);
  });

  test('for another reason is not repeated', async () => {
    const secrets = { ...KEYS, secret_access_key: new Secret('wrong') };
    expect(await make({ secrets }).send(CLAUDE)).toMatchObject({ status: 403, exchanges: 1 });
  });
});

describe('keys that are found', () => {
  const EXPIRES = '2026-11-22T18:00:00Z';
  const machine = (answers: string[]): FakeMachine => ({
    environment: { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: '/c' },
    servers: {
      'http://169.254.170.2/c': () => {
        const name = answers.shift() ?? 'none';
        return JSON.stringify({
          AccessKeyId: `ASIA${name}`,
          SecretAccessKey: `s/${name}`,
          Token: `t+${name}`,
          Expiration: EXPIRES,
        });
      },
    },
  });

  test('sign 200 requests at once after one search, and their tokens are hidden', async () => {
    const { send, surroundings } = make({ source: 'chain', machine: machine(['R1']) });
    const all = await Promise.all(Array.from({ length: 200 }, () => send(CLAUDE)));
    expect(all.every(({ status, exchanges }) => status === 200 && exchanges === 1)).toBe(true);
    expect(surroundings.asked).toHaveLength(1);
    expect(arrived[0]?.headers.get('x-amz-security-token')).toBe('t+R1');
    expect(all[0]?.secrets.map((secret) => secret.reveal())).toEqual(['t+R1']);
  });

  test('vector 44: that expired are replaced, and the request is signed again once', async () => {
    const { send, surroundings } = make({ source: 'chain', machine: machine(['R1', 'R2']) });
    await send(CLAUDE);
    surroundings.now += 60_000;
    play = ({ headers }) =>
      headers.get('x-amz-security-token') === 't+R1' ? refuse(403, 'ExpiredTokenException') : null;
    expect(await send(CLAUDE)).toMatchObject({ status: 200, exchanges: 2 });
    expect((await send(CLAUDE)).exchanges).toBe(1);
    expect(surroundings.asked).toHaveLength(2);
  });

  test('vector 44: that expired again are a refusal of our account', async () => {
    const { send, surroundings } = make({ source: 'chain', machine: machine(['R1', 'R2']) });
    await send(CLAUDE);
    surroundings.now += 60_000;
    play = () => refuse(403, 'ExpiredTokenException', 'The security token included in the request is expired');
    const { status, exchanges, body } = await send(CLAUDE);
    expect([status, exchanges, JSON.parse(body).error.code]).toEqual([403, 2, 'ExpiredTokenException']);
  });

  test('that AWS refuses although they are new are not looked up again at each request', async () => {
    const { send, surroundings } = make({ source: 'chain', machine: machine(['R1', 'R2', 'R3']) });
    play = () => refuse(403, 'UnrecognizedClientException', 'The security token included in the request is invalid');
    for (let turn = 0; turn < 3; turn++) expect(await send(CLAUDE)).toMatchObject({ status: 403, exchanges: 1 });
    expect(surroundings.asked).toHaveLength(1);
  });

  test('nowhere are a fault of authorization that names the sources', async () => {
    const { failure } = await make({ source: 'chain' }).send(CLAUDE);
    expect(failure?.kind).toBe('authorization');
    expect(failure?.message).toContain('no AWS credentials were found');
    const count = await make({ source: 'chain' }).send(CLAUDE, { operation: 'count_tokens' });
    expect(count.failure?.kind).toBe('authorization');
  });

  test('that were not found are not looked up again for the second service', async () => {
    const { send, surroundings } = make({ source: 'chain' });
    expect(await send(BARE)).toMatchObject({ failure: { kind: 'authorization' }, exchanges: 1 });
    expect(surroundings.asked).toHaveLength(1);
  });
});

describe('a bearer key', () => {
  test('is sent to both services, unsigned', async () => {
    const { send } = make({ secrets: { api_key: new Secret('bedrock-key-1') } });
    await send(CLAUDE);
    await send(BARE);
    expect(arrived.map(({ headers }) => headers.get('authorization'))).toEqual([
      'Bearer bedrock-key-1',
      'Bearer bedrock-key-1',
    ]);
    expect(arrived.some(({ headers }) => headers.has('x-amz-date'))).toBe(false);
  });

  test('of a variable precedes the other sources, and is hidden', async () => {
    const environment = {
      AWS_BEARER_TOKEN_BEDROCK: 'bedrock-key-2',
      AWS_ACCESS_KEY_ID: 'AKIA1',
      AWS_SECRET_ACCESS_KEY: 'canary-1',
    };
    const { secrets } = await make({ source: 'chain', machine: { environment } }).send(CLAUDE);
    expect(arrived[0]?.headers.get('authorization')).toBe('Bearer bedrock-key-2');
    expect(secrets.map((secret) => secret.reveal())).toEqual(['bedrock-key-2']);
  });
});

describe('an error of the runtime service', () => {
  test.each([
    [
      400,
      'ValidationException',
      'The model returned the following errors: prompt is too long: 210000 tokens > 200000 maximum',
      400,
      'invalid_request_error',
    ],
    [400, 'ServiceQuotaExceededException', 'quota', 400, 'invalid_request_error'],
    [429, 'ThrottlingException', 'Too many requests', 429, 'rate_limit_error'],
    [429, 'ModelNotReadyException', 'loading', 429, 'rate_limit_error'],
    [424, 'ModelErrorException', 'failed', 424, 'api_error'],
    [500, 'InternalServerException', 'oops', 500, 'api_error'],
  ])('%p %s is told in the form of messages', async (status, exception, message, told, type) => {
    play = () => refuse(status, exception, message);
    const heard = await make().send(CLAUDE);
    expect([heard.status, JSON.parse(heard.body).error]).toEqual([
      told,
      { type, message: message.replace('The model returned the following errors: ', ''), code: exception },
    ]);
  });

  test('names its exception to chat completions, too', async () => {
    play = () => refuse(400, 'ServiceQuotaExceededException', 'quota');
    const { status, body } = await make().send('openai.gpt-oss-120b-1:0');
    expect([status, JSON.parse(body).error]).toMatchObject([
      400,
      { message: 'quota', code: 'ServiceQuotaExceededException' },
    ]);
  });

  test('of the model itself passes as it is', async () => {
    const body = '{"type":"error","error":{"type":"invalid_request_error","message":"no"}}';
    play = () => new Response(body, { status: 400 });
    expect((await make().send(CLAUDE)).body).toBe(body);
  });
});

describe('the list of models', () => {
  async function list(made: ReturnType<typeof make>) {
    const { promise, resolve } = Promise.withResolvers<void>();
    openListing(
      made.provider,
      made.provider.credentials.pool[0],
      [],
      { ...TIMEOUTS, responseBytesMax: 10_000, mayResend: false, fresh: false },
      {
        onHead: () => undefined,
        onBody: () => undefined,
        onEnd: resolve,
        onFailure: () => resolve(),
      },
    );
    await promise;
  }

  test('is that of the control service for signed requests, of Mantle for a bearer key', async () => {
    await list(make());
    await list(make({ secrets: { api_key: new Secret('k') } }));
    await list(make({ settings: { door: 'mantle' } }));
    expect(lines()).toEqual(['GET /foundation-models', 'GET /v1/models', 'GET /v1/models']);
  });

  test('has the models that can be called by their ids, and their ends of life', () => {
    const summaries = [
      { modelId: 'amazon.nova-pro-v1:0', inferenceTypesSupported: ['ON_DEMAND'], modelLifecycle: { status: 'ACTIVE' } },
      { modelId: 'anthropic.claude-sonnet-4-6-v1:0', inferenceTypesSupported: ['INFERENCE_PROFILE'] },
      { modelId: BARE, inferenceTypesSupported: ['INFERENCE_PROFILE'] },
      {
        modelId: 'amazon.titan-v1:0',
        inferenceTypesSupported: ['ON_DEMAND'],
        modelLifecycle: { status: 'LEGACY', endOfLifeTime: '2027-02-03T08:00:00+00:00' },
      },
      { name: 'odd' },
    ];
    const { kind } = make().provider;
    expect(kind.listing.read?.({ modelSummaries: summaries })).toEqual([
      { model: 'amazon.nova-pro-v1:0' },
      { model: BARE },
      { model: 'amazon.titan-v1:0', retiresOn: '2027-02-03' },
    ]);
    expect(kind.listing.read?.({ data: [] })).toBeNull();
  });
});
