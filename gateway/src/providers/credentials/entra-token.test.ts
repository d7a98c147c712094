/** Tests entra-token.ts: each source of tokens against servers that the test plays, in each of Azure's clouds. */
import { describe, expect, test } from 'bun:test';
import { Secret } from '../../lib/secret.ts';
import { audienceOf, exchangeEntra } from './entra-token.ts';
import { type FakeMachine, FakeSurroundings } from './testing/fake-surroundings.ts';

const TOKEN = JSON.stringify({ token_type: 'Bearer', expires_in: 3599, access_token: 'eyJ.token' });
const AUDIENCE = 'https://cognitiveservices.azure.com';
const APPLICATION = { tenant_id: 'acme.example', client_id: 'app-1', client_secret: 'canary-secret' };
const LOGIN = 'https://login.microsoftonline.com/acme.example/oauth2/v2.0/token';

async function exchange(
  source: string | null,
  machine: FakeMachine,
  audience = AUDIENCE,
  secrets: object = APPLICATION,
) {
  const surroundings = new FakeSurroundings(machine);
  const own = Object.fromEntries(Object.entries(secrets).map(([name, text]) => [name, new Secret(text)]));
  const credential = { source, secrets: source === null ? own : {} };
  const { secret, expiresMs } = await exchangeEntra(credential, audience, surroundings);
  const [asked] = surroundings.asked;
  return { token: secret.reveal(), seconds: (expiresMs - surroundings.now) / 1000, asked };
}

const formOf = (asked: { readonly body: string } | undefined) => Object.fromEntries(new URLSearchParams(asked?.body));

test.each([
  ['cognitiveservices', 'acme.openai.azure.com', 'https://cognitiveservices.azure.com'],
  ['ai', 'acme.services.ai.azure.com', 'https://ai.azure.com'],
  ['cognitiveservices', 'acme.openai.azure.us', 'https://cognitiveservices.azure.us'],
  ['cognitiveservices', 'acme.openai.azure.cn', 'https://cognitiveservices.azure.cn'],
  ['cognitiveservices', 'proxy.example', 'https://cognitiveservices.azure.com'],
  ['cognitiveservices', 'evilazure.us', 'https://cognitiveservices.azure.com'],
] as const)('the audience %s at %s is %s', (audience, host, address) => {
  expect(audienceOf(audience, host)).toBe(address);
});

describe('the secret of an application', () => {
  test('is exchanged at its tenant', async () => {
    const { token, seconds, asked } = await exchange(null, { servers: { [LOGIN]: () => TOKEN } });
    expect([token, seconds, asked?.url]).toEqual(['eyJ.token', 3599, LOGIN]);
    expect(formOf(asked)).toEqual({
      grant_type: 'client_credentials',
      client_id: 'app-1',
      scope: `${AUDIENCE}/.default`,
      client_secret: 'canary-secret',
    });
  });

  test('goes to the login of its cloud', async () => {
    const servers = { 'https://login.microsoftonline.us/acme.example/': () => TOKEN };
    expect((await exchange(null, { servers }, 'https://cognitiveservices.azure.us')).token).toBe('eyJ.token');
  });

  test('is never part of an error, and no tenant leads elsewhere', async () => {
    const words = { error: 'invalid_client', error_description: 'AADSTS7000215: Invalid client secret provided.' };
    const servers = { [LOGIN]: () => Response.json(words, { status: 401 }) };
    const refused = exchange(null, { servers });
    await expect(refused).rejects.toThrow(
      'Microsoft Entra ID (login.microsoftonline.com) answered 401: invalid_client: AADSTS7000215: Invalid client secret provided.',
    );
    const elsewhere = exchange(null, {}, AUDIENCE, { ...APPLICATION, tenant_id: 'x/../evil' });
    await expect(elsewhere).rejects.toThrow('the tenant of Entra ID is neither an id nor a domain');
  });
});

describe('the identity of a workload', () => {
  const environment = {
    AZURE_TENANT_ID: 'acme.example',
    AZURE_CLIENT_ID: 'app-1',
    AZURE_FEDERATED_TOKEN_FILE: '/var/t',
  };

  test('is exchanged by the token of its file', async () => {
    const machine = { environment, files: { '/var/t': 'jwt\n' }, servers: { [LOGIN]: () => TOKEN } };
    expect(formOf((await exchange('workload', machine)).asked)).toEqual({
      grant_type: 'client_credentials',
      client_id: 'app-1',
      scope: `${AUDIENCE}/.default`,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: 'jwt',
    });
  });

  test.each([
    [{}, 'cannot be read (ENOENT)'],
    [{ AZURE_TENANT_ID: '' }, 'needs the variable AZURE_TENANT_ID'],
    [{ AZURE_AUTHORITY_HOST: 'https://evil.example/' }, 'AZURE_AUTHORITY_HOST is not one of login.microsoftonline.com'],
    [{ AZURE_AUTHORITY_HOST: 'http://login.microsoftonline.com' }, 'AZURE_AUTHORITY_HOST is not one of'],
  ])('is refused with %j', async (changes, words) => {
    await expect(exchange('workload', { environment: { ...environment, ...changes } })).rejects.toThrow(words);
  });
});

describe('the managed identity', () => {
  test('of a virtual machine is at the metadata server', async () => {
    const servers = { 'http://169.254.169.254/metadata/identity/oauth2/token': () => TOKEN.replace('3599', '"3599"') };
    const { token, seconds, asked } = await exchange('managed_identity', {
      servers,
      environment: { AZURE_CLIENT_ID: 'c' },
    });
    expect([token, seconds, asked?.headers.get('metadata')]).toEqual(['eyJ.token', 3599, 'true']);
    expect(Object.fromEntries(new URL(asked?.url ?? '').searchParams)).toEqual({
      'api-version': '2018-02-01',
      resource: AUDIENCE,
      client_id: 'c',
    });
  });

  test('of an app is at the address of its variable', async () => {
    const end = Date.UTC(2026, 10, 22, 13) / 1000;
    const servers = { 'http://localhost:42356/msi/token': () => `{"access_token":"eyJ.app","expires_on":"${end}"}` };
    const environment = { IDENTITY_ENDPOINT: 'http://localhost:42356/msi/token', IDENTITY_HEADER: 'proof' };
    const { token, seconds, asked } = await exchange('managed_identity', { servers, environment });
    expect([token, seconds, asked?.headers.get('x-identity-header')]).toEqual(['eyJ.app', 3600, 'proof']);
    expect(new URL(asked?.url ?? '').searchParams.get('api-version')).toBe('2019-08-01');
  });

  test('that does not answer is named', async () => {
    await expect(exchange('managed_identity', {})).rejects.toThrow(
      'the managed identity of this machine was not reached: cannot connect',
    );
  });
});
