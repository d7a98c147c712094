/** Implements a software authenticator behind a browser: ES256, one passkey, and any false value that a test needs. */
import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import type { Body, Reply } from '../contract/contract.ts';

/** False values that replace the true ones. */
export interface Lies {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly userHandle?: string;
  /** Without user verification. */
  readonly isLocked?: true;
  /** An attestation statement and its format. */
  readonly statement?: { readonly format: string; readonly members: ReadonlyMap<string, Cbor> };
}

export interface SoftAuthenticator {
  readonly id: string;
  /** The number of signatures; a test may set it back. */
  counter: number;
  make(options: Reply<'POST /me/passkeys/options'>, lies?: Lies): Body<'POST /me/passkeys'>['response'];
  sign(options: Reply<'POST /sign-in/passkey/options'>, lies?: Lies): Body<'POST /sign-in/passkey'>['response'];
}

type Cbor = number | string | Uint8Array | readonly Cbor[] | ReadonlyMap<number | string, Cbor>;

/** PRESENT | VERIFIED | ATTESTED, WebAuthn Level 3, 6.1. */
const [PRESENT, VERIFIED, ATTESTED] = [1, 4, 64];

/** `pageOrigin`: the origin of the browser's page. */
export function openAuthenticator(pageOrigin: string): SoftAuthenticator {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const credential = randomBytes(32);
  let user = '';

  const coseKey = (): ReadonlyMap<number, Cbor> => {
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    const entries: [number, Cbor][] = [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ];
    return new Map(entries);
  };
  const clientData = (type: string, options: { readonly challenge: string }, lies: Lies) =>
    Buffer.from(
      JSON.stringify({
        type,
        challenge: lies.challenge ?? options.challenge,
        origin: lies.origin ?? pageOrigin,
        crossOrigin: false,
      }),
    );
  const head = (rpId: string, flags: number, lies: Lies) => {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(authenticator.counter);
    const proof = lies.isLocked === true ? flags : flags | VERIFIED;
    return Buffer.concat([sha256(lies.rpId ?? rpId), Buffer.from([proof | PRESENT]), count]);
  };

  const authenticator: SoftAuthenticator = {
    id: credential.toString('base64url'),
    counter: 1,
    make(options, lies = {}) {
      user = options.user.id;
      const length = Buffer.from([0, credential.length]);
      const attested = Buffer.concat([Buffer.alloc(16), length, credential, encodeCbor(coseKey())]);
      const { format, members } = lies.statement ?? { format: 'none', members: new Map() };
      const attestation = new Map<string, Cbor>([
        ['fmt', format],
        ['attStmt', members],
        ['authData', Buffer.concat([head(options.rp.id, ATTESTED, lies), attested])],
      ]);
      return {
        id: authenticator.id,
        type: 'public-key',
        response: {
          clientDataJSON: clientData('webauthn.create', options, lies).toString('base64url'),
          attestationObject: encodeCbor(attestation).toString('base64url'),
        },
      };
    },
    sign(options, lies = {}) {
      authenticator.counter += 1;
      const clientJson = clientData('webauthn.get', options, lies);
      const authenticatorData = head(options.rpId, 0, lies);
      const signature = createSign('sha256').update(authenticatorData).update(sha256(clientJson)).sign(privateKey);
      return {
        id: authenticator.id,
        type: 'public-key',
        response: {
          clientDataJSON: clientJson.toString('base64url'),
          authenticatorData: authenticatorData.toString('base64url'),
          signature: signature.toString('base64url'),
          userHandle: lies.userHandle ?? user,
        },
      };
    },
  };
  return authenticator;
}

function sha256(bytes: string | Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** The part of RFC 8949 that a passkey needs. */
function encodeCbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? cborHead(1, -1 - value) : cborHead(0, value);
  if (typeof value === 'string') return Buffer.concat([cborHead(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([cborHead(2, value.length), value]);
  if (value instanceof Map) {
    const parts = [...value].flatMap(([name, member]) => [encodeCbor(name), encodeCbor(member)]);
    return Buffer.concat([cborHead(5, value.size), ...parts]);
  }
  const members = value as readonly Cbor[];
  return Buffer.concat([cborHead(4, members.length), ...members.map(encodeCbor)]);
}

function cborHead(major: number, count: number): Buffer {
  if (count < 24) return Buffer.from([(major << 5) | count]);
  if (count < 256) return Buffer.from([(major << 5) | 24, count]);
  return Buffer.from([(major << 5) | 25, count >> 8, count & 255]);
}
