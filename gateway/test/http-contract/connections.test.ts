/**
 * Tests how long a client may keep a connection: contract 10.8 with scaled-down times. Each test waits for its own
 * limit.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connectRaw, type RawClient } from '../fake-upstream/raw-client.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { callHeaders, goodBody, PATHS, post } from './calls.ts';
import { contractConfig, scriptContractModels } from './contract-config.ts';
import { createKey } from './make-key.ts';
import { goodLines, head, nextAnswer } from './wire.ts';

/** The minimum setting: two steps of the runtime's clock. A connection is closed after 4 to 8 s. */
const IDLE_MS = 8_000;
const BUSY_MS = 4_000;
const MIB = 1024 * 1024;
const SAME_ORIGIN = ['host: 127.0.0.1', 'origin: http://127.0.0.1', 'sec-fetch-site: same-origin'];
const UNFINISHED = ['content-type: application/json', 'content-length: 100'];

let pair: Pair;
beforeAll(async () => {
  const limits = {
    idle_connection_timeout: '8s',
    body_timeout: '1s',
    body_timeout_max: '3s',
    body_bytes_per_second_min: '64KiB',
    body_bytes_max: '1MiB',
    body_bytes_per_key_max: '1MiB',
    slow_reader_timeout: '1s',
  };
  pair = await startPair((url) => contractConfig(url, { limits }));
  scriptContractModels(pair.fake);
});
afterAll(() => pair.stop());

async function connect(...bytes: readonly string[]): Promise<RawClient> {
  const client = await connectRaw(pair.gateway.url);
  for (const part of bytes) client.send(part);
  return client;
}

const untilClosed = (client: RawClient) => client.untilEnd(IDLE_MS + BUSY_MS);

describe('a body that does not end', () => {
  test.concurrent.each(['/app/api/sign-in', '/app/api/sign-in/code', '/app/api/setup', '/app/api/resets/a-token'])(
    'on %s: 408, and the connection closed',
    async (path) => {
      const startMs = performance.now();
      const client = await connect(head(`POST ${path} HTTP/1.1`, [...SAME_ORIGIN, ...UNFINISHED]), '{"email"');
      const answer = await nextAnswer(client);
      expect(answer?.status).toBe(408);
      expect(JSON.parse(answer?.text ?? '')).toMatchObject({ error: { code: 'body_timeout' } });
      expect(performance.now() - startMs).toBeWithin(900, 5_000);
      await untilClosed(client);
    },
  );

  test.concurrent.each([
    ['GET', '/healthz', 200],
    ['GET', '/app/sign-in', 200],
    ['GET', '/v1/nothing', 404],
    ['POST', '/healthz', 405],
    ['POST', PATHS.chat, 401],
    ['POST', '/app/api/nothing', 404],
  ] as const)(
    '%s %s is answered before it: the connection is closed all the same, also while bytes drip',
    async (method, path, status) => {
      const finish = async (framing: string) => {
        const client = await connect(head(`${method} ${path} HTTP/1.1`, ['host: 127.0.0.1', framing]));
        const answer = await nextAnswer(client, 0, 10_000);
        expect([framing, answer?.status]).toEqual([framing, status]);
        const drip = setInterval(() => client.send(framing.includes('chunked') ? '1\r\nx\r\n' : 'x'), 200);
        await untilClosed(client).finally(() => clearInterval(drip));
      };
      await Promise.all(['content-length: 1000000', 'transfer-encoding: chunked'].map(finish));
    },
  );
});

describe('a body that arrives', () => {
  const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${' '.repeat(bytes)}\r\n`;
  /** Uses its own key, so that other calls do not use its capacity. */
  const chunkedCall = async () => {
    const { key } = await createKey(pair.gateway);
    return connect(head(`POST ${PATHS.chat} HTTP/1.1`, [...goodLines(key), 'transfer-encoding: chunked']));
  };

  test.concurrent('fast enough may take longer than its time limit', async () => {
    const client = await chunkedCall();
    const startMs = performance.now();
    // 128 KiB a second: the average may fall on a busy machine but stays above the minimum rate.
    while (performance.now() - startMs < 2_000) {
      client.send(chunk(16 * 1024));
      await Bun.sleep(125);
    }
    const body = JSON.stringify(goodBody('chat'));
    client.send(`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
    expect((await nextAnswer(client))?.status).toBe(200);
    client.leave();
  });

  test.concurrent('fast enough is cut off at the longest time', async () => {
    const client = await chunkedCall();
    const startMs = performance.now();
    client.send(chunk(1_000_000));
    const answer = await nextAnswer(client, 0, 8_000);
    expect(answer?.status).toBe(408);
    expect(answer?.text).toContain('3000 ms');
    expect(performance.now() - startMs).toBeWithin(2_900, 8_000);
    client.leave();
  });

  test.concurrent('bytes count for their key: one key cannot take the room of the others', async () => {
    const [greedy, other] = await Promise.all([createKey(pair.gateway), createKey(pair.gateway)]);
    const hold = () =>
      connect(
        head(`POST ${PATHS.chat} HTTP/1.1`, [...goodLines(greedy.key), `content-length: ${MIB}`]),
        ' '.repeat(MIB - 1_000),
      );
    let holding = await hold();
    const large = JSON.stringify(goodBody('chat', { padding: 'p'.repeat(MIB / 2) }));
    const ask = (key: string) => post({ url: pair.gateway.url, key }, 'chat', large);
    let refused = await ask(greedy.key);
    // A call that arrives before all bytes of the unfinished body takes their room; that body is then refused and sent
    // again.
    while (refused.status !== 429) {
      if (holding.ended() !== 'open') holding = await hold();
      refused = await ask(greedy.key);
    }
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeWithin(1, 61);
    expect(((await refused.json()) as { error: { message: string } }).error.message).toContain('this key');
    expect((await ask(other.key)).status).toBe(200);
    holding.leave('rst');
  });
});

describe('an idle connection', () => {
  const ask = (stream: boolean) => {
    const body = JSON.stringify(goodBody('chat', { stream }));
    return (
      head(`POST ${PATHS.chat} HTTP/1.1`, [...goodLines(pair.gateway.key), `content-length: ${body.length}`]) + body
    );
  };
  const healthz = head('GET /healthz HTTP/1.1', ['host: 127.0.0.1']);

  test.concurrent.each([
    ['GET /healthz', () => healthz],
    ['a call in one piece', () => ask(false)],
    ['a stream', () => ask(true)],
    ['a page of the console', () => head('GET /app/sign-in HTTP/1.1', ['host: 127.0.0.1'])],
    ['a reply of the console API', () => head('GET /app/api/session HTTP/1.1', ['host: 127.0.0.1'])],
  ] as const)('after %s is closed', async (_, request) => {
    const client = await connect(request());
    expect((await nextAnswer(client, 0, 10_000))?.status).toBeOneOf([200, 401]);
    expect(await untilClosed(client)).toBe('fin');
  });

  test.concurrent('the time limit restarts after each reply', async () => {
    const client = await connect(healthz);
    let next = (await nextAnswer(client))?.next ?? 0;
    const startMs = performance.now();
    while (performance.now() - startMs < IDLE_MS + 1_000) {
      await Bun.sleep(1_000);
      client.send(healthz);
      const answer = await nextAnswer(client, next);
      expect(answer?.status).toBe(200);
      next = answer?.next ?? 0;
    }
    client.leave();
  });

  test.concurrent('a connection with an unfinished next request is closed', async () => {
    const client = await connect(healthz);
    await nextAnswer(client);
    const drip = setInterval(() => client.send('G'), 300);
    await untilClosed(client).finally(() => clearInterval(drip));
  });
});

test.concurrent('a client that does not read its replies is dropped', async () => {
  const client = await connect();
  client.pause();
  const openapi = head('GET /openapi.json HTTP/1.1', ['host: 127.0.0.1']);
  const whole = (await (await fetch(`${pair.gateway.url}/openapi.json`)).text()).length;
  const calls = Math.ceil((24 * MIB) / whole);
  client.send(openapi.repeat(calls));
  await Bun.sleep(IDLE_MS + 1_000);
  client.resume();
  await untilClosed(client);
  expect(client.received().length).toBeLessThan(calls * whole);
});

test.concurrent('a call that waits for its model is not cut by the idle limit', async () => {
  const leave = new AbortController();
  const body = JSON.stringify(goodBody('chat', { model: 'slow' }));
  const waiting = fetch(pair.gateway.url + PATHS.chat, {
    method: 'POST',
    headers: callHeaders(pair.gateway.key),
    body,
    signal: leave.signal,
  }).then(
    () => 'answered',
    () => (leave.signal.aborted ? 'left' : 'cut'),
  );
  const over = await Promise.race([waiting, Bun.sleep(IDLE_MS + 1_000).then(() => 'open')]);
  leave.abort();
  expect(over).toBe('open');
  expect(await waiting).toBe('left');
});
