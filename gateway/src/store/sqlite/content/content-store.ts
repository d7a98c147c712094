/** Owns the store of content as the rest of the gateway sees it: its file is made when it is first needed, and what comes while the disk is busy goes to it together. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Secret } from '../../../lib/secret.ts';
import type { CallContent, ContentStore, KeptBytes } from '../../ports/content.ts';
import { deriveContentKey } from './content-seal.ts';
import { createContentThread } from './content-thread.ts';

interface Kept {
  readonly content: CallContent;
  resolve(): void;
  reject(fault: unknown): void;
}

/** Kept in one transaction, of bytes before they are compressed: as much as the log may take beside the file. */
const BATCH_CALLS = 50;
const BATCH_BYTES = 8 * 1024 ** 2;
/** As a literal beside this file, so that `bun build --compile` finds it. */
const PROGRAM = new URL('./content-worker.ts', import.meta.url);

/** The file of content in a data folder. */
export function contentPath(dataDir: string): string {
  return join(dataDir, 'content.db');
}

/** Over the data folder's file, which is made with the first content; until then there is neither file nor thread. `bytesMax`: what it may take on the disk, its log included. */
export function createContentStore(
  dataDir: string,
  masterKey: Secret,
  bytesMax: () => number,
  program: URL = PROGRAM,
): ContentStore {
  const path = contentPath(dataDir);
  const thread = createContentThread(program, { kind: 'open', path, key: deriveContentKey(masterKey) });
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
    keep(content) {
      return new Promise((resolve, reject) => {
        queue.push({ content, resolve, reject });
        pumping ??= pump();
      });
    },
    find: async (account, requestId) => (existsSync(path) ? thread.ask({ kind: 'find', account, requestId }) : null),
    read: async (account, requestId) => (existsSync(path) ? thread.ask({ kind: 'read', account, requestId }) : null),
    async sweep(cutoffs) {
      let removed = 0;
      if (!existsSync(path)) return removed;
      for (const cutoff of cutoffs) {
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

/** What is moved to the thread instead of being copied. */
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

/** A small `Buffer` lies in a pool beside others, which must not move with it. */
function isOwn({ bytes }: KeptBytes): boolean {
  return !(bytes instanceof Buffer) && bytes.byteOffset === 0;
}
