/** Authorizes the requests of one credential at AWS: with a bearer key, or signed with keys that are renewed. */
import { Secret } from '../../lib/secret.ts';
import type { FinalRequest, RequestCredential } from '../provider.ts';
import { findAwsKeys } from './aws-sources.ts';
import type { FoundKeys } from './aws-sts.ts';
import { type SigningScope, signRequest } from './sigv4.ts';
import type { Surroundings } from './surroundings.ts';
import { TokenCache } from './token-cache.ts';

/** Renewed in the background from here on: 15 minutes (botocore). */
const MARGIN_MS = 15 * 60_000;
/** AWS accepts the time of a signature within five minutes; a smaller difference is no reason for a refusal. */
const SKEW_MS_MIN = 60_000;

/** Exceptions that new keys may end, and those that the right time may end. */
const ABOUT_KEYS = new Set(['ExpiredTokenException', 'ExpiredToken', 'UnrecognizedClientException']);
const ABOUT_TIME = new Set(['InvalidSignatureException', 'SignatureDoesNotMatch', 'RequestExpired', ...ABOUT_KEYS]);

/** The keys and the clock that signed a request. */
export interface Signed {
  readonly keys: FoundKeys;
  /** Added to this machine's clock. */
  readonly skewMs: number;
}

export class AwsSigner {
  readonly #surroundings: Surroundings;
  /** Keys of the configuration, those that are found, or none beside a bearer key. */
  readonly #keys: FoundKeys | TokenCache<FoundKeys> | null;
  readonly #bearer: Secret | null;
  #skewMs = 0;

  /** `bearer`: a key that precedes all others; null: none. */
  constructor(
    surroundings: Surroundings,
    { secrets, source }: RequestCredential,
    { region, bearer }: { readonly region: string; readonly bearer: Secret | null },
  ) {
    const { access_key_id: id, secret_access_key: secretAccessKey, session_token: sessionToken = null } = secrets;
    this.#surroundings = surroundings;
    this.#bearer = bearer;
    if (this.#bearer !== null) this.#keys = null;
    else if (source !== null) {
      const find = () => findAwsKeys(surroundings, region);
      this.#keys = new TokenCache('the AWS access key', find, surroundings, MARGIN_MS);
    } else if (id === undefined || secretAccessKey === undefined) this.#keys = null;
    else {
      const expiresMs = Number.POSITIVE_INFINITY;
      this.#keys = { accessKeyId: id.reveal(), secretAccessKey, sessionToken, expiresMs };
    }
  }

  /**
   * Adds the signature; nothing for a configured bearer key, which is in every request. `note` gets what a signature was
   * made with. Rejects if no keys can be had.
   */
  authorize(
    request: FinalRequest,
    hide: (token: Secret) => void,
    scope: SigningScope,
    note: (signed: Signed) => void,
  ): Promise<void> | void {
    const sign = (keys: FoundKeys) => {
      const skewMs = this.#skewMs;
      note({ keys, skewMs });
      if (keys.sessionToken !== null) hide(keys.sessionToken);
      signRequest(request, keys, scope, this.#surroundings.nowMs() + skewMs);
    };
    if (this.#bearer !== null) {
      hide(this.#bearer);
      request.headers.push(['authorization', `Bearer ${this.#bearer.reveal()}`]);
    }
    if (this.#keys === null) return;
    return this.#keys instanceof TokenCache ? this.#keys.use(sign) : sign(this.#keys);
  }

  /**
   * Learns from a refusal with this exception, at the server's `date`, of a request that was signed so; other requests
   * may have learned the same before. True: signed again, the request may be accepted.
   */
  learn(exception: string, date: string | null, signed: Signed): boolean {
    const isReplaced = ABOUT_KEYS.has(exception) && this.#keys instanceof TokenCache && this.#keys.discard(signed.keys);
    const serverMs = date === null ? Number.NaN : Date.parse(date);
    if (!ABOUT_TIME.has(exception) || Number.isNaN(serverMs)) return isReplaced;
    const skewMs = serverMs - this.#surroundings.nowMs();
    if (Math.abs(skewMs - signed.skewMs) < SKEW_MS_MIN) return isReplaced;
    if (Math.abs(skewMs - this.#skewMs) >= SKEW_MS_MIN) {
      this.#skewMs = skewMs;
      this.#surroundings.warn(
        `the clock of this machine differs from that of AWS by ${Math.round(Math.abs(skewMs) / 1000)} seconds; requests are signed with the time of AWS`,
      );
    }
    return true;
  }
}

/** A bearer key among the variables; null: no such variable. */
export function bearerIn({ environment }: Surroundings): Secret | null {
  const text = environment.AWS_BEARER_TOKEN_BEDROCK;
  return text ? new Secret(text) : null;
}
