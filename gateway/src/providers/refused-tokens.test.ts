/** Tests that kinds with tokens send a request again where the provider refuses the kept one, however many are refused. */
import { expect, test } from 'bun:test';
import { Secret } from '../lib/secret.ts';
import { FakeSurroundings } from './credentials/testing/fake-surroundings.ts';
import { createAzure } from './kinds/azure.ts';
import { createVertex } from './kinds/vertex.ts';
import type { AttemptTools, HeaderLine, RequestCredential, UpstreamRequest } from './provider.ts';

const USER = '{"type":"authorized_user","client_id":"i","client_secret":"s","refresh_token":"r"}';
const ENTRA = { tenant_id: new Secret('t'), client_id: new Secret('c'), client_secret: new Secret('s') };
const MINUTE_MS = 60_000;

test.each([
  ['vertex', 'gemini', 'gemini-3-pro', createVertex, { credentials_json: new Secret(USER) }],
  ['vertex', 'gemini', 'gemini-4-pro', createVertex, { credentials_json: new Secret(USER) }],
  ['azure', 'chat', 'prod', createAzure, ENTRA],
  ['azure', 'messages', 'claude', createAzure, ENTRA],
] as const)('50 requests at a time whose token is refused share the next one: %s, %s, %s', async (...row) => {
  const [, protocol, model, create, secrets] = row;
  let exchanges = 0;
  const answer = () => `{"access_token":"token-${++exchanges}","expires_in":3599}`;
  const servers = { 'https://oauth2.googleapis.com': answer, 'https://login.microsoftonline.com': answer };
  const machine = new FakeSurroundings({ servers });
  const kind = create(machine);
  const credential: RequestCredential = { secrets, source: null, settings: {}, hide: () => undefined };
  const sent: string[] = [];
  /** The provider: it refuses these tokens. */
  let refused: readonly string[] = [];
  const send: AttemptTools['send'] = (_door, _request, authorize) => (listener) => {
    const headers: HeaderLine[] = [];
    const final = { method: 'POST', url: 'https://acme.example/', headers, body: new Uint8Array() } as const;
    Promise.resolve(authorize?.(final, credential)).then(() => {
      const [, token = ''] = headers.find(([name]) => name === 'authorization') ?? [];
      sent.push(token);
      const status = refused.includes(token) ? 401 : 200;
      listener.onHead({ status, headers: [], framing: 'close', lengthBytes: 0, keepAlive: false });
      listener.onEnd();
    });
    const idle = () => undefined;
    return { sentAtMs: 1, headAtMs: 0, lastByteAtMs: 0, pause: idle, resume: idle, abort: idle };
  };
  const attempt = () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const request = { protocol, operation: 'plain', headers: [], body: Buffer.from('{}') };
    let status = 0;
    kind.openAttempt?.(
      request as unknown as UpstreamRequest,
      { key: 'k', model, credential, responseBytesMax: 1_000, send },
      {
        onHead: (head) => {
          status = head.status;
        },
        onBody: () => undefined,
        onEnd: () => resolve(status),
        onFailure: () => resolve(0),
      },
    );
    return promise;
  };
  expect([await attempt(), sent]).toEqual([200, ['Bearer token-1']]);
  machine.now += MINUTE_MS;
  refused = ['Bearer token-1'];
  expect(new Set(await Promise.all(Array.from({ length: 50 }, attempt)))).toEqual(new Set([200]));
  expect([exchanges, sent.length]).toEqual([2, 101]);
  // A new token that is refused, too, is not exchanged again for each request.
  refused = ['Bearer token-1', 'Bearer token-2'];
  expect(new Set(await Promise.all(Array.from({ length: 50 }, attempt)))).toEqual(new Set([401]));
  expect([exchanges, sent.length]).toEqual([2, 151]);
});
