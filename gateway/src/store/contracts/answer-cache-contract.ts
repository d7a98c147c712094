/** Tests any implementation of the store of cached answers against its contract. */
import { describe, expect, test } from 'bun:test';
import type { CachedAnswer } from '../ports/cache/answer-cache.ts';
import { type StoreRig, startRigs } from './store-rig.ts';

/** A rig's limits, which its store must have: small enough to be reached. */
export const RIG_CACHE_LIMITS = { perWorkspace: 200_000, total: 500_000 } as const;

const bytesOf = (text: string) => new TextEncoder().encode(text);
const noise = (size: number) => {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
};

function answer(hash: string, changes: Partial<CachedAnswer> = {}): CachedAnswer {
  return {
    account: 'team',
    workspace: 'w',
    hash,
    requestId: `req_${hash}`,
    atMs: 1_000,
    stream: false,
    headers: [['content-type', 'application/json']],
    servedModel: 'größer ☂',
    provider: 'lab',
    finishReason: 'stop',
    body: bytesOf('{"answer":"a"}'),
    ...changes,
  };
}

/** Runs the suite; `openRig` opens new data, with `RIG_CACHE_LIMITS`. */
export function testAnswerCache(name: string, openRig: () => Promise<StoreRig<'answerCache'>>): void {
  describe(`cached answers stored by ${name}`, () => {
    const open = startRigs(openRig);

    test('come back byte for byte, and after a restart', async () => {
      const rig = await open();
      const body = Uint8Array.from({ length: 70_000 }, (_, at) => (at * 31) % 256);
      const given = () => answer('aa', { body: body.slice(), stream: true, finishReason: null, servedModel: null });
      await rig.store.answerCache.save(given());
      const name = { account: 'team', workspace: 'w', hash: 'aa' };
      expect(await rig.store.answerCache.find(name, 0)).toEqual(given());
      await rig.restart();
      expect(await rig.store.answerCache.find(name, 0)).toEqual(given());
    });

    test('are found by their account, workspace and hash only', async () => {
      const store = (await open()).store.answerCache;
      const name = { account: 'team', workspace: 'w', hash: 'aa' };
      expect(await store.find(name, 0)).toBeNull();
      await store.save(answer('aa'));
      for (const change of [{ account: 'other' }, { workspace: 'v' }, { hash: 'ab' }, { hash: '' }]) {
        expect(await store.find({ ...name, ...change }, 0)).toBeNull();
      }
      expect(await store.find(name, 0)).not.toBeNull();
    });

    test('of the same hash in two workspaces are two answers', async () => {
      const store = (await open()).store.answerCache;
      await store.save(answer('aa'));
      await store.save(answer('aa', { workspace: 'v', body: bytesOf('other') }));
      expect((await store.find({ account: 'team', workspace: 'w', hash: 'aa' }, 0))?.body).toEqual(answer('aa').body);
      expect((await store.find({ account: 'team', workspace: 'v', hash: 'aa' }, 0))?.body).toEqual(bytesOf('other'));
    });

    test('are replaced by a later answer of the same name', async () => {
      const store = (await open()).store.answerCache;
      await store.save(answer('aa'));
      await store.save(answer('aa', { atMs: 2_000, body: bytesOf('later') }));
      expect((await store.find(answer('aa'), 0))?.body).toEqual(bytesOf('later'));
    });

    test('that arrived before the given time are not found', async () => {
      const store = (await open()).store.answerCache;
      await store.save(answer('aa', { atMs: 1_000 }));
      expect([await store.find(answer('aa'), 1_001), (await store.find(answer('aa'), 1_000))?.hash]).toEqual([
        null,
        'aa',
      ]);
    });

    test('are deleted by a sweep once they expired, and where their workspace has no cutoff', async () => {
      const store = (await open()).store.answerCache;
      const mine = Array.from({ length: 250 }, (_, at) => answer(`m${at}`, { atMs: at }));
      const theirs = Array.from({ length: 3 }, (_, at) => answer(`t${at}`, { workspace: 'gone', atMs: at }));
      for (const one of [...mine, ...theirs, answer('v', { workspace: 'v', atMs: 0 })]) await store.save(one);
      const cutoffs = [
        { workspace: 'w', beforeMs: 230 },
        { workspace: 'v', beforeMs: 0 },
      ];
      expect(await store.sweep(cutoffs)).toBe(233);
      expect(await store.sweep(cutoffs)).toBe(0);
      const left = await Promise.all([...mine, ...theirs].map((one) => store.find(one, 0)));
      expect(left.filter((one) => one !== null)).toHaveLength(20);
      expect(await store.find(answer('v', { workspace: 'v' }), 0)).not.toBeNull();
    });

    test('beyond the limit of their workspace push out its oldest, and no other workspace’s', async () => {
      const store = (await open()).store.answerCache;
      await store.save(answer('old', { workspace: 'v', atMs: 0, body: noise(20_000) }));
      for (let at = 0; at < 12; at++) await store.save(answer(`a${at}`, { atMs: at + 1, body: noise(40_000) }));
      const found = await Promise.all(Array.from({ length: 12 }, (_, at) => store.find(answer(`a${at}`), 0)));
      expect(found.map((one) => one !== null)).toEqual([...Array(8).fill(false), ...Array(4).fill(true)]);
      expect(await store.find(answer('old', { workspace: 'v' }), 0)).not.toBeNull();
    });

    test('beyond the limit of all workspaces push out the oldest of all', async () => {
      const store = (await open()).store.answerCache;
      for (let at = 0; at < 8; at++)
        await store.save(answer('a', { workspace: `w${at}`, atMs: at, body: noise(80_000) }));
      const found = await Promise.all(
        Array.from({ length: 8 }, (_, at) => store.find(answer('a', { workspace: `w${at}` }), 0)),
      );
      expect(found.map((one) => one !== null)).toEqual([false, false, ...Array(6).fill(true)]);
    });

    test('larger than the limit of a workspace are not stored, and delete only the answer that they replace', async () => {
      const store = (await open()).store.answerCache;
      await store.save(answer('aa'));
      await store.save(answer('bb'));
      await store.save(answer('aa', { body: noise(RIG_CACHE_LIMITS.perWorkspace + 1) }));
      expect([await store.find(answer('aa'), 0), (await store.find(answer('bb'), 0))?.hash]).toEqual([null, 'bb']);
    });
  });
}
