/**
 * Tests WebSocket connections to a running gateway: their handshake, clients that do not read, and what ends one.
 * Contract, 10.10.
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { connectRaw } from '../../fake-upstream/raw-client.ts';
import { eventually } from '../../harness/eventually.ts';
import { exhaustiveTest } from '../../harness/exhaustive.ts';
import { openSocket } from '../../harness/socket-client.ts';
import { startPair } from '../../harness/start-pair.ts';
import { create, errorOf, type SocketRig, shareSocketRig, socketConfig } from './websocket-rig.ts';

let rig: SocketRig;
beforeAll(async () => {
  rig = await shareSocketRig();
}, 60_000);

describe('the handshake', () => {
  const HEADERS = {
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    'sec-websocket-version': '13',
  };
  const shake = (path: string, headers: Readonly<Record<string, string>>) =>
    fetch(`${rig.gateway.url}${path}`, { headers: { ...HEADERS, ...headers } });

  test('needs a key', async () => {
    expect((await shake('/v1/responses', {})).status).toBe(401);
    expect((await shake('/v1/responses', { authorization: 'Bearer tg_no' })).status).toBe(401);
  });

  test('has no idempotency key, and a valid version', async () => {
    const authorization = `Bearer ${rig.gateway.key}`;
    expect((await shake('/v1/responses', { authorization, 'idempotency-key': 'a' })).status).toBe(400);
    expect((await shake('/v1/responses', { authorization, 'sec-websocket-key': 'short' })).status).toBe(400);
  });

  test('without its upgrade header, as a proxy may leave it, gets 426', async () => {
    const { upgrade: _, connection: __, ...left } = HEADERS;
    const headers = { ...left, authorization: `Bearer ${rig.gateway.key}` };
    const reply = await fetch(`${rig.gateway.url}/v1/responses`, { headers });
    expect([reply.status, (await reply.text()).includes('proxy')]).toEqual([426, true]);
  });

  test('of another format is refused with 426', async () => {
    const reply = await shake('/v1/chat/completions', { authorization: `Bearer ${rig.gateway.key}` });
    expect([reply.status, reply.headers.get('connection')]).toEqual([426, 'close']);
  });

  test('beyond the connections of a key gets 426, until one is closed', async () => {
    const { key } = await rig.makeKey();
    const clients = [await rig.open(key), await rig.open(key), await rig.open(key)];
    const metrics = await (await fetch(`${rig.gateway.url}/metrics`)).text();
    expect(Number(/^tollgate_open_websockets (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThanOrEqual(3);
    expect((await shake('/v1/responses', { authorization: `Bearer ${key}` })).status).toBe(426);
    clients[0]?.socket.close();
    await clients[0]?.closed;
    const another = await eventually('a free place', () => rig.open(key).catch(() => null));
    for (const { socket } of [...clients, another]) socket.close();
  });

  test('offers no compression, so that a message is no larger than what arrived', async () => {
    const { key } = await rig.makeKey();
    const raw = await connectRaw(rig.gateway.url);
    raw.send(handshake(key, 'sec-websocket-extensions: permessage-deflate\r\n'));
    await raw.until((client) => client.received().includes('\r\n\r\n'));
    const head = raw.received().toString();
    expect(head).toStartWith('HTTP/1.1 101');
    expect(head.toLowerCase()).not.toContain('sec-websocket-extensions');
    // A compressed frame: RSV1 without an extension.
    raw.send(frameOf(0xc1, Buffer.from([1, 2, 3])));
    expect(await raw.untilEnd()).not.toBe('open');
  });

  test.each(['', 'gw:99999', '[::1'])('names any host that a POST may name: %p', async (host) => {
    const { key } = await rig.makeKey();
    const raw = await connectRaw(rig.gateway.url);
    raw.send(handshake(key, '', host));
    await raw.until((client) => client.received().includes('\r\n\r\n'));
    raw.send(frameOf(0x81, Buffer.from(JSON.stringify(create('r-ok')))));
    await raw.until((client) => client.received().includes('response.completed'));
    raw.leave('rst');
  });
});

/** The handshake of a raw client. */
function handshake(key: string, lines = '', host = 'gw'): string {
  return `GET /v1/responses HTTP/1.1\r\nhost: ${host}\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13\r\nauthorization: Bearer ${key}\r\n${lines}\r\n`;
}

/** A masked frame, with a mask of zeros. */
function frameOf(first: number, payload: Buffer): Buffer {
  const length =
    payload.length < 126 ? [0x80 | payload.length] : [0x80 | 126, payload.length >> 8, payload.length & 0xff];
  return Buffer.concat([Buffer.from([first, ...length, 0, 0, 0, 0]), payload]);
}

describe('a client that does not read', () => {
  test('is dropped as on any stream, and its provider is read no further', async () => {
    const key = await rig.makeKey();
    const raw = await connectRaw(rig.gateway.url);
    raw.send(handshake(key.key));
    await raw.until((client) => client.received().includes('\r\n\r\n'));
    raw.pause();
    raw.send(frameOf(0x81, Buffer.from(JSON.stringify(create('endless')))));
    const records = await eventually(
      'the record',
      async () => {
        const found = await rig.recordsOf(key);
        return found.length > 0 ? found : null;
      },
      30_000,
    );
    expect(records).toMatchObject([{ status: 200, error: 'reader_too_slow' }]);
    raw.leave('rst');
  });

  test('and sends pings is dropped once its answers are too many', async () => {
    const { key } = await rig.makeKey();
    const raw = await connectRaw(rig.gateway.url);
    raw.send(handshake(key));
    await raw.until((client) => client.received().includes('\r\n\r\n'));
    raw.pause();
    const pings = Buffer.concat(Array.from({ length: 500 }, () => frameOf(0x89, Buffer.alloc(125, 1))));
    const end = await eventually(
      'the end of the connection',
      () => {
        raw.send(pings);
        return raw.ended() === 'open' ? null : raw.ended();
      },
      30_000,
    );
    expect(end).not.toBe('open');
  });
});

describe('a connection ends', () => {
  test('at its time between two responses, and in a shutdown after its response', async () => {
    const own = await startPair((url) =>
      socketConfig(url, { websocket_duration: '1s', websockets_max: 2, drain: '0s' }),
    );
    try {
      own.fake.script('held', { answer: 'long:20', holdAfterEvent: 8 });
      const headers = { authorization: `Bearer ${own.gateway.key}` };
      const old = await openSocket(`${own.gateway.url}/v1/responses`, headers);
      expect(errorOf(await old.until('error'))?.code).toBe('websocket_connection_limit_reached');
      expect(await old.closed).toBe(1000);
      const [idle, busy] = await Promise.all([
        openSocket(`${own.gateway.url}/v1/responses`, headers),
        openSocket(`${own.gateway.url}/v1/responses`, headers),
      ]);
      busy.send(create('held'));
      await busy.until('response.output_text.delta');
      const more = await openSocket(`${own.gateway.url}/v1/responses`, headers).catch(() => null);
      // On a busy machine the idle one may have reached its time.
      expect([more === null, idle.socket.readyState === WebSocket.CLOSED]).toContain(true);
      own.gateway.signal('SIGTERM');
      expect(await idle.closed).toBeOneOf([1000, 1001]);
      own.fake.release();
      await busy.until('response.completed');
      expect(await busy.closed).toBeOneOf([1000, 1001]);
      expect(await own.gateway.exited).toBe(0);
    } finally {
      await own.stop();
    }
  });

  exhaustiveTest(
    'where the client does not answer pings, not where it does',
    async () => {
      const own = await startPair((url) => socketConfig(url, { idle_connection_timeout: '8s' }));
      try {
        const url = `${own.gateway.url}/v1/responses`;
        const alive = await openSocket(url, { authorization: `Bearer ${own.gateway.key}` });
        const silent = await connectRaw(own.gateway.url);
        silent.send(handshake(own.gateway.key));
        expect(await silent.untilEnd(40_000)).toBe('fin');
        expect(alive.socket.readyState).toBe(WebSocket.OPEN);
      } finally {
        await own.stop();
      }
    },
    60_000,
  );

  test('that is idle where file descriptors run short, not one with a response', async () => {
    const limits = { websockets_per_key_max: 256 };
    const own = await startPair((url) => socketConfig(url, limits), { openFilesMax: 256 });
    try {
      own.fake.script('held', { answer: 'long:20', holdAfterEvent: 8 });
      const url = `${own.gateway.url}/v1/responses`;
      const headers = { authorization: `Bearer ${own.gateway.key}` };
      const busy = await openSocket(url, headers);
      busy.send(create('held'));
      await busy.until('response.output_text.delta');
      const idle = [await openSocket(url, headers)];
      while (idle[0]?.socket.readyState === WebSocket.OPEN && idle.length < 256) {
        const more = Array.from({ length: 16 }, () => openSocket(url, headers).catch(() => null));
        idle.push(...(await Promise.all(more)).filter((client) => client !== null));
      }
      expect(await idle[0]?.closed).toBe(1001);
      own.fake.release();
      expect((await busy.until('response.completed')).type).toBe('response.completed');
    } finally {
      await own.stop();
    }
  });

  // Vector 30.
  test('before it begins where WebSockets are switched off: 426, so that Codex falls back at once', async () => {
    const own = await startPair((url) => socketConfig(url, {}, { websocket: 'off' }));
    try {
      const reply = await fetch(`${own.gateway.url}/v1/responses`, {
        headers: { upgrade: 'websocket', connection: 'Upgrade', authorization: `Bearer ${own.gateway.key}` },
      });
      expect([reply.status, reply.headers.get('connection')]).toEqual([426, 'close']);
      expect(await reply.text()).toContain('WebSocket');
      expect((await fetch(`${own.gateway.url}/v1/responses`)).status).toBe(405);
    } finally {
      await own.stop();
    }
  });
});
