/** Owns the messages between us and a browser about passkeys, in the JSON of WebAuthn (Level 3, 5.1.8–5.1.9). Bytes are base64url. */
import { CHALLENGE_MS } from './passkey-challenges.ts';
import type { RelyingParty } from './relying-party.ts';

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
export const ALGORITHMS = [-7, -8, -257];

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
