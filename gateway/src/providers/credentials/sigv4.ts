/**
 * Signs requests with AWS Signature Version 4: the signature covers the host, the time, the body and the headers that
 * AWS reads. Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 * (2026-11-22), compared with botocore 1.44.5.
 */
import { createHash, createHmac } from 'node:crypto';
import type { Secret } from '../../lib/secret.ts';
import type { FinalRequest } from '../provider.ts';

/** An access key; with a session token it is a temporary one. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  readonly sessionToken: Secret | null;
}

/** The region and service that a signature is valid for: `eu-central-1`, `bedrock`. */
export interface SigningScope {
  readonly region: string;
  readonly service: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** Adds `x-amz-date`, the session token and `authorization` to the headers. `atMs`: unix milliseconds. */
export function signRequest(request: FinalRequest, keys: AwsKeys, scope: SigningScope, atMs: number): void {
  const date = renderDate(atMs);
  request.headers.push(['x-amz-date', date]);
  if (keys.sessionToken !== null) request.headers.push(['x-amz-security-token', keys.sessionToken.reveal()]);
  const { text, signed } = renderCanonical(request);
  const day = date.slice(0, 8);
  const within = `${day}/${scope.region}/${scope.service}/aws4_request`;
  const toSign = `${ALGORITHM}\n${date}\n${within}\n${sha256(text)}`;
  const signature = hmac(signingKey(keys, day, scope), toSign).toString('hex');
  request.headers.push([
    'authorization',
    `${ALGORITHM} Credential=${keys.accessKeyId}/${within}, SignedHeaders=${signed}, Signature=${signature}`,
  ]);
}

/** `YYYYMMDDTHHMMSSZ`. */
function renderDate(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
}

/** The canonical request, and the names of its signed headers. */
export function renderCanonical({ method, url, headers, body }: FinalRequest) {
  const address = url.slice(url.indexOf('/', url.indexOf('://') + 3));
  const queryAt = address.indexOf('?');
  const path = queryAt === -1 ? address : address.slice(0, queryAt);
  const query = queryAt === -1 ? '' : address.slice(queryAt + 1);
  const lines = readSignedHeaders(headers);
  const names = [...lines.keys()].sort();
  const signed = names.join(';');
  const rendered = names.map((name) => `${name}:${lines.get(name)}\n`).join('');
  return {
    text: `${method}\n${renderPath(path)}\n${renderQuery(query)}\n${rendered}\n${signed}\n${sha256(body)}`,
    signed,
  };
}

/** The values of the headers that are signed; those that a proxy may change are not. */
function readSignedHeaders(headers: FinalRequest['headers']): ReadonlyMap<string, string> {
  const lines = new Map<string, string>();
  for (const [written, value] of headers) {
    const name = written.toLowerCase();
    if (!isSigned(name)) continue;
    const trimmed = value.trim().replace(/\s+/g, ' ');
    const earlier = lines.get(name);
    lines.set(name, earlier === undefined ? trimmed : `${earlier},${trimmed}`);
  }
  return lines;
}

function isSigned(name: string): boolean {
  return name === 'host' || name === 'content-type' || name.startsWith('x-amz') || name.startsWith('anthropic-');
}

/** Every service but S3 signs the path of the wire, which is encoded already, encoded once more. */
function renderPath(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(encodeSegment(segment));
  }
  return `/${segments.join('/')}${path.endsWith('/') && segments.length > 0 ? '/' : ''}`;
}

/** Percent-encodes all but the unreserved characters of RFC 3986. */
export function encodeSegment(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The pairs of an encoded query, sorted by name, then by value. */
function renderQuery(query: string): string {
  if (query === '') return '';
  const pairs = query.split('&').map((pair) => {
    const at = pair.indexOf('=');
    return at === -1 ? ([pair, ''] as const) : ([pair.slice(0, at), pair.slice(at + 1)] as const);
  });
  pairs.sort(([name, value], [otherName, otherValue]) => order(name, otherName) || order(value, otherValue));
  return pairs.map(([name, value]) => `${name}=${value}`).join('&');
}

/** By code unit, for encoded texts the order of their bytes. */
function order(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

interface KnownKey {
  readonly secret: string;
  readonly key: Buffer;
}

/** A day's key of each scope in use; the keys of past days are dropped with the rest once there are too many. */
const KNOWN_KEYS_MAX = 256;
const knownKeys = new Map<string, KnownKey>();

function signingKey({ accessKeyId, secretAccessKey }: AwsKeys, day: string, { region, service }: SigningScope): Buffer {
  const name = `${accessKeyId}/${day}/${region}/${service}`;
  const secret = secretAccessKey.reveal();
  const known = knownKeys.get(name);
  if (known?.secret === secret) return known.key;
  const steps = [day, region, service, 'aws4_request'];
  const key = steps.reduce((from: Buffer, step) => hmac(from, step), Buffer.from(`AWS4${secret}`));
  if (knownKeys.size >= KNOWN_KEYS_MAX) knownKeys.clear();
  knownKeys.set(name, { secret, key });
  return key;
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}
