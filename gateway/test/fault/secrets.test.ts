/** Tests that no secret reaches a log line, an error, a reply, a record or a file on many failing paths. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectRaw } from '../fake-upstream/raw-client.ts';
import type { Scenario } from '../fake-upstream/scenario.ts';
import { eventually } from '../harness/eventually.ts';
import { pointAt } from '../harness/point-at.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { PROTOCOLS, renderBody } from './calls.ts';

/** The operator's provider key: it goes to its upstream only. */
const PROVIDER_KEY = 'canary-provider-5c1f0e7ab9d24f36';
/** Well-formed but unknown, and malformed. */
const WRONG_KEYS = [`tg_${'Canary9'.repeat(7)}`, 'canary-malformed-77aa31', 'sk-ant-canary-000111222333444'];
/** Details of the operator's account in upstream errors, in the form providers use. */
const ACCOUNT = 'org-canary0123456789abcdef';

const LEAKY = `your key ${PROVIDER_KEY} of ${ACCOUNT} was refused (authorization: Bearer ${PROVIDER_KEY})`;
const leak = { error: { message: LEAKY, type: 'invalid_request_error', param: PROVIDER_KEY, code: null } };
const LEAK_HEADERS = {
  'x-echoed-key': PROVIDER_KEY,
  'openai-organization': ACCOUNT,
  'set-cookie': `s=${PROVIDER_KEY}`,
};
const leakyRecord = (protocol: string) =>
  protocol === 'chat'
    ? `data: ${JSON.stringify(leak)}\n\n`
    : `event: error\ndata: ${JSON.stringify({ type: 'error', ...leak })}\n\n`;
const START = {
  chat: 'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"one"},"finish_reason":null}]}\n\n',
  messages:
    'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}\n\n',
} as const;

function scenarios(protocol: 'chat' | 'messages'): Scenario[] {
  const headers = LEAK_HEADERS;
  const refusals = [400, 401, 402, 403, 404, 413, 422, 429, 500, 503, 529];
  return [
    ...refusals.map((status) => ({ status, json: leak, headers })),
    ...[400, 401, 500].map((status) => ({ status, body: LEAKY, headers })),
    { status: 200, json: leak, headers },
    { records: [leakyRecord(protocol)], headers },
    { records: [START[protocol], leakyRecord(protocol)], headers },
    { records: [START[protocol], `data: {"broken ${PROVIDER_KEY}\n\n`], headers },
    { rawHead: `HTTP/1.1 ${PROVIDER_KEY}\r\n\r\n` },
    { rawHead: `HTTP/1.1 200 OK\r\n${PROVIDER_KEY}\r\n\r\n` },
    { headers, cut: { at: 30, how: 'rst' } },
  ];
}

const modelOf = (protocol: string, index: number) => `leak-${protocol}-${index}`;
const replies: [place: string, text: string][] = [];
let pair: Pair;

beforeAll(async () => {
  const names = (protocol: 'chat' | 'messages') => scenarios(protocol).map((_, index) => modelOf(protocol, index));
  pair = await startPair((url) =>
    pointAt(url, { chat: names('chat'), messages: names('messages'), apiKey: PROVIDER_KEY }),
  );
});
afterAll(() => pair.stop());

async function post(path: string, headers: Record<string, string>, body: string): Promise<number> {
  const response = await fetch(`${pair.gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
    redirect: 'manual',
    keepalive: false,
  });
  const text = await response.text().catch((error: unknown) => `broken: ${String(error)}`);
  replies.push([`reply ${response.status} of ${path}`, `${JSON.stringify([...response.headers])}\n${text}`]);
  return response.status;
}

async function provokeUpstream(): Promise<void> {
  const { fake, gateway } = pair;
  const calls = PROTOCOLS.flatMap((protocol) =>
    scenarios(protocol).flatMap((scenario, index) => {
      const model = modelOf(protocol, index);
      fake.script(model, scenario);
      const path = protocol === 'chat' ? '/v1/chat/completions' : '/v1/messages';
      const bearer = { authorization: `Bearer ${gateway.key}` };
      return [true, false].map((stream) => post(path, bearer, renderBody({ protocol, model, stream })));
    }),
  );
  await Promise.all(calls);
}

async function provokeCredentials(): Promise<void> {
  const good = pair.gateway.key;
  const body = renderBody({ protocol: 'chat', model: modelOf('chat', 0), stream: false });
  const shapes = WRONG_KEYS.flatMap((key) => [
    `Bearer ${key}`,
    `bearer  ${key}`,
    `Basic ${btoa(key)}`,
    key,
    `Bearer ${key}, Bearer ${key}`,
    `Token ${key}`,
  ]);
  for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/messages/count_tokens', '/nothing/here']) {
    for (const authorization of [...shapes, `Basic ${good}`, `Bearer ${good} ${good}`])
      await post(path, { authorization }, body);
    for (const key of WRONG_KEYS) await post(path, { 'x-api-key': key, authorization: `Bearer ${good}x` }, body);
  }
  // A key in place of a model name, JSON, a header and the path.
  const bearer = { authorization: `Bearer ${good}` };
  await post('/v1/chat/completions', bearer, `{"model": ${good}`);
  await post('/v1/messages', { ...bearer, 'anthropic-version': good }, body);
  await post(`/v1/${good}`, bearer, body);
  for (const protocol of PROTOCOLS) {
    const labelled = {
      ...JSON.parse(renderBody({ protocol, model: good, stream: false })),
      metadata: { user_id: good },
    };
    const path = protocol === 'chat' ? '/v1/chat/completions' : '/v1/messages';
    await post(path, { ...bearer, 'x-session-id': good }, JSON.stringify(labelled));
    await post(path, { ...bearer, 'x-session-id': good }, JSON.stringify({ ...labelled, model: modelOf(protocol, 0) }));
  }
  const user = { ...JSON.parse(body), user: good };
  await post('/v1/chat/completions', bearer, JSON.stringify(user));
  const raw = await connectRaw(pair.gateway.url);
  raw.send(`POST /v1/messages HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${good}\r\ncontent-length: x\r\n\r\n`);
  await raw.untilEnd();
  replies.push(['reply to a bad head', raw.received().toString('latin1')]);
  raw.leave('fin');
}

/** Applies a configuration with both a fault and the secret: by reload and by a check. */
async function provokeConfiguration(): Promise<string> {
  const { gateway, fake } = pair;
  const good = readFileSync(gateway.configFile, 'utf8');
  const config = pointAt(fake.url, { chat: ['x'], apiKey: PROVIDER_KEY });
  const faults = [
    JSON.stringify({ ...config, limits: { body_bytes_max: PROVIDER_KEY.length, nonsense: true } }),
    good.replace(`"api_key":"${PROVIDER_KEY}"`, `"api_key":"${PROVIDER_KEY}","api_kye":"${PROVIDER_KEY}"`),
    good.replace(`"api_key":"${PROVIDER_KEY}"`, `"api_key":["${PROVIDER_KEY}"]`),
    `providers:\n  lab: { kind: openai, api_key: ${PROVIDER_KEY}\n models: [`,
  ];
  let output = '';
  for (const fault of faults) {
    const checked = join(gateway.dataDir, '..', 'faulty.yaml');
    writeFileSync(checked, fault);
    const { status, stdout, stderr } = await gateway.runProcess('check', checked);
    expect(status).toBe(1);
    output += stdout + stderr;
    const before = gateway.stderr().length;
    writeFileSync(gateway.configFile, fault);
    gateway.signal('SIGHUP');
    await eventually('the reload to be refused', () =>
      gateway.stderr().slice(before).includes('the running configuration stays') ? true : null,
    );
  }
  writeFileSync(gateway.configFile, good);
  return output;
}

/** Returns what the control socket answers to invalid lines that contain a key. */
async function provokeControl(): Promise<string> {
  const { gateway } = pair;
  let output = '';
  for (const line of [`${gateway.key}\n`, `{"command":"${gateway.key}","arguments":{"key":"${PROVIDER_KEY}"}}\n`]) {
    const answered = Promise.withResolvers<void>();
    const socket = await Bun.connect({
      unix: join(gateway.dataDir, 'tollgate.sock'),
      socket: {
        data(_, bytes) {
          output += bytes.toString();
          answered.resolve();
        },
        close: () => answered.resolve(),
      },
    });
    socket.write(line);
    await answered.promise;
    socket.end();
  }
  return output;
}

/** Returns every regular file below a folder, the write-ahead log included, as bytes. */
function filesBelow(dir: string): [name: string, text: string][] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => [path, readFileSync(path, 'latin1')]);
}

test('no planted secret is found in any reply, log line, record or file', async () => {
  const { gateway } = pair;
  // The one exception: the first start prints its key and an example that uses it.
  const firstWords = await eventually('the first words', () =>
    /curl[\s\S]*\n$/.test(gateway.stdout()) ? gateway.stdout() : null,
  );
  await provokeUpstream();
  await provokeCredentials();
  const configuration = await provokeConfiguration();
  const control = await provokeControl();
  const records = await gateway.runProcess('calls', '--json', '--limit', '100000');
  expect(records.stdout.split('\n').length).toBeGreaterThan(60);
  const places: [string, string][] = [
    ['stdout', gateway.stdout().slice(firstWords.length)],
    ['stderr', gateway.stderr()],
    ['check', configuration],
    ['control', control],
    ['calls', records.stdout + records.stderr],
    ...replies,
    ...filesBelow(gateway.dataDir),
  ];
  expect(places.some(([name]) => name.endsWith('-wal'))).toBe(true);
  expect(gateway.stderr().length).toBeGreaterThan(1_000);
  const secrets: [string, string][] = [
    ['the provider key', PROVIDER_KEY],
    ['the client key', gateway.key],
    ...WRONG_KEYS.map((key, index): [string, string] => [`wrong key ${index}`, key]),
  ];
  const found = places.flatMap(([place, text]) =>
    secrets
      .filter(([, secret]) => text.includes(secret))
      .map(([name, secret]) => {
        const at = text.indexOf(secret);
        return `${name} in ${place}: ${text.slice(Math.max(0, at - 80), at + 30).replaceAll(secret, '<SECRET>')}`;
      }),
  );
  const accounts = places
    .filter(([place, text]) => place.startsWith('reply') && text.includes(ACCOUNT))
    .map(([place]) => place);
  console.log(`secrets: ${places.length} places, ${replies.length} replies looked through`);
  expect(found).toEqual([]);
  expect(accounts).toEqual([]);
});
