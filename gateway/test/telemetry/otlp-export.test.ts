/** Tests traces and metrics over OTLP: a running gateway against a collector with a strict decoder. */
import { afterAll, expect, test } from 'bun:test';
import { gunzipSync } from 'node:zlib';
import { sampleRecord } from '../../src/store/testing/sample-record.ts';
import { eventually } from '../harness/eventually.ts';
import { startGateway } from '../harness/start-gateway.ts';
import { ALL_ON, openAllMetrics } from './all-metrics.ts';
import { type Decoded, decodeOtlp } from './decode-otlp.ts';

interface Got {
  readonly path: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

const got: Got[] = [];

const collector = Bun.serve({
  port: 0,
  async fetch(request) {
    const body = await request.bytes();
    got.push({ path: new URL(request.url).pathname, headers: request.headers, body });
    return new Response(null);
  },
});
const endpoint = `http://127.0.0.1:${collector.port}`;
afterAll(() => collector.stop(true));

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

function spansIn({ headers, body }: Got): Decoded[] {
  const plain = headers.get('content-encoding') === 'gzip' ? gunzipSync(body) : body;
  const request = decodeOtlp('TraceRequest', plain) as unknown as {
    resourceSpans: { scopeSpans: { spans: Decoded[] }[] }[];
  };
  return request.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

const spans = () => got.filter(({ path }) => path === '/v1/traces').flatMap(spansIn);

test('a gateway sends a span per request with a child per attempt, and all of its metrics when it stops', async () => {
  const gateway = await startGateway({
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-token=a%20secret',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    },
  });
  const ask = (headers: Record<string, string>) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'a private question' }] }),
    });
  await (await ask({ traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'a=1' })).text();
  await (await ask({ traceparent: `00-${'2'.repeat(32)}-${PARENT}-00` })).text();
  const [whole, attempt] = await eventually('the spans', () => {
    const found = spans();
    return found.length >= 2 ? found : null;
  });
  await gateway.stop();
  expect(spans()).toHaveLength(2);
  expect(whole as object).toMatchObject({
    traceId: TRACE,
    parentSpanId: PARENT,
    traceState: 'a=1',
    name: 'chat demo',
    kind: 2n,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'demo',
      'gen_ai.request.model': 'demo',
      'gen_ai.request.stream': false,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': expect.any(Number),
      'http.response.status_code': 200,
      'tollgate.account': 'default',
      'tollgate.attempts': 1,
    },
  });
  expect(attempt as object).toMatchObject({
    traceId: TRACE,
    parentSpanId: whole?.spanId,
    name: 'chat demo',
    kind: 3n,
    attributes: { 'tollgate.provider': 'demo', 'tollgate.target': 'demo/demo' },
  });
  const metrics = got.filter(({ path }) => path === '/v1/metrics').at(-1);
  if (metrics === undefined) throw new Error('no metrics came');
  const decoded = decodeOtlp('MetricsRequest', gunzipSync(metrics.body)) as unknown as {
    resourceMetrics: [{ resource: Decoded; scopeMetrics: [{ metrics: { name: string }[] }] }];
  };
  const [{ resource, scopeMetrics }] = decoded.resourceMetrics;
  expect(resource as object).toMatchObject({
    attributes: { 'service.name': 'tollgate', 'deployment.environment.name': 'test' },
  });
  const names = scopeMetrics[0].metrics.map(({ name }) => name);
  for (const name of ['gen_ai.server.request.duration', 'tollgate.requests', 'process.resident_memory']) {
    expect(names).toContain(name);
  }
  for (const { headers, body } of got) {
    expect(headers.get('x-token')).toBe('a secret');
    expect(headers.get('content-type')).toBe('application/x-protobuf');
    expect(gunzipSync(body).toString('latin1')).not.toContain('private question');
  }
  expect(gateway.stderr()).not.toContain('a secret');
});

test('a collector that is away costs spans, which are counted, and no time', async () => {
  let posts = 0;
  const answer = Promise.withResolvers<void>();
  const telemetry = await openAllMetrics(ALL_ON, async () => {
    posts++;
    await answer.promise;
    return { status: 503, retryAfterMs: null, body: new Uint8Array() };
  });
  const trace = { traceId: TRACE, parentId: null, spanId: PARENT, sampled: true, state: '', attemptIds: [] };
  for (let call = 0; call < 5_000; call++) {
    telemetry.observer.ended(sampleRecord(`req_${call}`), 'm', 'account', trace);
  }
  expect(posts).toBe(1);
  const dropped = () =>
    Number(/tollgate_otlp_dropped_total\{signal="traces"\} (\d+)/.exec(telemetry.render(null).text)?.[1] ?? 0);
  expect(dropped()).toBe(5_000 - 2_048 - 128);
  const closed = telemetry.close();
  answer.resolve();
  await closed;
  expect(dropped()).toBe(5_000);
});

test('a refused export is not repeated; one that may succeed later is, and JSON is JSON', async () => {
  const bodies: Uint8Array[] = [];
  const answers = [503, 200];
  if (ALL_ON.otlp === null) throw new Error('OTLP is off');
  const config = { ...ALL_ON, otlp: { ...ALL_ON.otlp, metrics: null, format: 'json', timeoutMs: 5_000 } } as const;
  const telemetry = await openAllMetrics(config, async (_url, _headers, body) => {
    bodies.push(body);
    return { status: answers.shift() ?? 400, retryAfterMs: 1, body: new Uint8Array() };
  });
  const trace = { traceId: TRACE, parentId: null, spanId: PARENT, sampled: true, state: '', attemptIds: [] };
  telemetry.observer.ended(sampleRecord('req_1'), 'm', 'account', trace);
  await eventually('the second try', () => (bodies.length === 2 ? true : null));
  const [{ scopeSpans }] = JSON.parse(Buffer.from(bodies[1] ?? []).toString()).resourceSpans;
  expect(scopeSpans[0].spans[0]).toMatchObject({ traceId: TRACE, spanId: PARENT, name: 'chat m' });
  telemetry.observer.ended(sampleRecord('req_2'), 'm', 'account', trace);
  await telemetry.close();
  expect(bodies).toHaveLength(3);
  expect(telemetry.render(null).text).toContain('tollgate_otlp_dropped_total{signal="traces"} 1\n');
});

test.each([
  ['http/protobuf', Buffer.from('\x0a\x0b\x08\x05\x12\x07too big', 'latin1')],
  ['http/json', Buffer.from('{"partialSuccess":{"rejectedSpans":"5","errorMessage":"too big"}}')],
])('rejections within an export are logged, once a minute (%s)', async (protocol, answer) => {
  let posts = 0;
  const rejecting = Bun.serve({
    port: 0,
    async fetch(request) {
      await request.bytes();
      posts += 1;
      return new Response(answer);
    },
  });
  const gateway = await startGateway({
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${rejecting.port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_METRICS_EXPORTER: 'none',
    },
  });
  for (const count of [1, 2]) {
    await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hi' }] }),
    });
    await eventually('an export', () => (posts === count ? true : null));
  }
  await gateway.stop();
  const lines = gateway
    .stderr()
    .split('\n')
    .filter((line) => line.includes('rejects a part'));
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 40, signal: 'traces', rejected: 5, cause: 'too big' });
  expect(gateway.stderr()).not.toContain('are dropped');
  await rejecting.stop(true);
});

test('a collector that never answers does not keep a process from ending', async () => {
  const telemetry = await openAllMetrics(ALL_ON, () => new Promise(() => {}));
  const trace = { traceId: TRACE, parentId: null, spanId: PARENT, sampled: true, state: '', attemptIds: [] };
  telemetry.observer.ended(sampleRecord('req_1'), 'm', 'account', trace);
  await telemetry.close();
});

test('the decoder refuses what no collector has to take', () => {
  for (const bytes of [
    [0x12, 0],
    [0x08, 1],
    [0x0a, 5],
    [0x0a, 2, 0x12, 1],
  ]) {
    expect(() => decodeOtlp('TraceRequest', new Uint8Array(bytes))).toThrow();
  }
});
