/** Tracks in memory when a key's secret was last used and by which program. Stores nothing on disk. */

/**
 * The last use of one secret: a rotated key has two. Changed by every call, and shared by all holders of the secret.
 */
export interface KeyUse {
  /** Unix ms; -Infinity: never. */
  atMs: number;
  /** The client's name and version as it states them; null: not stated. */
  client: string | null;
  /** The last use stored on disk, unix ms. */
  keptAtMs: number;
}

/** Calls closer together than this count as one use, so that a call pays only for a comparison. */
const NOTED_EVERY_MS = 1_000;
const CLIENT_LENGTH_MAX = 64;

export function newKeyUse(): KeyUse {
  return { atMs: Number.NEGATIVE_INFINITY, client: null, keptAtMs: Number.NEGATIVE_INFINITY };
}

/** Records a call of the secret at `atMs`. */
export function noteUse(use: KeyUse, headers: Headers, atMs: number): void {
  if (atMs - use.atMs < NOTED_EVERY_MS) return;
  use.atMs = atMs;
  use.client = readClient(headers.get('user-agent'));
}

/**
 * The first product of a user agent, such as `claude-cli/2.0.1`; null if it does not begin with one. RFC 9110, 10.1.5.
 */
export function readClient(userAgent: string | null): string | null {
  const [product] = /^[\w!#$%&'*+.^`|~-]+(?:\/[\w!#$%&'*+.^`|~-]+)?/.exec(userAgent ?? '') ?? [];
  return product?.slice(0, CLIENT_LENGTH_MAX) ?? null;
}
