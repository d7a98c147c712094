/** Tests who may read `/metrics`, against a running gateway. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { exchange } from '../fake-upstream/raw-client.ts';
import { eventually } from '../harness/eventually.ts';
import { pointAt } from '../harness/point-at.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { startPair } from '../harness/start-pair.ts';

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const read = (headers: Record<string, string> = {}) => fetch(`${gateway.url}/metrics`, { headers });

async function keyWith(scopes: string, workspace = 'default'): Promise<string> {
  const made = await gateway.run(
    'keys',
    'create',
    '--name',
    'scraper',
    '--scopes',
    scopes,
    '--workspace',
    workspace,
    '--json',
  );
  return JSON.parse(made.stdout).key;
}

test('a client on this machine needs no key', async () => {
  const reply = await read();
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(await reply.text()).toContain('tollgate_serving 1\n');
});

test('OpenMetrics where it is asked for', async () => {
  const reply = await read({ accept: 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.3' });
  expect(reply.headers.get('content-type')).toStartWith('application/openmetrics-text; version=1.0.0');
  expect((await reply.text()).endsWith('# EOF\n')).toBe(true);
});

test.each([
  { forwarded: 'for=192.0.2.1' },
  { 'x-forwarded-for': '192.0.2.1' },
  { 'x-forwarded-proto': 'https' },
  { 'x-forwarded-anything': '1' },
  { host: 'page.example' },
])('behind a proxy, or under another name, a key is needed: %j', async (headers) => {
  expect((await read(headers as Record<string, string>)).status).toBe(401);
});

test('behind a proxy that adds no header, as nginx does by default, a key is needed', async () => {
  const { host } = new URL(gateway.url);
  const lines = ['GET /metrics HTTP/1.0', `Host: ${host}`, 'Connection: close', 'Accept: */*', '', ''];
  const { response, client } = await exchange(gateway.url, Buffer.from(lines.join('\r\n')));
  client.leave();
  expect(response?.status).toBe(401);
});

test('a key needs the scope admin, also on this machine', async () => {
  const forwarded = { 'x-forwarded-for': '192.0.2.1' };
  const admin = { authorization: `Bearer ${await keyWith('inference,admin')}` };
  const plain = { authorization: `Bearer ${await keyWith('inference')}` };
  expect((await read({ ...admin, ...forwarded })).status).toBe(200);
  expect((await read({ ...plain, ...forwarded })).status).toBe(403);
  expect((await read(plain)).status).toBe(403);
  expect((await read({ authorization: 'Bearer tg_nonsense' })).status).toBe(401);
});

test('another account does not see the metrics of the installation', async () => {
  await gateway.run('accounts', 'create', 'acme');
  await gateway.run('workspaces', 'create', 'acme-space', '--account', 'acme');
  const key = await keyWith('admin', 'acme-space');
  expect((await read({ authorization: `Bearer ${key}` })).status).toBe(403);
});

test('requests without a valid key are counted, whatever they ask for', async () => {
  const counted = async () =>
    Number(/^tollgate_refusals_total\{error_type="unauthorized"\} (\d+)$/m.exec(await (await read()).text())?.[1] ?? 0);
  const before = await counted();
  const authorization = 'Bearer tg_nonsense';
  const socket = { upgrade: 'websocket', connection: 'upgrade', 'sec-websocket-version': '13' };
  const paths: [string, Record<string, string>][] = [
    ['/v1/models', {}],
    ['/v1/models/demo', {}],
    ['/v1beta/models', {}],
    ['/v1/key', {}],
    ['/v1/files', {}],
    ['/v1/responses/resp_1', {}],
    ['/metrics', {}],
    ['/v1/responses', { ...socket, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }],
  ];
  for (const [path, headers] of paths) {
    const reply = await fetch(`${gateway.url}${path}`, { headers: { ...headers, authorization } });
    expect(reply.status).toBe(401);
  }
  expect(await counted()).toBe(before + paths.length);
});

test('a stream is counted while it is open', async () => {
  const pair = await startPair((url) => pointAt(url, { chat: ['held'], apart: true }));
  const counted = async () =>
    /^tollgate_open_streams (\d+)$/m.exec(await (await fetch(`${pair.gateway.url}/metrics`)).text())?.[1];
  pair.fake.script('held', { answer: 'long:30', holdAfterEvent: 5 });
  expect(await counted()).toBe('0');
  const leaving = new AbortController();
  const response = await fetch(`${pair.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${pair.gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'held', messages: [{ role: 'user', content: 'hi' }], stream: true }),
    signal: leaving.signal,
  });
  await response.body?.getReader().read();
  expect(await counted()).toBe('1');
  leaving.abort();
  await eventually('the end of the stream', async () => ((await counted()) === '0' ? true : null));
  await pair.stop();
});

test('the headroom is what the provider states, also of a single credential; absent where it states none', async () => {
  const price = { input: 1, output: 1 };
  const pair = await startPair((url) => {
    const lab = { kind: 'openai-compatible', base_url: `${url}/v1` };
    const api_keys = [
      { name: 'one', key: 'key-one' },
      { name: 'two', key: 'key-two' },
    ];
    return {
      providers: { single: { ...lab, api_key: 'key' }, silent: { ...lab, api_key: 'key' }, pool: { ...lab, api_keys } },
      models: {
        stated: { targets: [{ provider: 'single' }], price },
        unstated: { targets: [{ provider: 'silent' }], price },
        held: { targets: [{ provider: 'pool' }], price },
      },
    };
  });
  pair.fake.script('stated', {
    headers: { 'x-ratelimit-limit-requests': '100', 'x-ratelimit-remaining-requests': '3' },
  });
  pair.fake.script('unstated', { answer: 'ok' });
  pair.fake.script('held', { answer: 'long:30', holdAfterEvent: 5 });
  const leaving = new AbortController();
  const ask = (model: string, stream: boolean) =>
    fetch(`${pair.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${pair.gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], stream }),
      signal: leaving.signal,
    });
  await (await ask('stated', false)).text();
  await (await ask('unstated', false)).text();
  await (await ask('held', true)).body?.getReader().read();
  const text = await (await fetch(`${pair.gateway.url}/metrics`)).text();
  leaving.abort();
  await pair.stop();
  expect(text).toContain('tollgate_open_streams 1\n');
  const lines = text.split('\n').filter((line) => line.startsWith('tollgate_headroom{'));
  expect(lines).toEqual(['tollgate_headroom{provider="single",credential="default",model="stated"} 0.03']);
});

test('targets of the same name in two models have a state each', async () => {
  const price = { input: 1, output: 1 };
  const targets = (model: string) => [{ provider: 'lab', name: 'primary', model }];
  const pair = await startPair((url) => ({
    providers: { lab: { kind: 'openai-compatible', base_url: `${url}/v1`, api_key: 'key' } },
    models: { one: { targets: targets('gone'), price }, two: { targets: targets('good'), price } },
  }));
  pair.fake.script('gone', {
    status: 404,
    json: { error: { message: 'The model does not exist', code: 'model_not_found' } },
  });
  pair.fake.script('good', { answer: 'ok' });
  for (const model of ['one', 'two']) {
    await fetch(`${pair.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${pair.gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
    });
  }
  const text = await (await fetch(`${pair.gateway.url}/metrics`)).text();
  await pair.stop();
  const states = text.match(/^tollgate_target_state\{.*state="(?:closed|benched)"\} 1$/gm);
  expect(states).toEqual([
    'tollgate_target_state{provider="lab",target="primary",model="gone",state="benched"} 1',
    'tollgate_target_state{provider="lab",target="primary",model="good",state="closed"} 1',
  ]);
});
