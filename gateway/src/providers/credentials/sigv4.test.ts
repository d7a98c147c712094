/** Tests sigv4.ts on 500 requests that botocore signed (see fixtures/sigv4/generate.py) and on the published vectors. */
import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '../../lib/secret.ts';
import type { FinalRequest, HeaderLine } from '../provider.ts';
import { encodeSegment, renderCanonical, signRequest } from './sigv4.ts';

interface Golden {
  readonly method: FinalRequest['method'];
  readonly url: string;
  readonly headers: readonly HeaderLine[];
  readonly body: string;
  readonly akid: string;
  readonly secret: string;
  readonly token: string | null;
  readonly region: string;
  readonly service: string;
  readonly at: number;
  readonly canonical: string;
  readonly authorization: string;
}

const GOLDEN = join(import.meta.dir, '../../../test/fixtures/sigv4/golden.jsonl');
const golden = readFileSync(GOLDEN, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Golden);

function sign({
  method,
  url,
  headers,
  body,
  akid,
  secret,
  token,
  region,
  service,
  at,
}: Omit<Golden, 'canonical' | 'authorization'>) {
  const host = url.slice('https://'.length, url.indexOf('/', 'https://'.length));
  const request = { method, url, headers: [['host', host], ...headers] as HeaderLine[], body: Buffer.from(body) };
  const keys = {
    accessKeyId: akid,
    secretAccessKey: new Secret(secret),
    sessionToken: token === null ? null : new Secret(token),
  };
  signRequest(request, keys, { region, service }, at);
  const authorization = request.headers.pop()?.[1];
  return { authorization, canonical: sha256(renderCanonical(request).text), headers: request.headers };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const VECTOR_31 = {
  method: 'POST',
  url: 'https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-sonnet-4-6-v1%3A0/converse',
  headers: [['content-type', 'application/json']],
  body: '{"messages":[{"role":"user","content":[{"text":"hi"}]}]}',
  akid: 'AKIDEXAMPLE',
  secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  token: null,
  region: 'us-east-1',
  service: 'bedrock',
  at: Date.UTC(2026, 10, 22, 12),
} as const;

describe('the signature of botocore', () => {
  test('is that of each of 500 requests', () => {
    expect(golden).toHaveLength(500);
    for (const { canonical, authorization, ...request } of golden) {
      const signed = sign(request);
      expect([request.url, signed.canonical, signed.authorization]).toEqual([request.url, canonical, authorization]);
    }
  });

  test('covers every kind of request', () => {
    const share = (holds: (one: Golden) => boolean) => golden.filter(holds).length;
    expect(share(({ token }) => token !== null)).toBeGreaterThan(100);
    expect(share(({ url }) => url.includes('arn%3Aaws'))).toBeGreaterThan(50);
    expect(share(({ url }) => url.includes('?'))).toBeGreaterThan(20);
    expect(share(({ url }) => /\/\.\.\/|\/\/[^/]*$/.test(url))).toBeGreaterThan(20);
    expect(new Set(golden.map(({ service }) => service)).size).toBeGreaterThan(3);
    expect(new Set(golden.map(({ region }) => region)).size).toBe(9);
  });

  test('vector 31: the path is encoded twice', () => {
    const { authorization, canonical } = sign(VECTOR_31);
    expect(canonical).toBe('b27fbc1aa8f7411d0e98719808f8496ee6035f4615901d8a952749610b28510c');
    expect(authorization).toBe(
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261122/us-east-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=0cf58e9e828a379dea08a8c3b6428d49da063270571730ccd8404ff1d6a3028d',
    );
  });

  test('vector 32: a session token is signed', () => {
    const { authorization, canonical } = sign({
      ...VECTOR_31,
      akid: 'ASIAEXAMPLE',
      token: 'AQoDYXdzEPT//////////wEXAMPLE',
      region: 'eu-central-1',
      url: 'https://bedrock-runtime.eu-central-1.amazonaws.com/model/arn%3Aaws%3Abedrock%3Aeu-central-1%3A123456789012%3Aapplication-inference-profile%2Fabc123/converse-stream',
    });
    expect(canonical).toBe('22d69a2d13b199e7d54d94beeb180ab90954be4a94a15650c5a883ef14d970e7');
    expect(authorization).toEndWith(
      'SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=533708d0f08fe1fc8e14444f19653f798254c7f16795bc9ea234f07c5156bde3',
    );
  });

  test('vector 33: headers of Anthropic are signed', () => {
    const { authorization, canonical } = sign({
      ...VECTOR_31,
      service: 'bedrock-mantle',
      url: 'https://bedrock-mantle.us-east-1.api.aws/anthropic/v1/messages',
      headers: [...VECTOR_31.headers, ['anthropic-version', '2023-06-01']],
      body: '{"model":"anthropic.claude-opus-4-8","max_tokens":1,"messages":[]}',
    });
    expect(canonical).toBe('a8cda7792eaf60f3ab85fae0e7d835d7d860aaec3511105cd1d3681935ca7340');
    expect(authorization).toEndWith('Signature=06d8c7e10680bcda765dc647df7a622292707a909dc9db175388936ba89dbc50');
  });

  test('vector 34: a path that is encoded once has another signature', () => {
    const url = decodeURIComponent(VECTOR_31.url);
    expect(sign({ ...VECTOR_31, url }).authorization).not.toBe(sign(VECTOR_31).authorization);
  });
});

test('does not cover headers that a proxy may change', () => {
  const others: HeaderLine[] = ['user-agent', 'accept', 'traceparent', 'content-length', 'connection'].map((name) => [
    name,
    '1',
  ]);
  const signed = sign({ ...VECTOR_31, headers: [...VECTOR_31.headers, ...others] });
  expect(signed.authorization).toBe(sign(VECTOR_31).authorization ?? '');
});

test('of another secret with the same key id is another signature', () => {
  const first = sign(VECTOR_31).authorization;
  expect(sign({ ...VECTOR_31, secret: 'another' }).authorization).not.toBe(first ?? '');
  expect(sign(VECTOR_31).authorization).toBe(first ?? '');
});

test('an id of a model is one segment of the path', () => {
  expect(encodeSegment("arn:aws:x/y (1)*'!~é")).toBe('arn%3Aaws%3Ax%2Fy%20%281%29%2A%27%21~%C3%A9');
});
