/**
 * Stores the last uses of secrets on disk, in infrequent batches, and restores them at the next start. Adds no delay to
 * calls.
 */
import type { KeyUseStore } from '../store/ports/records.ts';
import type { KeyDirectory } from './key-directory.ts';

/** The maximum time before a use is on disk; each secret costs at most one write in it. */
const KEEP_EVERY_MS = 60_000;

export interface KeyUseSaving {
  /** Stores unsaved uses, then stops. */
  stop(): Promise<void>;
}

/** Restores stored uses, then stores new ones. `onTrouble`: a use could not be stored or read; calls continue. */
export function startSavingKeyUses(
  directory: Pick<KeyDirectory, 'byHash' | 'keys'>,
  book: KeyUseStore,
  onTrouble: (cause: unknown) => void,
): KeyUseSaving {
  const timer = setInterval(() => void saveKeyUses(directory, book).catch(onTrouble), KEEP_EVERY_MS);
  timer.unref();
  const restored = restoreKeyUses(directory, book).catch(onTrouble);
  return {
    async stop() {
      clearInterval(timer);
      await restored;
      await saveKeyUses(directory, book).catch(onTrouble);
    },
  };
}

/** Stores each use that differs from its stored one. Rejects on failure; the next run stores it. */
export async function saveKeyUses({ byHash }: Pick<KeyDirectory, 'byHash'>, book: KeyUseStore): Promise<void> {
  const fresh = [...byHash].filter(([, { use }]) => use.atMs !== use.keptAtMs);
  const kept = fresh.map(([hash, { use }]) => ({ hash, atMs: use.atMs, client: use.client }));
  await book.save(kept);
  for (const [index, [, { use }]] of fresh.entries()) use.keptAtMs = kept[index]?.atMs ?? use.keptAtMs;
}

/**
 * Restores stored uses, then recorded calls: a killed process had not stored its last minute. A record does not say
 * which secret the call used; it counts for the newer one.
 */
export async function restoreKeyUses(
  { byHash, keys }: Pick<KeyDirectory, 'byHash' | 'keys'>,
  book: KeyUseStore,
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
