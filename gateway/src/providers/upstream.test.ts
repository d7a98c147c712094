/**
 * Tests upstream.ts: the head of a request, the authorization of its final form, and that no credential leaves for
 * another origin than its own.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Framing } from '../framing/framing.ts';
import { SSE } from '../framing/sse-decoder.ts';
import { Secret } from '../lib/secret.ts';
import type { UpstreamFailure } from '../upstream/connection.ts';
import { openResending } from './exchanges/chained-exchange.ts';
import { anthropic } from './kinds/anthropic.ts';
import { openaiCompatible } from './kinds/openai-compatible.ts';
import {
  type Credential,
  type FinalRequest,
  type RemoteKind,
  type RemoteProvider,
  singleCredential,
  type Upstream,
  type UpstreamRequest,
} from './provider.ts';
import { NO_QUIRKS } from './quirks.ts';
import { openListing, openUpstream } from './upstream.ts';

const TIMEOUTS = { connectMs: 2_000, firstByteMs: 2_000, firstBytePlainMs: 2_000, idleMs: 2_000, totalMs: 5_000 };
const SECRETS = { api_key: new Secret('canary-1'), signing_key: new Secret('canary-2') };
let server: Bun.Server<undefined>;
let arrived: Array<{ readonly path: string; readonly headers: Headers; readonly body: string }> = [];

beforeAll(() => {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      arrived.push({
        path: `${request.method} ${pathname}${search}`,
        headers: request.headers,
        body: await request.text(),
      });
      return new Response('{}');
    },
  });
});
afterAll(() => server.stop(true));

function providerOf(kind: RemoteKind, changes: Partial<RemoteProvider> = {}): RemoteProvider {
  const origin = `http://127.0.0.1:${server.port}`;
  return {
    name: 'lab',
    kind,
    baseUrl: `${origin}/base`,
    credentials: { origin, pool: singleCredential(SECRETS) },
    settings: {},
    timeouts: TIMEOUTS,
    catalogProvider: null,
    quirks: NO_QUIRKS,
    provenLimits: [],
    maxConcurrency: null,
    ...changes,
  };
}

const REQUEST: UpstreamRequest = {
  protocol: 'chat',
  operation: 'plain',
  headers: [],
  body: Buffer.from('{"a":1}'),
  answers: 1,
  requestId: 'req_1',
  atMs: 0,
};

/** Sends the request and waits for the end of its exchange: `end`, or the failure. */
async function send(provider: RemoteProvider, request: Partial<UpstreamRequest> = {}) {
  return sendTo(openUpstream({ provider, model: 'm', timeouts: null }), request);
}

async function sendTo(upstream: Upstream, request: Partial<UpstreamRequest> = {}, credential = 0) {
  arrived = [];
  const { promise, resolve } = Promise.withResolvers<'end' | UpstreamFailure>();
  const listener = {
    onHead: () => undefined,
    onBody: () => undefined,
    onEnd: () => resolve('end'),
    onFailure: resolve,
  };
  upstream.openExchange({ ...REQUEST, ...request }, credential, 1_000, listener);
  return promise;
}

describe('a request with a fixed credential', () => {
  test('goes to the endpoint of its operation, with the credential and the forwarded headers', async () => {
    const provider = providerOf(anthropic);
    expect(
      await send(provider, { protocol: 'messages', operation: 'stream', headers: [['anthropic-beta', 'b']] }),
    ).toBe('end');
    expect(arrived[0]).toMatchObject({ path: 'POST /base/messages', body: '{"a":1}' });
    const { headers } = arrived[0] ?? { headers: new Headers() };
    expect(['x-api-key', 'anthropic-beta', 'accept', 'user-agent'].map((name) => headers.get(name))).toEqual([
      'canary-1',
      'b',
      'text/event-stream',
      'tollgate',
    ]);
    await send(provider, { protocol: 'messages', operation: 'count_tokens' });
    expect(arrived[0]?.path).toBe('POST /base/messages/count_tokens');
    expect(arrived[0]?.headers.get('accept')).toBe('application/json');
  });

  test('is not sent for an operation that the kind does not have', () => {
    expect(send(providerOf(openaiCompatible), { operation: 'count_tokens' })).rejects.toThrow('no endpoint');
  });

  test('is not sent to an origin that its credential is not bound to', () => {
    const credentials = { origin: 'http://127.0.0.1:1', pool: singleCredential({}) };
    expect(() =>
      openUpstream({ provider: providerOf(anthropic, { credentials }), model: 'm', timeouts: null }),
    ).toThrow('bound to http://127.0.0.1:1');
  });

  test('is not sent to a private host if the host must be public', async () => {
    const origin = `http://localhost:${server.port}`;
    const changes = { baseUrl: origin, credentials: { origin, pool: singleCredential({}) }, publicOnly: true } as const;
    expect(await send(providerOf(openaiCompatible, changes))).toMatchObject({ kind: 'connect' });
    expect(arrived).toEqual([]);
  });

  test('is not sent there over a connection that another provider left idle', async () => {
    const origin = `http://localhost:${server.port}`;
    const changes = { baseUrl: origin, credentials: { origin, pool: singleCredential({}) } };
    expect(await send(providerOf(openaiCompatible, changes))).toBe('end');
    const publicOnly = providerOf(openaiCompatible, { ...changes, publicOnly: true });
    expect(await send(publicOnly)).toMatchObject({ kind: 'connect' });
    expect(arrived).toEqual([]);
  });
});

describe('a pool of credentials', () => {
  const credentialOf = (name: string, text: string, models: readonly string[] | null = null): Credential => ({
    name,
    secrets: { api_key: new Secret(text) },
    source: null,
    weight: 1,
    organisation: null,
    models,
  });
  const openPool = (...pool: [Credential, ...Credential[]]) => {
    const origin = `http://127.0.0.1:${server.port}`;
    const provider = providerOf(openaiCompatible, { credentials: { origin, pool } });
    return openUpstream({ provider, model: 'm', timeouts: null });
  };

  test('authorizes each request by the chosen one', async () => {
    const upstream = openPool(credentialOf('a', 'canary-a'), credentialOf('b', 'canary-b'));
    for (const [credential, text] of ['canary-a', 'canary-b'].entries()) {
      expect(await sendTo(upstream, {}, credential)).toBe('end');
      expect(arrived[0]?.headers.get('authorization')).toBe(`Bearer ${text}`);
    }
    expect(() => upstream.openExchange(REQUEST, 2, 1_000, null as never)).toThrow('lab has no credential 2');
  });

  test('offers those that may be used for the model, and hides the secrets of all', () => {
    const other = credentialOf('other', 'canary-c', ['n']);
    const upstream = openPool(credentialOf('a', 'canary-a', ['m', 'n']), other, credentialOf('b', 'canary-b'));
    expect(upstream.credentials.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(upstream.secrets.map((secret) => secret.reveal())).toEqual(['canary-a', 'canary-c', 'canary-b']);
    expect(() => openPool(other)).toThrow('no credential of lab may be used for m');
  });

  test('knows a credential by its name, secret and address, and tells none of its secret', () => {
    const keysOf = (...pool: [Credential, ...Credential[]]) => openPool(...pool).credentials.map(({ key }) => key);
    const [first, second] = keysOf(credentialOf('a', 'canary-a'), credentialOf('b', 'canary-b'));
    expect(keysOf(credentialOf('b', 'canary-b'))).toEqual([second ?? '']);
    expect(keysOf(credentialOf('a', 'canary-new'))).not.toEqual([first ?? '']);
    expect(keysOf(credentialOf('b', 'canary-a'))).not.toEqual([first ?? '']);
    expect(`${first}${second}`).not.toContain('canary');
  });

  test('and its target are others at another address or with other settings, so that no bench outlasts its cause', () => {
    const keysOf = (changes: Partial<RemoteProvider>) => {
      const { key, credentials } = openUpstream({
        provider: providerOf(anthropic, changes),
        model: 'm',
        timeouts: null,
      });
      return [key, credentials[0].key];
    };
    const { baseUrl } = providerOf(anthropic);
    const all = [{}, { baseUrl: `${baseUrl}/v2` }, { settings: { project: 'a' } }, { settings: { project: 'b' } }];
    expect(new Set(all.flatMap(keysOf)).size).toBe(2 * all.length);
    expect(keysOf({ settings: { project: 'a' } })).toEqual(keysOf({ settings: { project: 'a' } }));
  });
});

test('the framing of a response depends on format, operation and model', () => {
  const named = (name: string): Framing => ({ ...SSE, name });
  const kind: RemoteKind = {
    ...openaiCompatible,
    framing: (protocol, operation, model) => named(`${protocol} ${operation} ${model}`),
  };
  const upstream = openUpstream({ provider: providerOf(kind), model: 'm', timeouts: null });
  expect(upstream.framing('chat', 'stream').name).toBe('chat stream m');
  expect(upstream.framing('messages', 'plain').name).toBe('messages plain m');
});

test('the formats of an upstream may depend on its model', async () => {
  const kind: RemoteKind = {
    ...openaiCompatible,
    protocols: ['chat', 'messages'],
    protocolsOf: (model) => (model.startsWith('claude-') ? ['messages'] : ['chat']),
  };
  const upstreamOf = (model: string) => openUpstream({ provider: providerOf(kind), model, timeouts: null });
  expect(upstreamOf('m').protocols).toEqual(['chat']);
  const { protocols, protocolFor } = upstreamOf('claude-1');
  expect([protocols, protocolFor.chat?.name]).toEqual([['messages'], 'messages']);
  await expect(sendTo(upstreamOf('m'), { protocol: 'messages' })).rejects.toThrow('no endpoint for plain in messages');
});

test('a kind may send another form of a request, with its own accept header', async () => {
  const provider = providerOf(
    {
      ...openaiCompatible,
      accept: (protocol, operation) => `application/x-${protocol}-${operation}`,
      prepare: (request, model, { region }) => ({
        ...request,
        headers: [...request.headers, ['x-region', region ?? '']],
        body: Buffer.from(JSON.stringify({ model, was: Buffer.from(request.body).toString() })),
      }),
    },
    { settings: { region: 'r1' } },
  );
  expect(await send(provider, { operation: 'stream', headers: [['x-a', 'b']] })).toBe('end');
  const [{ headers, body } = { headers: new Headers(), body: '' }] = arrived;
  expect(JSON.parse(body)).toEqual({ model: 'm', was: '{"a":1}' });
  expect(headers.get('content-length')).toBe(String(body.length));
  expect(['accept', 'x-a', 'x-region'].map((name) => headers.get(name))).toEqual([
    'application/x-chat-stream',
    'b',
    'r1',
  ]);
});

describe('a kind that authorizes each request', () => {
  const seen: FinalRequest[] = [];
  const signing = (authorize: NonNullable<RemoteKind['authorize']>): RemoteProvider =>
    providerOf({
      ...openaiCompatible,
      endpoint: (_protocol, operation, model) => `/models/${model}:${operation}?alt=sse`,
      headers: () => [],
      authorize,
    });

  test.each([
    ['at once', (request: FinalRequest) => void request.headers.push(['x-signature', 'signed'])],
    [
      'later',
      async (request: FinalRequest) => {
        await Bun.sleep(1);
        request.headers.push(['x-signature', 'signed']);
      },
    ],
  ])('sees its final form and adds headers %s', async (_, authorize) => {
    const provider = signing((request, { secrets }) => {
      seen.push({ ...request, headers: [...request.headers] });
      expect(secrets.signing_key?.reveal()).toBe('canary-2');
      return authorize(request);
    });
    expect(await send(provider, { headers: [['x-forwarded', 'f']] })).toBe('end');
    expect(arrived[0]?.path).toBe('POST /base/models/m:plain?alt=sse');
    expect(arrived[0]?.headers.get('x-signature')).toBe('signed');
    const { method, url, headers, body } = seen.at(-1) ?? { headers: [] };
    expect([method, url]).toEqual(['POST', `http://127.0.0.1:${server.port}/base/models/m:plain?alt=sse`]);
    expect(Buffer.from(body ?? []).toString()).toBe('{"a":1}');
    const sent = headers.filter(([name]) => name === 'x-forwarded' || name === 'content-length' || name === 'host');
    expect(sent).toEqual([
      ['host', `127.0.0.1:${server.port}`],
      ['x-forwarded', 'f'],
      ['content-length', '7'],
    ]);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('no token');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no token'))],
  ])('sends nothing if it %s', async (_, authorize) => {
    expect(await send(signing(authorize))).toEqual({
      kind: 'authorization',
      message: 'no token',
      sent: false,
      stale: false,
    });
    expect(arrived).toEqual([]);
  });

  test.each(['a\r\nx-evil: 1', 'a\nb', 'a\0b', 'a\u2028b'])('sends nothing with the header value %j', async (value) => {
    const provider = signing((request) => void request.headers.push(['x-goog-user-project', value]));
    expect(await send(provider)).toMatchObject({
      kind: 'authorization',
      message: 'the header x-goog-user-project would have characters that no header may have',
    });
    expect(arrived).toEqual([]);
  });

  test('is limited by the connect timeout, and sends nothing after an abort', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const provider = signing(() => promise);
    const slow = { ...provider, timeouts: { ...TIMEOUTS, connectMs: 20 } };
    expect(await send(slow)).toMatchObject({ kind: 'authorization' });
    const upstream = openUpstream({ provider, model: 'm', timeouts: null });
    const never = () => {
      throw new Error('called after abort');
    };
    upstream.openExchange(REQUEST, 0, 1_000, { onHead: never, onBody: never, onEnd: never, onFailure: never }).abort();
    resolve();
    await Bun.sleep(5);
    expect(arrived).toEqual([]);
  });

  test('has the tokens of its credentials hidden, the current one and the one before', async () => {
    const tokens = ['token-1', 'token-1', 'token-2', 'token-3'].map((text) => new Secret(text));
    tokens[1] = tokens[0] ?? new Secret('');
    let sent = 0;
    const provider = signing((_, { hide }) => {
      hide(tokens[sent++] ?? new Secret(''));
    });
    const upstream = openUpstream({ provider, model: 'm', timeouts: null });
    const { secrets } = upstream;
    const hidden: string[][] = [];
    for (const _ of tokens) {
      await sendTo(upstream);
      hidden.push(secrets.slice(2).map((secret) => secret.reveal()));
    }
    expect(hidden).toEqual([['token-1'], ['token-1'], ['token-1', 'token-2'], ['token-2', 'token-3']]);
    expect(secrets.slice(0, 2).map((secret) => secret.reveal())).toEqual(['canary-1', 'canary-2']);
  });

  test('sees the settings of its provider', async () => {
    const { kind } = signing((request, { settings }) => void request.headers.push(['x-region', settings.region ?? '']));
    const endpoint: RemoteKind['endpoint'] = (_protocol, _operation, model, { project }) => `/${project}/${model}`;
    const settings = { region: 'eu-central-1', project: 'p1' };
    expect(await send(providerOf({ ...kind, endpoint }, { settings }))).toBe('end');
    expect([arrived[0]?.path, arrived[0]?.headers.get('x-region')]).toEqual(['POST /base/p1/m', 'eu-central-1']);
  });

  test('authorizes the model list request', async () => {
    arrived = [];
    const token = new Secret('token-1');
    const provider = signing((request, { hide }) => {
      hide(token);
      request.headers.push(['x-signature', request.method]);
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    const ignore = () => undefined;
    const listener = { onHead: ignore, onBody: ignore, onEnd: resolve, onFailure: () => resolve() };
    const limits = { ...TIMEOUTS, responseBytesMax: 1_000, mayResend: true };
    const hidden: Secret[] = [];
    openListing(provider, provider.credentials.pool[0], hidden, limits, listener);
    await promise;
    expect([arrived[0]?.path, arrived[0]?.headers.get('x-signature')]).toEqual(['GET /base/models', 'GET']);
    expect(hidden).toEqual([token]);
  });
});

describe('a kind with several doors', () => {
  let other: Bun.Server<undefined>;
  let atOther: string[] = [];
  beforeAll(() => {
    other = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        atOther.push(`${request.method} ${new URL(request.url).pathname} ${request.headers.get('x-door')}`);
        return new Response(await request.text());
      },
    });
  });
  afterAll(() => other.stop(true));

  const addressOf = (port: number | undefined) => `http://127.0.0.1:${port}`;
  const doored = (port: number | undefined): RemoteKind => ({
    ...openaiCompatible,
    addressOf: () => addressOf(server.port),
    openAttempt(request, { send, model }, listener) {
      const door = { addressOf: () => addressOf(port), endpoint: () => `/door/${model}` };
      const sign = (final: FinalRequest) => void final.headers.push(['x-door', 'signed']);
      return openResending(
        send(door, request, sign),
        (ending) => ('head' in ending ? ending : send(this, request)),
        listener,
      );
    },
  });

  test('sends a request through the door that it chooses, at its own address', async () => {
    atOther = [];
    const origin = addressOf(server.port);
    const own = { baseUrl: origin, credentials: { origin, pool: singleCredential(SECRETS) } };
    expect(await send(providerOf(doored(other.port), own))).toBe('end');
    expect([atOther, arrived]).toEqual([['POST /door/m signed'], []]);
  });

  test('sends it to the configured address instead, through every door', async () => {
    atOther = [];
    expect(await send(providerOf(doored(other.port)))).toBe('end');
    expect([atOther, arrived[0]?.path]).toEqual([[], 'POST /base/door/m']);
  });

  test('may go on with another door where one cannot be reached', async () => {
    const origin = addressOf(server.port);
    const own = { baseUrl: origin, credentials: { origin, pool: singleCredential(SECRETS) } };
    expect(await send(providerOf(doored(1), own))).toBe('end');
    expect(arrived[0]?.path).toBe('POST /chat/completions');
  });
});
