/** Tests the routes: methods, aliases, unknown paths, paths without authentication. Contract 3. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { exchange, rawRequest } from '../fake-upstream/raw-client.ts';
import type { SharedPair } from '../harness/start-pair.ts';
import { callHeaders, get, goodBody, post, type Side } from './calls.ts';
import { shareContractPair } from './contract-config.ts';
import { expectRefusal, expectRefusalBody, invalid } from './expect-refusal.ts';
import { head, sendWire } from './wire.ts';

let pair: SharedPair;
beforeAll(async () => {
  pair = await shareContractPair();
});

const CHAT_PATHS = ['/v1/chat/completions', '/chat/completions', '/v1/v1/chat/completions'] as const;
const MESSAGES_PATHS = ['/v1/messages', '/messages', '/v1/v1/messages'] as const;
const COUNT_PATHS = MESSAGES_PATHS.map((path) => `${path}/count_tokens` as const);
const MODELS_PATHS = ['/v1/models', '/models', '/v1/v1/models'] as const;

describe('aliases', () => {
  test('the endpoints answer with /v1, without it and with it twice, whatever the query string', async () => {
    for (const query of ['', '?beta=true', '?a=b&c', '?']) {
      for (const path of CHAT_PATHS) {
        expect((await post(pair.gateway, `${path}${query}`, goodBody('chat'))).status).toBe(200);
      }
      for (const path of MESSAGES_PATHS) {
        expect((await post(pair.gateway, `${path}${query}`, goodBody('messages'))).status).toBe(200);
      }
      for (const path of COUNT_PATHS) {
        const counted = await post(pair.gateway, `${path}${query}`, goodBody('messages'));
        expect(await counted.json()).toEqual({ input_tokens: expect.any(Number) });
      }
      for (const path of MODELS_PATHS) expect((await get(pair.gateway, path)).status).toBe(200);
    }
  });

  test('the query string does not reach upstream', async () => {
    await post(pair.gateway, '/v1/messages?beta=true', goodBody('messages'));
    expect(pair.fake.served('m-ok').at(-1)?.requestLine).toBe('POST /v1/messages HTTP/1.1');
  });
});

describe('another method is 405 with allow', () => {
  const rows: ReadonlyArray<readonly [paths: readonly string[], side: Side, allow: string, wrong: readonly string[]]> =
    [
      [CHAT_PATHS, 'chat', 'POST', ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']],
      [MESSAGES_PATHS, 'messages', 'POST', ['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']],
      [COUNT_PATHS, 'messages', 'POST', ['GET', 'DELETE', 'OPTIONS']],
      [[...MODELS_PATHS], 'chat', 'GET', ['POST', 'DELETE', 'OPTIONS']],
      [['/v1/models/ok'], 'chat', 'GET', ['POST']],
      [['/v1/models/ok'], 'chat', 'GET, POST', ['DELETE', 'OPTIONS']],
      [['/healthz', '/readyz', '/openapi.json', '/'], 'chat', 'GET, HEAD', ['POST', 'DELETE', 'OPTIONS']],
    ];
  for (const [paths, side, allow, wrong] of rows) {
    test(`${paths.join(', ')}: ${wrong.join(', ')}`, async () => {
      for (const path of paths) {
        for (const method of wrong) {
          const response = await fetch(pair.gateway.url + path, { method, headers: callHeaders(pair.gateway.key) });
          expect(response.headers.get('allow')).toBe(allow);
          await expectRefusal(response, side, invalid(side, method, null, 405));
        }
      }
    });
  }

  test('methods that clients of HTTP seldom send get 405 with a body too', async () => {
    for (const method of ['PROPFIND', 'TRACE', 'QUERY', 'LOCK', 'MKCOL', 'REPORT']) {
      const answer = await sendWire(pair.gateway.url, head(`${method} /v1/messages HTTP/1.1`, ['host: 127.0.0.1']));
      expect([method, answer?.status, answer?.headers.get('allow')]).toEqual([method, 405, 'POST']);
      expectRefusalBody(
        answer?.headers ?? new Headers(),
        answer?.text ?? '',
        'messages',
        invalid('messages', method, null, 405),
      );
    }
  });

  test('HEAD on a path of calls is 405 without a body', async () => {
    const response = await fetch(`${pair.gateway.url}/v1/messages`, { method: 'HEAD' });
    expect({ status: response.status, allow: response.headers.get('allow') }).toEqual({ status: 405, allow: 'POST' });
    expect(await response.text()).toBe('');
  });
});

describe('an unknown path is 404 in the format that it suggests', () => {
  const rows: ReadonlyArray<readonly [path: string, side: Side, says: string]> = [
    ['/v1/nothing', 'chat', '/v1/nothing'],
    ['/nothing', 'chat', '/nothing'],
    ['/v1', 'chat', '/openapi.json'],
    ['/v1/', 'chat', '/openapi.json'],
    ['/v1/chat/completions/', 'chat', '/v1/chat/completions'],
    ['/v1/chat', 'chat', 'POST /v1/chat/completions'],
    ['/V1/CHAT/COMPLETIONS', 'chat', '/V1/CHAT/COMPLETIONS'],
    ['/v1/v1/v1/chat/completions', 'chat', 'POST /v1/chat/completions'],
    ['/v1/engines/x/completions', 'chat', 'POST /v1/chat/completions'],
    ['/v1/messages/', 'messages', '/v1/messages'],
    ['/v1/messages/unknown', 'messages', '/v1/messages/unknown'],
    ['/v1/messages/count_tokens/x', 'messages', '/v1/messages'],
    ['/messages/nothing', 'messages', '/messages/nothing'],
    ['/v1/models/', 'chat', '/v1/models/'],
    ['/v1/models/%', 'chat', '/v1/models/%'],
    ['/v1/models/%ff', 'chat', '/v1/models/%ff'],
    ['/%2e%2e/etc/passwd', 'chat', 'passwd'],
    ['/.env', 'chat', '/.env'],
  ];
  for (const [path, side, says] of rows) {
    test(`${path} in the words of ${side}`, async () => {
      const { response, client } = await exchange(pair.gateway.url, rawRequest('GET', path));
      client.leave();
      expect(response?.status).toBe(404);
      const body: unknown = JSON.parse(response?.body.toString() ?? '');
      const message = expect.stringContaining(says);
      expect(body).toEqual(
        side === 'chat'
          ? { error: { message, type: 'invalid_request_error', param: null, code: 'invalid_request_error' } }
          : { type: 'error', error: { type: 'not_found_error', message }, request_id: expect.stringMatching(/^req_/) },
      );
    });
  }

  test('an unknown path with a version header speaks messages', async () => {
    const response = await get(pair.gateway, '/v1/skills', { 'anthropic-version': '2023-06-01' });
    await expectRefusal(response, 'messages', { status: 404, type: 'not_found_error', says: '/v1/skills' });
  });
});

describe('the open paths', () => {
  const open = (path: string, method = 'GET') => fetch(pair.gateway.url + path, { method, redirect: 'manual' });

  test('HEAD / and HEAD /api/hello are 200 without a body; GET / leads to the console', async () => {
    for (const path of ['/', '/api/hello']) {
      const head = await open(path, 'HEAD');
      expect({ path, status: head.status, body: await head.text() }).toEqual({ path, status: 200, body: '' });
    }
    const root = await open('/');
    expect({ status: root.status, location: root.headers.get('location') }).toEqual({ status: 302, location: '/app' });
  });

  test('healthz and readyz need no key', async () => {
    expect(await (await open('/healthz')).json()).toEqual({ status: 'ok' });
    const ready = await open('/readyz');
    expect({ status: ready.status, body: await ready.json() }).toEqual({
      status: 200,
      body: { status: 'ready', problems: [] },
    });
    for (const path of ['/healthz', '/readyz', '/openapi.json']) expect((await open(path, 'HEAD')).status).toBe(200);
  });

  test('openapi.json names both endpoints', async () => {
    const document = (await (await open('/openapi.json')).json()) as { openapi: string; paths: object };
    expect(document.openapi).toStartWith('3.');
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/v1/chat/completions', '/v1/messages']));
  });

  test('the console is a page with a strict policy', async () => {
    for (const path of ['/app', '/app/', '/app/keys', '/app/setup?token=x']) {
      const page = await open(path);
      expect({ path, status: page.status, type: page.headers.get('content-type') }).toEqual({
        path,
        status: 200,
        type: expect.stringMatching(/^text\/html/),
      });
      expect(page.headers.get('content-security-policy')).not.toMatch(/unsafe-(inline|eval)/);
    }
  });

  test('every reply under /v1 carries the same id in both headers, and no two the same', async () => {
    const seen = new Set<string>();
    for (const path of ['/v1/models', '/v1/models/ok', '/v1/models/none', '/v1/none', '/v1/chat/completions']) {
      const { headers } = await get(pair.gateway, path, { 'x-request-id': 'req_mine', 'request-id': 'req_mine' });
      expect(headers.get('request-id')).toBe(headers.get('x-request-id'));
      seen.add(headers.get('x-request-id') ?? '');
    }
    expect(seen.size).toBe(5);
    expect([...seen].every((id) => /^req_[0-9a-f]{32}$/.test(id))).toBe(true);
  });
});
