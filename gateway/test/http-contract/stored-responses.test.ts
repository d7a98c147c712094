/**
 * Tests the routes of stored responses (contract, 10.12 and 10.19): reading, cancelling and deleting one, and listing its
 * input, by its workspace, another workspace and another account. Vector 44.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Answer, ask } from '../harness/ask.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { createKey } from './make-key.ts';
import { type StoredUpstream, startStoredUpstream } from './stored-upstream.ts';
import { createTenantKeys, type TenantKeys } from './tenants.ts';
import { head, sendWire } from './wire.ts';

let upstream: StoredUpstream;
let gateway: RunningGateway;
let keys: TenantKeys & { readonly slow: string };

beforeAll(async () => {
  upstream = startStoredUpstream();
  const keyOf = (name: string) => ({ name, key: `credential-${name}` });
  gateway = await startGateway({
    config: {
      providers: {
        host: { kind: 'openai', base_url: upstream.url, api_keys: [keyOf('eu'), keyOf('us')] },
        azure: {
          kind: 'azure',
          base_url: upstream.url.replace('/v1', ''),
          api_key: 'credential-azure',
          api_version: 'preview',
        },
        plain: { kind: 'openai-compatible', base_url: upstream.url, api_key: 'credential-plain' },
      },
      models: {
        m: { targets: [{ provider: 'host' }], price: { input: 1, output: 5 } },
        a: { targets: [{ provider: 'azure' }], price: { input: 1, output: 5 } },
        translated: { targets: [{ provider: 'plain' }], price: { input: 1, output: 5 } },
      },
    },
  });
  keys = {
    ...(await createTenantKeys(gateway)),
    slow: (await createKey(gateway, { rpm: 1 })).key,
  };
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const call = (method: string, path: string, key = keys.own, body?: object): Promise<Answer> =>
  ask(`${gateway.url}/v1/${path}`, { method, key, body });

async function begin(model = 'm'): Promise<{ id: string; credential: string }> {
  const { json } = await call('POST', 'responses', keys.own, { model, input: 'hi' });
  return { id: json.id, credential: upstream.served.at(-1)?.credential ?? '' };
}

const WAYS: ReadonlyArray<readonly [method: string, pathOf: (id: string) => string]> = [
  ['GET', (id) => `responses/${id}`],
  ['GET', (id) => `responses/${id}/input_items`],
  ['POST', (id) => `responses/${id}/cancel`],
  ['DELETE', (id) => `responses/${id}`],
];

describe.each(WAYS)('%s', (method, pathOf) => {
  test('reaches the credential that keeps the response, for its workspace', async () => {
    const { id, credential } = await begin();
    for (const key of method === 'DELETE' ? [keys.colleague] : [keys.own, keys.colleague]) {
      const { status, headers } = await call(method, pathOf(id), key);
      expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
      expect(upstream.served.at(-1)).toMatchObject({ method, path: `/v1/${pathOf(id)}`, credential, body: {} });
    }
  });

  // Vector 44.
  test('is a 404 without a request for any other workspace, as for an unknown id', async () => {
    const { id } = await begin();
    const before = upstream.served.length;
    for (const key of [keys.workspace, keys.account]) {
      const foreign = await call(method, pathOf(id), key);
      const unknown = await call(method, pathOf('resp_none'), key);
      expect(foreign.status).toBe(404);
      expect(foreign.json).toEqual(unknown.json);
    }
    expect((await call(method, pathOf('resp_none'))).status).toBe(404);
    expect(upstream.served).toHaveLength(before);
  });

  test('needs a valid key', async () => {
    const { id } = await begin();
    expect((await call(method, pathOf(id), 'tg_wrong')).status).toBe(401);
  });
});

test('a deleted response is unknown from then on, with its items', async () => {
  const { json } = await call('POST', 'responses', keys.own, { model: 'm', input: 'hi' });
  const { id, output } = json;
  expect((await call('DELETE', `responses/${id}`)).json).toEqual({ id, object: 'response', deleted: true });
  const before = upstream.served.length;
  for (const [method, pathOf] of WAYS) expect((await call(method, pathOf(id))).status).toBe(404);
  const next = (members: object) => call('POST', 'responses', keys.own, { model: 'm', input: 'hi', ...members });
  expect((await next({ previous_response_id: id })).status).toBe(400);
  expect((await next({ input: [{ type: 'item_reference', id: output[0].id }] })).status).toBe(404);
  expect(upstream.served).toHaveLength(before);
});

test.each([
  ['without the path below it', '/input_items', '{"error":{"message":"no such path"}}'],
  ['behind a proxy that does not find it', '', '<html>404 Not Found</html>'],
  ['behind another server', '', '{"status":404,"error":"Not Found"}'],
] as const)('a response at a host %s stays known', async (_, end, body) => {
  const { id } = await begin();
  upstream.missing = { end, body };
  expect((await call('GET', `responses/${id}${end}`)).status).not.toBe(200);
  upstream.missing = null;
  expect((await call('GET', `responses/${id}`)).status).toBe(200);
  const { status } = await call('POST', 'responses', keys.own, { model: 'm', input: 'hi', previous_response_id: id });
  expect(status).toBe(200);
});

test('a response that its provider has deleted is unknown from then on', async () => {
  const { id } = await begin();
  upstream.missing = { end: id, body: '{"error":{"message":"not found"}}' };
  expect((await call('GET', `responses/${id}`)).status).toBe(404);
  upstream.missing = null;
  expect((await call('GET', `responses/${id}`)).status).toBe(404);
});

test('the query goes on, as far as it is known', async () => {
  const { id } = await begin();
  const path = `responses/${id}/input_items?limit=5&order=asc&after=msg_1&include[]=a&include[]=b`;
  expect((await call('GET', path)).status).toBe(200);
  const { searchParams } = new URL(`http://u${upstream.served.at(-1)?.path}`);
  expect([...searchParams]).toEqual([
    ['limit', '5'],
    ['order', 'asc'],
    ['after', 'msg_1'],
    ['include[]', 'a'],
    ['include[]', 'b'],
  ]);
  const before = upstream.served.length;
  for (const query of ['stream=yes', 'starting_after=3', 'api-version=1']) {
    const { status, json } = await call('GET', `responses/${id}?${query}`);
    expect([status, json.error.param]).toEqual([400, query.split('=')[0]]);
  }
  expect(upstream.served).toHaveLength(before);
  expect((await call('GET', `responses/${id}?stream=false`)).status).toBe(200);
  expect((await call('GET', `responses/${id}/input_items?stream=true`)).json.error.param).toBe('stream');
  // A host that does not stream a response gives it in one piece.
  expect((await call('GET', `responses/${id}?stream=true`)).json).toMatchObject({ id, status: 'completed' });
});

test('a path or method that does not exist is refused', async () => {
  const { id } = await begin();
  expect((await call('POST', `responses/${id}`)).status).toBe(405);
  expect((await call('DELETE', `responses/${id}/input_items`)).headers.get('allow')).toBe('GET');
  for (const path of [
    `responses/${id}/others`,
    `responses/${id}/cancel/x`,
    'responses/a%2Fb',
    `responses/${encodeURIComponent(`${id}?x=1`)}`,
  ])
    expect((await call('GET', path)).status).toBe(404);
});

test('it costs nothing, leaves no record, and counts in requests per minute and metrics', async () => {
  const { id } = await begin();
  const before = (await gateway.calls()).length;
  expect((await call('GET', `responses/${id}`, keys.slow)).status).toBe(200);
  expect((await call('GET', `responses/${id}`, keys.slow)).status).toBe(429);
  expect(await gateway.calls()).toHaveLength(before);
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(metrics).toMatch(/protocol="stored"/);
});

test('a host whose addresses have a version keeps it', async () => {
  const { id } = await begin('a');
  await call('GET', `responses/${id}?include=x`);
  expect(upstream.served.at(-1)?.path).toEndWith(`/responses/${id}?api-version=preview&include=x`);
});

test('the answer of a host that keeps nothing is not stored here', async () => {
  const { json } = await call('POST', 'responses', keys.own, { model: 'translated', input: 'hi' });
  expect(json.store).toBe(false);
  expect((await call('GET', `responses/${json.id}`)).status).toBe(404);
});

test.each([
  ['[', 404],
  ['a b', 400],
  ['', 404],
  [':::', 404],
  ['%zz', 404],
])('reads no address from a host header that no URL has: %p', async (host, missing) => {
  for (const path of ['/v1/responses/resp_none', '/v1/files/file-none', '/v1beta/models/none']) {
    const lines = [`host: ${host}`, `authorization: Bearer ${keys.own}`];
    const answer = await sendWire(gateway.url, head(`GET ${path}?x HTTP/1.1`, lines));
    expect([path, answer?.status]).toEqual([path, path.includes('beta') ? missing : 400]);
  }
});
