/** Tests the telemetry settings: the file, OpenTelemetry's standard variables over it, and what is refused. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderConfigProblem } from './file/config-problem.ts';
import { loadConfig } from './load-config.ts';

function load(file: string, environment: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-telemetry-'));
  try {
    writeFileSync(join(folder, 'tollgate.yaml'), file);
    return loadConfig({ file: undefined, cwd: folder, environment });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function settings(file: string, environment: Record<string, string> = {}) {
  const { config, problems } = load(file, environment);
  if (config === null) throw new Error(problems.map(renderConfigProblem).join('\n'));
  return config.telemetry;
}

const shown = (headers: readonly (readonly [string, { reveal(): string }])[] = []) =>
  headers.map(([name, value]) => [name, value.reveal()]);

test('without settings lines are logged and nothing is sent', () => {
  expect(settings('')).toEqual({ logLevel: 'info', requestLog: true, otlp: null });
  expect(settings('telemetry: { log_level: warn, request_log: off }')).toEqual({
    logLevel: 'warn',
    requestLog: false,
    otlp: null,
  });
});

test('an endpoint of the file is continued by the path of each signal', () => {
  const { otlp } = settings(
    'telemetry: { otlp: { endpoint: "http://c:4318/base", headers: { Authorization: "Bearer a b" }, sample: 0.1, interval: 5s } }',
  );
  expect(otlp).toMatchObject({
    traces: { url: 'http://c:4318/base/v1/traces' },
    metrics: { url: 'http://c:4318/base/v1/metrics' },
    format: 'protobuf',
    sampling: { ratio: 0.1, followsParent: true },
    intervalMs: 5_000,
    timeoutMs: 10_000,
    serviceName: 'tollgate',
  });
  expect(shown(otlp?.traces?.headers)).toEqual([['authorization', 'Bearer a b']]);
  expect(JSON.stringify(otlp)).not.toContain('Bearer');
});

test('standard variables override the file; those of a signal override the common ones', () => {
  const { otlp } = settings('telemetry: { otlp: { endpoint: "http://file:1", headers: { a: file } } }', {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://all:2/',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:3/exactly/here',
    OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=two%20words',
    OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'a=2',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    OTEL_SERVICE_NAME: 'mine',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=prod',
  });
  expect(otlp).toMatchObject({
    traces: { url: 'http://traces:3/exactly/here' },
    metrics: { url: 'https://all:2/v1/metrics' },
    format: 'json',
    gzip: true,
    sampling: { ratio: 0.25, followsParent: false },
    serviceName: 'mine',
    resource: new Map([['deployment.environment.name', 'prod']]),
  });
  expect(shown(otlp?.traces?.headers)).toEqual([
    ['a', '1'],
    ['b', 'two words'],
  ]);
  expect(shown(otlp?.metrics?.headers)).toContainEqual(['a', '2']);
});

test('signals can be turned off one by one, and all at once', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' };
  expect(settings('', { ...endpoint, OTEL_TRACES_EXPORTER: 'none' }).otlp).toMatchObject({ traces: null });
  expect(settings('', { ...endpoint, OTEL_METRICS_EXPORTER: 'none' }).otlp).toMatchObject({ metrics: null });
  expect(settings('', { ...endpoint, OTEL_SDK_DISABLED: 'true' }).otlp).toBeNull();
  expect(settings('telemetry: { otlp: { endpoint: "http://c:1", traces: off, metrics: off } }').otlp).toBeNull();
});

test.each([
  { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
  { OTEL_EXPORTER_OTLP_HEADERS: 'a=%zz' },
  { OTEL_EXPORTER_OTLP_HEADERS: 'a=secret%0d%0ax: y' },
  { OTEL_EXPORTER_OTLP_TIMEOUT: 'soon' },
  { OTEL_METRIC_EXPORT_INTERVAL: '2592000000' },
  { OTEL_TRACES_SAMPLER_ARG: '2' },
  { OTEL_EXPORTER_OTLP_CERTIFICATE: '/a.pem' },
  { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'ftp://secret@c' },
])('an unsupported setting stops the start: %j', (variables) => {
  const { config, problems } = load('', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', ...(variables as object) });
  expect(config).toBeNull();
  expect(problems).toHaveLength(1);
  const [problem] = problems.map(renderConfigProblem);
  expect(problem).toStartWith(`environment: ${Object.keys(variables)[0]}: found `);
  expect(problem).not.toContain('secret');
});

test.each([
  'endpoint: "http://c?x"',
  'endpoint: "http://c", sample: 1.5',
  'endpoint: "http://c", headers: { "a b": x }',
])('a bad file is refused: %s', (otlp) => {
  expect(load(`telemetry: { otlp: { ${otlp} } }`).config).toBeNull();
});
