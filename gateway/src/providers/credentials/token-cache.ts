/**
 * Keeps tokens that credentials were exchanged for, and renews them before they expire; all requests share one exchange.
 */
import type { Secret } from '../../lib/secret.ts';
import type { RequestCredential } from '../provider.ts';
import type { Surroundings } from './surroundings.ts';

/** A bearer token. */
export interface Token {
  readonly secret: Secret;
  /** Unix milliseconds. */
  readonly expiresMs: number;
}

/** Renewed in the background from here on: 3 min 45 s (google-auth 2.62). */
const MARGIN_MS = 225_000;
/** A token of this age that is refused says that the credential is. */
const NEW_MS = 60_000;
/** A source that failed, or that gave a token which soon expires, is not asked again at once while the token is valid. */
const PAUSE_MS = 30_000;

/** The token of one credential. `title`: of the credential, for warnings. */
export class TokenCache<Kept extends Token> {
  readonly #title: string;
  readonly #exchange: () => Promise<Kept>;
  readonly #surroundings: Pick<Surroundings, 'nowMs' | 'warn'>;
  #token: Kept | null = null;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #renewal: Promise<Kept> | null = null;

  constructor(title: string, exchange: () => Promise<Kept>, surroundings: Pick<Surroundings, 'nowMs' | 'warn'>) {
    this.#title = title;
    this.#exchange = exchange;
    this.#surroundings = surroundings;
  }

  /** A valid token, at once if it is kept. Rejects if the exchange for one fails. */
  get(): Kept | Promise<Kept> {
    const token = this.#token;
    const nowMs = this.#surroundings.nowMs();
    if (token === null || token.expiresMs <= nowMs) return this.#renew();
    if (token.expiresMs - nowMs <= MARGIN_MS && this.#renewal === null && nowMs - this.#askedAtMs >= PAUSE_MS) {
      this.#renew().catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        this.#surroundings.warn(`${this.#title} could not be renewed, and is still valid: ${why}`);
      });
    }
    return token;
  }

  /** The provider refused the token. False: it is new, or another one is on its way. */
  discard(): boolean {
    if (this.#token === null || this.#surroundings.nowMs() - this.#askedAtMs < NEW_MS) return false;
    this.#token = null;
    return true;
  }

  #renew(): Promise<Kept> {
    if (this.#renewal !== null) return this.#renewal;
    this.#askedAtMs = this.#surroundings.nowMs();
    this.#renewal = this.#exchange()
      .then((token) => {
        if (token.expiresMs <= this.#surroundings.nowMs()) throw new Error(`${this.#title} came expired`);
        this.#token = token;
        return token;
      })
      .finally(() => {
        this.#renewal = null;
      });
    return this.#renewal;
  }
}

/** One value for each credential and key, for as long as the configuration that it is in. */
export function perCredential<Value>(
  create: (credential: RequestCredential, key: string) => Value,
): (credential: RequestCredential, key: string) => Value {
  const values = new WeakMap<RequestCredential['secrets'], Map<string, Value>>();
  return (credential, key) => {
    const known = values.get(credential.secrets) ?? new Map<string, Value>();
    values.set(credential.secrets, known);
    const value = known.get(key) ?? create(credential, key);
    known.set(key, value);
    return value;
  };
}
