/** Tests the time limits of exchange.ts, and failed connections. The clock is coarse: 50 ms. */
import { afterEach, describe, expect, test } from 'bun:test';
import { type RawServer, startRawServer } from './testing/raw-server.ts';
import { runExchange } from './testing/run-exchange.ts';

let server: RawServer | null = null;

afterEach(() => {
  server?.stop();
  server = null;
});

/** A server that answers the first bytes of each connection with these, and then sends nothing more. */
function say(text: string): RawServer {
  server = startRawServer((peer, bytes) => {
    if (text !== '' && bytes.includes('POST')) peer.send(text);
  });
  return server;
}

/** The failure, and the milliseconds until then. */
async function failure(url: string, limits: Parameters<typeof runExchange>[1]) {
  const startMs = performance.now();
  const end = await runExchange(url, limits).end;
  return { kind: end === 'end' ? 'end' : end.kind, ms: performance.now() - startMs };
}

describe('a time limit', () => {
  test.each([
    ['first_byte_timeout', '', { firstByteMs: 100 }],
    ['idle_timeout', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf', { idleMs: 100 }],
    ['idle_timeout', 'HTTP/1.1 200 OK\r\n', { idleMs: 100 }],
    ['total_timeout', '', { totalMs: 100 }],
    ['total_timeout', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf', { totalMs: 100, idleMs: 5_000 }],
  ])('%s after %j fires on time and closes the connection', async (kind, text, limits) => {
    const raw = say(text);
    const found = await failure(raw.url, { limits });
    expect(found.kind).toBe(kind);
    expect(found.ms).toBeGreaterThanOrEqual(99);
    expect(found.ms).toBeLessThan(2_500);
    await raw.until(() => raw.peers[0]?.left() === 'closed');
  });

  test('first_byte_timeout applies despite interim responses, whole or in pieces', async () => {
    const raw = startRawServer((peer) => {
      let left = 12;
      const drip = setInterval(() => {
        peer.send(left % 3 === 0 ? 'HTTP/1.1 103 Early Hints\r\n' : left % 3 === 2 ? 'link: x\r\n' : '\r\n');
        left -= 1;
        if (left === 0 || peer.left() === 'closed') clearInterval(drip);
      }, 60);
    });
    server = raw;
    const found = await failure(raw.url, { limits: { firstByteMs: 300, idleMs: 5_000 } });
    expect(found.kind).toBe('first_byte_timeout');
    expect(found.ms).toBeLessThan(2_500);
  });

  test('an interim response does not start the idle limit', async () => {
    const raw = startRawServer((peer) => {
      peer.send('HTTP/1.1 103 Early Hints\r\n\r\n');
      setTimeout(() => peer.send('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'), 300);
    });
    server = raw;
    expect((await failure(raw.url, { limits: { firstByteMs: 5_000, idleMs: 100 } })).kind).toBe('end');
  });

  test('connect_timeout counts until TLS is done', async () => {
    const found = await failure(say('').url.replace('http:', 'https:'), { limits: { connectMs: 100 } });
    expect(found.kind).toBe('connect_timeout');
    expect(found.ms).toBeGreaterThanOrEqual(99);
  });

  test('the idle limit restarts with every byte', async () => {
    const raw = startRawServer((peer) => {
      peer.send('HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n');
      let left = 8;
      const drip = setInterval(() => {
        peer.send('x');
        left -= 1;
        if (left === 0) clearInterval(drip);
      }, 100);
    });
    server = raw;
    expect((await failure(raw.url, { limits: { idleMs: 400 } })).kind).toBe('end');
  });

  test('the total limit applies while reading is paused', async () => {
    const raw = say('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf');
    const running = runExchange(raw.url, { limits: { totalMs: 150 }, onBody: ({ exchange }) => exchange.pause() });
    expect(await running.end).toMatchObject({ kind: 'total_timeout' });
  });
});

describe('no connection', () => {
  test('to a port without a listener fails to connect', async () => {
    const raw = say('');
    raw.stop();
    expect((await failure(raw.url, {})).kind).toBe('connect');
  });

  test('with TLS to a peer without TLS fails as tls', async () => {
    const raw = startRawServer((peer) => peer.send('HTTP/1.1 400 no TLS here\r\n\r\n'));
    server = raw;
    expect((await failure(raw.url.replace('http:', 'https:'), {})).kind).toBe('tls');
  });

  test('is not attempted any longer after an abort', async () => {
    const raw = say('');
    const running = runExchange(raw.url.replace('http:', 'https:'));
    await raw.until(() => raw.peers.length === 1);
    running.exchange.abort();
    await raw.until(() => raw.peers[0]?.left() === 'closed');
    expect(running.endings()).toBe(0);
  });
});
