/** Tests when drain.ts closes the connections of clients. */
import { expect, test } from 'bun:test';
import type { App } from './app.ts';
import { drain } from './drain.ts';

test('requests that arrived while the process did not run are read before their connections are closed', async () => {
  const did: string[] = [];
  // The process stood still for so long; the next turn of the event loop reads what arrived meanwhile.
  let lastMs = performance.now() - 400;
  setTimeout(() => {
    lastMs = performance.now();
    did.push('read');
  });
  const server = {
    closeSockets: () => undefined,
    lastRequestMs: () => lastMs,
    stop: async () => void did.push(performance.now() - lastMs >= 300 ? 'close' : 'close early'),
  };
  const deps = { capacity: { present: { held: 0 } }, openCalls: { items: () => [] } };
  const app = { deps, server, close: async () => undefined } as unknown as App;
  await drain(app, { serveOnMs: 0, finishMs: 0, hurry: new AbortController().signal });
  expect(did).toEqual(['read', 'close', 'close']);
});
