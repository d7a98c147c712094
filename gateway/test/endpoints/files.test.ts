/**
 * Tests the routes of files (contract, 10.12, 10.14 and 10.19; other-endpoints.md, test 17): what passes, who may, what is
 * refused, and whose fault an answer of the provider is.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import { type Answer, type Asking, ask } from '../harness/ask.ts';
import { eventually } from '../harness/eventually.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { createKey } from '../http-contract/make-key.ts';
import { createTenantKeys, type TenantKeys } from '../http-contract/tenants.ts';
import { FILE_BYTES, type ObjectUpstream, startObjectUpstream } from './object-upstream.ts';

let upstream: ObjectUpstream;
let gateway: RunningGateway;
let keys: TenantKeys & Record<'slow' | 'barred' | 'other', string>;

function configFor(url: string, files: 'on' | 'off' = 'on'): object {
  const price = { input: 1, output: 5 };
  const keyOf = (name: string) => ({ name, key: `credential-${name}` });
  return {
    limits: { upload_bytes_max: '48MiB' },
    providers: {
      host: {
        kind: 'openai',
        base_url: url,
        api_keys: [{ ...keyOf('spare'), weight: 0 }, keyOf('eu'), keyOf('us')],
        files,
        shared_state: [{ id: 'file-handbook' }],
      },
      claude: { kind: 'anthropic', base_url: url, api_key: 'credential-claude', files },
      shut: { kind: 'openai', base_url: url, api_key: 'credential-shut' },
    },
    models: {
      m: { targets: [{ provider: 'host', tags: ['eu'] }], price },
      c: { targets: [{ provider: 'claude' }], price },
      s: { targets: [{ provider: 'shut' }], price },
    },
  };
}

beforeAll(async () => {
  upstream = startObjectUpstream();
  gateway = await startGateway({ config: configFor(upstream.url) });
  const create = async (given: object) => (await createKey(gateway, given)).key;
  keys = {
    ...(await createTenantKeys(gateway)),
    slow: await create({ rpm: 1 }),
    barred: await create({ models: ['s'] }),
    other: await create({ models: ['c'] }),
  };
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  upstream.stop();
});
beforeEach(() => {
  upstream.failWith = null;
  upstream.next = {};
});

type Asked = Partial<Asking>;

const call = (method: string, path: string, { key = keys.own, ...rest }: Asked = {}): Promise<Answer> =>
  ask(`${gateway.url}/v1/${path}`, { method, key, ...rest });

function formOf(content: Uint8Array | string = 'hello', purpose = 'user_data'): FormData {
  const form = new FormData();
  form.append('purpose', purpose);
  form.append('file', new Blob([content as string], { type: 'text/plain' }), 'a.txt');
  return form;
}

const ANTHROPIC = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'files-api-2025-04-14' };

async function upload(key = keys.own, headers: Asked['headers'] = {}): Promise<string> {
  const { status, json } = await call('POST', 'files', { key, body: formOf(), headers });
  expect(status).toBe(200);
  return json.id;
}

const last = () => upstream.served.at(-1);

describe('a file', () => {
  test('is uploaded, read, downloaded and deleted at the first credential of its provider', async () => {
    const id = await upload();
    expect(last()).toMatchObject({ method: 'POST', path: '/v1/files', credential: 'credential-eu' });
    const read = await call('GET', `files/${id}`);
    expect([read.status, read.json]).toEqual([200, { id, object: 'files' }]);
    const content = await call('GET', `files/${id}/content`);
    expect(content.bytes.equals(FILE_BYTES)).toBe(true);
    expect(last()).toMatchObject({ method: 'GET', path: `/v1/files/${id}/content`, credential: 'credential-eu' });
    const gone = await call('DELETE', `files/${id}`);
    expect([gone.status, gone.json.deleted]).toEqual([200, true]);
    const before = upstream.served.length;
    for (const path of [`files/${id}`, `files/${id}/content`]) expect((await call('GET', path)).status).toBe(404);
    expect(upstream.served).toHaveLength(before);
  });

  test('is never shown as a page of the gateway', async () => {
    const { headers } = await call('GET', `files/${await upload()}/content`);
    expect(headers.get('content-type')).toBe('application/octet-stream');
    expect(headers.get('content-disposition')).toBe('attachment');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('of 40 MB arrives as it was sent', async () => {
    const boundary = 'b0undary';
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n`;
    const whole = Buffer.concat([Buffer.from(head), randomBytes(40_000_000), Buffer.from(`\r\n--${boundary}--\r\n`)]);
    const response = await fetch(`${gateway.url}/v1/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys.own}`, 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: whole,
    });
    expect(response.status).toBe(200);
    expect(last()?.body).toBe(`${createHash('sha256').update(whole).digest('hex')} ${whole.length}`);
    expect(last()?.headers.get('content-length')).toBe(String(whole.length));
  });

  test('may be named by requests of its workspace, which go to its credential', async () => {
    const id = await upload();
    const input = [{ role: 'user', content: [{ type: 'input_file', file_id: id }] }];
    const messages = [{ role: 'user', content: [{ type: 'file', file: { file_id: id } }] }];
    for (let round = 0; round < 4; round++) {
      for (const [path, body] of [
        ['responses', { model: 'm', input }],
        ['chat/completions', { model: 'm', messages }],
      ] as const) {
        expect((await call('POST', path, { key: keys.colleague, body })).status).toBe(200);
        expect(last()).toMatchObject({ path: `/v1/${path}`, credential: 'credential-eu' });
        expect((await call('POST', path, { key: keys.workspace, body })).status).toBe(404);
      }
    }
    expect((await call('POST', 'responses', { body: { model: 's', input } })).status).toBe(400);
  });

  test('of Anthropic has its own form, list and errors', async () => {
    const id = await upload(keys.own, ANTHROPIC);
    expect(last()).toMatchObject({ path: '/v1/files', credential: 'credential-claude' });
    expect(last()?.headers.get('anthropic-beta')).toBe('files-api-2025-04-14');
    expect((await call('GET', `files/${id}?beta=true`, { headers: ANTHROPIC })).status).toBe(200);
    expect(last()?.path).toBe(`/v1/files/${id}?beta=true`);
    const { json } = await call('GET', 'files', { headers: ANTHROPIC });
    expect(json).toEqual({
      data: [{ id, type: 'file', filename: 'a.txt' }],
      first_id: id,
      last_id: id,
      has_more: false,
      next_page: null,
    });
    const unknown = await call('GET', 'files/file_none', { headers: ANTHROPIC });
    expect([unknown.status, unknown.json.type, unknown.json.error.type]).toEqual([404, 'error', 'not_found_error']);
    expect((await call('GET', `files/${id}`)).status).toBe(404);
    const content = [{ type: 'document', source: { type: 'file', file_id: id } }];
    const body = { model: 'c', max_tokens: 5, messages: [{ role: 'user', content }] };
    for (const [key, status] of [
      [keys.colleague, 200],
      [keys.account, 404],
    ] as const)
      expect((await call('POST', 'messages', { key, body, headers: ANTHROPIC })).status).toBe(status);
  });

  test('that a tool of Anthropic made is downloaded by its workspace, and is in no list', async () => {
    const body = { model: 'c', max_tokens: 5, messages: [{ role: 'user', content: 'draw' }] };
    const { bytes } = await call('POST', 'messages', { body, headers: ANTHROPIC });
    const id = /file_made_\d+/.exec(bytes.toString())?.[0];
    const path = `files/${id}/content`;
    expect((await call('GET', path, { key: keys.colleague, headers: ANTHROPIC })).status).toBe(200);
    for (const key of [keys.workspace, keys.account]) {
      expect((await call('GET', path, { key, headers: ANTHROPIC })).status).toBe(404);
    }
    expect((await call('GET', 'files', { headers: ANTHROPIC })).bytes.toString()).not.toContain(id ?? '');
  });

  test('is unknown once it has expired', async () => {
    upstream.next = { expires_at: new Date(Date.now() - 5_000).toISOString() };
    const claude = await upload(keys.own, ANTHROPIC);
    expect((await call('GET', `files/${claude}`, { headers: ANTHROPIC })).status).toBe(404);
    upstream.next = { expires_at: Math.floor(Date.now() / 1_000) - 5 };
    const id = await upload();
    expect((await call('GET', `files/${id}`)).status).toBe(404);
    expect((await call('GET', 'files?limit=1')).json.data.map((one: { id: string }) => one.id)).not.toContain(id);
  });

  test('stays with its workspace after a restart', async () => {
    const id = await upload();
    gateway.signal('SIGKILL');
    await gateway.exited;
    const { dataDir } = gateway;
    gateway = await startGateway({ config: configFor(upstream.url), dataDir });
    expect((await call('GET', `files/${id}`)).status).toBe(200);
    expect((await call('GET', `files/${id}`, { key: keys.account })).status).toBe(404);
  }, 60_000);
});

// Test 17, and the matrix of issue 17: read, use, delete, list × other workspace, other account.
describe('no other workspace', () => {
  const input = (id: string) => [{ role: 'user', content: [{ type: 'input_file', file_id: id }] }];
  const WAYS: ReadonlyArray<readonly [way: string, run: (id: string, key: string) => Promise<Answer>]> = [
    ['reads', (id, key) => call('GET', `files/${id}`, { key })],
    ['downloads', (id, key) => call('GET', `files/${id}/content`, { key })],
    ['deletes', (id, key) => call('DELETE', `files/${id}`, { key })],
    ['uses', (id, key) => call('POST', 'responses', { key, body: { model: 'm', input: input(id) } })],
    ['pages from', (id, key) => call('GET', `files?after=${id}`, { key })],
    ['puts into a conversation', (id, key) => call('POST', 'conversations', { key, body: { items: input(id) } })],
  ];
  test.each(WAYS)('%s it, or learns that it exists', async (_way, run) => {
    const id = await upload();
    const before = upstream.served.length;
    for (const key of [keys.workspace, keys.account]) {
      const foreign = await run(id, key);
      const unknown = await run('file-none', key);
      expect(foreign.status).toBe(404);
      expect(foreign.json).toEqual(unknown.json);
    }
    expect(upstream.served).toHaveLength(before);
    expect((await call('GET', `files/${id}`, { key: keys.colleague })).status).toBe(200);
  });

  test('has it in its list', async () => {
    const id = await upload();
    const idsOf = async (key: string) =>
      (await call('GET', 'files', { key })).json.data.map((one: { id: string }) => one.id);
    expect(await idsOf(keys.colleague)).toContain(id);
    expect([await idsOf(keys.workspace), await idsOf(keys.account)]).toEqual([[], []]);
  });
});

test('a file that the operator shares may be used, not read or deleted', async () => {
  const input = [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-handbook' }] }];
  expect((await call('POST', 'responses', { body: { model: 'm', input } })).status).toBe(200);
  const before = upstream.served.length;
  for (const [method, path] of [
    ['GET', 'files/file-handbook'],
    ['GET', 'files/file-handbook/content'],
    ['DELETE', 'files/file-handbook'],
  ] as const)
    expect((await call(method, path)).status).toBe(404);
  expect(upstream.served).toHaveLength(before);
});

describe('the list', () => {
  test('has the files of the workspace by pages, newest first, without a request to the provider', async () => {
    const key = (await createKey(gateway, { workspace: 'team' })).key;
    const ids: string[] = [];
    for (const purpose of ['user_data', 'batch', 'user_data']) {
      upstream.next = { purpose };
      ids.push(await upload(key));
    }
    const [one = '', two = '', three = ''] = ids;
    const before = upstream.served.length;
    const list = async (query: string) => {
      const { json } = await call('GET', `files?${query}`, { key });
      return [json.data.map(({ id }: { id: string }) => id), json.has_more, json.first_id, json.last_id];
    };
    expect(await list('')).toEqual([[three, two, one], false, three, one]);
    expect(await list('limit=2')).toEqual([[three, two], true, three, two]);
    expect(await list(`limit=2&after=${two}`)).toEqual([[one], false, one, one]);
    expect(await list(`order=asc&after=${one}`)).toEqual([[two, three], false, two, three]);
    expect(await list('purpose=batch')).toEqual([[two], false, two, two]);
    expect((await call('GET', 'files', { key })).json.data[0]).toEqual({
      id: three,
      object: 'file',
      filename: 'a.txt',
      purpose: 'user_data',
    });
    expect(upstream.served).toHaveLength(before);
  });

  test('of Anthropic pages both ways', async () => {
    const key = (await createKey(gateway, { workspace: 'team' })).key;
    const ids = [];
    for (let at = 0; at < 3; at++) ids.push(await upload(key, ANTHROPIC));
    const [one, two, three] = ids;
    const list = async (query: string) => {
      const { json } = await call('GET', `files?${query}`, { key, headers: ANTHROPIC });
      return [json.data.map(({ id }: { id: string }) => id), json.has_more];
    };
    expect(await list('limit=2')).toEqual([[three, two], true]);
    expect(await list(`after_id=${two}`)).toEqual([[one], false]);
    expect(await list(`before_id=${one}&limit=1`)).toEqual([[two], true]);
    const { json } = await call('GET', 'files?limit=1', { key, headers: ANTHROPIC });
    expect(await list(`page=${json.next_page}`)).toEqual([[two, one], false]);
    const both = await call('GET', `files?after_id=${three}&before_id=${one}`, { key, headers: ANTHROPIC });
    expect([both.status, both.json.error.message]).toEqual([400, expect.stringContaining('before_id')]);
    const others = `ids[]=file_none&ids[]=${await upload(keys.own, ANTHROPIC)}`;
    expect(await list(`ids[]=${one}&ids[]=${three}&${others}`)).toEqual([[one, three], false]);
  });

  test.each([
    'order=up',
    'order=',
    'limit=-1',
    'limit=',
    'limit=0',
    'limit=10001',
    'limit=a',
    'page=2',
    'ids=a',
    'lines=2',
  ])('refuses %s', async (query) => {
    expect((await call('GET', `files?${query}`)).status).toBe(400);
  });
});

describe('is refused before the provider is asked', () => {
  const REFUSED: ReadonlyArray<
    readonly [string, Asked & { readonly path?: string; readonly method?: string }, number, string]
  > = [
    ['a key without a model of the provider', { key: 'barred', body: formOf() }, 404, 'off by default'],
    ['a request for data tags', { body: formOf(), headers: { 'x-tollgate-require': 'zdr' } }, 404, 'off by default'],
    ['another provider', { body: formOf(), headers: { 'x-tollgate-provider': 'shut' } }, 400, 'one of host'],
    ['no file', { body: new FormData() }, 400, 'file: found no file'],
    ['a file that is a text', { body: textForm() }, 400, 'file: found no file'],
    ['JSON', { body: { purpose: 'batch' } }, 400, 'multipart/form-data'],
    ['an idempotency key', { body: formOf(), headers: { 'idempotency-key': 'a' } }, 400, 'idempotency-key'],
    ['another method', { method: 'POST', path: 'files/file-1/content' }, 405, 'use GET'],
    ['an unknown path', { method: 'GET', path: 'files/file-1/lines' }, 404, 'not stored'],
    ['a path upwards', { method: 'GET', path: 'files/%2e%2e%2fmodels' }, 404, 'not stored'],
    ['an upload in parts', { path: 'uploads', body: {} }, 404, 'POST /v1/files'],
    ['a vector store', { path: 'vector_stores', body: {} }, 404, 'shared_state'],
  ];
  function textForm(): FormData {
    const form = new FormData();
    form.append('file', 'hello');
    return form;
  }
  test.each(REFUSED)('%s', async (_name, { method = 'POST', path = 'files', key, ...asking }, status, words) => {
    const before = upstream.served.length;
    const given = key === undefined ? {} : { key: keys[key as keyof typeof keys] };
    const refused = await call(method, path, { ...asking, ...given });
    expect([refused.status, refused.json.error.message]).toEqual([status, expect.stringContaining(words)]);
    expect(upstream.served).toHaveLength(before);
  });

  test('a key of a model elsewhere uploads there only', async () => {
    expect((await call('POST', 'files', { key: keys.other, body: formOf() })).status).toBe(404);
    expect((await call('POST', 'files', { key: keys.other, body: formOf(), headers: ANTHROPIC })).status).toBe(200);
  });
});

describe('an answer of the provider', () => {
  const error = (message: string) => JSON.stringify({ error: { message, type: 'invalid_request_error' } });
  const ANSWERS: ReadonlyArray<readonly [status: number, body: string, got: number]> = [
    [400, error('Invalid file format.'), 400],
    [413, error('The file is too large.'), 413],
    [409, error('The file is in use.'), 409],
    [401, error('Incorrect API key provided: credential-eu.'), 500],
    [403, error('Your organization has no access.'), 500],
    [404, '<html>not found</html>', 500],
    [429, error('Rate limit reached.'), 429],
    [500, error('The server had an error.'), 500],
    [200, '[]', 500],
    [200, '{"object":"file"}', 500],
  ];
  test.each(ANSWERS)('%i %s is %i to the caller who uploads', async (status, body, got) => {
    upstream.failWith = { status, body };
    const { status: found, json } = await call('POST', 'files', { body: formOf() });
    expect(found).toBe(got);
    expect(json.error.message).not.toContain('credential-eu');
    upstream.failWith = null;
  });

  test.each(['', '/content'])('500 and 401 to GET of a file%s are 500, and the file stays', async (below) => {
    const id = await upload();
    for (const status of [500, 401]) {
      upstream.failWith = { status, body: error('no') };
      expect((await call('GET', `files/${id}${below}`)).status).toBe(500);
    }
    upstream.failWith = { status: 400, body: error('Not allowed to download files of this purpose') };
    const refused = await call('GET', `files/${id}${below}`);
    expect([refused.status, refused.json.error.message]).toEqual([400, expect.stringContaining('Not allowed')]);
    upstream.failWith = null;
    expect((await call('GET', `files/${id}`)).status).toBe(200);
  });

  test('that refuses the operator alarms, with the name of the provider', async () => {
    upstream.failWith = { status: 401, body: error('the account of this test is closed') };
    const { headers } = await call('POST', 'files', { body: formOf() });
    const id = headers.get('x-request-id') ?? '';
    const line = await eventually('an alarm', () =>
      gateway
        .stderr()
        .split('\n')
        .find((one) => one.includes(id) && one.includes('account of this test')),
    );
    expect(line).toContain('host: HTTP 401');
  });

  test('404 for a file means that it is gone: it is forgotten', async () => {
    const id = await upload();
    upstream.failWith = { status: 404, body: error(`No such File object: ${id}`) };
    expect((await call('GET', `files/${id}`)).json.error.message).toContain('not stored for this workspace');
    upstream.failWith = null;
    expect((await call('GET', `files/${id}`)).status).toBe(404);
  });
});

test('it costs nothing, leaves no record, and counts in requests per minute and metrics', async () => {
  const before = (await gateway.calls()).length;
  expect((await call('POST', 'files', { key: keys.slow, body: formOf() })).status).toBe(200);
  expect((await call('GET', 'files', { key: keys.slow })).status).toBe(429);
  expect(await gateway.calls()).toHaveLength(before);
  expect(await (await fetch(`${gateway.url}/metrics`)).text()).toMatch(/protocol="stored"/);
});

test('a provider without files: on takes no files', async () => {
  const closed = await startGateway({ config: configFor(upstream.url, 'off') });
  const before = upstream.served.length;
  const headers = { authorization: `Bearer ${closed.key}` };
  for (const request of [
    { method: 'POST', body: formOf() },
    { method: 'GET' },
    { method: 'POST', body: formOf(), headers: ANTHROPIC },
  ]) {
    const response = await fetch(`${closed.url}/v1/files`, { ...request, headers: { ...headers, ...request.headers } });
    expect(response.status).toBe(404);
    expect(await response.text()).toContain('files: on');
  }
  expect(upstream.served).toHaveLength(before);
  await closed.stop();
}, 60_000);
