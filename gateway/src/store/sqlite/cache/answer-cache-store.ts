/** Implements the store of cached answers for the gateway: creates its file with the first answer. */
import { hkdfSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Secret } from '../../../lib/secret.ts';
import type { AnswerCacheStore, CacheLimits } from '../../ports/cache/answer-cache.ts';
import { createStoreThread } from '../database/store-thread.ts';
import type { CacheReplies, CacheRequest } from './cache-thread.ts';

/** As a literal in this file, so that `bun build --compile` finds it. */
const PROGRAM = new URL('./cache-worker.ts', import.meta.url);

/** The path of the database of cached answers in a data folder. It may be deleted while no server runs. */
export function cachePath(dataDir: string): string {
  return join(dataDir, 'cache.db');
}

/** Opens the data folder's store of cached answers. `limits`: as configured now. */
export function createAnswerCacheStore(
  dataDir: string,
  masterKey: Secret,
  limits: () => CacheLimits,
): AnswerCacheStore {
  const path = cachePath(dataDir);
  const derived = hkdfSync('sha256', Buffer.from(masterKey.reveal(), 'hex'), '', 'tollgate cached answer v1', 32);
  const key = new Uint8Array(derived);
  const thread = createStoreThread<CacheRequest, CacheReplies>(PROGRAM, { kind: 'open', path, key }, 'Cached answers');
  /** Whether the file exists; it is looked for until it does. */
  let exists = false;
  const isEmpty = (): boolean => {
    exists ||= existsSync(path);
    return !exists;
  };
  return {
    async save(answer) {
      const { body } = answer;
      const isOwn = !(body instanceof Buffer) && body.byteOffset === 0 && body.byteLength === body.buffer.byteLength;
      const moved = isOwn && body.buffer instanceof ArrayBuffer ? [body.buffer] : [];
      await thread.ask({ kind: 'keep', answer, limits: limits() }, moved);
    },
    async find({ account, workspace, hash }, sinceMs) {
      return isEmpty() ? null : thread.ask({ kind: 'find', name: { account, workspace, hash }, sinceMs });
    },
    async sweep(cutoffs) {
      let removed = 0;
      if (isEmpty()) return removed;
      for (let step = -1; step !== 0; removed += step) step = await thread.ask({ kind: 'sweep', cutoffs });
      return removed;
    },
    close: () => thread.close(),
  };
}
