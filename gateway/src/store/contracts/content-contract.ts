/** Tests any implementation of the content store against its contract. */
import { describe, expect, test } from 'bun:test';
import type { CallContent } from '../ports/content.ts';
import { type StoreRig, startRigs } from './store-rig.ts';

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
    request: kept('{"question":"q"}'),
    upstreamRequest: 'same',
    response: kept('{"answer":"a"}'),
    upstreamResponse: null,
    ...changes,
  };
}

/** Runs the suite; `openRig` opens new data. */
export function testContent(name: string, openRig: () => Promise<StoreRig<'content'>>): void {
  describe(`content stored by ${name}`, () => {
    const open = startRigs(openRig);

    test('comes back byte for byte', async () => {
      const store = (await open()).store.content;
      const bytes = Uint8Array.from({ length: 70_000 }, (_, at) => (at * 31) % 256);
      const given = () =>
        content('req_1', {
          upstreamRequest: kept('sent'),
          response: { bytes: bytes.slice(), totalBytes: 90_000 },
          upstreamResponse: kept(''),
          stream: true,
        });
      await store.save(given());
      expect(await store.read('team', 'req_1')).toEqual(given());
      await store.save(content('req_2', { upstreamRequest: null }));
      expect(await store.read('team', 'req_2')).toEqual(content('req_2', { upstreamRequest: null }));
    });

    test('is found by its own account only', async () => {
      const store = (await open()).store.content;
      await store.save(content('req_1'));
      expect(await store.find('team', 'req_1')).toBe('w');
      expect([await store.find('other', 'req_1'), await store.read('other', 'req_1')]).toEqual([null, null]);
    });

    test('a sweep deletes the expired content of its workspace, and nothing else', async () => {
      const store = (await open()).store.content;
      const calls = Array.from({ length: 450 }, (_, at) => content(`req_${at}`, { atMs: at }));
      await Promise.all([...calls.map(store.save), store.save(content('other', { workspace: 'v', atMs: 0 }))]);
      expect(await store.sweep([{ workspace: 'w', beforeMs: 430 }])).toBe(430);
      expect([await store.find('team', 'req_429'), await store.find('team', 'req_430')]).toEqual([null, 'w']);
      expect(await store.find('team', 'other')).toBe('v');
    });
  });
}
