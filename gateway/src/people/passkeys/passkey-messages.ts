/** Renders the options for a browser's passkeys and types its answers: the JSON of WebAuthn (Level 3, 5.1.8–5.1.9), bytes as base64url. */
import { CHALLENGE_MS } from './passkey-challenges.ts';
import type { RelyingParty } from './relying-party.ts';

/** A new passkey, as the browser sends it. */
export interface MadePasskey {
  readonly id: string;
  readonly response: { readonly clientDataJSON: string; readonly attestationObject: string };
}

/** A passkey's signature, as the browser sends it. */
export interface SignedByPasskey {
  readonly id: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    /** The id of the person, which the passkey received when it was created. */
    readonly userHandle: string;
  };
}

/** COSE's ES256, EdDSA and RS256, the algorithms that authenticators support. */
export const ALGORITHMS = [-7, -8, -257];

/** The authenticator stores the passkey with the person's id, and signs only for that person. */
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

/** Accepts any passkey of this host, because the person is not known yet. */
export function renderSignOptions({ id }: RelyingParty, challenge: string) {
  return { challenge, rpId: id, timeout: CHALLENGE_MS, userVerification: 'required' as const };
}
