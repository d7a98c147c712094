/** Tests the line that each request leaves in the log, and the trace that is passed on, against a running gateway. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { eventually } from '../harness/eventually.ts';
import { type CallLine, type RunningGateway, startGateway } from '../harness/start-gateway.ts';

let gateway: RunningGateway;
const seen: Record<string, string | null>[] = [];
const REFUSAL = { type: 'error', error: { type: 'invalid_request_error', message: 'no' } };
const upstream = Bun.serve({
  port: 0,
  async fetch({ url, headers }) {
    if (url.endsWith('/count_tokens')) return Response.json(REFUSAL, { status: 400 });
    seen.push(Object.fromEntries(['traceparent', 'tracestate', 'baggage'].map((name) => [name, headers.get(name)])));
    const message = { role: 'assistant', content: 'the secret answer' };
    return Response.json({
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model: 'big',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
    });
  },
});

beforeAll(async () => {
  const lab = { kind: 'openai-compatible', base_url: `http://127.0.0.1:${upstream.port}/v1`, api_key: 'sk-hidden' };
  const claude = { ...lab, kind: 'anthropic' };
  const price = { input: 1, output: 1 };
  const models = {
    m: { targets: [{ provider: 'lab', model: 'big' }], price },
    c: { targets: [{ provider: 'claude', model: 'large' }], price },
  };
  gateway = await startGateway({ config: { providers: { lab, claude }, models } });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop(true);
});

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

function ask(headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'the secret question' }] }),
  });
}

test('a line names the request, its trace, its target and its cost; never content or secrets', async () => {
  const trace = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'a=1', baggage: 'user=me' };
  expect((await ask(trace)).status).toBe(200);
  const line = await lineOf(TRACE);
  expect(line).toMatchObject({
    level: 30,
    msg: 'request',
    trace_id: TRACE,
    account: 'default',
    workspace: 'default',
    protocol: 'chat',
    model: 'm',
    route: 'm',
    provider: 'lab',
    target: 'lab/big',
    attempts: 1,
    status: 200,
    input_tokens: 5,
    output_tokens: 3,
    cost_nano_usd: '8000',
  });
  expect(line.request_id).toMatch(/^req_/);
  const [record, ...others] = await gateway.calls('--trace-id', TRACE);
  expect([record?.request_id, record?.trace_id, others.length]).toEqual([line.request_id, TRACE, 0]);
  expect((await logsOf(TRACE)).map(({ request_id }) => request_id)).toEqual([line.request_id]);
  expect(await logsOf('f'.repeat(32))).toEqual([]);
  for (const secret of ['the secret', 'sk-hidden', gateway.key]) expect(gateway.stderr()).not.toContain(secret);
});

test("an upstream gets the client's trace with a span of its own, and no baggage", async () => {
  seen.length = 0;
  await ask({ traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'a=1', baggage: 'user=me' });
  await ask({ traceparent: 'nonsense', tracestate: 'a=1' });
  await ask();
  const [first, ...others] = seen;
  expect(first).toEqual({
    traceparent: expect.stringMatching(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`)),
    tracestate: 'a=1',
    baggage: null,
  });
  expect(first?.traceparent).not.toContain(SPAN);
  expect(others).toEqual([
    { traceparent: null, tracestate: null, baggage: null },
    { traceparent: null, tracestate: null, baggage: null },
  ]);
});

test('a token count has a line and counts as a request, and has no record', async () => {
  const counted = '3'.repeat(32);
  const refused = '4'.repeat(32);
  const refusedThere = '5'.repeat(32);
  const count = (model: string, trace: string) =>
    fetch(`${gateway.url}/v1/messages/count_tokens`, {
      method: 'POST',
      headers: {
        'x-api-key': gateway.key,
        'content-type': 'application/json',
        traceparent: `00-${trace}-${SPAN}-01`,
      },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'the secret question' }] }),
    });
  const before = await gateway.calls();
  expect([(await count('m', counted)).status, (await count('no-model', refused)).status]).toEqual([200, 404]);
  const common = { protocol: 'count_tokens', attempts: 0, input_tokens: 0, usage_source: 'void', cost_nano_usd: '0' };
  expect(await lineOf(counted)).toMatchObject({ ...common, route: 'm', status: 200, trace_id: counted });
  expect(await lineOf(refused)).toMatchObject({ ...common, status: 404, error: 'model_unknown' });
  expect((await count('c', refusedThere)).status).toBe(400);
  const there = { status: 400, error: 'upstream_rejected', attempts: 1, target: 'claude/large', provider: 'claude' };
  expect(await lineOf(refusedThere)).toMatchObject({ ...common, ...there });
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(metrics).toContain(
    'tollgate_requests_total{route="m",protocol="count_tokens",status="200",error_type=""} 1\n',
  );
  expect(metrics).toMatch(/gen_ai_server_request_duration_seconds_count\{[^}]*"count_tokens"[^}]*"m"[^}]*\} 1\n/);
  expect(metrics).toContain('tollgate_refusals_total{error_type="model_unknown"} 1\n');
  expect(metrics).toContain(
    'tollgate_attempts_total{provider="claude",target="claude/large",class="content",why="order"} 1\n',
  );
  expect((await gateway.calls()).length).toBe(before.length);
});

test('a reload turns the lines off and on', async () => {
  const [silent, told] = ['1'.repeat(32), '2'.repeat(32)];
  await reload('off');
  await ask({ traceparent: `00-${silent}-${SPAN}-01` });
  await reload('on');
  await ask({ traceparent: `00-${told}-${SPAN}-01` });
  await lineOf(told);
  expect(gateway.stderr()).not.toContain(silent);
});

/** The requests of a trace, as the console API lists them. */
async function logsOf(trace: string): Promise<readonly CallLine[]> {
  const made = await gateway.run('keys', 'create', '--name', 'reader', '--scopes', 'admin', '--json');
  const reply = await fetch(`${gateway.url}/app/api/accounts/default/logs?trace_id=${trace}`, {
    headers: { authorization: `Bearer ${JSON.parse(made.stdout).key}` },
  });
  const { calls } = (await reply.json()) as { readonly calls: readonly CallLine[] };
  return calls;
}

/** The line of the request with this trace. */
function lineOf(trace: string) {
  return eventually('the line of the request', () => {
    const found = gateway
      .stderr()
      .split('\n')
      .slice(0, -1)
      .find((one) => one.includes(trace));
    return found === undefined ? null : JSON.parse(found);
  });
}

async function reload(request_log: string): Promise<void> {
  const reloads = () => gateway.stderr().split('the configuration was reloaded').length;
  const before = reloads();
  const config = JSON.parse(readFileSync(gateway.configFile, 'utf8'));
  writeFileSync(gateway.configFile, JSON.stringify({ ...config, telemetry: { request_log } }));
  gateway.signal('SIGHUP');
  await eventually('the reload', () => (reloads() > before ? true : null));
}
