/** Tests the kinds of Claude Platform and of Databricks: their members, addresses and lists. */
import { describe, expect, test } from 'bun:test';
import { type Fault, renderPath } from '../../config/file/config-problem.ts';
import { createProviderSchema } from '../../config/file/provider-schema.ts';
import { resolveProviders } from '../../config/resolve-providers.ts';
import { traitsOf } from '../../routing/upstream-traits.ts';
import { FakeSurroundings } from '../credentials/testing/fake-surroundings.ts';
import type { RemoteKind, RemoteProvider } from '../provider.ts';
import { createAnthropicAws, createAnthropicGoogle } from './claude-platform.ts';
import { databricks } from './databricks.ts';

const machine = new FakeSurroundings();
const KINDS: readonly RemoteKind[] = [createAnthropicAws(machine), createAnthropicGoogle(machine), databricks];

function resolve(members: object) {
  const shape = createProviderSchema(KINDS).parse(members);
  const faults: string[] = [];
  const report = (path: readonly (string | number)[], { found }: Fault) =>
    void faults.push(`${renderPath(path)}: ${found}`);
  const timeouts = { connectMs: 1, firstByteMs: 1, firstBytePlainMs: 1, idleMs: 1, totalMs: 1 };
  const provider = resolveProviders({ a: shape }, { timeouts, privateOrigins: [] }, report, KINDS).get('a');
  return { provider: provider as RemoteProvider | undefined, faults };
}

const AWS = { kind: 'anthropic-aws', region: 'us-west-2', workspace_id: 'wrkspc_1' };
const GOOGLE = { kind: 'anthropic-google', project: 'p-1', workspace_id: 'wrkspc_1' };
const USER = JSON.stringify({ type: 'authorized_user', client_id: 'i', client_secret: 's', refresh_token: 'r' });
const WORKSPACE = { kind: 'databricks', base_url: 'https://dbc-1.cloud.databricks.com' };

test.each<[object, string]>([
  [{ ...AWS, api_key: 'k' }, 'https://aws-external-anthropic.us-west-2.api.aws/v1'],
  [{ ...AWS, access_key_id: 'a', secret_access_key: 's' }, 'https://aws-external-anthropic.us-west-2.api.aws/v1'],
  [
    { ...GOOGLE, credentials: USER },
    'https://claude.googleapis.com/v1/projects/p-1/locations/global/workspaces/wrkspc_1/invoke/v1',
  ],
  [{ ...WORKSPACE, api_key: 'k' }, 'https://dbc-1.cloud.databricks.com'],
  [
    {
      ...WORKSPACE,
      base_url: 'https://dbc-1.cloud.databricks.com/serving-endpoints',
      client_id: 'i',
      client_secret: 's',
    },
    'https://dbc-1.cloud.databricks.com',
  ],
])('%j lead to %s', (members, address) => {
  const { provider, faults } = resolve(members);
  expect([provider?.baseUrl, faults]).toEqual([address, []]);
});

test.each<[object, string[]]>([
  [{ ...AWS, workspace_id: 'a/b', api_key: 'k' }, ["providers.a.workspace_id: 'a/b'"]],
  [{ kind: AWS.kind, region: 'us-west-2', api_key: 'k' }, ['providers.a: no workspace_id']],
  [{ kind: AWS.kind, workspace_id: 'w', api_key: 'k' }, ['providers.a: no region']],
  [AWS, ['providers.a: no credential']],
  [{ ...AWS, access_key_id: 'a' }, ['providers.a.access_key_id: access_key_id alone']],
  [{ ...GOOGLE, workspace_id: '../x', credentials: USER }, ["providers.a.workspace_id: '../x'"]],
  [{ kind: GOOGLE.kind, credentials: USER }, ['providers.a: no project', 'providers.a: no workspace_id']],
  [GOOGLE, ['providers.a: no credentials']],
  [
    { ...GOOGLE, base_url: 'https://proxy.example', credentials: 'adc' },
    ['providers.a.base_url: an address that is not the vendor’s, with a credential of this machine'],
  ],
  [WORKSPACE, ['providers.a: no credential']],
  [{ ...WORKSPACE, client_id: 'i' }, ['providers.a: no client_secret']],
  [
    { ...WORKSPACE, api_key: 'k', client_id: 'i', client_secret: 's' },
    ['providers.a.api_key: api_key together with a service principal'],
  ],
  [{ kind: 'databricks', api_key: 'k' }, ['providers.a: preset databricks without base_url']],
])('%j are refused', (members, expected) => {
  const { provider, faults } = resolve(members);
  expect([provider, faults]).toEqual([undefined, expected]);
});

describe('a model', () => {
  test('of Claude Platform has the server tools of Anthropic’s own host, at the platform’s address only', () => {
    const firstParty = (members: object) => {
      const { provider } = resolve(members);
      if (provider === undefined) throw new Error('no provider');
      return traitsOf({ provider, model: 'claude-opus-4-8' }, null).messages.firstParty;
    };
    expect(firstParty({ ...AWS, api_key: 'k' })).toBe(true);
    expect(firstParty({ ...GOOGLE, credentials: USER })).toBe(true);
    expect(firstParty({ ...AWS, api_key: 'k', base_url: 'https://proxy.example' })).toBe(false);
  });

  test('of Databricks is reached in messages if it is Claude, and in chat completions always', () => {
    expect(databricks.protocolsOf?.('databricks-claude-opus-5', {})).toEqual(['chat', 'messages']);
    expect(databricks.protocolsOf?.('tide', {})).toEqual(['chat']);
    expect(databricks.endpoint('messages', 'count_tokens', 'm', {})).toBeNull();
    const endpoints = [{ name: 'tide', task: 'llm/v1/chat' }, { name: 'vectors', task: 'llm/v1/embeddings' }, 7];
    expect(databricks.listing.read?.({ endpoints })).toEqual([{ model: 'tide' }]);
    expect(databricks.listing.read?.({ error_code: 'NO' })).toBeNull();
  });
});
