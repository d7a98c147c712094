/** Tests the server's own TLS: what it serves, and how it follows changed files. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { eventually } from '../../test/harness/eventually.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from '../upstream/testing/certificate.ts';
import { startHttpServer } from './server.ts';
import { loadTls, watchTls } from './tls-files.ts';

/** Another pair for `localhost`. */
const OTHER = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBjDCCATOgAwIBAgIUH+lT976OyugI4MCbovKJHF2StPEwCgYIKoZIzj0EAwIw
ETEPMA0GA1UEAwwGc2Vjb25kMB4XDTI2MTEyMjIzMzk1NloXDTM2MTExOTIzMzk1
NlowETEPMA0GA1UEAwwGc2Vjb25kMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
U3lD4zmLfNKJVvjf4PfXDpJEnkdRKuZruDcy4YCgpWkArBb/rHxor5KFEgMCMVD9
5Nd9C4A1ZUWX8ikko/ZrH6NpMGcwHQYDVR0OBBYEFFVLCN5axaJwuaauFPXbTdng
2ZhaMB8GA1UdIwQYMBaAFFVLCN5axaJwuaauFPXbTdng2ZhaMA8GA1UdEwEB/wQF
MAMBAf8wFAYDVR0RBA0wC4IJbG9jYWxob3N0MAoGCCqGSM49BAMCA0cAMEQCIBJ+
uPjYVT6QY2SEVMSiCaXEdyEDoUFFWJtxArbJ7FLBAiAMGHMbxfquZ+9Q8XA00Fw7
vhkTmj19tWN7kIACQ0OBbA==
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQghRHlfGlfYM0Ac9xe
/Cns8yYjH5BQ1qdkTsB/9fQANgqhRANCAARTeUPjOYt80olW+N/g99cOkkSeR1Eq
5mu4NzLhgKClaQCsFv+sfGivkoUSAwIxUP3k130LgDVlRZfyKSSj9msf
-----END PRIVATE KEY-----
`,
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-server-tls-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, pair: { readonly cert: string; readonly key: string }) {
  const files = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) };
  writeFileSync(files.cert, pair.cert);
  writeFileSync(files.key, pair.key);
  return files;
}

/** The common name of the certificate that a new connection is shown; or the message of its failure. */
function shownBy(port: number, more: object = {}): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...more }, () => {
      const { subject } = socket.getPeerCertificate();
      resolve(String(subject.CN));
      socket.destroy();
    });
    socket.on('error', (error) => resolve(error.message));
  });
}

const limits = { urlBytesMax: 8_192, headerCountMax: 100, idleConnectionTimeoutMs: 68_000 };
const deps = { settings: { config: { limits, server: { trustedProxies: [], console: false } } }, draining: false };

/** A server whose calls never begin: only paths without dependencies are asked for. */
function serve(files: { readonly cert: string; readonly key: string }, port = 0) {
  const pair = loadTls(files);
  const server = startHttpServer('127.0.0.1', port, { deps } as never, pair);
  const told: string[] = [];
  const log = {
    info: () => void told.push('served'),
    error: ({ cause }: { readonly cause: string }) => void told.push(cause),
  };
  const stop = watchTls(pair, () => files, server.renewTls, log, 20);
  const end = () => {
    stop();
    return server.stop(true);
  };
  return { server, told, end };
}

test('requests are answered over TLS 1.2 and later only, and the address says https', async () => {
  const { server, end } = serve(write('plain', { cert: CERTIFICATE, key: CERTIFICATE_KEY }));
  expect(server.url).toBe(`https://127.0.0.1:${server.port}`);
  const reply = await fetch(`${server.url}/healthz`, { tls: { rejectUnauthorized: false } });
  expect([reply.status, reply.headers.get('strict-transport-security')]).toEqual([200, null]);
  expect(await shownBy(server.port, { maxVersion: 'TLSv1.2' })).toBe('localhost');
  expect(await shownBy(server.port, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' })).not.toBe('localhost');
  await end();
});

test('a host name without an address is refused, with the flag that names it', () => {
  expect(() => startHttpServer('999.1.1.1', 0, { deps } as never, null)).toThrow(
    /^cannot listen on 999\.1\.1\.1:0 .*Choose another address with --host and --port, or HOST and PORT$/,
  );
});

test('an address that another server has is refused, as without certificates', async () => {
  const files = write('taken', { cert: CERTIFICATE, key: CERTIFICATE_KEY });
  const { server, end } = serve(files);
  expect(() => serve(files, server.port)).toThrow(`cannot listen on 127.0.0.1:${server.port}`);
  await end();
  await serve(files, server.port).end();
});

test('a changed pair is served to new connections; open ones go on; a bad one changes nothing and is told once', async () => {
  const files = write('renewed', { cert: CERTIFICATE, key: CERTIFICATE_KEY });
  const { server, told, end } = serve(files);
  const open = await new Promise<ReturnType<typeof connect>>((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false }, () => resolve(socket));
  });
  // A renewal writes one file after the other.
  writeFileSync(files.cert, OTHER.cert);
  await eventually('the refusal', () => (told.length > 0 ? true : null));
  await Bun.sleep(100);
  expect(told).toHaveLength(1);
  expect(told[0]).toContain('KEY_VALUES_MISMATCH');
  expect(await shownBy(server.port)).toBe('localhost');
  writeFileSync(files.key, OTHER.key);
  await eventually('the change', () => (told.at(-1) === 'served' ? true : null));
  expect(await shownBy(server.port)).toBe('second');
  open.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
  expect(String(await new Promise((resolve) => open.once('data', resolve)))).toStartWith('HTTP/1.1 200');
  open.destroy();
  rmSync(files.key);
  await eventually('the missing file', () => (told.at(-1)?.includes('cannot be read (ENOENT)') ? true : null));
  expect(await shownBy(server.port)).toBe('second');
  await end();
});

test('a changed pair that cannot be served at first, such as for want of a file descriptor, is served later', async () => {
  const files = write('late', { cert: CERTIFICATE, key: CERTIFICATE_KEY });
  const told: string[] = [];
  const log = {
    info: () => void told.push('served'),
    error: ({ cause }: { readonly cause: string }) => void told.push(cause),
  };
  let tries = 0;
  const serveAtThird = () => {
    tries += 1;
    if (tries < 3) throw new Error('EMFILE');
  };
  const stop = watchTls(loadTls(files), () => files, serveAtThird, log, 5);
  write('late', OTHER);
  await eventually('the third try', () => (told.at(-1) === 'served' ? true : null));
  stop();
  expect(told).toEqual(['EMFILE', 'served']);
});

test('a missing file is named', () => {
  expect(() => loadTls({ cert: '/nowhere/cert.pem', key: '/nowhere/key.pem' })).toThrow(
    'server.tls.cert: /nowhere/cert.pem cannot be read (ENOENT)',
  );
});
