/** Tests the line that each request leaves in the log, and the trace that is passed on, against a running gateway. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { eventually } from '../harness/eventually.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';

let gateway: RunningGateway;
const seen: Record<string, string | null>[] = [];
const upstream = Bun.serve({
  port: 0,
  async fetch({ headers }) {
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
  const models = { m: { targets: [{ provider: 'lab', model: 'big' }], price: { input: 1, output: 1 } } };
  gateway = await startGateway({ config: { providers: { lab }, models } });
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

test('a reload turns the lines off and on', async () => {
  const [silent, told] = ['1'.repeat(32), '2'.repeat(32)];
  await reload('off');
  await ask({ traceparent: `00-${silent}-${SPAN}-01` });
  await reload('on');
  await ask({ traceparent: `00-${told}-${SPAN}-01` });
  await lineOf(told);
  expect(gateway.stderr()).not.toContain(silent);
});

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
