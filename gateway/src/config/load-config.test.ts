/**
 * Tests the configuration that a valid file and an environment produce, and the origin of its parts. Invalid files:
 * load-config-faults.test.ts.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseIpAddress, rangeHolds } from '../lib/ip-range.ts';
import { CLIENT_PROTOCOL_NAMES } from '../protocols/names.ts';
import { demo, localProvider } from '../providers/kinds/demo.ts';
import { type Config, DEFAULT_ROUTING } from './config.ts';
import { renderConfigProblem } from './file/config-problem.ts';
import { type ConfigSource, loadConfig } from './load-config.ts';

let cwd = '';
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'tollgate-load-'));
});
afterAll(() => rmSync(cwd, { recursive: true }));

function load(text: string | null, environment: ConfigSource['environment'] = {}): Config {
  if (text !== null) writeFileSync(join(cwd, 'given.yaml'), text);
  const { config, problems } = loadConfig({ file: text === null ? undefined : 'given.yaml', environment, cwd });
  expect(problems.map(renderConfigProblem)).toEqual([]);
  if (config === null) throw new Error('expected a configuration');
  return config;
}

const LAB = 'providers:\n  lab: { kind: openai-compatible, base_url: http://127.0.0.1:9100/v1, api_key: none }\n';

test('each operator default can be set', () => {
  expect(load('defaults: { holds: strict, broken_answers: free }\n').defaults).toEqual({
    holds: 'strict',
    unpriced: 'refuse',
    brokenAnswers: 'free',
    logBodies: 'off',
    storeResponses: false,
    retentionDays: 30,
    routing: DEFAULT_ROUTING,
  });
  expect(load('defaults: { log_bodies: errors, retention: 7d }\n').defaults).toMatchObject({
    logBodies: 'errors',
    retentionDays: 7,
  });
  expect(load('defaults: { unpriced: allow }\n').defaults).toMatchObject({ holds: 'adaptive', unpriced: 'allow' });
});

describe('without a file', () => {
  test('everything has its default, and the demo answers', () => {
    const config = load(null);
    expect(config).toMatchObject({
      file: null,
      dataDir: join(cwd, '.tollgate'),
      server: {
        host: '127.0.0.1',
        port: 8080,
        publicUrl: null,
        trustedProxies: [],
        console: true,
        websocket: true,
        oidc: [],
        smtp: null,
      },
      defaults: { holds: 'adaptive', unpriced: 'refuse', brokenAnswers: 'bill', logBodies: 'off', retentionDays: 30 },
      providersFrom: 'built-in',
      models: null,
      notes: [],
    });
    expect([...config.providers.values()]).toEqual([localProvider('demo', demo)]);
  });

  test('the defaults of the limits are those of the limits table', () => {
    expect(load(null).limits).toEqual({
      headerCountMax: 100,
      urlBytesMax: 8 * 1024,
      bodyTimeoutMs: 60_000,
      bodyBytesPerSecondMin: 64 * 1024,
      bodyTimeoutMaxMs: 900_000,
      bodyBytesMax: 32 * 1024 ** 2,
      bodyBytesInFlightMax: 512 * 1024 ** 2,
      bodyBytesPerKeyMax: 128 * 1024 ** 2,
      uploadBytesMax: 256 * 1024 ** 2,
      uploadStallTimeoutMs: 30_000,
      uploadBytesPerSecondMin: 16 * 1024,
      spoolBytesMax: 2 * 1024 ** 3,
      spoolFreeBytesMin: 1024 ** 3,
      idleConnectionTimeoutMs: 68_000,
      gzipRatioMax: 20,
      jsonDepthMax: 64,
      jsonKeysMax: 10_000,
      messagesMax: 100_000,
      partsMax: 1_000,
      toolsMax: 1_000,
      modelNameMax: 256,
      metadataKeyMax: 64,
      metadataValueMax: 512,
      sseRecordBytesMax: 8 * 1024 ** 2,
      responseBytesMax: 256 * 1024 ** 2,
      errorBodyBytesMax: 64 * 1024,
      slowReaderBytesMax: 256 * 1024,
      slowReaderTimeoutMs: 60_000,
      contentBytesMax: 8 * 1024 ** 3,
      cacheBytesMax: 1024 ** 3,
      cacheBytesPerWorkspaceMax: 64 * 1024 ** 2,
      openCallsMax: 20_000,
      websocketsMax: 2_000,
      websocketsPerKeyMax: 64,
      websocketDurationMs: 3_600_000,
      websocketHistoryBytesMax: 32 * 1024 ** 2,
      websocketHistoriesBytesMax: 256 * 1024 ** 2,
      keepAliveMs: 10_000,
      commitAfterMs: 20_000,
      drainMs: 10_000,
      drainStreamsMs: 600_000,
      connectTimeoutMs: 5_000,
      firstByteTimeoutMs: 120_000,
      firstBytePlainTimeoutMs: 900_000,
      idleTimeoutMs: 900_000,
      totalTimeoutMs: 3_600_000,
    });
  });

  test('HOST, PORT and TOLLGATE_DATA_DIR apply unless empty', () => {
    const config = load(null, { HOST: '0.0.0.0', PORT: '0', TOLLGATE_DATA_DIR: 'elsewhere' });
    expect(config.server).toMatchObject({ host: '0.0.0.0', port: 0 });
    expect(config.dataDir).toBe(join(cwd, 'elsewhere'));
    expect(load(null, { HOST: '', PORT: '', DATABASE_URL: '' }).server).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
    });
  });

  test('the proxy of the environment applies, the lower-case name first, and the one of the file goes before it', () => {
    const none = { HTTPS_PROXY: '', NO_PROXY: '*' };
    expect(load(null, none).server.egressProxy).toBeNull();
    const environment = {
      HTTPS_PROXY: 'upper.example',
      https_proxy: 'http://a:b@lower.example:3128',
      NO_PROXY: '*, .x',
    };
    const found = load(null, environment).server.egressProxy;
    expect(found).toMatchObject({ host: 'lower.example', port: 3128, direct: [{ kind: 'all' }, { name: '.x' }] });
    expect(found?.credentials?.reveal()).toBe('a:b');
    expect(String(found?.credentials)).toBe('[secret]');
    const file =
      "server: { egress_proxy: { url: 'http://file.example:1', credentials: 'u:p', no_proxy: [10.0.0.0/8] } }\n";
    const written = load(file, environment).server.egressProxy;
    expect([written?.host, written?.credentials?.reveal(), written?.direct.length]).toEqual(['file.example', 'u:p', 1]);
  });

  test('credentials in the environment become providers', () => {
    const config = load(null, { OPENAI_API_KEY: 'x', MISTRAL_API_KEY: 'y' });
    expect(config.providersFrom).toBe('environment');
    expect([...config.providers.keys()]).toEqual(['openai', 'mistral']);
    expect(config.providers.get('mistral')).toMatchObject({
      quirks: { streamUsage: 'always' },
      catalogProvider: 'mistral',
    });
  });

  test('a provider that the catalog does not know is reported to serve no model yet', () => {
    expect(load(null, { OPENROUTER_API_KEY: 'x' }).notes.at(-1)).toBe(
      'Provider openrouter serves no model yet: the catalog lists none for it. Name its models under models.',
    );
  });
});

describe('the choice of the file', () => {
  test('--config precedes TOLLGATE_CONFIG, which precedes tollgate.yaml', () => {
    const folder = join(cwd, 'which');
    mkdirSync(folder);
    for (const port of [1, 2, 3]) writeFileSync(join(folder, `${port}.yaml`), `server: { port: ${port} }\n`);
    writeFileSync(join(folder, 'tollgate.yaml'), 'server: { port: 4 }\n');
    const portOf = (source: Partial<ConfigSource>) =>
      loadConfig({ environment: {}, cwd: folder, ...source }).config?.server.port;
    expect(portOf({ file: '1.yaml', environment: { TOLLGATE_CONFIG: '2.yaml' } })).toBe(1);
    expect(portOf({ environment: { TOLLGATE_CONFIG: join(folder, '2.yaml') } })).toBe(2);
    expect(portOf({})).toBe(4);
    expect(portOf({ environment: { PORT: '5' } })).toBe(5);
  });

  test('an empty file is a file without members', () => {
    expect(load('# nothing\n')).toMatchObject({ file: join(cwd, 'given.yaml'), providersFrom: 'built-in' });
  });
});

describe('server and limits', () => {
  test('take the values of the file', () => {
    const { server, limits } = load(
      'server: { host: "::1", port: 9000, public_url: https://gw.example/, trusted_proxies: [10.0.0.0/8, ::1], console: off }\n' +
        'limits: { body_bytes_max: 1MiB, open_calls_max: 7, keep_alive: 1500ms, drain: 0s }\n',
    );
    expect(server).toMatchObject({ host: '::1', port: 9000, publicUrl: 'https://gw.example', console: false });
    const holds = (text: string) => {
      const address = parseIpAddress(text);
      return address !== null && server.trustedProxies.some((range) => rangeHolds(range, address));
    };
    expect([holds('10.9.8.7'), holds('::1'), holds('11.0.0.1')]).toEqual([true, true, false]);
    expect(limits).toMatchObject({ bodyBytesMax: 1024 ** 2, openCallsMax: 7, keepAliveMs: 1500, drainMs: 0 });
    expect(limits.headerCountMax).toBe(100);
  });

  test('a mail server has the port of its encryption, and keeps its password', () => {
    const serverWith = (smtp: string) =>
      load(`server:\n  public_url: https://gw.example\n  smtp: { host: m.example, from: a@b.c, ${smtp} }\n`, {
        S: 'canary-secret',
      }).server;
    const server = serverWith(`user: u, password: \${S}`);
    expect(server.smtp).toMatchObject({ host: 'm.example', port: 587, encryption: 'starttls', from: 'a@b.c' });
    expect(server.smtp?.login?.password.reveal()).toBe('canary-secret');
    expect(JSON.stringify(server)).not.toContain('canary');
    expect(serverWith('encryption: tls').smtp).toMatchObject({ port: 465, login: null });
    expect(serverWith('encryption: none').smtp?.port).toBe(25);
    expect(serverWith('encryption: none, port: 2525').smtp?.port).toBe(2525);
  });

  test('sign-in services keep their secret and allowed domains', () => {
    const { server } = load(
      `server:\n  public_url: https://gw.example\n  oidc:\n    - { id: lab, name: Lab, issuer: https://id.example/realm/, client_id: c, client_secret: \${S}, allowed_domains: [Example.org] }\n    - { id: open, name: Open, issuer: https://id2.example, client_id: d, client_secret: none }\n`,
      { S: 'canary-secret' },
    );
    expect(server.oidc).toMatchObject([
      { id: 'lab', issuer: 'https://id.example/realm', clientId: 'c', allowedDomains: ['example.org'] },
      { id: 'open', clientSecret: null, allowedDomains: null },
    ]);
    expect(server.oidc[0]?.clientSecret?.reveal()).toBe('canary-secret');
    expect(JSON.stringify(server)).not.toContain('canary');
  });

  test('numbers, sizes, durations and words may come from the environment', () => {
    const { server, limits } = load(
      `server: { port: \${P}, console: \${C:-off} }\nlimits: { body_bytes_max: "\${N}MiB", drain: \${D:-5s} }\n`,
      { P: '81', N: '2' },
    );
    expect(server).toMatchObject({ port: 81, console: false });
    expect(limits).toMatchObject({ bodyBytesMax: 2 * 1024 ** 2, drainMs: 5000 });
  });
});

describe('providers', () => {
  test('bind a credential to the origin of the address, and never print it', () => {
    const config = load(
      `providers:\n  a: { kind: openai, api_key: \${KEY} }\n  b: { kind: openai, base_url: http://127.0.0.1:9/v1, api_key: canary-literal }\n`,
      { KEY: 'canary-variable' },
    );
    const [a, b] = [...config.providers.values()].map(({ credentials }) => credentials);
    expect([a?.origin, a?.pool[0].secrets.api_key?.reveal()]).toEqual(['https://api.openai.com', 'canary-variable']);
    expect([b?.origin, b?.pool[0].secrets.api_key?.reveal()]).toEqual(['http://127.0.0.1:9', 'canary-literal']);
    const printed = [
      Bun.inspect(config, { depth: 20 }),
      JSON.stringify([...config.providers.values()]),
      `${a?.pool[0].secrets.api_key}`,
    ];
    expect(printed.join()).not.toContain('canary');
  });

  test('have time limits of their own, of the limits, or by default', () => {
    const config = load(
      'limits: { connect_timeout: 2s, idle_timeout: 30s }\nproviders:\n  lab: { kind: openai-compatible, base_url: http://h/v1, timeouts: { connect: 1s, total: 2h } }\n' +
        'models:\n  m: { targets: [{ provider: lab, timeouts: { total: 3h } }] }\n',
    );
    const lab = {
      connectMs: 1000,
      firstByteMs: 120_000,
      firstBytePlainMs: 900_000,
      idleMs: 30_000,
      totalMs: 7_200_000,
    };
    expect(config.providers.get('lab')).toMatchObject({ timeouts: lab, credentials: { pool: [{ secrets: {} }] } });
    expect(config.models?.get('m')?.targets[0].timeouts).toEqual({ ...lab, totalMs: 10_800_000 });
  });

  test('take address, catalogue and quirks of a preset', () => {
    const config = load('providers:\n  fast: { kind: openai-compatible, preset: mistral, api_key: x }\n');
    expect(config.providers.get('fast')).toMatchObject({
      name: 'fast',
      baseUrl: 'https://api.mistral.ai/v1',
      credentials: { origin: 'https://api.mistral.ai' },
      catalogProvider: 'mistral',
      quirks: { streamUsage: 'always' },
    });
  });

  test('base_url overrides the address of a preset, and the credential is bound to it', () => {
    const config = load(
      'providers:\n  p: { kind: openai-compatible, preset: groq, base_url: http://proxy:81/v1, api_key: x }\n',
    );
    expect(config.providers.get('p')).toMatchObject({
      baseUrl: 'http://proxy:81/v1',
      credentials: { origin: 'http://proxy:81' },
    });
  });

  test.each(['http://127.0.0.1:9', 'http://127.0.0.1:9/', 'http://127.0.0.1:9/v1', 'http://127.0.0.1:9/v1/'])(
    'an anthropic address may be written %s',
    (address) => {
      const config = load(`providers:\n  a: { kind: anthropic, base_url: "${address}", api_key: none }\n`);
      expect(config.providers.get('a')).toMatchObject({ baseUrl: 'http://127.0.0.1:9/v1' });
    },
  );

  test('from the environment are ignored if the file names providers', () => {
    const config = load(LAB, { OPENAI_API_KEY: 'x' });
    expect(config.providersFrom).toBe('file');
    expect([...config.providers.keys()]).toEqual(['lab']);
  });
});

describe('models', () => {
  test('are served at both endpoints and use the public name upstream, unless configured otherwise', () => {
    const config = load(
      `${LAB}  claude: { kind: anthropic, api_key: x }\n  try: { kind: demo }\n` +
        'models:\n  a: { targets: [{ provider: lab }, { provider: claude, model: c }] }\n' +
        '  b: { alias: [b2, b3], targets: [{ provider: claude, model: claude-sonnet-4-6 }] }\n' +
        '  c: { protocols: [messages], targets: [{ provider: try, model: demo }] }\n',
    );
    const [a, b, c] = [...(config.models?.values() ?? [])];
    expect(a).toMatchObject({ protocols: CLIENT_PROTOCOL_NAMES, alias: [], price: null });
    expect(a?.targets.map(({ provider, model }) => [provider.name, model])).toEqual([
      ['lab', 'a'],
      ['claude', 'c'],
    ]);
    expect(b).toMatchObject({
      protocols: CLIENT_PROTOCOL_NAMES,
      alias: [
        { name: 'b2', protocols: CLIENT_PROTOCOL_NAMES },
        { name: 'b3', protocols: CLIENT_PROTOCOL_NAMES },
      ],
      targets: [{ model: 'claude-sonnet-4-6' }],
    });
    expect(c).toMatchObject({ protocols: ['messages'], targets: [{ model: 'demo', timeouts: null }] });
  });

  test('have aliases at all of their endpoints, or at those the alias lists', () => {
    const config = load(
      `${LAB}models:\n  both: { alias: [all, { name: also }, { name: claude-x, protocols: [messages] }], targets: [{ provider: lab }] }\n` +
        '  one: { protocols: [chat], alias: [inherits, { name: same, protocols: [chat] }], targets: [{ provider: lab }] }\n' +
        `  named: { alias: ["\${A}", { name: "\${A}-2", protocols: ["\${P}"] }], targets: [{ provider: lab }] }\n`,
      { A: 'from-outside', P: 'chat' },
    );
    expect([...(config.models?.values() ?? [])].map(({ alias }) => alias)).toEqual([
      [
        { name: 'all', protocols: CLIENT_PROTOCOL_NAMES },
        { name: 'also', protocols: CLIENT_PROTOCOL_NAMES },
        { name: 'claude-x', protocols: ['messages'] },
      ],
      [
        { name: 'inherits', protocols: ['chat'] },
        { name: 'same', protocols: ['chat'] },
      ],
      [
        { name: 'from-outside', protocols: CLIENT_PROTOCOL_NAMES },
        { name: 'from-outside-2', protocols: ['chat'] },
      ],
    ]);
  });

  test('keep the digits of a price', () => {
    const config = load(
      `${LAB}models:\n  a: { targets: [{ provider: lab }], price: { input: 0.250, output: "2", cache_read: 0.000001 } }\n` +
        '  b: { targets: [{ provider: lab }], price: free }\n',
    );
    expect(config.models?.get('a')?.price).toEqual({ input: '0.250', output: '2', cache_read: '0.000001' });
    expect(config.models?.get('b')?.price).toBe('free');
  });

  test('keep the start dates and tiers of prices', () => {
    const config = load(
      `${LAB}models:\n  a:\n    targets: [{ provider: lab }]\n    price:\n      - { input: 1, output: 2 }\n` +
        '      - { from: 2026-12-01, input: 2, output: 3, tiers: [{ above: 200000, input: 4, output: 6.50 }] }\n',
    );
    expect(config.models?.get('a')?.price).toEqual([
      { input: '1', output: '2' },
      { input: '2', output: '3', from: '2026-12-01', tiers: [{ above: 200_000, input: '4', output: '6.50' }] },
    ]);
  });

  test('may use providers from the environment', () => {
    const config = load('models:\n  m: { targets: [{ provider: openai, model: gpt-5-mini }] }\n', {
      OPENAI_API_KEY: 'x',
    });
    expect(config.models?.get('m')?.targets[0].provider.name).toBe('openai');
  });

  test('may be named like members of Object.prototype, and in any script', () => {
    const config = load(
      `${LAB}models:\n  constructor: { targets: [{ provider: lab }] }\n  模型/1:8b: { targets: [{ provider: lab }] }\n`,
    );
    expect([...(config.models?.keys() ?? [])]).toEqual(['constructor', '模型/1:8b']);
  });
});
