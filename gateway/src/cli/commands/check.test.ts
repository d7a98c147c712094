/** Tests the output and exit status of `tollgate check`. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { listModels } from '../../catalog/catalog.ts';
import { setEgressProxy } from '../../upstream/dial.ts';
import { startConnectProxy } from '../../upstream/testing/connect-proxy.ts';
import { CliFailure } from '../environment.ts';
import { register } from './check.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-check-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function runCheck(args: readonly string[], variables: { readonly [name: string]: string } = {}, nowMs = 0) {
  let out = '';
  let exitCode = 0;
  const program = new Command().exitOverride();
  const environment = {
    dataDir: folder,
    stdout: (text: string) => {
      out += text;
    },
    stderr: () => {},
    nowMs: () => nowMs,
  };
  register(program, environment, { environment: variables, cwd: folder });
  try {
    await program.parseAsync(['check', ...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CliFailure)) throw error;
    exitCode = error.exitCode;
  }
  return { out, exitCode };
}

const GOOD = `
providers:
  lab: { kind: openai-compatible, base_url: http://127.0.0.1:9100/v1, api_key: \${LAB_KEY} }
models:
  small: { alias: [tiny], targets: [{ provider: lab, model: qwen3-32b }] }
`;

describe('tollgate check', () => {
  test('prints OK with a summary, and no credential', async () => {
    writeFileSync(join(folder, 'good.yaml'), GOOD);
    const { out, exitCode } = await runCheck(['good.yaml'], { LAB_KEY: 'canary-7391' });
    expect(out).toBe(
      `OK: ${join(folder, 'good.yaml')}\n1 provider: lab (openai-compatible)\n2 model names: small, tiny\n`,
    );
    expect(exitCode).toBe(0);
  });

  test('names a certificate that the server could not read', async () => {
    const cert = join(folder, 'cert.pem');
    writeFileSync(cert, 'a certificate');
    writeFileSync(join(folder, 'tls.yaml'), `server: { tls: { cert: ${cert}, key: ${cert}.key } }\n`);
    const { out, exitCode } = await runCheck(['tls.yaml']);
    expect(out).toBe(
      `${join(folder, 'tls.yaml')}: server.tls.key: found '${cert}.key', a file that cannot be read (ENOENT), expected a file in PEM that the server can read. Correct the path, or run this as the user of the server.\n1 problem.\n`,
    );
    expect(exitCode).toBe(1);
    writeFileSync(join(folder, 'tls.yaml'), `server: { tls: { cert: ${cert}, key: ${cert} } }\n`);
    expect(await runCheck(['tls.yaml'])).toMatchObject({ exitCode: 0 });
  });

  test('prints OK as one JSON object', async () => {
    writeFileSync(join(folder, 'good.yaml'), GOOD);
    const { out } = await runCheck(['good.yaml', '--json'], { LAB_KEY: 'canary-7391' });
    expect(JSON.parse(out)).toEqual({
      ok: true,
      file: join(folder, 'good.yaml'),
      providers_from: 'file',
      providers: [
        {
          name: 'lab',
          kind: 'openai-compatible',
          protocols: ['chat', 'embeddings', 'completions', 'moderations', 'images', 'audio', 'rerank'],
          base_url: 'http://127.0.0.1:9100/v1',
          credential: true,
        },
      ],
      models: ['small', 'tiny'],
      notes: [],
    });
  });

  test('prints each problem and exits with 1', async () => {
    writeFileSync(join(folder, 'bad.yaml'), 'server: { prot: 8080 }\nlimit: {}\n');
    const { out, exitCode } = await runCheck(['bad.yaml']);
    expect(out).toBe(
      "bad.yaml:1:11: server.prot: found the unknown member 'prot', expected one of host, port, public_url, trusted_proxies, private_origins, tls, egress_proxy, smtp, console, websocket, public_status, oidc. Did you mean port?\n" +
        "bad.yaml:2:1: limit: found the unknown member 'limit', expected one of server, limits, defaults, telemetry, providers, models. Did you mean limits?\n" +
        '2 problems.\n',
    );
    expect(exitCode).toBe(1);
  });

  test('gives one JSON object per problem', async () => {
    writeFileSync(join(folder, 'bad.yaml'), 'server: { port: x }\nlimit: {}\n');
    const { out, exitCode } = await runCheck(['bad.yaml', '--json']);
    const [first, second, ...others] = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(first).toMatchObject({
      ok: false,
      source: 'bad.yaml',
      line: 1,
      column: 17,
      path: 'server.port',
      found: "'x'",
    });
    expect(second).toMatchObject({ line: 2, path: 'limit' });
    expect(others).toEqual([]);
    expect(exitCode).toBe(1);
  });

  test('without a file checks the environment', async () => {
    const { out, exitCode } = await runCheck([]);
    expect(out).toBe(
      'OK: no configuration file (none is needed)\n1 provider: demo (demo)\n2 model names: demo, claude-demo\n',
    );
    expect(exitCode).toBe(0);
  });

  test('--schema prints a JSON Schema that refuses unknown members', async () => {
    const { out } = await runCheck(['--schema']);
    const schema = JSON.parse(out);
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(schema.additionalProperties).toBe(false);
    expect(schema.properties.limits.properties.body_bytes_max.default).toBe('32MiB');
  });
});

test('a model that shuts down within 60 days is warned of', async () => {
  const [dated] = ['anthropic', 'openai']
    .flatMap((name) => listModels(name))
    .filter(({ shutdown }) => shutdown !== null);
  if (dated === undefined) throw new Error('expected a model with a date in the catalogue');
  const { provider, id, shutdown } = dated;
  const text = `providers:\n  ${provider}: { kind: ${provider}, api_key: x }\nmodels:\n  mine: { targets: [{ provider: ${provider}, model: ${id} }] }\n`;
  writeFileSync(join(folder, 'dated.yaml'), text);
  const dateMs = Date.parse(String(shutdown));
  const { out, exitCode } = await runCheck(['dated.yaml'], {}, dateMs - 30 * 86_400_000);
  expect(out).toContain(`${id} at ${provider} shuts down on ${shutdown} (catalogue): choose another model for mine.\n`);
  expect(exitCode).toBe(0);
  expect((await runCheck(['dated.yaml'], {}, dateMs - 70 * 86_400_000)).out).not.toContain('shuts down');
});

describe('tollgate check --live', () => {
  const host = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname } = new URL(request.url);
      const key = request.headers.get('authorization');
      if (pathname === '/unlisted/v1/messages') {
        const message = key === 'Bearer right' ? 'messages: at least one' : 'invalid x-api-key';
        const type = key === 'Bearer right' ? 'invalid_request_error' : 'authentication_error';
        return Response.json(
          { type: 'error', error: { type, message } },
          { status: key === 'Bearer right' ? 400 : 401 },
        );
      }
      if (pathname.startsWith('/unlisted')) return new Response('Not Found', { status: 404 });
      if (pathname === '/poor/models')
        return Response.json({ error: { message: 'Insufficient Balance' } }, { status: 402 });
      if (pathname === '/late/models') {
        const headers = { date: 'Wed, 21 Oct 2015 07:28:00 GMT' };
        return Response.json({ error: { message: 'no' } }, { status: 403, headers });
      }
      if (pathname === '/far/models') {
        return Response.json(
          { error: { message: 'User location is not supported for the API use.' } },
          { status: 400 },
        );
      }
      if (pathname.startsWith('/deep')) return new Response('Not Found', { status: 404 });
      if (key !== 'Bearer right') return Response.json({ error: { message: `no such key ${key}` } }, { status: 401 });
      return Response.json({ data: [{ id: 'tide-1' }, { id: 'tide-2' }] });
    },
  });
  afterAll(() => host.stop(true));

  async function tryOne(members: string, flags: readonly string[] = []) {
    const text = `providers:\n  lab: { kind: openai-compatible, ${members} }\n`;
    writeFileSync(join(folder, 'live.yaml'), text.replaceAll('HOST', `http://127.0.0.1:${host.port}`));
    const { out, exitCode } = await runCheck(['live.yaml', '--live', ...flags]);
    return {
      lines: out
        .trim()
        .split('\n')
        .filter((line) => !/^OK: \/|provider: |model name/.test(line)),
      exitCode,
    };
  }

  test.each([
    ['base_url: HOST/v1, api_key: right', 'OK: lab: It has 2 models.', 0],
    ['base_url: HOST/v1, api_key: wrong-1234', 'FAILED: lab: It answered 401: no such key Bearer [', 1],
    ['base_url: HOST/poor, api_key: right', 'Insufficient Balance. Add credit or raise the limit at the provider.', 1],
    ['base_url: HOST/late, api_key: right', 'Set the clock of this machine.', 1],
    ['base_url: HOST/far, api_key: right', 'Choose a region where the provider offers this.', 1],
    ['base_url: HOST/deep, api_key: right', 'Does its address end in the right path, such as /v1?', 1],
    ['base_url: "http://127.0.0.1:1/v1", api_key: right', 'Check its address, and whether this machine may connect', 1],
  ])('%s', async (members, words, status) => {
    const { lines, exitCode } = await tryOne(members);
    expect(lines.join('\n')).toContain(words);
    expect(lines.join('\n')).not.toContain('wrong-1234');
    expect(exitCode).toBe(status);
  });

  test('goes through the proxy of the file or the environment, as the gateway does', async () => {
    const proxy = await startConnectProxy(host.port ?? 0, () => 'HTTP/1.1 403 No\r\n\r\n');
    const address = `http://127.0.0.1:${proxy.port}`;
    const lab = 'providers:\n  lab: { kind: openai-compatible, base_url: "https://upstream.invalid/v1", api_key: k }\n';
    writeFileSync(join(folder, 'live.yaml'), `${lab}server: { egress_proxy: { url: "${address}" } }\n`);
    writeFileSync(join(folder, 'plain.yaml'), lab);
    const outs = [
      await runCheck(['live.yaml', '--live']),
      await runCheck(['plain.yaml', '--live'], { HTTPS_PROXY: address }),
    ];
    setEgressProxy(null);
    proxy.stop();
    for (const { out } of outs) expect(out).toContain('the proxy refuses (it answered 403)');
    expect(proxy.asked.map((head) => head.split('\r\n')[0])).toEqual(
      Array(2).fill('CONNECT upstream.invalid:443 HTTP/1.1'),
    );
  });

  test('tries each credential, and says which; a host without a list is asked what it must refuse', async () => {
    const keys = 'api_keys: [{ name: a, key: right }, { name: b, key: wrong }]';
    const text = `providers:\n  lab: { kind: anthropic-compatible, base_url: "http://127.0.0.1:${host.port}/unlisted", ${keys} }\n`;
    writeFileSync(join(folder, 'live.yaml'), text);
    const { out, exitCode } = await runCheck(['live.yaml', '--live', '--json']);
    const [, ...views] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(views).toMatchObject([
      { provider: 'lab', credential: 'a', ok: true, trouble: null, models: 0 },
      { provider: 'lab', credential: 'b', ok: false, trouble: 'credential' },
    ]);
    expect(exitCode).toBe(1);
  });
});
