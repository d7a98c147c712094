/**
 * Keeps tokens and access keys that credentials were exchanged for, and renews them before they expire; all requests
 * share one exchange, and none waits for it while a kept one is valid.
 */
import type { Secret } from '../../lib/secret.ts';
import type { RequestCredential } from '../provider.ts';
import type { Surroundings } from './surroundings.ts';

export interface Expiring {
  /** Unix milliseconds; Infinity: never. */
  readonly expiresMs: number;
}

/** A bearer token. */
export interface Token extends Expiring {
  readonly secret: Secret;
}

/** Renewed in the background from here on: 3 min 45 s (google-auth 2.62). */
const MARGIN_MS = 225_000;
/** A token of this age that is refused says that the credential is. */
const NEW_MS = 60_000;
/** A source that failed, or that gave a token which soon expires, is not asked again at once while the token is valid. */
const PAUSE_MS = 30_000;

/** The token of one credential. `title`: of the credential, for warnings. `marginMs`: before its end it is renewed. */
export class TokenCache<Kept extends Expiring> {
  readonly #title: string;
  readonly #exchange: () => Promise<Kept>;
  readonly #surroundings: Pick<Surroundings, 'nowMs' | 'warn'>;
  readonly #marginMs: number;
  #token: Kept | null = null;
  #keptAtMs = Number.NEGATIVE_INFINITY;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #renewal: Promise<Kept> | null = null;

  constructor(
    title: string,
    exchange: () => Promise<Kept>,
    surroundings: Pick<Surroundings, 'nowMs' | 'warn'>,
    marginMs = MARGIN_MS,
  ) {
    this.#title = title;
    this.#exchange = exchange;
    this.#surroundings = surroundings;
    this.#marginMs = marginMs;
  }

  /** A valid token, at once if it is kept. Rejects if the exchange for one fails. */
  get(): Kept | Promise<Kept> {
    const token = this.#token;
    const leftMs = token === null ? 0 : token.expiresMs - this.#surroundings.nowMs();
    if (token === null || leftMs <= 0) return this.#renew();
    if (leftMs <= this.#marginMs && this.#renewal === null && !this.#isSince(this.#askedAtMs, PAUSE_MS)) {
      this.#renew().catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        this.#surroundings.warn(`${this.#title} could not be renewed, and is still valid: ${why}`);
      });
    }
    return token;
  }

  /** Hands a valid token to `add`. Rejects as `get` does. */
  use(add: (token: Kept) => void): Promise<void> | void {
    const token = this.get();
    return token instanceof Promise ? token.then(add) : add(token);
  }

  /**
   * The provider refused this token. True: the next one is another, which other requests may have caused already. False:
   * it is new, so the provider refuses the credential.
   */
  discard(refused: Kept): boolean {
    if (this.#token !== refused) return true;
    if (this.#isSince(this.#keptAtMs, NEW_MS)) return false;
    this.#token = null;
    return true;
  }

  /** Whether it happened within this time; a clock that was set back since counts as time that passed. */
  #isSince(atMs: number, forMs: number): boolean {
    return Math.abs(this.#surroundings.nowMs() - atMs) < forMs;
  }

  #renew(): Promise<Kept> {
    if (this.#renewal !== null) return this.#renewal;
    this.#askedAtMs = this.#surroundings.nowMs();
    this.#renewal = this.#exchange()
      .then((token) => {
        const nowMs = this.#surroundings.nowMs();
        if (token.expiresMs <= nowMs) throw new Error(`${this.#title} came expired`);
        this.#token = token;
        this.#keptAtMs = nowMs;
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
