/** Tests a gateway whose only way out is an HTTP proxy, as its environment says: answers come, refusals are the operator's. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CERTIFICATE, CERTIFICATE_KEY } from '../../src/upstream/testing/certificate.ts';
import { type ConnectProxy, startConnectProxy } from '../../src/upstream/testing/connect-proxy.ts';
import { eventually } from '../harness/eventually.ts';
import { pointAt } from '../harness/point-at.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { ask } from './calls.ts';

const REFUSAL = 'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n';
const CREDENTIALS = 'operator:canary-password';

let folder: string;
let upstream: Bun.Server<undefined>;
let proxy: ConnectProxy;
let refuses = false;
let gateway: RunningGateway;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-egress-'));
  writeFileSync(join(folder, 'authority.pem'), CERTIFICATE);
  upstream = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { cert: CERTIFICATE, key: CERTIFICATE_KEY },
    fetch: () =>
      Response.json(
        {
          id: 'chatcmpl-1',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [{ index: 0, message: { role: 'assistant', content: 'through' }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        },
        // Each request asks the proxy.
        { headers: { connection: 'close' } },
      ),
  });
  proxy = await startConnectProxy(upstream.port ?? 0, () => (refuses ? REFUSAL : null));
  gateway = await startGateway({
    config: pointAt('https://upstream.invalid', { chat: ['m'] }),
    environment: {
      NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem'),
      HTTPS_PROXY: `http://${CREDENTIALS}@127.0.0.1:${proxy.port}`,
    },
  });
});
afterAll(async () => {
  await gateway.stop();
  proxy.stop();
  await upstream.stop(true);
  rmSync(folder, { recursive: true });
});

const askOnce = () => ask(gateway, { protocol: 'chat', model: 'm', stream: false });

test('a request to a host that only the proxy can resolve is answered', async () => {
  const { status, text } = await askOnce();
  expect([status, JSON.parse(text).choices[0].message.content]).toEqual([200, 'through']);
  expect(proxy.asked.at(-1)).toStartWith('CONNECT upstream.invalid:443 HTTP/1.1\r\n');
  expect(proxy.asked.at(-1)).toContain(`Basic ${btoa(CREDENTIALS)}`);
});

test('a proxy that refuses is never blamed on the caller, and no credential is in the log or the answer', async () => {
  refuses = true;
  const { status, text } = await askOnce();
  refuses = false;
  expect(status).toBe(500);
  await eventually('the log', () => (gateway.stderr().includes('it answered 407') ? true : null));
  const seen = gateway.stderr() + gateway.stdout() + text;
  for (const secret of ['canary-password', btoa(CREDENTIALS)]) expect(seen).not.toContain(secret);
  expect(text).not.toContain('407');
});
