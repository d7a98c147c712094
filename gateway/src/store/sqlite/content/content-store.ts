/**
 * Implements the content store for the gateway: creates its file when first needed, and batches what arrives while the
 * disk is busy.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Secret } from '../../../lib/secret.ts';
import type { CallContent, ContentStore, StoredBytes } from '../../ports/content.ts';
import { createStoreThread } from '../database/store-thread.ts';
import { deriveContentKey } from './content-seal.ts';
import type { ContentAnswers, ContentRequest } from './content-thread.ts';

interface Kept {
  readonly content: CallContent;
  resolve(): void;
  reject(fault: unknown): void;
}

/** Limits of one transaction, in bytes before compression: as much as the log may take in addition to the file. */
const BATCH_CALLS = 50;
const BATCH_BYTES = 8 * 1024 ** 2;
/** As a literal in this file, so that `bun build --compile` finds it. */
const PROGRAM = new URL('./content-worker.ts', import.meta.url);

/** The path of the content database in a data folder. */
export function contentPath(dataDir: string): string {
  return join(dataDir, 'content.db');
}

/**
 * Opens the data folder's content store; its file and thread are created with the first content. `bytesMax`: its limit
 * on the disk, including the log.
 */
export function createContentStore(
  dataDir: string,
  masterKey: Secret,
  bytesMax: () => number,
  program: URL = PROGRAM,
): ContentStore {
  const path = contentPath(dataDir);
  const thread = createStoreThread<ContentRequest, ContentAnswers>(
    program,
    { kind: 'open', path, key: deriveContentKey(masterKey) },
    'The bodies of calls',
  );
  const queue: Kept[] = [];
  let pumping: Promise<void> | null = null;

  async function pump(): Promise<void> {
    for (let batch = takeBatch(queue); batch.length > 0; batch = takeBatch(queue)) {
      const contents = batch.map(({ content }) => content);
      try {
        await thread.ask({ kind: 'keep', contents, bytesMax: bytesMax() }, memoryOf(contents));
        for (const { resolve } of batch) resolve();
      } catch (fault) {
        for (const { reject } of batch) reject(fault);
      }
    }
    pumping = null;
  }

  return {
    save(content) {
      return new Promise((resolve, reject) => {
        queue.push({ content, resolve, reject });
        pumping ??= pump();
      });
    },
    find: async (account, requestId) => (existsSync(path) ? thread.ask({ kind: 'find', account, requestId }) : null),
    read: async (account, requestId) => (existsSync(path) ? thread.ask({ kind: 'read', account, requestId }) : null),
    list: async (range, limit) => (existsSync(path) ? thread.ask({ kind: 'list', range, limit }) : []),
    search: async (account, requestIds, words, timeMs) =>
      existsSync(path)
        ? thread.ask({ kind: 'search', account, requestIds, words, timeMs })
        : { found: [], searched: requestIds.length },
    async sweep(cutoffs, othersBeforeMs) {
      let removed = 0;
      if (!existsSync(path)) return removed;
      const known = new Set(cutoffs.map(({ workspace }) => workspace));
      const others = (await thread.ask({ kind: 'workspaces' })).filter((workspace) => !known.has(workspace));
      for (const cutoff of [...cutoffs, ...others.map((workspace) => ({ workspace, beforeMs: othersBeforeMs }))]) {
        for (let step = -1; step !== 0; removed += step)
          step = await thread.ask({ kind: 'sweep', cutoff, bytesMax: bytesMax() });
      }
      return removed;
    },
    async close() {
      await pumping;
      await thread.close();
    },
  };
}

function takeBatch(queue: Kept[]): Kept[] {
  let bytes = 0;
  let calls = 0;
  for (const { content } of queue) {
    bytes += bytesOf(content);
    if (calls > 0 && (calls === BATCH_CALLS || bytes > BATCH_BYTES)) break;
    calls += 1;
  }
  return queue.splice(0, calls);
}

function bytesOf({ request, upstreamRequest, response, upstreamResponse }: CallContent): number {
  return [request, upstreamRequest, response, upstreamResponse].reduce(
    (sum, body) => sum + (body === null || body === 'same' ? 0 : body.bytes.length),
    0,
  );
}

/** The memory that is transferred to the thread instead of being copied. */
function memoryOf(contents: readonly CallContent[]): ArrayBuffer[] {
  const memory = new Set<ArrayBuffer>();
  for (const { request, upstreamRequest, response, upstreamResponse } of contents) {
    for (const body of [request, upstreamRequest, response, upstreamResponse]) {
      if (body !== null && body !== 'same' && body.bytes.buffer instanceof ArrayBuffer && isOwn(body))
        memory.add(body.bytes.buffer);
    }
  }
  return [...memory];
}

/** A small `Buffer` shares a pool with others, which must not be transferred with it. */
function isOwn({ bytes }: StoredBytes): boolean {
  return !(bytes instanceof Buffer) && bytes.byteOffset === 0;
}
