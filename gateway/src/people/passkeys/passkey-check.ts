/**
 * Owns what a passkey must prove, over the library that knows WebAuthn's bytes: made and used at our page alone, for our
 * challenge, by somebody who was there and unlocked it. Keeps nothing. Loaded when the first comes: it takes a tenth of a second.
 */
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import { decodeAttestationObject, isoBase64URL } from '@simplewebauthn/server/helpers';
import { parseIpAddress } from '../../lib/ip-range.ts';
import type { PasskeyRow } from '../../store/ports/people.ts';
import { CHALLENGE_MS } from './passkey-challenges.ts';

interface Expected {
  readonly challenge: string;
  readonly party: RelyingParty;
}

/** What is kept of a new passkey. @throws Error with what is wrong about it */
export async function checkMade(
  { id, response }: MadePasskey,
  { challenge, party }: Expected,
): Promise<Pick<PasskeyRow, 'credential' | 'public_key' | 'counter'>> {
  refuseCertificates(response.attestationObject);
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  });
  if (!verified) throw new Error('its statement is not signed by it');
  const { credential } = registrationInfo;
  return {
    credential: credential.id,
    public_key: isoBase64URL.fromBuffer(credential.publicKey),
    counter: credential.counter,
  };
}

/** The count that the passkey has come to. @throws Error with what is wrong about it */
export async function checkSigned(
  { id, response }: SignedByPasskey,
  { person, credential, public_key, counter }: PasskeyRow,
  { challenge, party }: Expected,
): Promise<number> {
  if (Buffer.from(response.userHandle, 'base64url').toString() !== person) throw new Error('it is somebody else’s');
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    credential: { id: credential, publicKey: isoBase64URL.toBuffer(public_key), counter },
    requireUserVerification: true,
  });
  if (!verified) throw new Error('it was not signed by it');
  return authenticationInfo.newCounter;
}

/** None is asked for, and of some the library would fetch what they name: an address that the caller chose. */
function refuseCertificates(attestationObject: string): void {
  const decoded = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
  const format = decoded.get('fmt');
  if (format === 'none' || (format === 'packed' && decoded.get('attStmt').get('x5c') === undefined)) return;
  throw new Error(`it brings the maker’s certificate (${String(format).slice(0, 30)}), expected none`);
}

/** What a browser says of a passkey that it made. */
export interface MadePasskey {
  readonly id: string;
  readonly response: { readonly clientDataJSON: string; readonly attestationObject: string };
}

/** What a browser says of a passkey that signed. */
export interface SignedByPasskey {
  readonly id: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    /** Whose it is, as it was told when it was made. */
    readonly userHandle: string;
  };
}

/** COSE's ES256, EdDSA and RS256: what authenticators know. */
const ALGORITHMS = [-7, -8, -257];

/** A passkey is kept by its authenticator with what names the person, and signs for nobody but him. */
export function renderMakeOptions(
  { id, origin }: RelyingParty,
  challenge: string,
  person: { readonly id: string; readonly name: string; readonly email: string },
  credentials: readonly string[],
) {
  return {
    challenge,
    rp: { id, name: `Tollgate at ${new URL(origin).host}` },
    user: { id: Buffer.from(person.id).toString('base64url'), name: person.email, displayName: person.name },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
    timeout: CHALLENGE_MS,
    attestation: 'none' as const,
    excludeCredentials: credentials.map((credential) => ({ type: 'public-key' as const, id: credential })),
    authenticatorSelection: {
      residentKey: 'required' as const,
      requireResidentKey: true,
      userVerification: 'required' as const,
    },
  };
}

/** Any passkey of this host will do: nobody has said who he is. */
export function renderSignOptions({ id }: RelyingParty, challenge: string) {
  return { challenge, rpId: id, timeout: CHALLENGE_MS, userVerification: 'required' as const };
}

/** What WebAuthn calls a relying party. */
export interface RelyingParty {
  /** The host, without a port. */
  readonly id: string;
  readonly origin: string;
}

/** Null where no passkey can be made: browsers make none for an IP address. `address`: what people reach the console at. */
export function relyingPartyOf(address: string): RelyingParty | null {
  const url = URL.parse(address);
  if (url === null || parseIpAddress(url.hostname.replace(/^\[|\]$/g, '')) !== null) return null;
  return { id: url.hostname, origin: url.origin };
}
