/**
 * Provides the kind `databricks`: the model serving of a workspace, in chat completions for every model and in messages
 * for Claude, with a token or as a service principal. Source:
 * https://docs.databricks.com/aws/en/dev-tools/auth/oauth-m2m, https://docs.databricks.com/api/workspace/servingendpoints
 * (2026-11-23).
 */
import { SSE } from '../../framing/sse-decoder.ts';
import { asArray, asObject } from '../../protocols/json.ts';
import { SURROUNDINGS, type Surroundings } from '../credentials/surroundings.ts';
import { readToken, readTokenAnswer } from '../credentials/token-answer.ts';
import { perCredential, type Token, TokenCache } from '../credentials/token-cache.ts';
import { BetaMemory, openHostedAttempt, startRenewal } from '../hosted/attempt.ts';
import type { OfferedModel } from '../listing.ts';
import type {
  Door,
  FinalRequest,
  GivenProvider,
  MemberFault,
  RemoteKind,
  RequestCredential,
  SecretMember,
  Secrets,
} from '../provider.ts';
import { NO_QUIRKS } from '../quirks.ts';
import { API_KEY, compatibleTraits } from './openai-compatible.ts';

const PRINCIPAL: readonly SecretMember[] = [
  {
    name: 'client_id',
    title: 'Client ID',
    description: 'The id of a service principal, with `client_secret`.',
    hint: 'Of a service principal, together with its client secret.',
    mayBeNone: false,
  },
  {
    name: 'client_secret',
    title: 'Client secret',
    description: 'The OAuth secret of the service principal, instead of `api_key`.',
    mayBeNone: false,
  },
];

/** The secret of a service principal goes to these alone. */
const DOMAINS = [
  'cloud.databricks.com',
  'gcp.databricks.com',
  'azuredatabricks.net',
  'cloud.databricks.us',
  'databricks.azure.us',
  'databricks.azure.cn',
] as const;

/** `origin`: of the workspace. Rejects with a sentence without any secret. */
async function exchangePrincipal(
  origin: string,
  { client_id, client_secret }: Secrets,
  surroundings: Surroundings,
): Promise<Token> {
  if (client_id === undefined || client_secret === undefined) {
    throw new Error('a service principal of Databricks has client_id and client_secret');
  }
  const { protocol, hostname } = new URL(origin);
  if (protocol !== 'https:' || !DOMAINS.some((domain) => hostname.endsWith(`.${domain}`))) {
    throw new Error(`${origin} is no workspace of Databricks, to which alone a service principal's secret is sent`);
  }
  const answer = await surroundings.fetchBound(`${origin}/oidc/v1/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${client_id.reveal()}:${client_secret.reveal()}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: 'grant_type=client_credentials&scope=all-apis',
  });
  const from = `the workspace ${hostname}`;
  return readToken(await readTokenAnswer(answer, from), surroundings.nowMs(), from);
}

export function createDatabricks(surroundings: Surroundings): RemoteKind {
  const memory = new BetaMemory();
  const tokenOf = perCredential(
    ({ secrets }, origin) =>
      new TokenCache(
        'the Databricks access token',
        () => exchangePrincipal(origin, secrets, surroundings),
        surroundings,
      ),
  );

  /** Adds the token of a service principal; a token of the configuration is in every request. */
  function authorize(
    request: FinalRequest,
    credential: RequestCredential,
    note: (discard: () => boolean) => void,
  ): Promise<void> | void {
    if (credential.secrets.api_key !== undefined) return;
    const cache = tokenOf(credential, new URL(request.url).origin);
    return cache.use((token) => {
      note(() => cache.discard(token));
      credential.hide(token.secret);
      request.headers.push(['authorization', `Bearer ${token.secret.reveal()}`]);
    });
  }

  const kind: RemoteKind = {
    name: 'databricks',
    title: 'Databricks',
    speaks: 'chat completions, and messages for Claude',
    protocols: ['chat', 'messages'],
    protocolsOf: (model) => (/claude/i.test(model) ? ['chat', 'messages'] : ['chat']),
    quirks: NO_QUIRKS,
    takes: ['base_url', 'timeouts'],
    secrets: [{ ...API_KEY, mayBeNone: false, hint: 'Instead of a service principal.' }, ...PRINCIPAL],
    settings: [],
    framing: () => SSE,
    checkConfig,
    chatTraits: compatibleTraits,
    vendorHost: null,
    local: null,
    completeBaseUrl: (url) => url.replace(/\/serving-endpoints(?:\/anthropic(?:\/v1)?)?$/, ''),
    endpoint(protocol, operation) {
      if (operation === 'count_tokens') return null;
      return protocol === 'messages'
        ? '/serving-endpoints/anthropic/v1/messages'
        : '/serving-endpoints/chat/completions';
    },
    listing: { path: '/api/2.0/serving-endpoints', headers: [], read: readEndpoints },
    headers: ({ api_key }) => (api_key === undefined ? [] : [['authorization', `Bearer ${api_key.reveal()}`]]),
    authorize: (request, credential) => authorize(request, credential, () => undefined),
    openAttempt(request, { key, send }, listener) {
      const { note, renew } = startRenewal();
      const noting: Door['authorize'] = (final, by) => authorize(final, by, note);
      return openHostedAttempt({ request, key, memory, renew, open: (next) => send(kind, next, noting) }, listener);
    },
  };
  return kind;
}

export const databricks: RemoteKind = createDatabricks(SURROUNDINGS);

/** The endpoints that chat, by their names. */
function readEndpoints(answer: unknown): readonly OfferedModel[] | null {
  const list = asObject(answer)?.endpoints;
  if (!Array.isArray(list)) return null;
  return asArray(list).flatMap((one) => {
    const { name, task } = asObject(one) ?? {};
    return typeof name === 'string' && task === 'llm/v1/chat' ? { model: name } : [];
  });
}

function checkConfig({ secrets }: GivenProvider): readonly MemberFault[] {
  const missing = PRINCIPAL.filter(({ name }) => secrets[name] === undefined);
  if (secrets.api_key !== undefined) {
    if (missing.length === PRINCIPAL.length) return [];
    const found = 'api_key together with a service principal';
    return [{ member: 'api_key', found, expected: 'one of the two', advice: 'Remove one.' }];
  }
  if (missing.length === PRINCIPAL.length) {
    const expected = 'api_key, or client_id and client_secret';
    return [{ member: 'api_key', found: 'no credential', expected, advice: `Add api_key: \${DATABRICKS_TOKEN}.` }];
  }
  return missing.map(({ name }) => ({
    member: name,
    found: `no ${name}`,
    expected: 'client_id with client_secret',
    advice: `Add ${name}.`,
  }));
}
