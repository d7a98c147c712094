/** Tests the kind `azure`: its members, the addresses and paths of its forms, and the headers that authorize. */
import { describe, expect, test } from 'bun:test';
import { type Fault, renderPath } from '../../config/file/config-problem.ts';
import { createProviderSchema } from '../../config/file/provider-schema.ts';
import { resolveProviders } from '../../config/resolve-providers.ts';
import { Secret } from '../../lib/secret.ts';
import { OPENAI_DIRECT } from '../../protocols/model-formats.ts';
import type { Collection } from '../../protocols/stored/shared-state.ts';
import type { ExchangeListener, UpstreamTap } from '../../upstream/exchange.ts';
import { FakeSurroundings } from '../credentials/testing/fake-surroundings.ts';
import type { Door, FinalRequest, HeaderLine, RemoteProvider, Settings, UpstreamRequest } from '../provider.ts';
import { azure, createAzure } from './azure.ts';

const ENTRA = { tenant_id: 't', client_id: 'c', client_secret: 's' };

function resolve(members: object) {
  const shape = createProviderSchema([azure]).parse({ kind: 'azure', ...members });
  const faults: string[] = [];
  const report = (path: readonly (string | number)[], { found }: Fault) =>
    void faults.push(`${renderPath(path)}: ${found}`);
  const timeouts = { connectMs: 1, firstByteMs: 1, firstBytePlainMs: 1, idleMs: 1, totalMs: 1 };
  const provider = resolveProviders({ a: shape }, { timeouts, privateOrigins: [] }, report, [azure]).get('a');
  return { provider: provider as RemoteProvider | undefined, faults };
}

test.each<[string, Settings, string | null, string | null]>([
  ['gpt', {}, '/openai/v1/files', '/openai/v1/conversations'],
  ['gpt', { project: 'p' }, '/api/projects/p/openai/v1/files', '/api/projects/p/openai/v1/conversations'],
  [
    'gpt',
    { api_version: 'preview' },
    '/openai/v1/files?api-version=preview',
    '/openai/v1/conversations?api-version=preview',
  ],
  ['gpt', { api_version: '2024-10-21' }, '/openai/files?api-version=2024-10-21', null],
  ['claude-opus', {}, null, null],
  ['gpt', { door: 'models' }, null, null],
])('%s with %j has files at %p and conversations at %p', (model, settings, files, conversations) => {
  const pathOf = (collection: Collection) => azure.objects?.pathOf(collection, model, settings) ?? null;
  expect([pathOf('files'), pathOf('conversations')]).toEqual([files, conversations]);
});

describe('the members of azure', () => {
  test.each<[object, string]>([
    [{ resource: 'acme' }, 'https://acme.openai.azure.com'],
    [{ resource: 'acme', project: 'p' }, 'https://acme.services.ai.azure.com'],
    [{ resource: 'acme', door: 'models' }, 'https://acme.services.ai.azure.com/models'],
    [
      { base_url: 'https://tide.eastus2.models.ai.azure.com', door: 'models' },
      'https://tide.eastus2.models.ai.azure.com',
    ],
    [{ base_url: 'https://acme.openai.azure.com/openai/v1' }, 'https://acme.openai.azure.com'],
    [{ base_url: 'https://proxy.example/azure/openai' }, 'https://proxy.example/azure'],
  ])('%j lead to %s', (members, address) => {
    expect(resolve({ api_key: 'k', ...members }).provider?.baseUrl).toBe(address);
  });

  test.each<[object, string[]]>([
    [{ api_key: 'k' }, ['providers.a: no resource']],
    [{ resource: 'evil.example/#', api_key: 'k' }, ["providers.a.resource: 'evil.example/#'"]],
    [{ resource: 'acme', project: '../x', api_key: 'k' }, ["providers.a.project: '../x'"]],
    [{ resource: 'acme', api_version: '2024-10-21&x', api_key: 'k' }, ["providers.a.api_version: '2024-10-21&x'"]],
    [{ resource: 'acme', door: 'other', api_key: 'k' }, ["providers.a.door: 'other'"]],
    [
      { resource: 'acme', door: 'models', project: 'p', api_version: 'v1', api_key: 'k' },
      ['providers.a.project: project with door: models', 'providers.a.api_version: v1 with door: models'],
    ],
    [{ resource: 'acme' }, ['providers.a: no credential']],
    [{ resource: 'acme', tenant_id: 't', client_id: 'c' }, ['providers.a: no client_secret']],
    [
      { resource: 'acme', api_key: 'k', ...ENTRA },
      ['providers.a.api_key: api_key together with an application of Entra ID'],
    ],
    [{ resource: 'acme', ...ENTRA, tenant_id: 'a/b' }, ['providers.a.tenant_id: another text']],
    [
      { base_url: 'https://proxy.example', credentials: 'managed_identity' },
      ['providers.a.base_url: an address that is not the vendor’s, with a credential of this machine'],
    ],
  ])('%j are refused', (members, expected) => {
    const { provider, faults } = resolve(members);
    expect([provider, faults]).toEqual([undefined, expected]);
  });

  test('may be keys, applications or identities', () => {
    const accepted = [
      { credentials: 'workload' },
      { credentials: 'managed_identity' },
      { credentials: ENTRA },
      {
        credentials: [
          { name: 'a', api_key: 'k' },
          { name: 'b', ...ENTRA },
        ],
      },
      { api_keys: [{ name: 'a', key: 'k' }] },
    ];
    expect(accepted.map((members) => resolve({ resource: 'acme', ...members }).faults)).toEqual(accepted.map(() => []));
  });
});

describe('an endpoint', () => {
  test.each<[Settings, string]>([
    [{}, '/openai/v1/chat/completions'],
    [{ api_version: 'v1' }, '/openai/v1/chat/completions'],
    [{ api_version: 'preview' }, '/openai/v1/chat/completions?api-version=preview'],
    [{ api_version: '2024-10-21' }, '/openai/deployments/my%2Fgpt/chat/completions?api-version=2024-10-21'],
    [{ project: 'p' }, '/api/projects/p/openai/v1/chat/completions'],
  ])('of chat completions with %j is %s', (settings, path) => {
    expect(azure.endpoint('chat', 'stream', 'my/gpt', settings)).toBe(path);
    expect(azure.endpoint('chat', 'count_tokens', 'my/gpt', settings)).toBeNull();
  });

  test.each<[Settings, string]>([
    [{ door: 'models' }, '/chat/completions?api-version=2024-05-01-preview'],
    [{ door: 'models', api_version: '2025-01-01' }, '/chat/completions?api-version=2025-01-01'],
  ])('of any model with %j is %s, after the older path of Foundry', (settings, path) => {
    expect(azure.protocolsOf?.('claude-9', settings)).toEqual(['chat']);
    expect(azure.endpoint('chat', 'plain', 'claude-9', settings)).toBe(path);
    expect(azure.endpoint('chat', 'count_tokens', 'claude-9', settings)).toBeNull();
    expect(azure.endpoint('messages', 'plain', 'claude-9', settings)).toBeNull();
  });

  test('of Responses is at no deployment', () => {
    const at = (settings: object) => azure.endpoint('responses', 'stream', 'my/gpt', { ...settings });
    expect([
      at({}),
      at({ project: 'p' }),
      at({ api_version: 'preview' }),
      at({ api_version: '2025-03-01-preview' }),
    ]).toEqual([
      '/openai/v1/responses',
      '/api/projects/p/openai/v1/responses',
      '/openai/v1/responses?api-version=preview',
      '/openai/responses?api-version=2025-03-01-preview',
    ]);
    expect(azure.endpoint('responses', 'count_tokens', 'my/gpt', {})).toBeNull();
  });

  test('of Claude is in Foundry, whatever the version', () => {
    expect(azure.protocolsOf?.('prod-Claude-opus', {})).toEqual(['messages']);
    expect(azure.protocolsOf?.('gpt-5.2', {})).toEqual(['chat', 'responses', ...OPENAI_DIRECT]);
    const settings = { project: 'p', api_version: '2024-10-21' };
    expect(azure.endpoint('messages', 'plain', 'claude', settings)).toBe('/anthropic/v1/messages');
    expect(azure.endpoint('messages', 'count_tokens', 'claude', settings)).toBe('/anthropic/v1/messages/count_tokens');
  });
});

/** The door that an attempt in this format goes through. */
function doorOf(kind: typeof azure, protocol: UpstreamRequest['protocol']): Door {
  const used: Door[] = [];
  const send = (door: Door) => () => {
    used.push(door);
    return { pause: () => undefined } as UpstreamTap;
  };
  const request = { protocol, headers: [] as readonly HeaderLine[] } as UpstreamRequest;
  kind.openAttempt?.(request, { send } as never, null as unknown as ExchangeListener);
  const [door] = used;
  if (door === undefined) throw new Error('an attempt goes through a door');
  return door;
}

async function authorize(door: Door, url: string, secrets: Readonly<Record<string, string>>, settings: Settings = {}) {
  const headers: HeaderLine[] = [];
  const hidden: string[] = [];
  const request: FinalRequest = { method: 'POST', url, headers, body: new Uint8Array() };
  await door.authorize?.(request, {
    secrets: Object.fromEntries(Object.entries(secrets).map(([name, text]) => [name, new Secret(text)])),
    source: null,
    settings,
    hide: (token) => void hidden.push(token.reveal()),
  });
  return { headers, hidden };
}

describe('a request', () => {
  test('of Claude goes to the resource’s address of Foundry, with the headers of both vendors', async () => {
    const door = doorOf(azure, 'messages');
    expect(door.addressOf?.({ resource: 'acme' })).toBe('https://acme.services.ai.azure.com');
    expect(door.addressOf?.({})).toBeNull();
    expect(azure.headers({ api_key: new Secret('k') }, {})).toEqual([['api-key', 'k']]);
    const { headers } = await authorize(door, 'https://acme.services.ai.azure.com/', { api_key: 'k' });
    expect(headers).toEqual([['x-api-key', 'k']]);
  });

  test('of chat completions with a key has its header alone', async () => {
    expect(doorOf(azure, 'chat')).toBe(azure);
    expect((await authorize(azure, 'https://acme.openai.azure.com/', { api_key: 'k' })).headers).toEqual([]);
  });

  test.each<[UpstreamRequest['protocol'], string, Settings, string]>([
    ['chat', 'https://acme.openai.azure.com/openai/v1/x', {}, 'https://cognitiveservices.azure.com/.default'],
    ['chat', 'https://acme.services.ai.azure.com/x', { project: 'p' }, 'https://ai.azure.com/.default'],
    ['messages', 'https://acme.services.ai.azure.com/x', {}, 'https://ai.azure.com/.default'],
    ['chat', 'https://acme.services.ai.azure.com/models/x', { door: 'models' }, 'https://ai.azure.com/.default'],
  ])('in %s to %s has a token for its address, which is hidden', async (protocol, url, settings, scope) => {
    const login = 'https://login.microsoftonline.com/t/oauth2/v2.0/token';
    const machine = new FakeSurroundings({ servers: { [login]: () => '{"access_token":"eyJ","expires_in":3599}' } });
    const { headers, hidden } = await authorize(doorOf(createAzure(machine), protocol), url, ENTRA, settings);
    expect([headers, hidden]).toEqual([[['authorization', 'Bearer eyJ']], ['eyJ']]);
    expect(new URLSearchParams(machine.asked[0]?.body).get('scope')).toBe(scope);
  });
});
