/** Tests the kind `vertex`: its members, hosts and paths, and the credentials that each place may give. */
import { describe, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findConsoleKind, readSecrets, readSettings } from '../../config/console-providers.ts';
import { type Fault, quoteText, renderPath } from '../../config/file/config-problem.ts';
import { createProviderSchema } from '../../config/file/provider-schema.ts';
import { resolveProviders } from '../../config/resolve-providers.ts';
import { Secret } from '../../lib/secret.ts';
import { type FakeMachine, FakeSurroundings } from '../credentials/testing/fake-surroundings.ts';
import type { FinalRequest, HeaderLine, RemoteProvider, Secrets } from '../provider.ts';
import { createVertex, vertex } from './vertex.ts';

const PEM = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const SERVICE_ACCOUNT = JSON.stringify({ type: 'service_account', private_key: PEM, client_email: 'gw@p1.example' });
const EXTERNAL = JSON.stringify({
  type: 'external_account',
  audience: 'a',
  subject_token_type: 't',
  credential_source: { url: 'http://10.0.0.1/token' },
});

function resolve(members: object) {
  const shape = createProviderSchema([vertex]).parse({ kind: 'vertex', ...members });
  const faults: string[] = [];
  const report = (path: readonly (string | number)[], { found }: Fault) =>
    void faults.push(`${renderPath(path)}: ${found}`);
  const timeouts = { connectMs: 1, firstByteMs: 1, firstBytePlainMs: 1, idleMs: 1, totalMs: 1 };
  const surroundings = { timeouts, privateOrigins: ['http://127.0.0.1:9100'] };
  const provider = resolveProviders({ v: shape }, surroundings, report, [vertex]).get('v');
  return { provider: provider as RemoteProvider | undefined, faults };
}

describe('the members of vertex', () => {
  test.each([
    [undefined, 'https://aiplatform.googleapis.com'],
    ['global', 'https://aiplatform.googleapis.com'],
    ['us', 'https://aiplatform.us.rep.googleapis.com'],
    ['eu', 'https://aiplatform.eu.rep.googleapis.com'],
    ['europe-west4', 'https://europe-west4-aiplatform.googleapis.com'],
  ])('location %p leads to %s', (location, address) => {
    const { provider } = resolve({
      project: 'p1',
      credentials: 'adc',
      ...(location === undefined ? {} : { location }),
    });
    expect(provider).toMatchObject({ baseUrl: address, credentials: { origin: address } });
  });

  test.each(['evil.com/#', 'a.b', 'x@evil.com', '-a', 'a-', 'A', 'a:443', ''.padEnd(64, 'a')])(
    'vector 26: the location %p is refused',
    (location) => {
      const { provider, faults } = resolve({ project: 'p1', credentials: 'adc', location });
      expect(provider).toBeUndefined();
      expect(faults).toEqual([`providers.v.location: ${quoteText(location)}`]);
    },
  );

  test.each<[object, string[]]>([
    [{ credentials: 'adc' }, ['providers.v: no project']],
    [{ project: 'p1' }, ['providers.v: no credentials']],
    [{ project: 'p/../1', credentials: 'adc' }, ["providers.v.project: 'p/../1'"]],
    [{ project: 'p1', api_key: 'k' }, ['providers.v.project: project with api_key']],
    [{ project: 'p1', credentials: 'other' }, ['providers.v.credentials: a text that is not a JSON object']],
    [
      { project: 'p1', credentials: '/nonexistent/a.json' },
      ['providers.v.credentials: a file that cannot be read (ENOENT)'],
    ],
    [
      { project: 'p1', credentials: '{"type":"x"}' },
      [
        'providers.v.credentials: a text that has another type, expected service_account, authorized_user, impersonated_service_account or external_account',
      ],
    ],
    [
      {
        project: 'p1',
        credentials: [
          { name: 'a', credentials_json: SERVICE_ACCOUNT },
          { name: 'b', api_key: 'k' },
        ],
      },
      ['providers.v.project: project with api_key'],
    ],
    [
      { project: 'p1', credentials: 'adc', base_url: 'https://proxy.example' },
      ['providers.v.base_url: an address that is not the vendor’s, with a credential of this machine'],
    ],
    [
      { project: 'p1', credentials: EXTERNAL, base_url: 'https://proxy.example' },
      ['providers.v.base_url: an address that is not the vendor’s, with a credential of this machine'],
    ],
  ])('%j are refused', (members, expected) => {
    const { provider, faults } = resolve(members);
    expect([provider, faults]).toEqual([undefined, expected]);
  });

  test('may be a key of express mode, a JSON text, a file, or those of the machine at an allowed address', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-vertex-'));
    const path = join(folder, 'a.json');
    writeFileSync(path, SERVICE_ACCOUNT);
    const accepted = [
      { api_key: 'k' },
      { project: 'p1', credentials: SERVICE_ACCOUNT },
      { project: 'p1', credentials: SERVICE_ACCOUNT, base_url: 'https://proxy.example/v1' },
      { project: 'p1', credentials: path },
      { project: 'p1', credentials: EXTERNAL },
      { project: 'p1', credentials: 'adc', base_url: 'http://127.0.0.1:9100' },
      {
        project: 'p1',
        credentials: [
          { name: 'a', credentials_json: path },
          { name: 'b', credentials_json: EXTERNAL },
        ],
      },
    ];
    expect(accepted.map((members) => resolve(members).faults)).toEqual(accepted.map(() => []));
    rmSync(folder, { recursive: true });
  });
});

describe('a project that is not given', () => {
  const accountOf = (project_id: string) => JSON.stringify({ ...JSON.parse(SERVICE_ACCOUNT), project_id });
  const OF_P9 = accountOf('p9');
  const ADC = '/home/gw/.config/gcloud/application_default_credentials.json';
  const find = (
    given: { readonly document?: string; readonly environment?: Record<string, string> } & Pick<FakeMachine, 'files'>,
    usesMachine = true,
  ) => {
    const { findSettings } = createVertex(new FakeSurroundings(given));
    const secrets: Secrets = given.document === undefined ? {} : { credentials_json: new Secret(given.document) };
    return findSettings?.({ secrets, source: given.document === undefined ? 'adc' : null }, usesMachine);
  };

  test('is that of the credential, else that of the variable', () => {
    const environment = { GOOGLE_CLOUD_PROJECT: 'of-variable' };
    const named = { GOOGLE_APPLICATION_CREDENTIALS: '/a.json', GOOGLE_CLOUD_PROJECT: 'of-variable' };
    expect([
      find({ document: OF_P9, environment }),
      find({ document: '/a.json', files: { '/a.json': OF_P9 } }),
      find({ files: { '/a.json': OF_P9 }, environment: named }),
      find({ files: { [ADC]: OF_P9 } }),
      find({ document: SERVICE_ACCOUNT, environment }),
      find({ environment }),
      find({ environment: named }),
    ]).toEqual([
      ...Array.from({ length: 4 }, () => ({ project: 'p9' })),
      ...Array.from({ length: 3 }, () => ({ project: 'of-variable' })),
    ]);
  });

  test('comes only from the JSON text for the console, and only as the id of a project', () => {
    const machine = { environment: { GOOGLE_CLOUD_PROJECT: 'of-variable' }, files: { '/a.json': OF_P9 } };
    expect(find({ ...machine, document: OF_P9 }, false)).toEqual({ project: 'p9' });
    expect(find({ ...machine, document: SERVICE_ACCOUNT }, false)).toEqual({});
    expect(find({ ...machine, document: '/a.json' }, false)).toEqual({});
    expect(find({ document: JSON.stringify({ project_id: 'p/../1' }) })).toEqual({});
    expect(find({})).toEqual({});
  });

  test('completes the configuration; given settings precede it, and credentials must agree', () => {
    expect(resolve({ credentials: OF_P9 }).provider?.settings).toEqual({ project: 'p9' });
    expect(resolve({ project: 'p1', credentials: OF_P9 }).provider?.settings).toEqual({ project: 'p1' });
    const pool = (other: string) => [
      { name: 'a', credentials_json: OF_P9 },
      { name: 'b', credentials_json: other.replace('gw@', 'b@') },
    ];
    expect(resolve({ credentials: pool(OF_P9) }).provider?.settings).toEqual({ project: 'p9' });
    expect(resolve({ credentials: pool(accountOf('p8')) }).faults).toEqual(['providers.v: no project']);
  });
});

test('the console takes a service account and no file, address or external account', () => {
  const kind = findConsoleKind('vertex');
  if (kind === undefined) throw new Error('the console has the kind');
  const settings = { project: 'p1' };
  const wordsOf = (text: string) => {
    const read = readSecrets(kind, settings, { credentials_json: text });
    return 'fault' in read ? read.fault.words : 'accepted';
  };
  expect(wordsOf(SERVICE_ACCOUNT)).toBe('accepted');
  const refused = 'found a credential that names files or addresses, which only the configuration file may contain';
  // Whether the file exists is not told.
  expect([wordsOf(EXTERNAL), wordsOf('/etc/passwd'), wordsOf('/nonexistent')]).toEqual([refused, refused, refused]);
  expect(readSecrets(kind, settings, {})).toMatchObject({ fault: { member: 'secrets.credentials_json' } });
  expect(readSecrets(kind, {}, { credentials_json: SERVICE_ACCOUNT })).toMatchObject({
    fault: { member: 'settings.project' },
  });
  expect(readSettings(kind, { location: 'evil.com/#' })).toMatchObject({ fault: { member: 'settings.location' } });
});

describe('an endpoint', () => {
  const settings = { project: 'p1', location: 'eu' };
  test.each([
    [
      'gemini-3-pro',
      'gemini',
      'plain',
      '/v1beta1/projects/p1/locations/eu/publishers/google/models/gemini-3-pro:generateContent',
    ],
    [
      'gemini-3-pro',
      'gemini',
      'stream',
      '/v1beta1/projects/p1/locations/eu/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse',
    ],
    ['123', 'gemini', 'plain', '/v1beta1/projects/p1/locations/eu/endpoints/123:generateContent'],
    [
      'claude-opus-4-8@20260401',
      'messages',
      'plain',
      '/v1/projects/p1/locations/eu/publishers/anthropic/models/claude-opus-4-8@20260401:rawPredict',
    ],
    [
      'claude-a;b/../c',
      'messages',
      'stream',
      '/v1/projects/p1/locations/eu/publishers/anthropic/models/claude-a%3Bb%2F..%2Fc:streamRawPredict',
    ],
    [
      'claude-a',
      'messages',
      'count_tokens',
      '/v1/projects/p1/locations/eu/publishers/anthropic/models/count-tokens:rawPredict',
    ],
    ['xai/grok-5', 'chat', 'stream', '/v1/projects/p1/locations/eu/endpoints/openapi/chat/completions'],
    ['xai/grok-5', 'chat', 'count_tokens', null],
  ] as const)('of %s over %s, %s', (model, protocol, operation, path) => {
    expect(vertex.protocolsOf?.(model, settings)).toEqual([protocol]);
    expect(vertex.endpoint(protocol, operation, model, settings)).toBe(path);
  });

  test('in express mode has neither project nor location', () => {
    expect(vertex.endpoint('gemini', 'plain', 'gemini-3-pro', {})).toBe(
      '/v1beta1/publishers/google/models/gemini-3-pro:generateContent',
    );
    expect(vertex.headers({ api_key: new Secret('k') }, {})).toEqual([['x-goog-api-key', 'k']]);
  });
});

test('a request names the project of the quota, and its token is hidden', async () => {
  const user = {
    type: 'authorized_user',
    client_id: 'i',
    client_secret: 's',
    refresh_token: 'r',
    quota_project_id: 'q',
  };
  const servers = { 'https://oauth2.googleapis.com': () => '{"access_token":"ya29.x","expires_in":3599}' };
  const kind = createVertex(new FakeSurroundings({ servers }));
  const hidden: string[] = [];
  const credential = {
    secrets: { credentials_json: new Secret(JSON.stringify(user)) },
    source: null,
    settings: {},
    hide: (token: Secret) => void hidden.push(token.reveal()),
  };
  const authorize = async () => {
    const headers: HeaderLine[] = [];
    const request: FinalRequest = { method: 'POST', url: '', headers, body: new Uint8Array() };
    await kind.authorize?.(request, credential);
    return headers;
  };
  const expected: HeaderLine[] = [
    ['authorization', 'Bearer ya29.x'],
    ['x-goog-user-project', 'q'],
  ];
  expect([await authorize(), await authorize()]).toEqual([expected, expected]);
  expect(hidden).toEqual(['ya29.x', 'ya29.x']);
});

test('without a credential nothing of this machine is used', async () => {
  const machine = new FakeSurroundings({ environment: { GOOGLE_APPLICATION_CREDENTIALS: '/adc.json' } });
  const request: FinalRequest = { method: 'POST', url: '', headers: [], body: new Uint8Array() };
  const credential = { secrets: {}, source: null, settings: {}, hide: () => undefined };
  const authorized = Promise.resolve(createVertex(machine).authorize?.(request, credential));
  await expect(authorized).rejects.toThrow('is not a JSON object');
  expect([request.headers, machine.asked]).toEqual([[], []]);
});

test('the list of models is that of the publisher', () => {
  const { read } = vertex.listing;
  const publisherModels = [{ name: 'publishers/google/models/gemini-3.5-flash', versionId: '1' }, { name: 7 }];
  expect([read?.({ publisherModels }), read?.({})]).toEqual([[{ model: 'gemini-3.5-flash' }], null]);
});
