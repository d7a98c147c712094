/** Tests Google's credentials: each source of tokens against servers that the test plays, and the files it reads. */
import { describe, expect, test } from 'bun:test';
import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { Secret } from '../../lib/secret.ts';
import { exchangeDefault, exchangeDocument } from './google-adc.ts';
import { parseGoogleCredentials } from './google-credentials.ts';
import { renderAssertion } from './google-token.ts';
import { type FakeMachine, FakeSurroundings } from './testing/fake-surroundings.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const SERVICE_ACCOUNT = {
  type: 'service_account',
  project_id: 'p',
  private_key_id: 'k1',
  private_key: PEM,
  client_email: 'gw@p.iam.gserviceaccount.com',
  token_uri: 'https://oauth2.googleapis.com/token',
};
const USER = { type: 'authorized_user', client_id: 'id', client_secret: 'shh', refresh_token: 'rrr' };
const IMPERSONATION =
  'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/x@p.iam.gserviceaccount.com:generateAccessToken';
const EXTERNAL = {
  type: 'external_account',
  audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/a/providers/b',
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  token_url: 'https://sts.googleapis.com/v1/token',
  credential_source: { file: '/var/token' },
};

const TOKEN = JSON.stringify({ access_token: 'ya29.token', expires_in: 3599, token_type: 'Bearer' });
const OAUTH = { 'https://oauth2.googleapis.com/token': () => TOKEN };
const STS = {
  'https://sts.googleapis.com/v1/token': () => JSON.stringify({ access_token: 'federated', expires_in: 3600 }),
};

async function exchange(document: object, machine: FakeMachine) {
  const surroundings = new FakeSurroundings(machine);
  const { secret, expiresMs, quotaProject } = await exchangeDocument(JSON.stringify(document), surroundings);
  const { asked, now } = surroundings;
  return { token: secret.reveal(), seconds: (expiresMs - now) / 1000, quotaProject, asked, now };
}

const formOf = (asked: { readonly body: string } | undefined) => Object.fromEntries(new URLSearchParams(asked?.body));

describe('a service account', () => {
  test('vector 30: signs its header and claims in this order', () => {
    const account = {
      type: 'service_account',
      clientEmail: 'gw@p.iam.gserviceaccount.com',
      privateKey: new Secret(''),
      privateKeyId: 'k1',
      tokenUrl: '',
      quotaProject: null,
    } as const;
    const digest = createHash('sha256').update(renderAssertion(account, 1_795_348_800)).digest('hex');
    expect(digest).toBe('f10ec83744a7bd23f11ed847c9448e5195cff9b00c66ccfbfe17dab7da1a67f4');
  });

  test('exchanges an assertion that Google can verify', async () => {
    const { token, seconds, quotaProject, asked, now } = await exchange(SERVICE_ACCOUNT, { servers: OAUTH });
    expect([token, seconds, quotaProject]).toEqual(['ya29.token', 3599, null]);
    const { grant_type, assertion = '' } = formOf(asked[0]);
    expect(grant_type).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const [header = '', claims = '', signature = ''] = assertion.split('.');
    const signed = Buffer.from(`${header}.${claims}`);
    expect(verify('RSA-SHA256', signed, createPublicKey(PEM), Buffer.from(signature, 'base64url'))).toBe(true);
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      iat: now / 1000,
      exp: now / 1000 + 3600,
    });
  });

  test('is told what Google refuses, without a secret', async () => {
    const words = { error: 'invalid_grant', error_description: `Invalid JWT Signature. ${'A'.repeat(40)}` };
    const servers = { 'https://oauth2.googleapis.com': () => Response.json(words, { status: 400 }) };
    await expect(exchange(SERVICE_ACCOUNT, { servers })).rejects.toThrow(
      'Google (oauth2.googleapis.com) answered 400: invalid_grant: Invalid JWT Signature. …',
    );
    const strange = { 'https://oauth2.googleapis.com': () => '{"expires_in":1}' };
    await expect(exchange(SERVICE_ACCOUNT, { servers: strange })).rejects.toThrow('without an access_token');
  });

  test('is read from its file at each exchange', async () => {
    const files = { '/etc/sa.json': JSON.stringify({ ...SERVICE_ACCOUNT, quota_project_id: 'q' }) };
    const machine = new FakeSurroundings({ files, servers: OAUTH });
    expect((await exchangeDocument('/etc/sa.json', machine)).quotaProject).toBe('q');
    await expect(exchangeDocument('/etc/none.json', machine)).rejects.toThrow(
      'the Google credentials file /etc/none.json cannot be read (ENOENT)',
    );
  });
});

test('a user is refreshed', async () => {
  const { token, quotaProject, asked } = await exchange({ ...USER, quota_project_id: 'q' }, { servers: OAUTH });
  expect([token, quotaProject]).toEqual(['ya29.token', 'q']);
  expect(formOf(asked[0])).toEqual({
    grant_type: 'refresh_token',
    client_id: 'id',
    client_secret: 'shh',
    refresh_token: 'rrr',
  });
});

const IMPERSONATED = JSON.stringify({ accessToken: 'imp', expireTime: '2026-11-22T13:00:00Z' });

test('an impersonated account is asked for with the token of its source', async () => {
  const file = {
    type: 'impersonated_service_account',
    service_account_impersonation_url: IMPERSONATION,
    source_credentials: USER,
    delegates: ['d'],
  };
  const servers = { ...OAUTH, 'https://iamcredentials.googleapis.com': () => IMPERSONATED };
  const { token, seconds, asked } = await exchange(file, { servers });
  expect([token, seconds]).toEqual(['imp', 3600]);
  const [, { url = '', headers = new Headers(), body = '' } = {}] = asked;
  expect([url, headers.get('authorization')]).toEqual([IMPERSONATION, 'Bearer ya29.token']);
  expect(JSON.parse(body)).toEqual({
    delegates: ['d'],
    scope: ['https://www.googleapis.com/auth/cloud-platform'],
    lifetime: '3600s',
  });
});

describe('an external account', () => {
  test('exchanges the token of a file', async () => {
    const { token, asked } = await exchange(EXTERNAL, { servers: STS, files: { '/var/token': 'subject\n' } });
    expect(token).toBe('federated');
    expect(formOf(asked[0])).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      audience: EXTERNAL.audience,
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      subject_token_type: EXTERNAL.subject_token_type,
      subject_token: 'subject',
    });
  });

  test('exchanges a member of the JSON at an address, and impersonates', async () => {
    const file = {
      ...EXTERNAL,
      service_account_impersonation_url: IMPERSONATION,
      service_account_impersonation: { token_lifetime_seconds: 600 },
      credential_source: {
        url: 'http://169.254.169.254/id',
        headers: { Metadata: 'true' },
        format: { type: 'json', subject_token_field_name: 'token' },
      },
    };
    const servers = {
      ...STS,
      'http://169.254.169.254/id': () => '{"token":"subject"}',
      'https://iamcredentials.googleapis.com': () => IMPERSONATED,
    };
    const { token, asked } = await exchange(file, { servers });
    expect(token).toBe('imp');
    expect(asked[0]?.headers.get('metadata')).toBe('true');
    expect(formOf(asked[1]).subject_token).toBe('subject');
    expect(asked[2]?.headers.get('authorization')).toBe('Bearer federated');
    expect(JSON.parse(asked[2]?.body ?? '').lifetime).toBe('600s');
  });

  test('proves an AWS role by a signed request', async () => {
    const file = {
      ...EXTERNAL,
      subject_token_type: 'urn:ietf:params:aws:token-type:aws4_request',
      credential_source: { environment_id: 'aws1', region_url: 'http://169.254.169.254/zone' },
    };
    const environment = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'canary', AWS_SESSION_TOKEN: 'tok' };
    const servers = { ...STS, 'http://169.254.169.254/zone': () => 'eu-central-1b' };
    const { asked } = await exchange(file, { environment, servers });
    const subject = formOf(asked[1]).subject_token ?? '';
    const { url, method, headers } = JSON.parse(decodeURIComponent(subject));
    expect([method, url]).toEqual([
      'POST',
      'https://sts.eu-central-1.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15',
    ]);
    const values = new Map(headers.map(({ key, value }: { key: string; value: string }) => [key, value]));
    expect(values.get('x-goog-cloud-target-resource')).toBe(EXTERNAL.audience);
    expect(values.get('authorization')).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20261122\/eu-central-1\/sts\/aws4_request, SignedHeaders=host;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
    );
    expect(subject).not.toContain('canary');
  });

  test('without a token in its place is an error that says so', async () => {
    await expect(exchange(EXTERNAL, { files: { '/var/token': ' \n' } })).rejects.toThrow(
      '/var/token has no subject token',
    );
    await expect(exchange(EXTERNAL, {})).rejects.toThrow('the file /var/token cannot be read (ENOENT)');
  });
});

describe('application default credentials', () => {
  const GCLOUD = '/home/gw/.config/gcloud/application_default_credentials.json';
  const METADATA = 'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token?scopes=';
  const metadata = (headers = { 'metadata-flavor': 'Google' }) => ({
    [METADATA]: () => new Response(TOKEN, { headers }),
  });

  test('are the file of the variable, else that of gcloud', async () => {
    const files = { '/etc/a.json': JSON.stringify({ ...USER, quota_project_id: 'a' }), [GCLOUD]: JSON.stringify(USER) };
    const environment = { GOOGLE_APPLICATION_CREDENTIALS: '/etc/a.json' };
    const named = await exchangeDefault(new FakeSurroundings({ files, environment, servers: OAUTH }));
    expect(named.quotaProject).toBe('a');
    const found = await exchangeDefault(new FakeSurroundings({ files, servers: OAUTH }));
    expect([found.secret.reveal(), found.quotaProject]).toEqual(['ya29.token', null]);
    const quota = { GOOGLE_CLOUD_QUOTA_PROJECT: 'q' };
    expect(
      (await exchangeDefault(new FakeSurroundings({ files, environment: quota, servers: OAUTH }))).quotaProject,
    ).toBe('q');
  });

  test('of a file that cannot be used are not looked for elsewhere', async () => {
    const files = { [GCLOUD]: '{"type":"gdch_service_account"}' };
    const machine = new FakeSurroundings({ files, servers: metadata() });
    await expect(exchangeDefault(machine)).rejects.toThrow(`the Google credentials file ${GCLOUD} has another type`);
    expect(machine.asked).toEqual([]);
  });

  test('are a token of the metadata server, which must say that it is Google’s', async () => {
    const machine = new FakeSurroundings({ servers: metadata() });
    expect((await exchangeDefault(machine)).secret.reveal()).toBe('ya29.token');
    const [{ url = '', headers = new Headers() } = {}] = machine.asked;
    expect([new URL(url).searchParams.get('scopes'), headers.get('metadata-flavor')]).toEqual([
      'https://www.googleapis.com/auth/cloud-platform',
      'Google',
    ]);
    const other = new FakeSurroundings({ servers: metadata({ 'metadata-flavor': 'other' }) });
    await expect(exchangeDefault(other)).rejects.toThrow('answered as another server');
    expect(other.asked).toHaveLength(3);
  });

  test('may be at another metadata server, which is a host and nothing else', async () => {
    const named = (host: string) =>
      exchangeDefault(
        new FakeSurroundings({
          environment: { GCE_METADATA_HOST: host },
          servers: {
            'http://127.0.0.1:8099/': () => new Response(TOKEN, { headers: { 'metadata-flavor': 'Google' } }),
          },
        }),
      );
    expect((await named('127.0.0.1:8099')).secret.reveal()).toBe('ya29.token');
    await expect(named('127.0.0.1:8099/x?')).rejects.toThrow('GCE_METADATA_HOST is not a host');
  });
});

test.each<[string, object, string]>([
  [
    'a token_uri elsewhere',
    { ...SERVICE_ACCOUNT, token_uri: 'https://googleapis.com.evil.example/token' },
    'has a token_uri at googleapis.com.evil.example, expected https:// and a host of googleapis.com',
  ],
  [
    'a token_uri without TLS',
    { ...SERVICE_ACCOUNT, token_uri: 'http://oauth2.googleapis.com/token' },
    'has a token_uri at',
  ],
  [
    'a token_url elsewhere',
    { ...EXTERNAL, token_url: 'https://evil.example/v1/token' },
    'has a token_url at evil.example',
  ],
  [
    'an impersonation elsewhere',
    { ...EXTERNAL, service_account_impersonation_url: 'https://evil.example' },
    'has a service_account_impersonation_url at evil.example',
  ],
  ['another universe', { ...USER, universe_domain: 'evil.example' }, 'has the universe_domain evil.example'],
  ['a program', { ...EXTERNAL, credential_source: { executable: { command: '/bin/x' } } }, 'starts a program'],
  ['text that is not a key', { ...SERVICE_ACCOUNT, private_key: 'canary' }, 'has a private_key that is no PEM key'],
  ['no refresh token', { ...USER, refresh_token: '' }, 'has no refresh_token'],
  [
    'a chain of impersonation',
    { type: 'impersonated_service_account', source_credentials: { type: 'impersonated_service_account' } },
    'impersonate, too',
  ],
  ['another type', { type: 'x' }, 'has another type'],
])('a file with %s is refused without a secret', (_, file, words) => {
  expect(() => parseGoogleCredentials(JSON.stringify(file))).toThrow(words);
  try {
    parseGoogleCredentials(JSON.stringify(file));
  } catch (error) {
    expect(String(error)).not.toMatch(/canary|shh|rrr|PRIVATE/);
  }
});
