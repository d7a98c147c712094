/**
 * Tests the routes of conversations (contract, 10.12): what passes, that only their workspace reads, continues, changes and
 * deletes them, and that their items name nothing that is not the workspace's.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Answer, ask } from '../harness/ask.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { createKey } from '../http-contract/make-key.ts';
import { createTenantKeys, type TenantKeys } from '../http-contract/tenants.ts';
import { type ObjectUpstream, startObjectUpstream } from './object-upstream.ts';

let upstream: ObjectUpstream;
let gateway: RunningGateway;
let keys: TenantKeys;

beforeAll(async () => {
  upstream = startObjectUpstream();
  const price = { input: 1, output: 5 };
  const keyOf = (name: string) => ({ name, key: `credential-${name}` });
  gateway = await startGateway({
    config: {
      providers: {
        host: { kind: 'openai', base_url: upstream.url, api_keys: [keyOf('eu'), keyOf('us')], files: 'on' },
        second: { kind: 'openai', base_url: upstream.url, api_key: 'credential-second', files: 'on' },
        plain: { kind: 'openai-compatible', base_url: upstream.url, api_key: 'credential-plain', files: 'on' },
      },
      models: {
        m: { targets: [{ provider: 'host', tags: ['eu'] }], price },
        n: { targets: [{ provider: 'second' }], price },
        p: { targets: [{ provider: 'plain' }], price },
      },
    },
  });
  keys = await createTenantKeys(gateway);
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});

const HOST = { 'x-tollgate-provider': 'host' };

const call = (
  method: string,
  path: string,
  body?: object,
  key = keys.own,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> => ask(`${gateway.url}/v1/${path}`, { method, key, body, headers });

async function begin(body: object = {}, headers = HOST): Promise<string> {
  const { status, json } = await call('POST', 'conversations', body, keys.own, headers);
  expect(status).toBe(200);
  return json.id;
}

async function upload(provider: string): Promise<string> {
  const form = new FormData();
  form.append('file', new Blob(['hello']), 'a.txt');
  const headers = { 'x-tollgate-provider': provider };
  return (await ask(`${gateway.url}/v1/files`, { key: keys.own, body: form, headers })).json.id;
}

const fileItem = (id: string) => ({ items: [{ role: 'user', content: [{ type: 'input_file', file_id: id }] }] });
const last = () => upstream.served.at(-1);

describe('a conversation', () => {
  test('is created, read, changed and deleted, with its items, at one credential', async () => {
    const items = { items: [{ role: 'user', content: 'hi' }] };
    const id = await begin(items);
    expect(last()).toMatchObject({
      path: '/v1/conversations',
      credential: 'credential-eu',
      body: JSON.stringify(items),
    });
    for (const [method, path, body] of [
      ['GET', `conversations/${id}`],
      ['POST', `conversations/${id}`, { metadata: { a: 'b' } }],
      ['GET', `conversations/${id}/items?limit=2&order=asc&include[]=a`],
      ['POST', `conversations/${id}/items`, items],
      ['GET', `conversations/${id}/items/msg_1`],
      ['DELETE', `conversations/${id}/items/msg_1`],
      ['DELETE', `conversations/${id}`],
    ] as const) {
      expect((await call(method, path, body, keys.colleague)).status).toBe(200);
      const { path: served = '', ...rest } = last() ?? {};
      expect(rest).toMatchObject({
        method,
        credential: 'credential-eu',
        body: body === undefined ? '' : JSON.stringify(body),
      });
      expect(decodeURIComponent(served)).toBe(`/v1/${path}`);
    }
    const before = upstream.served.length;
    expect((await call('GET', `conversations/${id}/items`)).status).toBe(404);
    expect(upstream.served).toHaveLength(before);
  });

  test('is continued by responses of its workspace, at its credential', async () => {
    const id = await begin();
    for (let round = 0; round < 4; round++) {
      for (const conversation of [id, { id }]) {
        expect((await call('POST', 'responses', { model: 'm', input: 'hi', conversation })).status).toBe(200);
        expect(last()).toMatchObject({ path: '/v1/responses', credential: 'credential-eu' });
      }
    }
    expect((await call('POST', 'responses', { model: 'n', input: 'hi', conversation: id })).status).toBe(400);
  });

  test('that the provider no longer has is forgotten; an item that it does not have is not', async () => {
    const id = await begin();
    const body = JSON.stringify({ error: { message: `Item or conversation of ${id} not found.` } });
    upstream.failWith = { status: 404, body };
    const item = await call('GET', `conversations/${id}/items/msg_1`);
    expect([item.status, item.json.error.message]).toEqual([404, expect.stringContaining('Item or conversation')]);
    upstream.failWith = null;
    expect((await call('GET', `conversations/${id}`)).status).toBe(200);
    upstream.failWith = { status: 404, body };
    expect((await call('GET', `conversations/${id}`)).json.error.message).toContain('not stored for this workspace');
    upstream.failWith = null;
    expect((await call('GET', `conversations/${id}`)).status).toBe(404);
  });

  test('stays when a response of it is deleted', async () => {
    const id = await begin();
    const { json } = await call('POST', 'responses', { model: 'm', input: 'hi', conversation: id });
    expect((await call('DELETE', `responses/${json.id}`)).status).toBe(200);
    expect((await call('GET', `conversations/${id}`)).status).toBe(200);
  });
});

const WAYS: ReadonlyArray<readonly [method: string, pathOf: (id: string) => string, body: object | undefined]> = [
  ['GET', (id) => `conversations/${id}`, undefined],
  ['POST', (id) => `conversations/${id}`, { metadata: {} }],
  ['DELETE', (id) => `conversations/${id}`, undefined],
  ['GET', (id) => `conversations/${id}/items`, undefined],
  ['POST', (id) => `conversations/${id}/items`, { items: [] }],
  ['GET', (id) => `conversations/${id}/items/msg_1`, undefined],
  ['DELETE', (id) => `conversations/${id}/items/msg_1`, undefined],
];

describe('no other workspace', () => {
  test.each(WAYS)('gets to it by %s', async (method, pathOf, body) => {
    const id = await begin();
    const before = upstream.served.length;
    for (const key of [keys.workspace, keys.account]) {
      const foreign = await call(method, pathOf(id), body, key);
      expect(foreign.status).toBe(404);
      expect(foreign.json).toEqual((await call(method, pathOf('conv_none'), body, key)).json);
    }
    expect(upstream.served).toHaveLength(before);
  });

  test('continues it, or learns that it exists', async () => {
    const id = await begin();
    const before = upstream.served.length;
    for (const key of [keys.workspace, keys.account]) {
      const [foreign, unknown] = await Promise.all(
        [id, 'conv_none'].map((conversation) =>
          call('POST', 'responses', { model: 'm', input: 'hi', conversation }, key),
        ),
      );
      expect(foreign?.status).toBe(404);
      expect(foreign?.json).toEqual(unknown?.json);
    }
    expect(upstream.served).toHaveLength(before);
  });
});

describe('the items of a body', () => {
  test('may name what the workspace has at the same credential, which decides the place', async () => {
    const file = await upload('second');
    const { json } = await call('POST', 'conversations', fileItem(file));
    expect(last()).toMatchObject({ path: '/v1/conversations', credential: 'credential-second' });
    expect((await call('POST', `conversations/${json.id}/items`, fileItem(file))).status).toBe(200);
  });

  test.each([
    ['an unknown file', fileItem('file-none'), 404, 'items.0.content.0.file_id'],
    ['an item of another workspace', { items: [{ type: 'item_reference', id: 'msg_none' }] }, 404, 'items.0'],
    [
      'an address of the account',
      { items: [{ role: 'user', content: [{ type: 'input_image', image_url: 'gs://a/b' }] }] },
      400,
      'items.0.content.0.image_url',
    ],
  ])('%s is refused, for a new conversation and an existing one', async (_name, body, status, param) => {
    const id = await begin();
    const before = upstream.served.length;
    for (const path of ['conversations', `conversations/${id}/items`]) {
      const refused = await call('POST', path, body, keys.own, HOST);
      expect([refused.status, refused.json.error.param]).toEqual([status, param]);
    }
    expect(upstream.served).toHaveLength(before);
  });

  test('may not name a file at another provider', async () => {
    const refused = await call('POST', `conversations/${await begin()}/items`, fileItem(await upload('second')));
    expect([refused.status, refused.json.error.message]).toEqual([400, expect.stringContaining('another account')]);
  });
});

describe('content for an existing conversation', () => {
  const items = { items: [{ role: 'user', content: 'hi' }] };
  const CHANGES = [
    ['', { metadata: { a: 'b' } }],
    ['/items', items],
  ] as const;

  test.each([
    ['requires data tags', { required_tags: ['zdr'] }, {}],
    ['may use no model of its provider', { models: ['n'] }, {}],
    ['has a request that requires data tags', {}, { 'x-tollgate-require': 'zdr' }],
  ])('is refused where the key %s, which reads and deletes it', async (_name, given, headers) => {
    const { key } = await createKey(gateway, given);
    const id = await begin();
    const before = upstream.served.length;
    for (const [path, body] of CHANGES) {
      const refused = await call('POST', `conversations/${id}${path}`, body, key, headers);
      expect([refused.status, refused.json.error.message]).toEqual([404, expect.stringContaining('for this key')]);
    }
    expect(upstream.served).toHaveLength(before);
    expect((await call('GET', `conversations/${id}/items`, undefined, key, headers)).status).toBe(200);
    expect((await call('DELETE', `conversations/${id}`, undefined, key, headers)).status).toBe(200);
  });

  test('is taken where a model of its provider that the key may use has the tags', async () => {
    const { key } = await createKey(gateway, { required_tags: ['eu'], models: ['m'] });
    const id = await begin();
    for (const [path, body] of CHANGES) {
      expect((await call('POST', `conversations/${id}${path}`, body, key)).status).toBe(200);
    }
  });
});

test('with several providers a header names one of those that keep conversations', async () => {
  const refused = await call('POST', 'conversations', {});
  expect([refused.status, refused.json.error.param]).toEqual([400, 'x-tollgate-provider']);
  expect(refused.json.error.message).toEndWith('one of host, second');
  await begin({}, { 'x-tollgate-provider': 'second' });
  expect(last()?.credential).toBe('credential-second');
  expect((await call('POST', 'conversations', {}, keys.own, { 'x-tollgate-provider': 'plain' })).status).toBe(400);
});

test.each(['[]', '{', '"a"'])('the body %s is refused', async (text) => {
  const response = await fetch(`${gateway.url}/v1/conversations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.own}`, 'content-type': 'application/json', ...HOST },
    body: text,
  });
  expect(response.status).toBe(400);
});

test('a list of all conversations is not served', async () => {
  const { status } = await call('GET', 'conversations');
  expect(status).toBe(405);
});
