/**
 * Converts passkey requests between the API's JSON and the binary values of `navigator.credentials`. Bytes are
 * base64url without padding, as in WebAuthn's JSON forms (Level 3, 5.1.8–5.1.9).
 */
import type { Body, Reply } from '../../../gateway/src/console-api/contract/contract.ts';

type CreationOptions = Reply<'POST /me/passkeys/options'>;
type CreatedPasskey = Body<'POST /me/passkeys'>['response'];
type RequestOptions = Reply<'POST /sign-in/passkey/options'>;
type SignedByPasskey = Body<'POST /sign-in/passkey'>['response'];

/** Why the browser or the user did not complete a passkey request, as a message that can be shown. */
export class PasskeyFailure extends Error {}

export function canUsePasskeys(): boolean {
  return typeof PublicKeyCredential === 'function' && isSecureContext;
}

/** Whether the browser supports passkey autofill. */
export async function supportsPasskeyAutofill(): Promise<boolean> {
  return canUsePasskeys() && (await PublicKeyCredential.isConditionalMediationAvailable?.()) === true;
}

/** Creates a passkey. @throws PasskeyFailure */
export async function createPasskey(options: CreationOptions): Promise<CreatedPasskey> {
  const credential = await orFailure(navigator.credentials.create({ publicKey: creationOptions(options) }));
  return createdJson(credential);
}

/** Signs in with a passkey. @throws PasskeyFailure */
export async function requestPasskey(options: RequestOptions): Promise<SignedByPasskey> {
  const credential = await orFailure(navigator.credentials.get({ publicKey: requestOptions(options) }));
  return signedJson(credential);
}

/** Offers passkeys as autofill until the signal aborts; returns the chosen one. @throws PasskeyFailure */
export function requestPasskeyAutofill(options: RequestOptions, signal: AbortSignal): Promise<PublicKeyCredential> {
  return orFailure(navigator.credentials.get({ publicKey: requestOptions(options), mediation: 'conditional', signal }));
}

async function orFailure(ceremony: Promise<Credential | null>): Promise<PublicKeyCredential> {
  const credential = await ceremony.catch((cause: unknown) => {
    throw new PasskeyFailure(reasonOf(cause), { cause });
  });
  // Not `instanceof`: password managers substitute their own objects.
  if (credential?.type !== 'public-key') throw new PasskeyFailure('The browser didn’t return a passkey. Try again.');
  return credential as PublicKeyCredential;
}

function reasonOf(cause: unknown): string {
  const name = cause instanceof Error ? cause.name : '';
  switch (name) {
    case 'NotAllowedError':
    case 'AbortError':
      return 'The passkey request was canceled or timed out. Try again.';
    case 'InvalidStateError':
      return 'This device already has a passkey for this account.';
    case 'SecurityError':
      return `Passkeys don’t work at ${location.host}: they require HTTPS and a host name. Open the console at its public address.`;
    default:
      return `The browser couldn’t use a passkey (${cause instanceof Error ? cause.message : String(cause)}).`;
  }
}

export function creationOptions(json: CreationOptions): PublicKeyCredentialCreationOptions {
  return {
    ...json,
    challenge: fromBase64Url(json.challenge),
    user: { ...json.user, id: fromBase64Url(json.user.id) },
    excludeCredentials: json.excludeCredentials.map((one) => ({ ...one, id: fromBase64Url(one.id) })),
  };
}

export function requestOptions(json: RequestOptions): PublicKeyCredentialRequestOptions {
  return { ...json, challenge: fromBase64Url(json.challenge) };
}

/** A created passkey with its bytes as text. */
export function createdJson({ id, response }: PublicKeyCredential): CreatedPasskey {
  const { clientDataJSON, attestationObject } = response as AuthenticatorAttestationResponse;
  return {
    id,
    type: 'public-key',
    response: { clientDataJSON: toBase64Url(clientDataJSON), attestationObject: toBase64Url(attestationObject) },
  };
}

/** A signed passkey challenge with its bytes as text. @throws PasskeyFailure */
export function signedJson({ id, response }: PublicKeyCredential): SignedByPasskey {
  const { clientDataJSON, authenticatorData, signature, userHandle } = response as AuthenticatorAssertionResponse;
  if (userHandle === null) throw new PasskeyFailure('This passkey doesn’t identify a user. Use another one.');
  return {
    id,
    type: 'public-key',
    response: {
      clientDataJSON: toBase64Url(clientDataJSON),
      authenticatorData: toBase64Url(authenticatorData),
      signature: toBase64Url(signature),
      userHandle: toBase64Url(userHandle),
    },
  };
}

export function toBase64Url(bytes: ArrayBuffer): string {
  const letters = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join('');
  return btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const letters = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
}
