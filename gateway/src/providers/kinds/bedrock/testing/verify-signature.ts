/**
 * Verifies signatures as AWS does, for fakes: written from AWS's description alone, and shares no code with the signer.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html (2026-11-22)
 */

interface Arrived {
  readonly method: string;
  /** As on the wire. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

interface Expected {
  readonly service: string;
  readonly region: string;
  /** By access key id. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The server's clock, unix milliseconds. */
  readonly nowMs: number;
}

/** AWS accepts requests of the last five minutes, and of the next five. */
const TOLERANCE_MS = 300_000;
const FORM =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;

/** The exception for a request that is not signed rightly; null: it is. */
export function findSignatureFault({ method, path, headers, body }: Arrived, expected: Expected): string | null {
  const parts = FORM.exec(headers.get('authorization') ?? '');
  if (parts === null) return 'MissingAuthenticationTokenException';
  const [, id = '', day = '', region = '', service = '', names = '', signature = ''] = parts;
  const secret = expected.secrets[id];
  if (secret === undefined) return 'UnrecognizedClientException';
  const date = headers.get('x-amz-date') ?? '';
  const atMs = Date.parse(date.replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5'));
  if (!date.startsWith(day) || !(Math.abs(atMs - expected.nowMs) <= TOLERANCE_MS)) return 'InvalidSignatureException';
  if (region !== expected.region || service !== expected.service) return 'InvalidSignatureException';
  const signed = names.split(';');
  const needed = ['host', 'x-amz-date', ...(headers.has('x-amz-security-token') ? ['x-amz-security-token'] : [])];
  if (needed.some((name) => !signed.includes(name))) return 'InvalidSignatureException';
  const twice = path.split('/').map(escapeAll).join('/');
  const lines = signed.map((name) => `${name}:${(headers.get(name) ?? '').replace(/ +/g, ' ').trim()}`);
  const canonical = [method, twice, '', ...lines, '', names, digest(body)].join('\n');
  const scope = [day, region, service, 'aws4_request'];
  let key: Uint8Array = Buffer.from(`AWS4${secret}`);
  for (const step of scope) key = mac(key, step);
  const toSign = ['AWS4-HMAC-SHA256', date, scope.join('/'), digest(canonical)].join('\n');
  return Buffer.from(mac(key, toSign)).toString('hex') === signature ? null : 'InvalidSignatureException';
}

function escapeAll(segment: string): string {
  return [...Buffer.from(segment)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9._~-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}

function digest(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex');
}

function mac(key: Uint8Array, text: string): Uint8Array {
  return new Bun.CryptoHasher('sha256', key).update(text).digest();
}
