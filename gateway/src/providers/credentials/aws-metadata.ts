/** Gets temporary access keys from the metadata service of a container (ECS, EKS) or of an instance (EC2, IMDSv2). */
import { Secret } from '../../lib/secret.ts';
import { parseObject } from '../../protocols/json.ts';
import type { FoundKeys } from './aws-sts.ts';
import { isLoopback, METADATA_HOSTS, readText, type Surroundings } from './surroundings.ts';

const CONTAINER_ORIGIN = 'http://169.254.170.2';
const CONTAINER_MS = 2_000;
const CONTAINER_TRIES = 3;

/** The container's role; null: the variables of a container are not set. */
export async function findContainerKeys(surroundings: Surroundings): Promise<FoundKeys | null> {
  const { environment } = surroundings;
  const url = containerUrlOf(environment);
  if (url === null) return null;
  const token = await readContainerToken(surroundings);
  const headers = { accept: 'application/json', ...(token === null ? {} : { authorization: token.reveal() }) };
  for (let tries = 1; ; tries += 1) {
    try {
      const answer = await surroundings.fetch(url, { headers, signal: AbortSignal.timeout(CONTAINER_MS) });
      if (answer.status !== 200) throw new Error(`the container's credentials: HTTP ${answer.status}`);
      return readKeys(await answer.text(), "the container's role");
    } catch (error) {
      if (tries === CONTAINER_TRIES) throw error;
    }
  }
}

/** Only addresses that no other machine can serve, or https. */
function containerUrlOf(environment: Surroundings['environment']): string | null {
  const relative = environment.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI;
  if (relative) {
    if (!relative.startsWith('/')) throw new Error('AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is not a path');
    return CONTAINER_ORIGIN + relative;
  }
  const full = environment.AWS_CONTAINER_CREDENTIALS_FULL_URI;
  if (!full) return null;
  const { protocol, hostname } = new URL(full);
  if (protocol === 'https:' || (protocol === 'http:' && (METADATA_HOSTS.has(hostname) || isLoopback(hostname)))) {
    return full;
  }
  throw new Error(`AWS_CONTAINER_CREDENTIALS_FULL_URI names ${hostname}, which is neither https nor a metadata server`);
}

async function readContainerToken(surroundings: Surroundings): Promise<Secret | null> {
  const { environment } = surroundings;
  const file = environment.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
  const text = file
    ? await readText(surroundings, file, 'the file of AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE')
    : environment.AWS_CONTAINER_AUTHORIZATION_TOKEN;
  if (!text) return null;
  if (/[\r\n]/.test(text)) throw new Error('the authorization token of the container has several lines');
  return new Secret(text);
}

const INSTANCE = 'http://169.254.169.254/latest';
const INSTANCE_MS = 1_000;
const SESSION_SECONDS = '21600';

/** The instance's role; null: no metadata service answers, or the instance has no role. */
export async function findInstanceKeys({ environment, fetch }: Surroundings): Promise<FoundKeys | null> {
  if (environment.AWS_EC2_METADATA_DISABLED?.toLowerCase() === 'true') return null;
  const ask = async (method: string, path: string, headers: Record<string, string>) => {
    const answer = await fetch(INSTANCE + path, { method, headers, signal: AbortSignal.timeout(INSTANCE_MS) });
    return answer.status === 200 ? answer.text() : null;
  };
  const session = await ask('PUT', '/api/token', { 'x-aws-ec2-metadata-token-ttl-seconds': SESSION_SECONDS }).catch(
    () => null,
  );
  if (session === null) return null;
  const headers = { 'x-aws-ec2-metadata-token': session };
  const roles = '/meta-data/iam/security-credentials/';
  const role = (await ask('GET', roles, headers))?.trim();
  if (!role) return null;
  const text = await ask('GET', roles + encodeURIComponent(role), headers);
  if (text === null) throw new Error(`the instance has the role ${role}, and no credentials of it`);
  return readKeys(text, `the instance's role ${role}`);
}

function readKeys(text: string, from: string): FoundKeys {
  // A parser's error would quote the text.
  const found = parseObject(text) ?? {};
  const { AccessKeyId: accessKeyId, SecretAccessKey: secret, Token: token, Expiration, Code } = found;
  if (typeof accessKeyId !== 'string' || typeof secret !== 'string' || typeof token !== 'string') {
    throw new Error(`${from} has no credentials${typeof Code === 'string' ? `: ${Code}` : ''}`);
  }
  const expiresMs = typeof Expiration === 'string' ? Date.parse(Expiration) : Number.NaN;
  return {
    accessKeyId,
    secretAccessKey: new Secret(secret),
    sessionToken: new Secret(token),
    expiresMs: Number.isNaN(expiresMs) ? Number.POSITIVE_INFINITY : expiresMs,
  };
}
