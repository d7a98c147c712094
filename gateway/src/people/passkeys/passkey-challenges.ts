/**
 * Issues and checks the challenges that passkeys sign, and renders the options for the browser (WebAuthn Level 3,
 * 5.1.8–5.1.9). A challenge is stored in a signed cookie of the browser, is valid for five minutes and one purpose, and
 * can be used once. Only used challenges take memory, so a flood of requests for new ones takes none.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { type Arrival, COOKIE_PREFIX, readCookies, sendCookies } from '../sign-in/auth-cookies.ts';
import type { RelyingParty } from './relying-party.ts';

export interface PasskeyChallenges {
  /** A new challenge, 256 random bits in base64url. Adds its cookie to `outgoing`. */
  ask(purpose: string, arrival: Arrival, outgoing: Headers): string;
  /**
   * Uses up the challenge of the request. Null: missing, expired, used, or for another purpose. @throws ConsoleFailure
   * `too_many`
   */
  take(purpose: string, arrival: Arrival): string | null;
}

export const CHALLENGE_MS = 5 * 60_000;
const CHALLENGE_COOKIE = `${COOKIE_PREFIX}.passkey`;
/** Failed sign-ins cost waits, so people can't use this many challenges within five minutes. */
const TAKEN_MAX = 100_000;

/** `nowMs`: unix ms. */
export function createPasskeyChallenges(nowMs: () => number): PasskeyChallenges {
  // Generated at each start, which invalidates earlier challenges, because the list of used ones is lost as well.
  const key = randomBytes(32);
  /** When each challenge was used, oldest first. */
  const takenAtMs = new Map<string, number>();

  function sign(purpose: string, challenge: string, expiresAtMs: string): Buffer {
    return createHmac('sha256', key).update(`${challenge} ${expiresAtMs} ${purpose}`).digest();
  }

  function forgetOld(atMs: number): void {
    for (const [challenge, thenMs] of takenAtMs) {
      if (atMs - thenMs <= CHALLENGE_MS) return;
      takenAtMs.delete(challenge);
    }
  }

  return {
    ask(purpose, arrival, outgoing) {
      const challenge = randomBytes(32).toString('base64url');
      const expiresAtMs = String(nowMs() + CHALLENGE_MS);
      const value = `${challenge}.${expiresAtMs}.${sign(purpose, challenge, expiresAtMs).toString('base64url')}`;
      const flags = `Max-Age=${CHALLENGE_MS / 1_000}; Path=/; HttpOnly; SameSite=Strict`;
      sendCookies(new Headers({ 'set-cookie': `${CHALLENGE_COOKIE}=${value}; ${flags}` }), arrival, outgoing);
      return challenge;
    },
    take(purpose, arrival) {
      const value = readCookies(arrival).get(CHALLENGE_COOKIE) ?? '';
      const [, challenge, expiresAtMs, signature] = /^([\w-]{43})\.(\d{1,16})\.([\w-]{43})$/.exec(value) ?? [];
      if (challenge === undefined || expiresAtMs === undefined || signature === undefined) return null;
      const atMs = nowMs();
      if (!timingSafeEqual(sign(purpose, challenge, expiresAtMs), Buffer.from(signature, 'base64url'))) return null;
      if (Number(expiresAtMs) <= atMs || takenAtMs.has(challenge)) return null;
      forgetOld(atMs);
      if (takenAtMs.size >= TAKEN_MAX) {
        throw new ConsoleFailure('too_many', 'too many passkey sign-ins at the moment; try again in a minute', {
          retryAfterSeconds: 60,
        });
      }
      takenAtMs.set(challenge, atMs);
      return challenge;
    },
  };
}

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
