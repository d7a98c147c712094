/** Tests probe-provider.ts: credentials that give no token or may not list models, and hosts without a list. */
import { afterAll, expect, test } from 'bun:test';
import { buildRemoteProvider } from '../../config/resolve-providers.ts';
import { Secret } from '../../lib/secret.ts';
import { FakeSurroundings } from '../../providers/credentials/testing/fake-surroundings.ts';
import { createBedrock } from '../../providers/kinds/bedrock.ts';
import { gemini } from '../../providers/kinds/gemini.ts';
import { openaiCompatible } from '../../providers/kinds/openai-compatible.ts';
import { createVertex } from '../../providers/kinds/vertex.ts';
import { type Secrets, type Settings, singleCredential } from '../../providers/provider.ts';
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

const paths: string[] = [];
const unlisted = () => new Response('', { status: 404 });
let listing: () => Response = unlisted;
let refusal: () => Response = () => new Response('', { status: 500 });
const host = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch(request) {
    const { pathname } = new URL(request.url);
    paths.push(pathname);
    return request.method === 'GET' ? listing() : refusal();
  },
});
afterAll(() => host.stop(true));

const bedrock = createBedrock(new FakeSurroundings());
const KEYS = { access_key_id: new Secret('AKIA1'), secret_access_key: new Secret('canary-1') };

test.each<[string, typeof gemini, Secrets, Settings, string]>([
  ['Bedrock', bedrock, KEYS, { region: 'us-east-1' }, '/v1/chat/completions'],
  ['its runtime service', bedrock, KEYS, { region: 'us-east-1', door: 'runtime' }, '/model/tollgate-check/converse'],
  ['Gemini', gemini, { api_key: new Secret('k') }, {}, '/v1beta/models/tollgate-check:generateContent'],
])('%s without a list gets a request that it must refuse', async (_, kind, secrets, settings, path) => {
  const url = `http://127.0.0.1:${host.port}`;
  const address = { url, origin: url };
  const pool = singleCredential(secrets);
  const provider = buildRemoteProvider({ name: 'lab', kind, preset: null, address, pool, settings, timeouts });
  paths.length = 0;
  listing = unlisted;
  refusal = () => Response.json({ message: 'The provided model identifier is invalid.' }, { status: 400 });
  expect(await probeProvider(provider)).toMatchObject({ ok: true, message: expect.stringContaining('no list') });
  expect(paths.at(-1)).toBe(path);
  refusal = () => Response.json({ message: 'The security token included in the request is invalid' }, { status: 403 });
  expect(await probeProvider(provider)).toMatchObject({ ok: false, trouble: 'credential' });
  refusal = () => Response.json([{ error: { message: 'API key not valid.' } }], { status: 400 });
  expect((await probeProvider(provider)).message).toStartWith('It answered 400: API key not valid. Enter');
});

const answer = (status: number, message: string) => () => Response.json({ error: { message } }, { status });

test.each([
  // OpenAI's restricted keys.
  [answer(403, 'Missing scopes: api.model.read'), answer(400, 'messages: at least one'), true, 'shows this credential'],
  [answer(403, 'Missing scopes: api.model.read'), answer(403, 'Missing scopes: model.request'), false, 'model.read'],
  [answer(403, 'no'), unlisted, false, 'It answered 403: no.'],
  [unlisted, () => new Response('', { status: 302, headers: { location: '/login' } }), false, 'It answered 404.'],
  [answer(401, 'no such key'), answer(400, 'messages: at least one'), false, 'It answered 401: no such key.'],
])('a credential that may not list models may be good for requests (%#)', async (list, request, ok, words) => {
  [listing, refusal] = [list, request];
  const url = `http://127.0.0.1:${host.port}`;
  const pool = singleCredential({ api_key: new Secret('k') });
  const kind = openaiCompatible;
  const provider = buildRemoteProvider({
    name: 'lab',
    kind,
    preset: null,
    address: { url, origin: url },
    pool,
    timeouts,
  });
  expect(await probeProvider(provider)).toMatchObject({ ok, message: expect.stringContaining(words) });
});
