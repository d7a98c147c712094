/** Tests egress-proxy.ts and the tunnels of dial.ts against a proxy of raw sockets. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DirectRule, isDirect, parseDirectRule, parseProxyAddress, readConnectAnswer } from './egress-proxy.ts';
import type { TlsCalls, TlsOutcome } from './testing/call-tls.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from './testing/certificate.ts';
import { type ConnectProxy, startConnectProxy } from './testing/connect-proxy.ts';

describe('the address of a proxy', () => {
  test.each([
    ['http://proxy.example:3128', 'proxy.example', 3128, undefined],
    ['proxy.example:3128', 'proxy.example', 3128, undefined],
    ['http://proxy.example/', 'proxy.example', 80, undefined],
    ['http://[fd00::1]:8080', 'fd00::1', 8080, undefined],
    ['http://us%40er:p%3Aw@10.0.0.1:1', '10.0.0.1', 1, 'us@er:p:w'],
  ])('%s', (text, host, port, credentials) => {
    const parsed = parseProxyAddress(text);
    expect([parsed?.host, parsed?.port, parsed?.credentials?.reveal()]).toEqual([host, port, credentials]);
  });

  test.each([
    'socks5://proxy.example',
    'https://proxy.example',
    'http://',
    'http://p.example/path',
    'http://%zz:x@p.example',
  ])('refuses %s', (text) => expect(parseProxyAddress(text)).toBeNull());
});

describe('a host is reached directly', () => {
  test.each([
    ['*', 'a.example', 443, true],
    ['example.com', 'example.com', 443, true],
    ['example.com', 'API.Example.com', 443, true],
    ['example.com', 'badexample.com', 443, false],
    ['.example.com', 'example.com', 443, false],
    ['*.example.com', 'api.example.com', 443, true],
    ['example.com:8443', 'example.com', 443, false],
    ['example.com:8443', 'example.com', 8443, true],
    ['10.0.0.0/8', '10.1.2.3', 443, true],
    ['10.0.0.0/8', '11.1.2.3', 443, false],
    ['10.0.0.1:444', '10.0.0.1', 443, false],
    ['fd00::/8', 'fd00::7', 443, true],
    ['[::1]:443', '::1', 443, true],
    ['10.0.0.0/8', '10.example', 443, false],
  ] as const)('by the entry %s: %s:%d is %p', (entry, host, port, wanted) => {
    const rule = parseDirectRule(entry) as DirectRule;
    expect(isDirect([rule], host, port)).toBe(wanted);
  });

  test.each(['<local>', '10.0.0.1/8', 'a b', 'example.com:0', 'example.com:99999', ''])(
    'not by %j, which is no entry',
    (entry) => expect(parseDirectRule(entry)).toBeNull(),
  );
});

test.each([
  ['HTTP/1.1 200 OK\r\n', 'wait'],
  ['HTTP/1.1 200 OK\r\n\r\n', 200],
  ['HTTP/1.0 407 Who\r\nx: y\r\n\r\nbody', 407],
  ['HTTP/1.1 200 OK\r\n\r\nearly', null],
  ['SSH-2.0\r\n\r\n', null],
  ['x'.repeat(20_000), null],
])('the answer %j to CONNECT is read as %p', (text, wanted) => {
  expect(readConnectAnswer(Buffer.from(text))).toBe(wanted as number);
});

describe('a tunnel', () => {
  const CALL_TLS = join(import.meta.dir, 'testing/call-tls.ts');
  let server: Bun.Server<undefined>;
  let arrived: string[] = [];
  let folder: string;
  let proxy: ConnectProxy | null = null;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-proxy-'));
    writeFileSync(join(folder, 'authority.pem'), CERTIFICATE);
    server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      tls: { cert: CERTIFICATE, key: CERTIFICATE_KEY },
      async fetch(request) {
        const { length } = await request.text();
        arrived.push(new URL(request.url).pathname);
        return new Response(`${length}:${'y'.repeat(length > 2 ? 3 * 2 ** 20 : 0)}`);
      },
    });
  });
  afterEach(() => {
    proxy?.stop();
    proxy = null;
    arrived = [];
  });
  afterAll(async () => {
    await server.stop(true);
    rmSync(folder, { recursive: true });
  });

  async function call(calls: TlsCalls): Promise<TlsOutcome[]> {
    const child = Bun.spawn([process.execPath, CALL_TLS, JSON.stringify(calls)], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem') },
      stdout: 'pipe',
      stderr: 'inherit',
    });
    return JSON.parse(await new Response(child.stdout).text());
  }

  const start = async (answer?: (head: string) => string | null) => {
    proxy = await startConnectProxy(server.port ?? 0, answer);
    return { asked: proxy.asked, address: `http://me:secret@127.0.0.1:${proxy.port}` };
  };

  test('carries the exchanges of an origin, is reused, and names the origin and the credentials once', async () => {
    const { asked, address } = await start();
    const url = 'https://upstream.invalid:444';
    const found = await call({ urls: [url, url], proxy: address });
    expect(found.map(({ end, body }) => [end, body])).toEqual([
      ['end', '2:'],
      ['end', '2:'],
    ]);
    expect(asked).toEqual([
      `CONNECT upstream.invalid:444 HTTP/1.1\r\nhost: upstream.invalid:444\r\nproxy-authorization: Basic ${btoa('me:secret')}\r\n\r\n`,
    ]);
  });

  test('carries large bodies both ways', async () => {
    const { address } = await start();
    const [found] = await call({ urls: ['https://upstream.invalid'], proxy: address, bodyBytes: 8 * 2 ** 20 });
    expect([found?.end, found?.bodyBytes]).toEqual(['end', 3 * 2 ** 20 + 8]);
  });

  test('is asked for by the checked address where the origin must be public; TLS verifies the origin', async () => {
    const { asked, address } = await start();
    const [found] = await call({ urls: ['https://9.9.9.9'], publicOnly: true, proxy: address });
    expect(found?.end).toBe('end');
    expect(asked.map((head) => head.split('\r\n')[0])).toEqual(['CONNECT 9.9.9.9:443 HTTP/1.1']);
  });

  test('is not asked for where the origin must be public and cannot be resolved here', async () => {
    const { asked, address } = await start();
    const [found] = await call({ urls: ['https://upstream.invalid'], publicOnly: true, proxy: address });
    expect(found).toMatchObject({ end: 'connect', sent: false });
    expect(asked).toEqual([]);
  });

  test('of another host than the certificate names fails as tls, and nothing arrives', async () => {
    const { address } = await start();
    const [found] = await call({ urls: ['https://other.invalid'], proxy: address });
    expect(found).toMatchObject({ end: 'tls', sent: false });
    expect(arrived).toEqual([]);
  });

  test.each([
    ['a host of this machine', 'localhost', []],
    ['an address of this machine', '127.0.0.1', []],
    ['an exempted host', 'upstream.invalid', ['.invalid']],
  ])('is not asked for by %s', async (_, host, direct) => {
    const { asked, address } = await start();
    await call({ urls: [`https://${host}:${server.port}`], proxy: address, direct });
    expect(asked).toEqual([]);
  });

  test('is not asked for by an http origin', async () => {
    const { asked, address } = await start();
    const [found] = await call({ urls: ['http://upstream.invalid'], proxy: address });
    expect([found?.end, asked.length]).toEqual(['connect', 0]);
  });

  test.each([
    ['HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n', 'proxy', 'other credentials'],
    ['HTTP/1.1 403 Forbidden\r\n\r\nno', 'proxy', '403'],
    ['HTTP/1.1 502 Bad Gateway\r\n\r\n', 'connect', '502'],
    ['HTTP/1.1 200 OK\r\n\r\nwords of its own', 'proxy', 'does not speak HTTP'],
    ['220 smtp.example\r\n\r\n', 'proxy', 'does not speak HTTP'],
    ['', 'proxy', 'closed the connection'],
  ])('that is answered %j fails before a byte of the request goes out', async (answer, kind, words) => {
    const { address } = await start(() => answer);
    const [found] = await call({ urls: ['https://upstream.invalid'], proxy: address });
    expect([found?.end, found?.sent]).toEqual([kind, false]);
    expect(found?.message).toContain(words);
    expect(found?.message).not.toContain('secret');
    expect(arrived).toEqual([]);
  });

  test('without its proxy fails as proxy', async () => {
    const { address } = await start();
    proxy?.stop();
    const [found] = await call({ urls: ['https://upstream.invalid'], proxy: address });
    expect(found).toMatchObject({ end: 'proxy', sent: false, message: expect.stringContaining('cannot be reached') });
  });
});
