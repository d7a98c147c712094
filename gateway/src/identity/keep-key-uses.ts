/** Owns bringing the last uses of secrets to disk, seldom and together, and back at the next start. Is on no call's way. */
import type { KeyUseBook } from '../store/ports/key-use.ts';
import type { KeyDirectory } from './key-directory.ts';

/** A use of a secret is on disk after so long at most, and a secret costs one write in it. */
const KEEP_EVERY_MS = 60_000;

export interface KeyUseKeeping {
  /** Keeps what is not kept yet, then no more. */
  stop(): Promise<void>;
}

/** Takes over what was kept, then keeps what comes. `onTrouble`: a use is not on disk, or could not be read; calls go on. */
export function startKeepingKeyUses(
  directory: Pick<KeyDirectory, 'byHash' | 'keys'>,
  book: KeyUseBook,
  onTrouble: (cause: unknown) => void,
): KeyUseKeeping {
  const timer = setInterval(() => void keepKeyUses(directory, book).catch(onTrouble), KEEP_EVERY_MS);
  timer.unref();
  const restored = restoreKeyUses(directory, book).catch(onTrouble);
  return {
    async stop() {
      clearInterval(timer);
      await restored;
      await keepKeyUses(directory, book).catch(onTrouble);
    },
  };
}

/** Keeps each use that is newer than what is kept of it. Rejects where it could not be; then the next time keeps it. */
export async function keepKeyUses({ byHash }: Pick<KeyDirectory, 'byHash'>, book: KeyUseBook): Promise<void> {
  const fresh = [...byHash].filter(([, { use }]) => use.atMs > use.keptAtMs);
  const kept = fresh.map(([hash, { use }]) => ({ hash, atMs: use.atMs, client: use.client }));
  await book.keep(kept);
  for (const [index, [, { use }]] of fresh.entries()) use.keptAtMs = kept[index]?.atMs ?? use.keptAtMs;
}

/**
 * What was kept, and after it what calls were recorded: a process that was killed had not kept its last minute. Of a record it
 * is not known which secret it came by; it counts for the newer one.
 */
export async function restoreKeyUses(
  { byHash, keys }: Pick<KeyDirectory, 'byHash' | 'keys'>,
  book: KeyUseBook,
): Promise<void> {
  let newestMs = Number.NEGATIVE_INFINITY;
  for (const { hash, atMs, client } of await book.read()) {
    newestMs = Math.max(newestMs, atMs);
    const use = byHash.get(hash)?.use;
    if (use === undefined) continue;
    use.keptAtMs = atMs;
    if (atMs > use.atMs) Object.assign(use, { atMs, client });
  }
  const fromMs = newestMs === Number.NEGATIVE_INFINITY ? 0 : newestMs - 2 * KEEP_EVERY_MS;
  for (const [keyId, atMs] of await book.readNewestCalls(fromMs)) {
    const key = keys.get(keyId);
    const use = key === undefined ? undefined : byHash.get(key.hash)?.use;
    const previous = key?.previousHash ? (byHash.get(key.previousHash)?.use.atMs ?? 0) : 0;
    if (use !== undefined && atMs > use.atMs && atMs > previous) Object.assign(use, { atMs, client: null });
  }
}
