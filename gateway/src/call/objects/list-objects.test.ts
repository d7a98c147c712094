/** Tests the size of a page, with a store that has as many rows as are asked for. */
import { expect, test } from 'bun:test';
import { responsesClient } from '../../protocols/responses/client/client-protocol.ts';
import type { StoredPage } from '../../store/ports/stored-state.ts';
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
