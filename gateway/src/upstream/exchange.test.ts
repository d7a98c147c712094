/**
 * Tests exchange.ts and connection.ts against a server of raw sockets: framing, reuse, the one free retry, abort,
 * backpressure.
 */
import { afterEach, describe, expect, test } from 'bun:test';
import { type RawPeer, type RawServer, startRawServer } from './testing/raw-server.ts';
import { runExchange } from './testing/run-exchange.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
let server: RawServer | null = null;

afterEach(() => {
  server?.stop();
  server = null;
});

/** A server that answers each complete request (recognized by its end) with `answer`. */
function serve(answer: (peer: RawPeer, requests: number) => void, requestEnd = '{}'): RawServer {
  let requests = 0;
  server = startRawServer((peer, bytes) => {
    if (!bytes.toString('latin1').endsWith(requestEnd)) return;
    requests += 1;
    answer(peer, requests);
  });
  return server;
}

describe('an answer', () => {
  test('with a length is read to its end, and its connection is reused', async () => {
    const { url, peers } = serve((peer) => peer.send(OK));
    for (let turn = 0; turn < 3; turn++) {
      const running = runExchange(url);
      expect(await running.end).toBe('end');
      expect(running.body().toString()).toBe('ok');
    }
    expect(peers).toHaveLength(1);
    expect(peers[0]?.received().toString()).toBe('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}'.repeat(3));
  });

  test.each([
    ['content-length: 5\r\n\r\nhello', 'hello'],
    ['transfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n', 'hello'],
    ['content-length: 0\r\n\r\n', ''],
  ])('an answer that arrives byte by byte is the same: %j', async (rest, wanted) => {
    const { url, peers } = serve((peer) => {
      const bytes = [...Buffer.from(`HTTP/1.1 200 OK\r\n${rest}`)];
      const next = () => {
        const byte = bytes.shift();
        if (byte === undefined) return;
        peer.send(Uint8Array.of(byte));
        setImmediate(next);
      };
      next();
    });
    const running = runExchange(url);
    expect(await running.end).toBe('end');
    expect(running.body().toString()).toBe(wanted);
    expect(await runExchange(url).end).toBe('end');
    expect(peers).toHaveLength(1);
  });

  test.each([
    ['with a length', 'content-length: 5\r\n\r\n', 'hello'],
    ['of one chunk', 'transfer-encoding: chunked\r\n\r\n', '5\r\nhello\r\n0\r\n\r\n'],
    ['of two chunks', 'transfer-encoding: chunked\r\n\r\n', '2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n'],
  ])('%s is freed as it is read, if its listener keeps nothing of it', async (_, head, body) => {
    const { url } = serve((peer) => peer.send(`HTTP/1.1 200 OK\r\n${head}${body}`));
    for (const freesReads of [true, false]) {
      const spans: Uint8Array[] = [];
      const running = runExchange(url, {
        onHead({ exchange }) {
          exchange.freesReads = freesReads;
        },
        onBody: (_, span) => void spans.push(span),
      });
      expect(await running.end).toBe('end');
      expect(running.body().toString()).toBe('hello');
      expect(spans.map(({ length }) => length)).toEqual([freesReads ? 0 : 5]);
    }
  });

  test('without a length ends with its connection', async () => {
    const { url } = serve((peer) => {
      peer.send('HTTP/1.1 200 OK\r\n\r\nall of it');
      peer.fin();
    });
    const running = runExchange(url);
    expect(await running.end).toBe('end');
    expect(running.body().toString()).toBe('all of it');
  });

  test.each([
    [16, 'end'],
    [17, 'malformed'],
    [200_000, 'malformed'],
  ])('after %d interim responses in one piece is %s', async (count, end) => {
    const raw = startRawServer((peer) => peer.send(`${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(count)}${OK}`));
    server = raw;
    const found = await runExchange(raw.url).end;
    expect(found === 'end' ? 'end' : found.kind).toBe(end);
  });

  test('is the final one, past any 1xx', async () => {
    const { url } = serve((peer) =>
      peer.send(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: x\r\n\r\n${OK}`),
    );
    const running = runExchange(url);
    expect(await running.end).toBe('end');
    expect([running.head()?.status, running.body().toString()]).toEqual([200, 'ok']);
  });

  test('of status 204 has no body', async () => {
    const { url } = serve((peer) => peer.send('HTTP/1.1 204 No Content\r\n\r\n'));
    const running = runExchange(url);
    expect(await running.end).toBe('end');
    expect(running.bodyBytes()).toBe(0);
  });

  test('that arrives before the request was fully sent counts, and its connection is not reused', async () => {
    const raw = startRawServer((peer) => {
      if (peer.number > 1) return peer.send(OK);
      peer.pause();
      peer.send(OK);
    });
    server = raw;
    const early = runExchange(raw.url, { body: Buffer.alloc(32 * 1024 * 1024, 'x') });
    expect(await early.end).toBe('end');
    expect(early.body().toString()).toBe('ok');
    expect(await runExchange(raw.url).end).toBe('end');
    expect(raw.peers).toHaveLength(2);
  });

  test('to a large request arrives after all of its bytes, in order', async () => {
    const body = Buffer.from(`${Array.from({ length: 600_000 }, (_, index) => `${index},`).join('')}END`);
    const { url, peers } = serve((peer) => peer.send(OK), 'END');
    expect(await runExchange(url, { body }).end).toBe('end');
    expect(peers[0]?.received().subarray(-body.length).equals(body)).toBe(true);
  });
});

describe('a connection is not reused', () => {
  test.each([
    ['after bytes behind the answer', `${OK}HTTP/1.1 200 OK\r\n`],
    ['after an answer that says close', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok'],
    ['after HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok'],
    ['after bytes behind the last chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nx'],
  ])('%s', async (_, answer) => {
    const raw = serve((peer) => peer.send(answer));
    for (let turn = 1; turn <= 2; turn++) {
      const running = runExchange(raw.url);
      expect(await running.end).toBe('end');
      expect(running.body().toString()).toBe('ok');
      await raw.until(() => raw.peers[turn - 1]?.left() === 'closed');
    }
    expect(raw.peers).toHaveLength(2);
  });

  test('after its peer sent bytes while it was idle', async () => {
    const raw = serve((peer) => peer.send(OK));
    await runExchange(raw.url).end;
    raw.peers[0]?.send('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil');
    await raw.until(() => raw.peers[0]?.left() === 'closed');
    const running = runExchange(raw.url);
    await running.end;
    expect([running.body().toString(), raw.peers.length]).toEqual(['ok', 2]);
  });

  test('after its peer closed it while it was idle', async () => {
    const raw = serve((peer) => peer.send(OK));
    await runExchange(raw.url).end;
    raw.peers[0]?.fin();
    await raw.until(() => raw.peers[0]?.left() === 'closed');
    expect(await runExchange(raw.url).end).toBe('end');
    expect(raw.peers).toHaveLength(2);
  });
});

describe('a stale connection', () => {
  test.each(['fin', 'reset'] as const)('that ends by %s without a response byte is replaced, once', async (how) => {
    const raw = serve((peer, requests) => (requests === 2 ? peer[how]() : peer.send(OK)));
    await runExchange(raw.url).end;
    const running = runExchange(raw.url);
    expect(await running.end).toBe('end');
    expect([running.body().toString(), raw.peers.length]).toEqual(['ok', 2]);
  });

  test('is replaced only once: the end of the fresh one is a failure', async () => {
    const raw = serve((peer, requests) => (requests === 1 ? peer.send(OK) : peer.fin()));
    await runExchange(raw.url).end;
    const running = runExchange(raw.url);
    expect(await running.end).toMatchObject({ kind: 'reset', sent: true, stale: false });
    expect([raw.peers.length, running.endings()]).toEqual([2, 1]);
  });

  test('is reported as stale, and not replaced, where the request must not go out twice', async () => {
    const raw = serve((peer, requests) => (requests === 1 ? peer.send(OK) : peer.fin()));
    await runExchange(raw.url).end;
    const running = runExchange(raw.url, { limits: { mayResend: false } });
    expect(await running.end).toMatchObject({ kind: 'reset', sent: true, stale: true });
    expect(raw.peers).toHaveLength(1);
  });

  test('is not used by a request that goes out on a fresh one', async () => {
    const raw = serve((peer) => peer.send(OK));
    await runExchange(raw.url).end;
    expect(await runExchange(raw.url, { limits: { fresh: true } }).end).toBe('end');
    expect(raw.peers).toHaveLength(2);
  });

  test('counts as sent, also if no fresh connection can be made', async () => {
    const raw = serve((peer, requests) => {
      if (requests === 1) return peer.send(OK);
      raw.stop();
    });
    await runExchange(raw.url).end;
    expect(await runExchange(raw.url).end).toMatchObject({ kind: 'connect', sent: true, stale: false });
  });

  test('is not replaced after a response byte', async () => {
    const raw = serve((peer, requests) => {
      peer.send(requests === 1 ? OK : 'H');
      if (requests > 1) peer.fin();
    });
    await runExchange(raw.url).end;
    expect(await runExchange(raw.url).end).toMatchObject({ kind: 'reset', stale: false });
    expect(raw.peers).toHaveLength(1);
  });
});

describe('a fresh connection that ends without an answer is not retried', () => {
  test.each(['fin', 'reset'] as const)('by %s', async (how) => {
    const raw = serve((peer) => peer[how]());
    expect(await runExchange(raw.url).end).toMatchObject({ kind: 'reset', sent: true, stale: false });
    expect(raw.peers).toHaveLength(1);
  });
});

describe('the time of sending', () => {
  test('is that of the last connection', async () => {
    const raw = serve((peer, requests) => (requests === 2 ? peer.reset() : peer.send(OK)));
    const first = runExchange(raw.url);
    expect([await first.end, first.exchange.sentAtMs > 0]).toEqual(['end', true]);
    const second = runExchange(raw.url);
    const { sentAtMs } = second.exchange;
    expect([await second.end, sentAtMs > 0, second.exchange.sentAtMs > sentAtMs]).toEqual(['end', true, true]);
  });

  test('is absent if no connection is made', async () => {
    const { url, stop } = startRawServer(() => undefined);
    stop();
    const running = runExchange(url);
    expect(await running.end).toMatchObject({ kind: 'connect', sent: false, stale: false });
    expect(running.exchange.sentAtMs).toBe(0);
  });

  test('is absent if the exchange is aborted before', async () => {
    const { url, peers } = serve((peer) => peer.send(OK));
    const given = runExchange(url);
    given.exchange.abort();
    expect(await runExchange(url).end).toBe('end');
    expect(given.exchange.sentAtMs).toBe(0);
    expect(peers.map((peer) => peer.received().length > 0)).toContain(true);
  });
});

describe('an invalid answer', () => {
  test.each([
    ['a cut length by FIN', 'truncated', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf', 'fin'],
    ['a cut length by reset', 'truncated', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf', 'reset'],
    ['a cut chunk', 'truncated', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nhalf', 'fin'],
    ['no last chunk', 'truncated', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n', 'fin'],
    ['a cut head', 'reset', 'HTTP/1.1 200 OK\r\ncontent-le', 'fin'],
    [
      'both lengths',
      'malformed',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\nok',
      'stay',
    ],
    ['no HTTP', 'malformed', 'SSH-2.0-OpenSSH_9.9\r\n\r\n', 'stay'],
    ['a bad chunk', 'malformed', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n', 'stay'],
    ['a head without end', 'malformed', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(70_000)}`, 'stay'],
  ] as const)('%s is %s, told once, and the connection is closed', async (_, kind, answer, how) => {
    const raw = serve((peer) => {
      peer.send(answer);
      if (how !== 'stay') peer[how]();
    });
    const running = runExchange(raw.url);
    expect(await running.end).toMatchObject({ kind });
    await raw.until(() => raw.peers[0]?.left() === 'closed');
    expect(running.endings()).toBe(1);
  });

  test('is too_large above the limit, and not exactly at it', async () => {
    const raw = serve((peer) => peer.send('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n'.padEnd(140, 'x')));
    expect(await runExchange(raw.url, { limits: { responseBytesMax: 100 } }).end).toBe('end');
    expect(await runExchange(raw.url, { limits: { responseBytesMax: 99 } }).end).toMatchObject({ kind: 'too_large' });
  });
});

describe('abort', () => {
  test('closes the connection at once, and the listener is not called again', async () => {
    const raw = serve((peer) => peer.send('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'));
    const running = runExchange(raw.url);
    await running.untilBytes(4);
    running.exchange.abort();
    await raw.until(() => raw.peers[0]?.left() === 'closed');
    expect(running.endings()).toBe(0);
  });

  test('inside the listener applies at once, whatever else has arrived', async () => {
    const chunks = '2\r\nok\r\n'.repeat(50);
    const raw = serve((peer) => peer.send(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`));
    const running = runExchange(raw.url, { onBody: ({ exchange }) => exchange.abort() });
    await raw.until(() => raw.peers[0]?.left() === 'closed');
    // One span holds the payloads of one read; nothing follows it.
    expect([running.bodyBytes(), running.endings()]).toEqual([100, 0]);
  });

  test('after a listener threw is a fault with its error, and closes the connection', async () => {
    const raw = serve((peer) => peer.send('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok'));
    const running = runExchange(raw.url, {
      onBody() {
        throw new Error('a fault of ours');
      },
    });
    expect(await running.end).toMatchObject({ kind: 'fault', message: expect.stringContaining('a fault of ours') });
    await raw.until(() => raw.peers[0]?.left() === 'closed');
  });

  test('before an answer closes the connection too', async () => {
    const raw = serve(() => undefined);
    const running = runExchange(raw.url);
    await raw.until(() => (raw.peers[0]?.received().length ?? 0) > 0);
    running.exchange.abort();
    await raw.until(() => raw.peers[0]?.left() === 'closed');
    expect(running.endings()).toBe(0);
  });
});

test('pause before the connection is there keeps the answer back, and the first byte is not missed meanwhile', async () => {
  const raw = serve((peer) => peer.send(OK));
  const { exchange, end, head } = runExchange(raw.url, { limits: { firstByteMs: 50 } });
  exchange.pause();
  await raw.until(() => (raw.peers[0]?.received().length ?? 0) > 0);
  // Each is a round trip on another connection.
  const startMs = performance.now();
  while (performance.now() - startMs < 100) expect(await runExchange(raw.url).end).toBe('end');
  expect([head(), exchange.dueMs > performance.now() + 5_000]).toEqual([null, true]);
  exchange.resume();
  expect(await end).toBe('end');
});

test('pause stops the sender and the idle limit; resume delivers every byte', async () => {
  const bytes = 48 * 1024 * 1024;
  const raw = serve((peer, requests) => {
    if (requests > 1) return peer.send(OK);
    peer.send(`HTTP/1.1 200 OK\r\ncontent-length: ${bytes}\r\n\r\n`);
    peer.send(Buffer.alloc(bytes, 'x'));
  });
  const idleMs = 20_000;
  const { exchange, end, bodyBytes, untilBytes } = runExchange(raw.url, { limits: { idleMs, totalMs: 60_000 } });
  const idleRests = () => exchange.dueMs > performance.now() + idleMs;
  await untilBytes(1);
  expect(idleRests()).toBe(false);
  exchange.pause();
  const atPause = bodyBytes();
  // Long enough for the whole body to arrive if it were read: each of these is a round trip on another connection.
  for (let turn = 0; turn < 100; turn++) expect(await runExchange(raw.url).end).toBe('end');
  expect(bodyBytes() - atPause).toBeLessThanOrEqual(1024 * 1024);
  expect(raw.peers[0]?.unsentBytes()).toBeGreaterThan(bytes / 2);
  expect(idleRests()).toBe(true);
  exchange.resume();
  expect(idleRests()).toBe(false);
  expect(await end).toBe('end');
  expect(bodyBytes()).toBe(bytes);
});
