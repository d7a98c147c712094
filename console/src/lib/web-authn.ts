/**
 * Owns the talk with the browser about passkeys: the API's JSON on one side, `navigator.credentials` with its bytes on the
 * other. Bytes are base64url without padding, as WebAuthn's JSON forms have them (Level 3, 5.1.8–5.1.9).
 */

/** A WebAuthn message as the API takes and gives it. */
export type WebAuthnJson = Readonly<Record<string, unknown>>;

/** What the browser or the person did not do, in words that can be shown. */
export class PasskeyFailure extends Error {}

export function canUsePasskeys(): boolean {
  return typeof PublicKeyCredential === 'function' && isSecureContext;
}

/** Has the browser make a passkey. @throws PasskeyFailure */
export async function makePasskey(options: WebAuthnJson): Promise<WebAuthnJson> {
  const credential = await orFailure(navigator.credentials.create({ publicKey: creationOptions(options) }));
  return credentialJson(credential);
}

/** Has the browser sign in by a passkey. @throws PasskeyFailure */
export async function askPasskey(options: WebAuthnJson): Promise<WebAuthnJson> {
  const credential = await orFailure(navigator.credentials.get({ publicKey: requestOptions(options) }));
  return credentialJson(credential);
}

async function orFailure(asked: Promise<Credential | null>): Promise<PublicKeyCredential> {
  const credential = await asked.catch((cause: unknown) => {
    throw new PasskeyFailure(reasonOf(cause), { cause });
  });
  // Not `instanceof`: password managers put their own objects in its place.
  if (credential?.type !== 'public-key') throw new PasskeyFailure('The browser gave no passkey. Try again.');
  return credential as PublicKeyCredential;
}

function reasonOf(cause: unknown): string {
  const name = cause instanceof Error ? cause.name : '';
  switch (name) {
    case 'NotAllowedError':
    case 'AbortError':
      return 'No passkey was given: it was cancelled or took too long. Try again.';
    case 'InvalidStateError':
      return 'This device has a passkey for this account already.';
    case 'SecurityError':
      return `Passkeys do not work at ${location.host}: they need https and a host name. Open the console by its public address.`;
    default:
      return `The browser could not use a passkey (${cause instanceof Error ? cause.message : String(cause)}).`;
  }
}

export function creationOptions(json: WebAuthnJson): PublicKeyCredentialCreationOptions {
  const { challenge, user, excludeCredentials } = json as {
    challenge: string;
    user: { id: string };
    excludeCredentials?: readonly { id: string }[];
  };
  return {
    ...json,
    challenge: fromBase64Url(challenge),
    user: { ...user, id: fromBase64Url(user.id) },
    excludeCredentials: (excludeCredentials ?? []).map(withBytes),
  } as unknown as PublicKeyCredentialCreationOptions;
}

export function requestOptions(json: WebAuthnJson): PublicKeyCredentialRequestOptions {
  const { challenge, allowCredentials } = json as { challenge: string; allowCredentials?: readonly { id: string }[] };
  return {
    ...json,
    challenge: fromBase64Url(challenge),
    allowCredentials: (allowCredentials ?? []).map(withBytes),
  } as unknown as PublicKeyCredentialRequestOptions;
}

function withBytes(descriptor: { readonly id: string }) {
  return { ...descriptor, id: fromBase64Url(descriptor.id) };
}

/** What the browser made, with its bytes as text. */
export function credentialJson(credential: PublicKeyCredential): WebAuthnJson {
  const { response } = credential;
  return {
    id: credential.id,
    rawId: toBase64Url(credential.rawId),
    type: credential.type,
    authenticatorAttachment: credential.authenticatorAttachment ?? undefined,
    clientExtensionResults: credential.getClientExtensionResults(),
    response: {
      clientDataJSON: toBase64Url(response.clientDataJSON),
      ...('attestationObject' in response
        ? attestationJson(response as AuthenticatorAttestationResponse)
        : assertionJson(response as AuthenticatorAssertionResponse)),
    },
  };
}

function attestationJson(response: AuthenticatorAttestationResponse): WebAuthnJson {
  return {
    attestationObject: toBase64Url(response.attestationObject),
    transports: response.getTransports?.() ?? [],
  };
}

function assertionJson(response: AuthenticatorAssertionResponse): WebAuthnJson {
  return {
    authenticatorData: toBase64Url(response.authenticatorData),
    signature: toBase64Url(response.signature),
    ...(response.userHandle === null ? {} : { userHandle: toBase64Url(response.userHandle) }),
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
