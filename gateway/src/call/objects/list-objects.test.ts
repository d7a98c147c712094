/** Tests the size of a page, with a store that has as many rows as are asked for. */
import { expect, test } from 'bun:test';
import { resolveLimits } from '../../config/resolve-settings.ts';
import { messagesClient } from '../../protocols/messages/client/client-protocol.ts';
import { responsesClient } from '../../protocols/responses/client/client-protocol.ts';
import type { StoredPage } from '../../store/ports/stored-state.ts';
import type { ExchangeListener } from '../../upstream/exchange.ts';
import type { Identified } from '../call.ts';
import { listObjects } from './list-objects.ts';
import { readAskedObject } from './object-routes.ts';

async function pageOf(query: string) {
  const asked: StoredPage[] = [];
  const state = { format: 'responses', creates: ['files'] };
  const call = {
    deps: {
      storedState: {
        async list(_owner: unknown, page: StoredPage) {
          asked.push(page);
          return Array.from({ length: page.limit }, (_, at) => ({ id: `file-${at}`, object: `{"id":"file-${at}"}` }));
        },
      },
    },
    principal: { account: { id: 'a' }, workspaceId: 'w' },
    protocol: responsesClient,
    settings: { routes: new Map([['m', { targets: [{ upstream: { provider: 'host', state } }] }]]) },
  } as unknown as Identified;
  const request = new Request(`http://gateway/v1/files?${query}`);
  const { data, has_more, last_id } = JSON.parse(await listObjects(call, readAskedObject(request, 'files', '')));
  return { limit: asked[0]?.limit, rows: data.length, has_more, last_id };
}

test('a page has as many rows as its limit, at most 1,000, and says that others follow', async () => {
  expect(await pageOf('limit=3')).toEqual({ limit: 4, rows: 3, has_more: true, last_id: 'file-2' });
  for (const query of ['', 'limit=1000', 'limit=10000']) {
    expect(await pageOf(query)).toEqual({ limit: 1_001, rows: 1_000, has_more: true, last_id: 'file-999' });
  }
});

test('of batches, a page has at most 100, and the provider is asked for eight at once', async () => {
  let running = 0;
  let most = 0;
  const upstream = {
    ...{ provider: 'host', model: 'm', protocols: ['messages'], credentials: [{ name: 'default', weight: 1 }] },
    state: { format: 'messages', creates: ['batches'] },
    openExchange({ object }: { object: { path: string } }, _: number, _most: number, listener: ExchangeListener) {
      running += 1;
      most = Math.max(most, running);
      setImmediate(() => {
        running -= 1;
        listener.onHead({ status: 200, headers: [] } as never);
        listener.onBody(Buffer.from(JSON.stringify({ id: object.path.slice(1), processing_status: 'ended' })));
        listener.onEnd();
      });
      return { sentAtMs: 0, headAtMs: 0, lastByteAtMs: 0, pause() {}, resume() {}, abort() {} };
    },
  };
  const url = 'http://gateway/v1/messages/batches?limit=1000';
  const call = {
    ...{ request: new Request(url), requestId: 'req_1', atMs: 0, version: '2023-06-01', protocol: messagesClient },
    deps: {
      detached: { isOpen: () => false },
      openCalls: { add: () => 0, remove: () => undefined },
      storedState: {
        add: async () => undefined,
        async list(_owner: unknown, { limit }: StoredPage) {
          const row = { provider: 'host', model: 'm', credential: 'default' };
          return Array.from({ length: limit }, (_, at) => {
            const id = `msgbatch_${at}`;
            return { ...row, id, object: JSON.stringify({ id, processing_status: 'in_progress' }) };
          });
        },
      },
    },
    principal: { account: { id: 'a' }, workspaceId: 'w' },
    settings: { routes: new Map([['m', { targets: [{ upstream }] }]]), config: { limits: resolveLimits({}) } },
  } as unknown as Identified;
  const { data, has_more } = JSON.parse(await listObjects(call, readAskedObject(new Request(url), 'batches', '')));
  expect([data.length, has_more, most]).toEqual([100, true, 8]);
  expect(data.every(({ processing_status }: { processing_status: string }) => processing_status === 'ended')).toBe(
    true,
  );
});
