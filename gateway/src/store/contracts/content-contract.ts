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

    test('is listed newest first, by its own account and workspaces only', async () => {
      const store = (await open()).store.content;
      const ids = ['req_1', 'req_2', 'req_3', 'req_4'];
      await Promise.all([
        ...ids.map((id, at) => store.save(content(id, { workspace: at === 1 ? 'v' : 'w' }))),
        store.save(content('req_25', { account: 'other' })),
      ]);
      const list = (workspaces: readonly string[] | null, from: string, below: string, limit = 10) =>
        store.list({ account: 'team', workspaces, from, below }, limit);
      expect(await list(null, 'req_', 'req_9')).toEqual(['req_4', 'req_3', 'req_2', 'req_1']);
      expect(await list(null, 'req_2', 'req_4')).toEqual(['req_3', 'req_2']);
      expect(await list(null, 'req_', 'req_9', 1)).toEqual(['req_4']);
      expect(await list(['w'], 'req_', 'req_9')).toEqual(['req_4', 'req_3', 'req_1']);
      expect(await list([], 'req_', 'req_9')).toEqual([]);
    });

    test('is searched for words in both bodies, whatever their case, and within its account', async () => {
      const store = (await open()).store.content;
      const delta = (text: string) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`;
      await store.save(
        content('req_1', { request: kept('{"messages":[{"content":"The Rate\\nlimit of \\u00c4pfel"}]}') }),
      );
      await store.save(
        content('req_2', {
          stream: true,
          response: kept(`${delta('lim')}${delta('it ')}${delta('ÄPFEL')}data: [DONE]`),
        }),
      );
      await store.save(content('req_3', { response: kept('{"answer":"cut lim', 99) }));
      await store.save(content('req_4', { request: kept(`{"image":"data:image/png;base64,${'limit'.repeat(200)}"}`) }));
      await store.save(content('req_5', { account: 'other', request: kept('{"a":"limit"}') }));
      const ids = ['req_5', 'req_4', 'req_3', 'req_2', 'req_1', 'req_0'];
      const search = (...words: readonly string[]) =>
        store.search(
          'team',
          ids,
          words.map((word) => ({ text: word.replace(/^-/, ''), isNot: word.startsWith('-') })),
          60_000,
        );
      expect(await search('limit')).toEqual({ found: ['req_2', 'req_1'], searched: 6 });
      expect((await search('LIMIT', 'rate')).found).toEqual(['req_1']);
      expect((await search('äpfel')).found).toEqual(['req_2', 'req_1']);
      expect((await search('rate\nlimit')).found).toEqual(['req_1']);
      expect((await search('-limit')).found).toEqual(['req_4', 'req_3']);
      expect((await search('cut lim')).found).toEqual(['req_3']);
      expect(await store.search('team', ids, [{ text: 'limit', isNot: false }], 0)).toEqual({ found: [], searched: 1 });
    });

    test('a sweep deletes the expired content of its workspace, and nothing else', async () => {
      const store = (await open()).store.content;
      const calls = Array.from({ length: 450 }, (_, at) => content(`req_${at}`, { atMs: at }));
      await Promise.all([...calls.map(store.save), store.save(content('other', { workspace: 'v', atMs: 0 }))]);
      expect(await store.sweep([{ workspace: 'w', beforeMs: 430 }], 0)).toBe(430);
      expect([await store.find('team', 'req_429'), await store.find('team', 'req_430')]).toEqual([null, 'w']);
      expect(await store.find('team', 'other')).toBe('v');
    });

    test('a sweep deletes old content of all workspaces that have no cutoff', async () => {
      const store = (await open()).store.content;
      const workspaces = ['known', 'lost', 'missing', 'zz'];
      for (const workspace of workspaces) {
        await store.save(content(`old-${workspace}`, { workspace, atMs: 9 }));
        await store.save(content(`new-${workspace}`, { workspace, atMs: 10 }));
      }
      expect(await store.sweep([{ workspace: 'known', beforeMs: 0 }], 10)).toBe(3);
      const left = await store.list({ account: 'team', workspaces: null, from: '', below: '~' }, 99);
      expect(left).toEqual(['old-known', 'new-zz', 'new-missing', 'new-lost', 'new-known']);
    });
  });
}
