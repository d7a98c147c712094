/** Gets temporary access keys of a role from AWS STS: with other keys, or with the token of a web identity. */
import { Secret } from '../../lib/secret.ts';
import type { FinalRequest } from '../provider.ts';
import { type AwsKeys, signRequest } from './sigv4.ts';
import type { Surroundings } from './surroundings.ts';
import type { Expiring } from './token-cache.ts';

/** Access keys as a source gives them. */
export interface FoundKeys extends AwsKeys, Expiring {}

/** The suffix of AWS's hosts in the partition of a region. */
export function dnsSuffixOf(region: string): string {
  if (region.startsWith('cn-')) return 'amazonaws.com.cn';
  return region.startsWith('eusc-') ? 'amazonaws.eu' : 'amazonaws.com';
}

const TIMEOUT_MS = 5_000;
const DEFAULT_SESSION_NAME = 'tollgate';

export interface AssumedRole {
  readonly arn: string;
  readonly sessionName: string | undefined;
  readonly externalId?: string | undefined;
  readonly durationSeconds?: string | undefined;
}

/** Assumes a role with other keys, which sign the request. */
export function assumeRole(
  surroundings: Surroundings,
  region: string,
  role: AssumedRole,
  keys: AwsKeys,
): Promise<FoundKeys> {
  const form = formOf('AssumeRole', role);
  if (role.externalId !== undefined) form.set('ExternalId', role.externalId);
  if (role.durationSeconds !== undefined) form.set('DurationSeconds', role.durationSeconds);
  return request(surroundings, region, form, role.arn, (final) => {
    signRequest(final, keys, { region, service: 'sts' }, surroundings.nowMs());
  });
}

/** Exchanges the token of a web identity; the request is not signed. */
export function assumeRoleWithWebIdentity(
  surroundings: Surroundings,
  region: string,
  role: AssumedRole,
  token: Secret,
): Promise<FoundKeys> {
  const form = formOf('AssumeRoleWithWebIdentity', role);
  form.set('WebIdentityToken', token.reveal());
  return request(surroundings, region, form, role.arn, () => undefined);
}

function formOf(action: string, { arn, sessionName }: AssumedRole): URLSearchParams {
  const names = { RoleArn: arn, RoleSessionName: sessionName ?? DEFAULT_SESSION_NAME };
  return new URLSearchParams({ Action: action, Version: '2011-06-15', ...names });
}

async function request(
  { fetch }: Surroundings,
  region: string,
  form: URLSearchParams,
  arn: string,
  sign: (final: FinalRequest) => void,
): Promise<FoundKeys> {
  const host = `sts.${region}.${dnsSuffixOf(region)}`;
  const body = Buffer.from(form.toString());
  const final: FinalRequest = {
    method: 'POST',
    url: `https://${host}/`,
    headers: [
      ['host', host],
      ['content-type', 'application/x-www-form-urlencoded; charset=utf-8'],
    ],
    body,
  };
  sign(final);
  const { method, url } = final;
  const headers = final.headers.map(([name, value]): [string, string] => [name, value]);
  const answer = await fetch(url, { method, headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) });
  const text = await answer.text();
  if (answer.status !== 200) {
    const code = textIn(text, 'Code') ?? `HTTP ${answer.status}`;
    throw new Error(
      `AWS STS in ${region} refused the role ${arn}: ${code}: ${textIn(text, 'Message') ?? 'no message'}`,
    );
  }
  return readKeys(text, `the role ${arn}`);
}

function readKeys(xml: string, from: string): FoundKeys {
  const [accessKeyId, secret, token] = ['AccessKeyId', 'SecretAccessKey', 'SessionToken'].map((name) =>
    textIn(xml, name),
  );
  const expiresMs = Date.parse(textIn(xml, 'Expiration') ?? '');
  if (!accessKeyId || !secret || !token || Number.isNaN(expiresMs)) {
    throw new Error(`AWS STS answered for ${from} without credentials`);
  }
  return { accessKeyId, secretAccessKey: new Secret(secret), sessionToken: new Secret(token), expiresMs };
}

/** The text of the first element of that name; what is read here has no markup inside. */
function textIn(xml: string, name: string): string | null {
  const start = xml.indexOf(`<${name}>`);
  if (start === -1) return null;
  const from = start + name.length + 2;
  const end = xml.indexOf('<', from);
  return end === -1 ? null : xml.slice(from, Math.min(end, from + 4_096)).trim();
}
