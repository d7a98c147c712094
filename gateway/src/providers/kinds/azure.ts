/**
 * Provides the kind `azure`: Azure OpenAI and Microsoft Foundry. Chat completions go to the resource's OpenAI address, at
 * the v1 path or at a deployment's, or to Foundry's older path for models of all vendors; Responses never go to a
 * deployment's; Claude goes to the same resource's address of Foundry. The name of a model is that of its deployment.
 * Source: openai 7.57, @anthropic-ai/foundry-sdk 1.1 (2026-11-22).
 */
import { SSE } from '../../framing/sse-decoder.ts';
import { asObject } from '../../protocols/json.ts';
import { OPENAI_DIRECT, OPENAI_PATHS } from '../../protocols/model-formats.ts';
import type { UpstreamProtocolName } from '../../protocols/names.ts';
import type { Collection } from '../../protocols/stored/shared-state.ts';
import { type Audience, audienceOf, exchangeEntra, TENANT } from '../credentials/entra-token.ts';
import { SURROUNDINGS, type Surroundings } from '../credentials/surroundings.ts';
import { perCredential, type Token, TokenCache } from '../credentials/token-cache.ts';
import { BetaMemory, openHostedAttempt, startRenewal } from '../hosted/attempt.ts';
import type { OfferedModel } from '../listing.ts';
import type {
  Door,
  FinalRequest,
  GivenProvider,
  MemberFault,
  Operation,
  RemoteKind,
  RequestCredential,
  SecretMember,
  SettingMember,
  Settings,
} from '../provider.ts';
import { NO_QUIRKS } from '../quirks.ts';
import { openai } from './openai.ts';
import { API_KEY, compatibleTraits, FILES } from './openai-compatible.ts';

const ENTRA: readonly SecretMember[] = [
  {
    name: 'tenant_id',
    title: 'Tenant ID',
    description: 'The tenant of an application in Entra ID.',
    hint: 'Of an application in Entra ID, together with its client ID and client secret.',
    mayBeNone: false,
  },
  { name: 'client_id', title: 'Client ID', description: 'The id of the application.', mayBeNone: false },
  {
    name: 'client_secret',
    title: 'Client secret',
    description: 'The secret of the application, instead of `api_key`.',
    mayBeNone: false,
  },
];

// They become parts of the host's name and of the path.
const RESOURCE: SettingMember = {
  name: 'resource',
  title: 'Resource',
  description: 'The name of the resource, from which its addresses follow: `acme` for `https://acme.openai.azure.com`.',
  pattern: /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
  expected: 'the name of a resource such as acme',
  hint: 'The name of a resource such as acme. Leave blank if you enter a base URL.',
};

const PROJECT: SettingMember = {
  name: 'project',
  title: 'Project',
  description: 'A project of Foundry, whose address is used for chat completions.',
  pattern: /^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,62}[A-Za-z0-9])?$/,
  expected: 'the name of a project such as my-project',
  hint: 'The name of a project of Foundry. Leave blank for none.',
};

const DOOR: SettingMember = {
  name: 'door',
  title: 'Service',
  description:
    '`openai` (default): the addresses of Azure OpenAI and of Claude. `models`: the older path of Foundry for models of all vendors, `/models/chat/completions`; with `base_url` for a regional endpoint of `models.ai.azure.com`.',
  pattern: /^(?:openai|models)$/,
  expected: 'openai or models',
  hint: 'The older path of Foundry for models of all vendors. Leave blank for Azure OpenAI and Claude.',
  options: ['openai', 'models'],
};

const MODELS = 'models';
/** Of the older path. */
const MODELS_VERSION = '2024-05-01-preview';

const API_VERSION: SettingMember = {
  name: 'api_version',
  title: 'API version',
  description:
    '`v1` (default) or `preview`: the v1 path. A date such as `2024-10-21`: the path of a deployment, with this version. With `door: models` a date only; default: `2024-05-01-preview`.',
  pattern: /^(?:v1|preview|\d{4}-\d{2}-\d{2}(?:-preview)?)$/,
  expected: 'v1, preview or a date such as 2024-10-21',
  hint: 'Leave blank for v1, or enter preview or a date such as 2024-10-21.',
};

export function createAzure(surroundings: Surroundings): RemoteKind {
  const memory = new BetaMemory();
  const tokenOf = perCredential((credential, audience) => {
    const exchange = () => exchangeEntra(credential, audience, surroundings);
    return new TokenCache('the Entra ID access token', exchange, surroundings);
  });

  /** Adds the key or the token, which `note` gets with a way to discard it. */
  function authorize(
    request: FinalRequest,
    credential: RequestCredential,
    protocol: UpstreamProtocolName,
    note: (discard: () => boolean) => void,
  ): Promise<void> | void {
    const { api_key } = credential.secrets;
    if (api_key !== undefined) {
      // Anthropic's header in addition to Azure's, which every request has.
      if (protocol === 'messages') request.headers.push(['x-api-key', api_key.reveal()]);
      return;
    }
    const audience = audienceOf(audienceFor(protocol, credential.settings), new URL(request.url).host);
    const cache = tokenOf(credential, audience);
    return cache.use((token) => {
      note(() => cache.discard(token));
      authorizeBy(token, request, credential);
    });
  }

  const claude: Door = {
    addressOf: ({ resource }) => (resource === undefined ? null : foundryOf(resource)),
    endpoint,
    authorize: (request, credential) => authorize(request, credential, 'messages', () => undefined),
  };

  const kind: RemoteKind = {
    name: 'azure',
    title: 'Azure OpenAI and Foundry',
    speaks: 'chat completions and Responses, and messages for Claude',
    protocols: ['chat', 'messages', 'responses', ...OPENAI_DIRECT],
    protocolsOf(model, { door }) {
      if (door === MODELS) return ['chat'];
      return isClaude(model) ? ['messages'] : ['chat', 'responses', ...OPENAI_DIRECT];
    },
    // As at OpenAI and Anthropic: presets.ts.
    quirks: { ...NO_QUIRKS, hiddenReasoning: 'always', keepsState: true },
    takes: ['base_url', 'timeouts'],
    secrets: [{ ...API_KEY, mayBeNone: false, hint: 'Instead of an application in Entra ID.' }, ...ENTRA],
    sources: [
      {
        word: 'managed_identity',
        title: 'Managed identity',
        description: 'the identity of this machine; `AZURE_CLIENT_ID` chooses among several',
      },
      {
        word: 'workload',
        title: 'Workload identity',
        description: '`AZURE_TENANT_ID`, `AZURE_CLIENT_ID` and `AZURE_FEDERATED_TOKEN_FILE`',
      },
    ],
    settings: [RESOURCE, PROJECT, DOOR, API_VERSION, FILES],
    objects: { format: 'responses', pathOf: collectionPath },
    vendorDomains: ['azure.com', 'azure.us', 'azure.cn'],
    framing: () => SSE,
    checkConfig,
    chatTraits: (quirks, model, reasons) =>
      (/^(?:gpt-|o\d|codex)/.test(model) ? openai.chatTraits : compatibleTraits)(quirks, model, reasons),
    // Many deployments have the names of their models, but a name proves no price.
    hostedModel: (model) => ({
      priced: null,
      catalog: { provider: isClaude(model) ? 'anthropic' : 'openai', model },
      refuses: [],
    }),
    // Foundry runs none of Anthropic's server tools.
    vendorHost: null,
    local: null,
    completeBaseUrl: (url) => url.replace(/\/openai(?:\/v1)?$/, ''),
    addressOf({ resource, project, door }) {
      if (resource === undefined) return null;
      if (door === MODELS) return `${foundryOf(resource)}/models`;
      return project === undefined ? `https://${resource}.openai.azure.com` : foundryOf(resource);
    },
    endpoint,
    listing: { path: '/openai/v1/models', headers: [] },
    listingOf(_credential, { door, api_version = MODELS_VERSION }) {
      if (door !== MODELS) return this.listing;
      return { path: `/info?api-version=${api_version}`, headers: [], read: readInfo };
    },
    headers: ({ api_key }) => (api_key === undefined ? [] : [['api-key', api_key.reveal()]]),
    authorize: (request, credential) => authorize(request, credential, 'chat', () => undefined),
    openAttempt(request, { key, send }, listener) {
      const door = request.protocol === 'messages' ? claude : kind;
      const { note, renew } = startRenewal();
      const noting: Door['authorize'] = (final, by) => authorize(final, by, request.protocol, note);
      return openHostedAttempt({ request, key, memory, renew, open: (next) => send(door, next, noting) }, listener);
    },
  };
  return kind;
}

export const azure: RemoteKind = createAzure(SURROUNDINGS);

function audienceFor(protocol: UpstreamProtocolName, { project, door }: Settings): Audience {
  return protocol === 'messages' || project !== undefined || door === MODELS ? 'ai' : 'cognitiveservices';
}

/** The older path has no list: it names the model that answers if the request names none. */
function readInfo(answer: unknown): readonly OfferedModel[] | null {
  const model = asObject(answer)?.model_name;
  return typeof model === 'string' ? [{ model }] : null;
}

function foundryOf(resource: string): string {
  return `https://${resource}.services.ai.azure.com`;
}

function isClaude(deployment: string): boolean {
  return /claude/i.test(deployment);
}

function endpoint(
  protocol: UpstreamProtocolName,
  operation: Operation,
  model: string,
  { project, door, api_version }: Settings,
): string | null {
  if (door === MODELS) {
    const isChat = protocol === 'chat' && operation !== 'count_tokens';
    return isChat ? `/chat/completions?api-version=${api_version ?? MODELS_VERSION}` : null;
  }
  const version = api_version ?? 'v1';
  if (protocol === 'messages') return `/anthropic/v1/messages${operation === 'count_tokens' ? '/count_tokens' : ''}`;
  if (operation === 'count_tokens') return null;
  const base = project === undefined ? '/openai' : `/api/projects/${project}/openai`;
  const path = OPENAI_PATHS[protocol];
  if (path === undefined) return null;
  if (version === 'v1') return `${base}/v1/${path}`;
  if (version === 'preview') return `${base}/v1/${path}?api-version=preview`;
  if (protocol === 'responses') return `${base}/responses?api-version=${version}`;
  return `${base}/deployments/${encodeURIComponent(model)}/${path}?api-version=${version}`;
}

/** Only the v1 path has conversations. */
function collectionPath(collection: Collection, model: string, settings: Settings): string | null {
  const { project, door, api_version = 'v1' } = settings;
  if (door === MODELS || isClaude(model)) return null;
  const base = project === undefined ? '/openai' : `/api/projects/${project}/openai`;
  if (api_version === 'v1') return `${base}/v1/${collection}`;
  if (api_version === 'preview') return `${base}/v1/${collection}?api-version=preview`;
  return collection === 'conversations' ? null : `${base}/${collection}?api-version=${api_version}`;
}

function authorizeBy({ secret }: Token, request: FinalRequest, { hide }: RequestCredential): void {
  hide(secret);
  request.headers.push(['authorization', `Bearer ${secret.reveal()}`]);
}

/** The older path has neither projects nor the versions of the v1 path. */
function findModelsFaults({ project, api_version }: Settings): readonly MemberFault[] {
  const advice = 'Remove it, or remove door: models.';
  const faults: MemberFault[] = [];
  if (project !== undefined) {
    faults.push({ member: 'project', found: 'project with door: models', expected: 'one of the two', advice });
  }
  if (api_version === 'v1' || api_version === 'preview') {
    const found = `${api_version} with door: models`;
    faults.push({ member: 'api_version', found, expected: `a date such as ${MODELS_VERSION}`, advice });
  }
  return faults;
}

function checkConfig({ members, secrets, source, settings }: GivenProvider): readonly MemberFault[] {
  const faults: MemberFault[] = [];
  if (settings.resource === undefined && !members.has('base_url')) {
    faults.push({
      member: 'resource',
      found: 'no resource',
      expected: 'resource or base_url',
      advice: 'Add resource.',
    });
  }
  if (settings.door === MODELS) faults.push(...findModelsFaults(settings));
  if (source !== null) return faults;
  const missing = ENTRA.filter(({ name }) => secrets[name] === undefined);
  const { api_key, tenant_id } = secrets;
  if (api_key !== undefined && missing.length < ENTRA.length) {
    const found = 'api_key together with an application of Entra ID';
    faults.push({ member: 'api_key', found, expected: 'one of the two', advice: 'Remove one.' });
  } else if (api_key === undefined && missing.length === ENTRA.length) {
    const expected = 'api_key, or tenant_id, client_id and client_secret, or credentials: managed_identity or workload';
    faults.push({ member: 'api_key', found: 'no credential', expected, advice: 'Add one of them.' });
  } else if (api_key === undefined) {
    for (const { name } of missing) {
      faults.push({
        member: name,
        found: `no ${name}`,
        expected: 'all three of an application',
        advice: `Add ${name}.`,
      });
    }
  }
  if (tenant_id !== undefined && !TENANT.test(tenant_id.reveal())) {
    const expected = 'the id or the domain of a tenant';
    faults.push({ member: 'tenant_id', found: 'another text', expected, advice: 'Correct it.' });
  }
  return faults;
}
