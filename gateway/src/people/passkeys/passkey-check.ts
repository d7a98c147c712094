/**
 * Verifies new passkeys and passkey signatures with the WebAuthn library: created and used only on our page, for our
 * challenge, with user presence and verification. `load-passkey-check.ts` loads it.
 */
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';
import { decodeAttestationObject, isoBase64URL } from '@simplewebauthn/server/helpers';
import type { PasskeyRow } from '../../store/ports/people.ts';
import { ALGORITHMS, type MadePasskey, type SignedByPasskey } from './passkey-challenges.ts';
import type { RelyingParty } from './relying-party.ts';

interface Expected {
  readonly challenge: string;
  readonly party: RelyingParty;
}

/** The columns to store for a new passkey. @throws Error that says what is wrong with it */
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
  if (!verified) throw new Error('its attestation has an invalid signature');
  const { credential } = registrationInfo;
  return {
    credential: credential.id,
    public_key: isoBase64URL.fromBuffer(credential.publicKey),
    counter: credential.counter,
  };
}

/** The new signature counter. @throws Error that says what is wrong with the signature */
export async function checkSigned(
  { id, response }: SignedByPasskey,
  { person, credential, public_key, counter }: PasskeyRow,
  { challenge, party }: Expected,
): Promise<number> {
  if (Buffer.from(response.userHandle, 'base64url').toString() !== person)
    throw new Error('it belongs to another user');
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} },
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    credential: { id: credential, publicKey: isoBase64URL.toBuffer(public_key), counter },
    requireUserVerification: true,
  });
  if (!verified) throw new Error('its signature is invalid');
  return authenticationInfo.newCounter;
}

/**
 * Refuses attestation certificates: the options ask for none, and for some the library would fetch an address chosen by
 * the caller.
 */
function refuseCertificates(attestationObject: string): void {
  const decoded = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
  const format = decoded.get('fmt');
  if (format === 'none' || (format === 'packed' && decoded.get('attStmt').get('x5c') === undefined)) return;
  throw new Error(`it has an attestation (${String(format).slice(0, 30)}), expected none`);
}
