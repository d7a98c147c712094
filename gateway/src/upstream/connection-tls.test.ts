/** Tests that nothing, least of all a credential, goes to an upstream with an invalid certificate. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TlsCalls, TlsOutcome } from './testing/call-tls.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from './testing/certificate.ts';
import { runExchange } from './testing/run-exchange.ts';

const CALL_TLS = join(import.meta.dir, 'testing/call-tls.ts');
let server: Bun.Server<undefined>;
let arrived = 0;
let folder: string;
let authority: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-tls-'));
  authority = join(folder, 'authority.pem');
  writeFileSync(authority, CERTIFICATE);
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { cert: CERTIFICATE, key: CERTIFICATE_KEY },
    fetch() {
      arrived += 1;
      return new Response('secret words');
    },
  });
});
afterAll(async () => {
  await server.stop(true);
  rmSync(folder, { recursive: true });
});

/** The exchanges in a process that trusts the certificate. */
async function trusting(calls: TlsCalls): Promise<TlsOutcome[]> {
  const child = Bun.spawn([process.execPath, CALL_TLS, JSON.stringify(calls)], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: authority },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  return JSON.parse(await new Response(child.stdout).text());
}

test('an untrusted certificate fails as tls, and no request arrives', async () => {
  const running = runExchange(`https://localhost:${server.port}`);
  expect(await running.end).toMatchObject({ kind: 'tls' });
  expect([running.endings(), arrived]).toEqual([1, 0]);
});

test('a certificate for another name fails as tls, and no request arrives', async () => {
  const [found] = await trusting({ urls: [`https://127.0.0.1:${server.port}`] });
  expect(found).toMatchObject({ end: 'tls', sent: false, body: '' });
  expect(arrived).toBe(0);
});

test('a certificate of an authority in NODE_EXTRA_CA_CERTS is accepted for its name', async () => {
  const [found] = await trusting({ urls: [`https://localhost:${server.port}`] });
  expect(found).toMatchObject({ end: 'end', body: 'secret words' });
  expect(arrived).toBe(1);
});
