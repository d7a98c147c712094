/** Tests a request whose body is read while it is sent: pace, early answers, faults, retries. */
import { afterEach, expect, test } from 'bun:test';
import type { BodySource } from './body-source.ts';
import { type RawPeer, type RawServer, startRawServer } from './testing/raw-server.ts';
import { runExchange } from './testing/run-exchange.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const PIECE = 64 * 1024;
let server: RawServer | null = null;

afterEach(() => {
  server?.stop();
  server = null;
});

/** `given`: the pieces read so far. */
function sourceOf(length: number, pieces = Number.POSITIVE_INFINITY) {
  const state = { given: 0, opened: 0 };
  const source: BodySource = {
    length,
    contentType: 'multipart/form-data; boundary=b',
    open() {
      state.opened += 1;
      let left = length;
      return {
        async next() {
          if (left === 0 || state.given >= pieces) return null;
          const bytes = Buffer.alloc(Math.min(left, PIECE), state.given % 251);
          left -= bytes.length;
          state.given += 1;
          return bytes;
        },
      };
    },
  };
  return { source, state };
}

/** Answers once `bytes` of the body have arrived. */
function serve(bytes: number, answer: (peer: RawPeer) => void): RawServer {
  const counts = new Map<RawPeer, number>();
  server = startRawServer((peer, read) => {
    const before = counts.get(peer) ?? 0;
    const head = before === 0 ? read.indexOf('\r\n\r\n') + 4 : 0;
    const count = before + read.length - head;
    counts.set(peer, count);
    if (count >= bytes && before < bytes) answer(peer);
  });
  return server;
}

test('all of it arrives in order, and the connection is reused', async () => {
  const length = 3 * PIECE + 5;
  const raw = serve(length, (peer) => peer.send(OK));
  const { source } = sourceOf(length);
  expect(await runExchange(raw.url, { body: source }).end).toBe('end');
  const body = raw.peers[0]?.received().subarray(-length);
  expect([body?.[0], body?.[PIECE], body?.[3 * PIECE], body?.length]).toEqual([0, 1, 3, length]);
  expect(await runExchange(raw.url, { body: sourceOf(0).source }).exchange.sentAtMs).toBeGreaterThan(0);
  expect(raw.peers).toHaveLength(1);
});

test('is read only as fast as upstream takes it', async () => {
  const length = 64 * 1024 * 1024;
  const raw = startRawServer((peer, read) => (read.length > 0 && peer.number === 1 ? peer.pause() : peer.send(OK)));
  server = raw;
  const { source, state } = sourceOf(length);
  const running = runExchange(raw.url, { body: source });
  await raw.until(() => (raw.peers[0]?.received().length ?? 0) > 0);
  // Long enough for all of it if it were read: each of these is a round trip on another connection.
  for (let turn = 0; turn < 100; turn++) expect(await runExchange(raw.url).end).toBe('end');
  expect(state.given * PIECE).toBeLessThan(length / 4);
  running.exchange.abort();
  await raw.until(() => state.given > 0);
});

test('an answer before its end is taken, and the connection is closed', async () => {
  const raw = serve(PIECE, (peer) => {
    peer.pause();
    peer.send('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno');
  });
  const running = runExchange(raw.url, { body: sourceOf(64 * 1024 * 1024).source });
  expect([await running.end, running.head()?.status]).toEqual(['end', 413]);
  raw.peers[0]?.resume();
  await raw.until(() => raw.peers[0]?.left() === 'closed');
});

test.each([
  ['ends early', sourceOf(4 * PIECE, 2).source],
  [
    'cannot be read',
    { ...sourceOf(PIECE).source, open: () => ({ next: () => Promise.reject(new Error('the disk')) }) },
  ],
])('a body that %s is a fault of ours', async (_, source) => {
  const raw = serve(1e9, () => undefined);
  expect(await runExchange(raw.url, { body: source }).end).toMatchObject({ kind: 'fault', sent: true });
});

test('the answer is due after the last byte, not the first', async () => {
  const length = 2 * PIECE;
  const raw = serve(1e9, () => undefined);
  const { source } = sourceOf(length);
  const gate = Promise.withResolvers<void>();
  const slow: BodySource = {
    ...source,
    open() {
      const reader = source.open();
      let pieces = 0;
      return {
        async next() {
          pieces += 1;
          if (pieces === 2) await gate.promise;
          return reader.next();
        },
      };
    },
  };
  const { exchange } = runExchange(raw.url, { body: slow });
  await raw.until(() => (raw.peers[0]?.received().length ?? 0) > PIECE);
  const dueAtFirstMs = exchange.dueMs;
  const sinceMs = performance.now();
  while (performance.now() < sinceMs + 1) await runExchange(raw.url, { limits: { firstByteMs: 10 } }).end;
  gate.resolve();
  await raw.until(() => (raw.peers[0]?.received().length ?? 0) > length);
  expect(exchange.dueMs).toBeGreaterThan(dueAtFirstMs);
  exchange.abort();
});

test('a stale connection is left for a fresh one, with another reading of the body', async () => {
  const raw = startRawServer((peer, read) => {
    if (peer.number === 1 && read.includes('{}')) peer.send(OK);
    else if (peer.number === 1) peer.reset();
    else if (read.length > 0) peer.send(OK);
  });
  server = raw;
  expect(await runExchange(raw.url).end).toBe('end');
  const { source, state } = sourceOf(1_000);
  expect(await runExchange(raw.url, { body: source }).end).toBe('end');
  expect([state.opened, raw.peers.length]).toEqual([2, 2]);
});
