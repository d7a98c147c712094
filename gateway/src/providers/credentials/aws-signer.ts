/** Authorizes the requests of one credential at AWS: with a bearer key, or signed with keys that are renewed. */
import { Secret } from '../../lib/secret.ts';
import type { FinalRequest, RequestCredential } from '../provider.ts';
import { AwsKeyCache } from './aws-keys.ts';
import { findAwsKeys } from './aws-sources.ts';
import { type AwsKeys, type SigningScope, signRequest } from './sigv4.ts';
import type { Surroundings } from './surroundings.ts';

/** AWS accepts the time of a signature within five minutes; a smaller difference is no reason for a refusal. */
const SKEW_MS_MIN = 60_000;

/** Exceptions that new keys may end, and those that the right time may end. */
const ABOUT_KEYS = new Set(['ExpiredTokenException', 'ExpiredToken', 'UnrecognizedClientException']);
const ABOUT_TIME = new Set(['InvalidSignatureException', 'SignatureDoesNotMatch', 'RequestExpired', ...ABOUT_KEYS]);

export class AwsSigner {
  readonly #surroundings: Surroundings;
  /** Keys of the configuration, those that are found, or none beside a bearer key. */
  readonly #keys: AwsKeys | AwsKeyCache | null;
  /** Of the variable, which precedes what else is found. */
  readonly #bearer: Secret | null;
  /** Added to this machine's clock. */
  #skewMs = 0;

  constructor(surroundings: Surroundings, { secrets, source }: RequestCredential, region: string) {
    const { access_key_id: id, secret_access_key: secret, session_token: token } = secrets;
    this.#surroundings = surroundings;
    this.#bearer = source === null ? null : bearerIn(surroundings);
    if (this.#bearer !== null) this.#keys = null;
    else if (source !== null) this.#keys = new AwsKeyCache(() => findAwsKeys(surroundings, region), surroundings);
    else if (id === undefined || secret === undefined) this.#keys = null;
    else this.#keys = { accessKeyId: id.reveal(), secretAccessKey: secret, sessionToken: token ?? null };
  }

  /**
   * Adds the signature; nothing for a configured bearer key, which is in every request. `note` gets the id of the keys.
   * Rejects if no keys can be had.
   */
  authorize(
    request: FinalRequest,
    hide: (token: Secret) => void,
    scope: SigningScope,
    note: (keyId: string) => void,
  ): Promise<void> | void {
    const sign = (keys: AwsKeys) => {
      note(keys.accessKeyId);
      if (keys.sessionToken !== null) hide(keys.sessionToken);
      signRequest(request, keys, scope, this.#surroundings.nowMs() + this.#skewMs);
    };
    if (this.#bearer !== null) {
      hide(this.#bearer);
      request.headers.push(['authorization', `Bearer ${this.#bearer.reveal()}`]);
    }
    if (this.#keys === null) return;
    const keys = this.#keys instanceof AwsKeyCache ? this.#keys.get() : this.#keys;
    return keys instanceof Promise ? keys.then(sign) : sign(keys);
  }

  /**
   * Learns from a refusal with this exception, at the server's `date`, of a request signed with the keys of `keyId`.
   * True: signed again, the request may be accepted.
   */
  learn(exception: string, date: string | null, keyId: string): boolean {
    let isBetter = false;
    if (ABOUT_KEYS.has(exception) && this.#keys instanceof AwsKeyCache) {
      this.#keys.discard(keyId);
      isBetter = true;
    }
    const serverMs = date === null ? Number.NaN : Date.parse(date);
    if (!ABOUT_TIME.has(exception) || Number.isNaN(serverMs) || this.#keys === null) return isBetter;
    const skewMs = serverMs - this.#surroundings.nowMs();
    if (Math.abs(skewMs - this.#skewMs) < SKEW_MS_MIN) return isBetter;
    this.#skewMs = skewMs;
    this.#surroundings.warn(
      `the clock of this machine differs from that of AWS by ${Math.round(Math.abs(skewMs) / 1000)} seconds; requests are signed with the time of AWS`,
    );
    return true;
  }
}

/** A bearer key among the variables; null: no such variable. */
export function bearerIn({ environment }: Surroundings): Secret | null {
  const text = environment.AWS_BEARER_TOKEN_BEDROCK;
  return text ? new Secret(text) : null;
}
