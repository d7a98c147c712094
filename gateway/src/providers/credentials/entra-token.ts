/**
 * Gets access tokens of Microsoft Entra ID: by the secret of an application, by the token of a workload, or from the
 * machine's managed identity. Source: https://learn.microsoft.com/entra/identity-platform
 * (2026-11-22).
 */
import type { RequestCredential } from '../provider.ts';
import { readText, type Surroundings } from './surroundings.ts';
import { readToken, readTokenAnswer } from './token-answer.ts';
import type { Token } from './token-cache.ts';

/** One of Azure's clouds: where its tokens come from, and what its hosts and audiences end in. */
interface Cloud {
  readonly suffix: string;
  readonly login: string;
}

const PUBLIC: Cloud = { suffix: 'azure.com', login: 'login.microsoftonline.com' };
const CLOUDS: readonly Cloud[] = [
  PUBLIC,
  { suffix: 'azure.us', login: 'login.microsoftonline.us' },
  { suffix: 'azure.cn', login: 'login.partner.microsoftonline.cn' },
];

/** What a token is for: `cognitiveservices` for Azure OpenAI, `ai` for Foundry. */
export type Audience = 'cognitiveservices' | 'ai';

/** The address that a token is for, such as `https://ai.azure.com`. `host`: of the request; of no cloud: the public one. */
export function audienceOf(audience: Audience, host: string): string {
  const cloud = CLOUDS.find(({ suffix }) => host.endsWith(`.${suffix}`)) ?? PUBLIC;
  return `https://${audience}.${cloud.suffix}`;
}

/** Rejects with a sentence without any secret. `audience`: as `audienceOf` gave it. */
export async function exchangeEntra(
  { secrets, source }: Pick<RequestCredential, 'secrets' | 'source'>,
  audience: string,
  surroundings: Surroundings,
): Promise<Token> {
  if (source === 'managed_identity') return askIdentity(audience, surroundings);
  if (source === 'workload') return exchangeWorkload(audience, surroundings);
  const { tenant_id, client_id, client_secret } = secrets;
  if (tenant_id === undefined || client_id === undefined || client_secret === undefined) {
    throw new Error('an Entra ID credential has tenant_id, client_id and client_secret');
  }
  const { login } = CLOUDS.find(({ suffix }) => audience.endsWith(`.${suffix}`)) ?? PUBLIC;
  const proof = { client_secret: client_secret.reveal() };
  return post(login, tenant_id.reveal(), client_id.reveal(), proof, audience, surroundings);
}

async function exchangeWorkload(audience: string, surroundings: Surroundings): Promise<Token> {
  const { environment } = surroundings;
  const tenant = need(environment, 'AZURE_TENANT_ID');
  const client = need(environment, 'AZURE_CLIENT_ID');
  const file = need(environment, 'AZURE_FEDERATED_TOKEN_FILE');
  const authority = environment.AZURE_AUTHORITY_HOST || `https://${PUBLIC.login}`;
  const login = URL.parse(authority)?.host;
  if (!authority.startsWith('https://') || !CLOUDS.some((cloud) => cloud.login === login)) {
    throw new Error(`AZURE_AUTHORITY_HOST is not one of ${CLOUDS.map((cloud) => cloud.login).join(', ')}`);
  }
  // Read at each exchange: the platform renews it.
  const assertion = await readText(surroundings, file, 'the file of AZURE_FEDERATED_TOKEN_FILE');
  const proof = {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion.trim(),
  };
  return post(login ?? '', tenant, client, proof, audience, surroundings);
}

function need(environment: Surroundings['environment'], name: string): string {
  const value = environment[name];
  if (!value) throw new Error(`credentials: workload needs the variable ${name}`);
  return value;
}

/** It becomes a part of the address. */
export const TENANT = /^[A-Za-z0-9][A-Za-z0-9.-]{0,127}$/;

async function post(
  login: string,
  tenant: string,
  client_id: string,
  proof: Readonly<Record<string, string>>,
  audience: string,
  surroundings: Surroundings,
): Promise<Token> {
  if (!TENANT.test(tenant)) throw new Error('the tenant of Entra ID is neither an id nor a domain');
  const form = { grant_type: 'client_credentials', client_id, scope: `${audience}/.default`, ...proof };
  const answer = await surroundings.fetchBound(`https://${login}/${tenant}/oauth2/v2.0/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  });
  const from = `Microsoft Entra ID (${login})`;
  return readToken(await readTokenAnswer(answer, from), surroundings.nowMs(), from);
}

const METADATA = 'http://169.254.169.254/metadata/identity/oauth2/token';
const IDENTITY_MS = 3_000;

/** App Service and Container Apps name an address of their own; virtual machines have the metadata server. */
async function askIdentity(audience: string, surroundings: Surroundings): Promise<Token> {
  const { environment, fetchBound } = surroundings;
  const { IDENTITY_ENDPOINT: own, IDENTITY_HEADER: proof, AZURE_CLIENT_ID: client } = environment;
  const isOwn = Boolean(own && proof);
  const query = new URLSearchParams({ 'api-version': isOwn ? '2019-08-01' : '2018-02-01', resource: audience });
  if (client) query.set('client_id', client);
  const from = 'the managed identity of this machine';
  const headers: Record<string, string> = isOwn ? { 'x-identity-header': proof ?? '' } : { metadata: 'true' };
  const url = isOwn ? (own ?? '') : METADATA;
  const answer = await fetchBound(`${url}?${query}`, { headers, signal: AbortSignal.timeout(IDENTITY_MS) }).catch(
    (error: unknown) => {
      throw new Error(`${from} was not reached: ${error instanceof Error ? error.message : String(error)}`);
    },
  );
  const found = await readTokenAnswer(answer, from);
  const nowMs = surroundings.nowMs();
  // App Service tells the time of the end alone, in unix seconds.
  const endSeconds = Number(found.expires_on ?? Number.NaN);
  const left = found.expires_in ?? (Number.isNaN(endSeconds) ? undefined : endSeconds - nowMs / 1000);
  return readToken({ ...found, expires_in: left }, nowMs, from);
}
