/** Owns when a key's secret was last used and by which program, as calls leave it in memory. Keeps nothing on disk. */

/** Of one secret: a rotated key has two. Changed by every call, and shared by all that know the secret. */
export interface KeyUse {
  /** Unix ms; -Infinity: never. */
  atMs: number;
  /** The program's name and version by its own word; null: it did not say. */
  client: string | null;
  /** What of it is on disk, unix ms. */
  keptAtMs: number;
}

/** Calls that follow one another more closely are one use: what a call pays is a comparison. */
const NOTED_EVERY_MS = 1_000;
const CLIENT_LENGTH_MAX = 64;

export function newKeyUse(): KeyUse {
  return { atMs: Number.NEGATIVE_INFINITY, client: null, keptAtMs: Number.NEGATIVE_INFINITY };
}

/** Notes a call of the secret at `atMs`. */
export function noteUse(use: KeyUse, headers: Headers, atMs: number): void {
  if (atMs - use.atMs < NOTED_EVERY_MS) return;
  use.atMs = atMs;
  use.client = readClient(headers.get('user-agent'));
}

/** The first product of a user agent, such as `claude-cli/2.0.1`; null where it does not begin with one. RFC 9110, 10.1.5. */
export function readClient(userAgent: string | null): string | null {
  const [product] = /^[\w!#$%&'*+.^`|~-]+(?:\/[\w!#$%&'*+.^`|~-]+)?/.exec(userAgent ?? '') ?? [];
  return product?.slice(0, CLIENT_LENGTH_MAX) ?? null;
}
