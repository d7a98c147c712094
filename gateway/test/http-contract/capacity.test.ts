/**
 * Tests the limits of the whole process: open calls, body bytes in memory, time for a body and for headers. Limits
 * table, 503 and 408.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { connectRaw, type RawClient } from '../fake-upstream/raw-client.ts';
import { eventually } from '../harness/eventually.ts';
import { exhaustiveTest } from '../harness/exhaustive.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { callHeaders, goodBody, PATHS, post, type Side } from './calls.ts';
import { contractConfig, scriptContractModels } from './contract-config.ts';
import { expectRefusal, expectRefusalBody, invalid, type Refusal } from './expect-refusal.ts';
import { goodLines, head, nextAnswer, sendWire } from './wire.ts';

/** Some tests wait for limits, and a machine may be busy. */
const SIDES: readonly Side[] = ['chat', 'messages'];
const OPEN_CALLS_MAX = 6;
const MIB = 1024 * 1024;

let pair: Pair;
beforeAll(async () => {
  const limits = { open_calls_max: OPEN_CALLS_MAX, body_bytes_in_flight_max: '1MiB', body_timeout: '1s' };
  pair = await startPair((url) => contractConfig(url, { limits }));
  scriptContractModels(pair.fake);
});
afterAll(() => pair.stop());

const overCapacity: Refusal = { status: 503, type: 'api_error', code: 'internal_error', shouldRetry: null };

/** Starts calls that stay open until aborted, and waits until upstream has them. */
async function holdCalls(count: number): Promise<AbortController> {
  const leave = new AbortController();
  const before = pair.fake.served('slow').length;
  for (let index = 0; index < count; index += 1) {
    const body = JSON.stringify(goodBody('chat', { model: 'slow', stream: index % 2 === 0 }));
    const { url, key } = pair.gateway;
    fetch(url + PATHS.chat, { method: 'POST', headers: callHeaders(key), body, signal: leave.signal }).catch(
      () => null,
    );
  }
  await pair.fake.waitFor(({ model }) => model === 'slow', { count: before + count });
  return leave;
}

/** Waits until the gateway has released what a call held. */
function untilServed(side: Side): Promise<Response> {
  return eventually('a free place', async () => {
    const response = await post(pair.gateway, side, goodBody(side));
    return response.status === 200 ? response : null;
  });
}

describe('open calls', () => {
  test('at limit − 1 one more is served, at the limit it is 503 with retry-after; places are returned', async () => {
    const below = await holdCalls(OPEN_CALLS_MAX - 1);
    for (const side of SIDES) expect((await post(pair.gateway, side, goodBody(side))).status).toBe(200);
    const last = await holdCalls(1);
    for (const side of SIDES) {
      const response = await post(pair.gateway, side, goodBody(side));
      expect(Number(response.headers.get('retry-after'))).toBeWithin(1, 61);
      await expectRefusal(response, side, overCapacity);
    }
    last.abort();
    await untilServed('chat');
    below.abort();
    await untilServed('messages');
  });

  test('requests that are not calls are answered', async () => {
    await untilServed('chat');
    const all = await holdCalls(OPEN_CALLS_MAX);
    for (const path of ['/healthz', '/readyz', '/v1/models']) {
      const response = await fetch(pair.gateway.url + path, { headers: callHeaders(pair.gateway.key) });
      expect({ path, status: response.status }).toEqual({ path, status: 200 });
    }
    all.abort();
    await untilServed('chat');
  });
});

describe('body bytes in flight', () => {
  /** Opens a call that declares a body of `bytes` and sends the first `sent` of them. */
  async function announce(bytes: number, sent: number): Promise<RawClient> {
    const client = await connectRaw(pair.gateway.url);
    client.send(head(`POST ${PATHS.chat} HTTP/1.1`, [...goodLines(pair.gateway.key), `content-length: ${bytes}`]));
    client.send(' '.repeat(sent));
    return client;
  }

  test('bodies of the limit together are taken, one byte more is 503; a body that leaves gives its share back', async () => {
    const good = JSON.stringify(goodBody('chat'));
    const held = await holdAllBut(good);
    expect((await post(pair.gateway, 'chat', good)).status).toBe(200);
    const response = await post(pair.gateway, 'chat', `${good} `);
    expect(Number(response.headers.get('retry-after'))).toBeWithin(1, 61);
    await expectRefusal(response, 'chat', overCapacity);
    held.leave('rst');
    await eventually('the share of the body that left', async () => {
      const again = await post(pair.gateway, 'chat', good.padEnd(MIB));
      return again.status === 200 ? true : null;
    });
  });

  /**
   * Holds an unfinished body that leaves room only for `good`. If a probe arrives before its last bytes and takes their
   * room, it tries again.
   */
  async function holdAllBut(good: string): Promise<RawClient> {
    let held = await announce(MIB, MIB - good.length);
    return eventually('the bytes of the unfinished body', async () => {
      const { status } = await post(pair.gateway, 'chat', `${good} `);
      if (held.ended() !== 'open') held = await announce(MIB, MIB - good.length);
      else if (status === 503) return held;
      return null;
    });
  }

  test('a declared length takes no room of others: bytes count as they arrive', async () => {
    const declared = await Promise.all(Array.from({ length: 5 }, () => announce(MIB - 1, 1)));
    const body = JSON.stringify(goodBody('chat', { padding: 'p'.repeat(MIB * 0.8) }));
    expect((await post(pair.gateway, 'chat', body)).status).toBe(200);
    for (const client of declared) client.leave('rst');
  });

  test('the share of a body is returned, however it arrived and its call ended', async () => {
    const padded = (members: object, bytes = MIB / 4) =>
      JSON.stringify(goodBody('chat', { ...members, padding: 'p'.repeat(bytes) }));
    const { url, key } = pair.gateway;
    /** Head and body in one write, so that the whole body is present when the call begins. */
    const atOnce = async (body: string) => {
      const bytes = head(`POST ${PATHS.chat} HTTP/1.1`, [...goodLines(key), `content-length: ${body.length}`]) + body;
      return (await sendWire(url, bytes))?.status;
    };
    const inChunks = async (body: string) => {
      const framed = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
      const lines = [...goodLines(key), 'transfer-encoding: chunked'];
      return (await sendWire(url, head(`POST ${PATHS.chat} HTTP/1.1`, lines) + framed))?.status;
    };
    const whole = async (response: Response) => {
      await response.text();
      return response.status;
    };
    const packed = async (body: string) => {
      const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(20_000))).toString('hex');
      const bytes = gzipSync(body.replace('"padding":"', `"padding":"${noise}`));
      return whole(await post(pair.gateway, 'chat', bytes, { 'content-encoding': 'gzip' }));
    };
    const plain = async (body: string) => whole(await post(pair.gateway, 'chat', body));
    const small = padded({}, 16_384);
    for (let sent = 0; sent <= MIB; sent += small.length) expect(await atOnce(small)).toBe(200);
    for (const send of [atOnce, inChunks, packed, plain]) {
      for (const [members, status] of [
        [{}, 200],
        [{ stream: true }, 200],
        [{ temperature: 5 }, 400],
        [{ model: 'none' }, 403],
        [{ model: 'broken' }, 500],
      ] as const) {
        // 1.25 times the limit, sequentially.
        for (let index = 0; index < 5; index += 1)
          expect({ send: send.name, members, status: await send(padded(members)) }).toEqual({
            send: send.name,
            members,
            status,
          });
      }
    }
  });

  test('a body of more than the whole limit is 503, not an endless wait', async () => {
    const response = await post(pair.gateway, 'chat', ' '.repeat(MIB + 1));
    await expectRefusal(response, 'chat', overCapacity);
  });
});

describe('time', () => {
  for (const side of SIDES) {
    for (const [framing, line, part] of [
      ['a length', 'content-length: 100', '{"model"'],
      ['chunks', 'transfer-encoding: chunked', '8\r\n{"model"\r\n'],
    ] as const) {
      test.concurrent(`${side}: a body with ${framing} that does not come in time is 408, and the connection closed`, async () => {
        const client = await connectRaw(pair.gateway.url);
        client.send(head(`POST ${PATHS[side]} HTTP/1.1`, [...goodLines(pair.gateway.key), line]) + part);
        const startMs = performance.now();
        const answer = await nextAnswer(client);
        expect(answer?.status).toBe(408);
        expect(performance.now() - startMs).toBeWithin(900, 5_000);
        const refusal = invalid(side, '1000 ms', null, 408);
        expectRefusalBody(answer?.headers ?? new Headers(), answer?.text ?? '', side, refusal);
        expect(await client.untilEnd()).toBe('fin');
      });
    }
  }

  test.concurrent('a body that drips is cut off too: the limit applies to the whole body', async () => {
    const client = await connectRaw(pair.gateway.url);
    client.send(head(`POST ${PATHS.chat} HTTP/1.1`, [...goodLines(pair.gateway.key), 'content-length: 100000']));
    const drip = setInterval(() => client.send(' '), 100);
    const answer = await nextAnswer(client).finally(() => clearInterval(drip));
    expect(answer?.status).toBe(408);
    client.leave();
  });

  exhaustiveTest('headers that do not come within 10 s cut the connection', async () => {
    const startMs = performance.now();
    const clients = await Promise.all([
      connectRaw(pair.gateway.url),
      connectRaw(pair.gateway.url),
      connectRaw(pair.gateway.url),
    ]);
    clients[1]?.send('POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nx-a: ');
    clients[2]?.send('POST /v1/chat/completions HTTP/1.1\r\n');
    const drip = setInterval(() => clients[2]?.send('x-a: b\r\n'), 1_000);
    try {
      await Promise.all(clients.map((client) => client.untilEnd(16_000)));
    } finally {
      clearInterval(drip);
    }
    expect(performance.now() - startMs).toBeWithin(8_000, 16_000);
  });
});
