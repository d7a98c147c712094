/**
 * Tests that content is stored sealed, separately, bounded and for its retention period, and that the store survives
 * its thread's end.
 */
import { Database } from 'bun:sqlite';
import { afterEach, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '../../../lib/secret.ts';
import type { CallContent, ContentStore } from '../../ports/content.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { contentPath, createContentStore } from './content-store.ts';

const newFolder = temporaryFolders();
const MASTER = new Secret('5a'.repeat(32));
const CANARY = 'the-word-that-must-not-be-on-the-disk';
const DISK_BYTES = 1024 ** 3;

const opened: ContentStore[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

function open(
  folder: string,
  masterKey = MASTER,
  program?: URL,
  bytesMax: () => number = () => DISK_BYTES,
): ContentStore {
  const store = createContentStore(folder, masterKey, bytesMax, program);
  opened.push(store);
  return store;
}

/**
 * The rejection of a promise; empty: none. Bun's `rejects` waits within the event loop, which keeps threads from
 * responding.
 */
function faultOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => '',
    (fault: unknown) => String(fault),
  );
}

const kept = (text: string, totalBytes?: number) => {
  const bytes = new TextEncoder().encode(text);
  return { bytes, totalBytes: totalBytes ?? bytes.length };
};

function content(requestId: string, changes: Partial<CallContent> = {}): CallContent {
  return {
    requestId,
    account: 'team',
    workspace: 'w',
    atMs: 1_000,
    protocol: 'chat',
    status: 200,
    stream: false,
    request: kept(`{"question":"${CANARY}"}`),
    upstreamRequest: 'same',
    response: kept(`{"answer":"${CANARY}"}`),
    upstreamResponse: null,
    ...changes,
  };
}

describe('stored content', () => {
  test('is encrypted: no file of the folder contains a word of it', async () => {
    const folder = newFolder();
    const store = open(folder);
    await store.save(content('req_1'));
    await store.close();
    for (const name of readdirSync(folder)) expect(readFileSync(join(folder, name)).includes(CANARY)).toBe(false);
    expect(existsSync(contentPath(folder))).toBe(true);
  });

  test('cannot be decrypted for another call, or with another master key', async () => {
    const folder = newFolder();
    const store = open(folder);
    await Promise.all([store.save(content('req_1')), store.save(content('req_2'))]);
    await store.close();
    const database = new Database(contentPath(folder));
    database.run("UPDATE call_content SET sealed = (SELECT sealed FROM call_content WHERE request_id = 'req_1')");
    database.close();
    const again = open(folder);
    expect((await again.read('team', 'req_1'))?.requestId).toBe('req_1');
    expect(await faultOf(again.read('team', 'req_2'))).not.toBe('');
    await again.close();
    const stranger = open(folder, new Secret('6b'.repeat(32)));
    expect(await faultOf(stranger.read('team', 'req_1'))).not.toBe('');
  });

  test('is found although older content was lost with its master key', async () => {
    const folder = newFolder();
    const lost = open(folder);
    await lost.save(content('req_1'));
    await lost.close();
    const store = open(folder, new Secret('6b'.repeat(32)));
    await store.save(content('req_2'));
    const search = (isNot: boolean) => store.search('team', ['req_2', 'req_1'], [{ text: CANARY, isNot }], 1_000);
    expect(await search(false)).toEqual({ found: ['req_2'], searched: 2 });
    expect(await search(true)).toEqual({ found: [], searched: 2 });
  });
});

test('there is no file before the first content', async () => {
  const folder = newFolder();
  const store = open(folder);
  const cutoffs = [{ workspace: 'w', beforeMs: 9 }];
  expect([await store.find('team', 'r'), await store.read('team', 'r'), await store.sweep(cutoffs, 9)]).toEqual([
    null,
    null,
    0,
  ]);
  expect(readdirSync(folder)).toEqual([]);
});

describe('a sweep', () => {
  test('returns space to the disk', async () => {
    const folder = newFolder();
    const store = open(folder);
    const noise = () => ({ bytes: crypto.getRandomValues(new Uint8Array(60_000)), totalBytes: 60_000 });
    for (let at = 0; at < 40; at++) await store.save(content(`req_${at}`, { response: noise() }));
    await store.sweep([{ workspace: 'w', beforeMs: 2_000 }], 0);
    await store.close();
    expect(readFileSync(contentPath(folder)).length).toBeLessThan(200_000);
  });
});

test('rejects content beyond its limit on the disk until a sweep made room', async () => {
  const store = open(newFolder(), MASTER, undefined, () => 600_000);
  const noise = () => ({ bytes: crypto.getRandomValues(new Uint8Array(60_000)), totalBytes: 60_000 });
  await store.save(content('req_first'));
  await store.sweep([{ workspace: 'w', beforeMs: 0 }], 0);
  const outcomes: string[] = [];
  for (let at = 0; at < 8; at++) {
    const told = store.save(content(`req_${at}`, { response: noise() }));
    outcomes.push(await told.then(() => 'kept').catch((fault: Error) => fault.message));
  }
  expect(outcomes[0]).toBe('kept');
  expect(outcomes.at(-1)).toContain('full');
  await store.sweep([{ workspace: 'w', beforeMs: 2_000 }], 0);
  await store.save(content('req_again', { response: noise() }));
  expect(await store.find('team', 'req_again')).toBe('w');
});

test('the file and its log never exceed the limit, while content is stored and deleted', async () => {
  const folder = newFolder();
  const bytesMax = 12 * 1024 ** 2;
  const store = open(folder, MASTER, undefined, () => bytesMax);
  const noise = (size: number) => {
    const bytes = new Uint8Array(size);
    for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
    return { bytes, totalBytes: size };
  };
  const taken = () =>
    readdirSync(folder)
      .filter((name) => name === 'content.db' || name === 'content.db-wal')
      .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  let [most, kept, refused, number] = [0, 0, 0, 0];
  let over = false;
  // While they change: the thread works during this check.
  const watching = (async () => {
    while (!over) {
      most = Math.max(most, taken());
      await Bun.sleep(1);
    }
  })();
  for (let round = 0; round < 4; round++) {
    for (let step = 0; step < 8; step++) {
      const calls = Array.from({ length: 4 }, () => {
        number += 1;
        return content(`req_${number}`, { atMs: round, request: noise(700_000), response: noise(number * 9_001) });
      });
      for (const told of await Promise.allSettled(calls.map(store.save))) {
        if (told.status === 'fulfilled') kept += 1;
        else refused += 1;
      }
    }
    expect(await store.sweep([{ workspace: 'w', beforeMs: round + 1 }], 0)).toBeGreaterThan(0);
  }
  over = true;
  await watching;
  expect([kept > 12, refused > 0, most > 5_000_000, most <= bytesMax]).toEqual([true, true, true, true]);
  expect(taken()).toBeLessThan(1_000_000);
});

test('a file that is not a database of ours is reported and left unchanged', async () => {
  const folder = newFolder();
  writeFileSync(contentPath(folder), 'not a database at all, but long enough to be taken for one'.repeat(20));
  const store = open(folder);
  expect(await faultOf(store.save(content('req_1')))).toContain('cannot be stored or read');
  await store.close();
  expect(readFileSync(contentPath(folder), 'utf8')).toStartWith('not a database');
});

test('a thread that dies fails its requests, and another one takes over', async () => {
  const folder = newFolder();
  const store = open(folder, MASTER, new URL('./testing/dying-content-worker.ts', import.meta.url));
  await store.save(content('req_1'));
  expect(await faultOf(store.save(content('die')))).toContain('cannot be stored or read');
  expect(await faultOf(store.read('team', 'req_1'))).toContain('cannot be stored or read');
  const deadlineMs = performance.now() + 10_000;
  let found: CallContent | null = null;
  while (found === null && performance.now() < deadlineMs) {
    found = await store.read('team', 'req_1').catch(() => null);
    await Bun.sleep(20);
  }
  expect(found?.requestId).toBe('req_1');
});
