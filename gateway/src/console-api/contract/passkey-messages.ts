/** Owns the messages about passkeys as the API takes and gives them: WebAuthn's JSON (Level 3, 5.1.8–5.1.9), what of it is used. */
import { z } from 'zod';

const bytes = z.string().regex(/^[\w-]+$/, 'bytes in base64url, without padding');
/** An authenticator makes ids of at most 1023 bytes. */
const credential = bytes.max(1_364);
const type = z.literal('public-key');

/** What a browser makes. */
export const madePasskey = z.object({
  id: credential,
  type,
  response: z.object({ clientDataJSON: bytes, attestationObject: bytes }),
});

/** What a browser has signed. */
export const signedByPasskey = z.object({
  id: credential,
  type,
  response: z.object({ clientDataJSON: bytes, authenticatorData: bytes, signature: bytes, userHandle: bytes }),
});

/** What a browser makes one from. */
export const makeOptions = z.object({
  challenge: bytes,
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: bytes, name: z.string(), displayName: z.string() }),
  pubKeyCredParams: z.array(z.object({ type, alg: z.int() })),
  timeout: z.int(),
  attestation: z.literal('none'),
  excludeCredentials: z.array(z.object({ type, id: credential })),
  authenticatorSelection: z.object({
    residentKey: z.literal('required'),
    requireResidentKey: z.boolean(),
    userVerification: z.literal('required'),
  }),
});

/** What a browser has signed by any passkey of the host. */
export const signOptions = z.object({
  challenge: bytes,
  rpId: z.string(),
  timeout: z.int(),
  userVerification: z.literal('required'),
});
