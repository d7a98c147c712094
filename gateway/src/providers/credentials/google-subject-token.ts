/**
 * Reads the token of another issuer that an external account exchanges: from a file, from an address of the operator's
 * file, or a signed request that proves an AWS role. Source: google-auth 2.62, `google.auth.aws`, `identity_pool`.
 */
import { Secret } from '../../lib/secret.ts';
import { asText, parseObject } from '../../protocols/json.ts';
import type { HeaderLine } from '../provider.ts';
import { findAwsKeys } from './aws-sources.ts';
import type { ExternalAccount, SubjectSource } from './google-credentials.ts';
import { signRequest } from './sigv4.ts';
import { readText, type Surroundings } from './surroundings.ts';

const URL_MS = 5_000;

/** Rejects with a sentence without any secret. */
export async function readSubjectToken(
  { subject, audience }: ExternalAccount,
  surroundings: Surroundings,
): Promise<Secret> {
  if (subject.from === 'aws') return signCallerIdentity(subject, audience, surroundings);
  const from = subject.from === 'file' ? `the file ${subject.path}` : new URL(subject.url).origin;
  const text =
    subject.from === 'file' ? await readText(surroundings, subject.path, from) : await ask(subject, from, surroundings);
  const token = subject.field === null ? asText(text.trim()) : asText(parseObject(text)?.[subject.field]);
  if (token === null) throw new Error(`${from} has no subject token${subject.field === null ? '' : ' in its member'}`);
  return new Secret(token);
}

async function ask(
  { url, headers }: Extract<SubjectSource, { from: 'url' }>,
  from: string,
  { fetchBound }: Surroundings,
): Promise<string> {
  const answer = await fetchBound(url, { headers, signal: AbortSignal.timeout(URL_MS) });
  if (answer.status !== 200) throw new Error(`${from} answered ${answer.status} instead of a subject token`);
  return answer.text();
}

/** Google sends this request to AWS, which tells it the role: a signed `GetCallerIdentity`, as JSON in a URL's form. */
async function signCallerIdentity(
  source: Extract<SubjectSource, { from: 'aws' }>,
  audience: string,
  surroundings: Surroundings,
): Promise<Secret> {
  const region = await findRegion(source, surroundings);
  const keys = await findAwsKeys(surroundings, region);
  const host = `sts.${region}.amazonaws.com`;
  const url = `https://${host}?Action=GetCallerIdentity&Version=2011-06-15`;
  const headers: HeaderLine[] = [['host', host]];
  const request = { method: 'POST', url: url.replace('?', '/?'), headers, body: new Uint8Array() } as const;
  signRequest(request, keys, { region, service: 'sts' }, surroundings.nowMs());
  headers.push(['x-goog-cloud-target-resource', audience]);
  const signed = headers.map(([key, value]) => ({ key, value }));
  return new Secret(encodeURIComponent(JSON.stringify({ headers: signed, method: 'POST', url })));
}

const REGION = /^[a-z]{2}(?:-[a-z]{1,12}){1,3}-\d$/;

/** The instance's zone is its region and a letter. */
async function findRegion(
  { regionUrl, sessionUrl }: Extract<SubjectSource, { from: 'aws' }>,
  { environment, fetchBound }: Surroundings,
): Promise<string> {
  const named = environment.AWS_REGION || environment.AWS_DEFAULT_REGION;
  if (named !== undefined && REGION.test(named)) return named;
  if (regionUrl === null) throw new Error('no AWS region is known: set AWS_REGION');
  const signal = AbortSignal.timeout(URL_MS);
  const headers: Record<string, string> = {};
  if (sessionUrl !== null) {
    const session = await fetchBound(sessionUrl, {
      method: 'PUT',
      headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '300' },
      signal,
    });
    headers['x-aws-ec2-metadata-token'] = (await session.text()).trim();
  }
  const zone = (await (await fetchBound(regionUrl, { headers, signal })).text()).trim();
  const region = zone.slice(0, -1);
  if (!REGION.test(region)) throw new Error('the region_url of the external account answered no availability zone');
  return region;
}
