/** Tests probe-provider.ts: a credential that gives no token is named as the trouble, not the address. */
import { expect, test } from 'bun:test';
import { buildRemoteProvider } from '../../config/resolve-providers.ts';
import { Secret } from '../../lib/secret.ts';
import { FakeSurroundings } from '../../providers/credentials/testing/fake-surroundings.ts';
import { singleCredential } from '../../providers/provider.ts';
import { createVertex } from '../../providers/vertex.ts';
import { probeProvider } from './probe-provider.ts';

const USER = '{"type":"authorized_user","client_id":"i","client_secret":"s","refresh_token":"r"}';
const timeouts = { connectMs: 5_000, firstByteMs: 5_000, firstBytePlainMs: 5_000, idleMs: 5_000, totalMs: 5_000 };

test.each([
  [
    'Token has been expired or revoked.',
    'credential',
    'Token has been expired or revoked. Enter its credential again.',
  ],
  [
    'Invalid JWT: Token must be a short-lived token (60 minutes). Check your iat and exp values in the JWT claim.',
    'clock',
    'Set the clock of this machine.',
  ],
])('%s', async (error_description, trouble, words) => {
  const refusal = () => Response.json({ error: 'invalid_grant', error_description }, { status: 400 });
  const machine = new FakeSurroundings({ servers: { 'https://oauth2.googleapis.com': refusal } });
  const url = 'http://127.0.0.1:1';
  const provider = buildRemoteProvider({
    name: 'google',
    kind: createVertex(machine),
    preset: null,
    address: { url, origin: url },
    pool: singleCredential({ credentials_json: new Secret(USER) }),
    timeouts,
  });
  const probe = await probeProvider(provider);
  expect(probe).toMatchObject({ ok: false, trouble });
  expect(probe.message).toContain('Its credential cannot be used: Google (oauth2.googleapis.com) answered 400');
  expect(probe.message).toContain(words);
});
