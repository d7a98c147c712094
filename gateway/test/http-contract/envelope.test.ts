/**
 * Tests everything around a body: request line, header lines, header block, unusual framing. Limits table of the
 * reliability design.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connectRaw } from '../fake-upstream/raw-client.ts';
import { type Pair, type SharedPair, startPair } from '../harness/start-pair.ts';
import { goodBody, PATHS, post } from './calls.ts';
import { contractConfig, shareContractPair } from './contract-config.ts';
import { expectRefusalBody, invalid } from './expect-refusal.ts';
import { goodLines, head, nextAnswer, sendWire, type WireAnswer } from './wire.ts';

let pair: SharedPair;
let small: Pair;
beforeAll(async () => {
  [pair, small] = await Promise.all([
    shareContractPair(),
    startPair((url) => contractConfig(url, { limits: { url_bytes_max: '256B', header_count_max: 8 } })),
  ]);
});
afterAll(() => small.stop());

const BODY = JSON.stringify(goodBody('chat'));

function good(requestLine = `POST ${PATHS.chat} HTTP/1.1`, more: readonly string[] = []): string {
  return head(requestLine, [...goodLines(pair.gateway.key), `content-length: ${BODY.length}`, ...more]) + BODY;
}

function expectServed(answer: WireAnswer | null): void {
  expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('Good day') });
}

function expectInvalid(answer: WireAnswer | null, status: number, says: string): void {
  expect(answer?.status).toBe(status);
  expectRefusalBody(answer?.headers ?? new Headers(), answer?.text ?? '', 'chat', invalid('chat', says, null, status));
}

describe('path and query', () => {
  for (const { most, chosen } of [
    { most: 8_192, chosen: () => pair },
    { most: 256, chosen: () => small },
  ]) {
    test(`at ${most} bytes they are taken, at one more refused with 414`, async () => {
      const ask = (bytes: number) => {
        const target = '/healthz?'.padEnd(bytes, 'q');
        return sendWire(chosen().gateway.url, head(`GET ${target} HTTP/1.1`, ['host: 127.0.0.1']));
      };
      expect((await ask(most - 1))?.status).toBe(200);
      expect((await ask(most))?.status).toBe(200);
      expectInvalid(await ask(most + 1), 414, `${most} bytes`);
    });
  }
});

describe('header lines', () => {
  for (const { most, chosen } of [
    { most: 100, chosen: () => pair },
    { most: 8, chosen: () => small },
  ]) {
    test(`at ${most} they are taken, at one more refused with 431`, async () => {
      const ask = (lines: number) => {
        const more = Array.from({ length: lines - 1 }, (_, index) => `x-${index}: 1`);
        return sendWire(chosen().gateway.url, head('GET /healthz HTTP/1.1', ['host: 127.0.0.1', ...more]));
      };
      expect((await ask(most - 1))?.status).toBe(200);
      expect((await ask(most))?.status).toBe(200);
      expectInvalid(await ask(most + 1), 431, `${most} headers`);
    });
  }

  test('a block of more than 16 KiB is refused with 431 by the runtime, one below it is taken', async () => {
    const ask = (bytes: number) => {
      const bare = head('GET /healthz HTTP/1.1', ['host: 127.0.0.1', 'x-long: ']);
      return sendWire(pair.gateway.url, bare.replace('x-long: ', `x-long: ${'v'.repeat(bytes - bare.length)}`));
    };
    expect((await ask(16_000))?.status).toBe(200);
    expect((await ask(17_000))?.status).toBe(431);
  });
});

describe('requests that HTTP/1.1 forbids never reach a route', () => {
  const served = () => pair.fake.served().length;
  const chunked = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
  const lines = () => goodLines(pair.gateway.key);
  const LINE = `POST ${PATHS.chat} HTTP/1.1`;
  const rows: ReadonlyArray<readonly [what: string, bytes: () => string]> = [
    ['no host', () => head(LINE, [...lines().slice(1), `content-length: ${BODY.length}`]) + BODY],
    ['both lengths', () => head(LINE, [...lines(), 'content-length: 5', 'transfer-encoding: chunked']) + chunked],
    [
      'both lengths, the other way round',
      () => head(LINE, [...lines(), 'transfer-encoding: chunked', 'content-length: 5']) + chunked,
    ],
    [
      'two content-lengths that differ',
      () => head(LINE, [...lines(), 'content-length: 5', `content-length: ${BODY.length}`]) + BODY,
    ],
    ['a negative length', () => head(LINE, [...lines(), 'content-length: -1']) + BODY],
    ['a length that is no number', () => head(LINE, [...lines(), 'content-length: 0x10']) + BODY],
    ['a length with a sign', () => head(LINE, [...lines(), `content-length: +${BODY.length}`]) + BODY],
    ['an unknown transfer coding', () => head(LINE, [...lines(), 'transfer-encoding: gzip, chunked']) + chunked],
    [
      'a chunk size that is not a number',
      () => `${head(LINE, [...lines(), 'transfer-encoding: chunked'])}zz\r\n${BODY}\r\n0\r\n\r\n`,
    ],
    ['a folded header', () => head(LINE, [...lines(), 'x-a: b\r\n c', `content-length: ${BODY.length}`]) + BODY],
    ['a space before the colon', () => head(LINE, [...lines(), 'x-a : b', `content-length: ${BODY.length}`]) + BODY],
    ['TLS on the plain port', () => '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
    ['HTTP/2 without an upgrade', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ];
  for (const [what, bytes] of rows) {
    test(`${what}: 400 and the connection is closed`, async () => {
      const before = served();
      const client = await connectRaw(pair.gateway.url);
      client.send(Buffer.from(bytes(), 'latin1'));
      const answer = await nextAnswer(client);
      expect(answer?.status).toBe(400);
      await client.untilEnd();
      expect(served()).toBe(before);
    });
  }

  test('host sent twice: 400 in the words of the protocol', async () => {
    expectInvalid(await sendWire(pair.gateway.url, good(undefined, ['host: other.example'])), 400, 'host');
  });

  test.each(['a b', 'a/b', 'user@a', '<a>'])('the host %j: 400 in the words of the protocol', async (host) => {
    const bytes = good().replace('host: 127.0.0.1', `host: ${host}`);
    expectInvalid(await sendWire(pair.gateway.url, bytes), 400, 'host');
  });
});

describe('requests that HTTP/1.1 allows are served', () => {
  test('HTTP/1.0 without a host, then the connection is closed', async () => {
    const lines = [...goodLines(pair.gateway.key).slice(1), `content-length: ${BODY.length}`];
    const client = await connectRaw(pair.gateway.url);
    client.send(head(`POST ${PATHS.chat} HTTP/1.0`, lines) + BODY);
    expectServed(await nextAnswer(client));
    expect(await client.untilEnd()).toBe('fin');
  });

  // As HAProxy checks a server by default.
  test.each([
    ['/healthz', '"status":"ok"'],
    ['/readyz', '"status":"ready"'],
    ['/openapi.json', '"openapi"'],
    ['/v1/models?limit=1', '"data"'],
    ['/v1beta/models', '"models"'],
    ['/nothing', 'there is no path \\"/nothing\\"'],
  ])('HTTP/1.0 without a host reaches %s', async (target, says) => {
    const lines = goodLines(pair.gateway.key).slice(1);
    const answer = await sendWire(pair.gateway.url, head(`GET ${target} HTTP/1.0`, lines));
    expect(answer?.text).toContain(says);
  });

  test('an HTTP/1.0 stream is not chunked, ends with [DONE] and the close of the connection', async () => {
    const body = JSON.stringify(goodBody('chat', { stream: true }));
    const client = await connectRaw(pair.gateway.url);
    client.send(
      head(`POST ${PATHS.chat} HTTP/1.0`, [...goodLines(pair.gateway.key).slice(1), `content-length: ${body.length}`]) +
        body,
    );
    expect(await client.untilEnd()).toBe('fin');
    const text = client.received().toString();
    expect(text).toEndWith('data: [DONE]\n\n');
    expect(text.toLowerCase()).not.toContain('transfer-encoding');
  });

  test('an absolute-form target: its path counts, its host changes nothing', async () => {
    expectServed(await sendWire(pair.gateway.url, good(`POST http://elsewhere.example:99${PATHS.chat}?x HTTP/1.1`)));
    expect(pair.fake.served('ok').at(-1)?.headers).toContainEqual(['host', new URL(pair.fake.url).host]);
  });

  test('a body in chunks of odd sizes, with extensions', async () => {
    const cut = 7;
    const pieces = [BODY.slice(0, 1), BODY.slice(1, cut), BODY.slice(cut)];
    const framed = pieces.map((piece) => `${piece.length.toString(16)};ext=1\r\n${piece}\r\n`).join('');
    const lines = [...goodLines(pair.gateway.key), 'transfer-encoding: chunked'];
    expectServed(await sendWire(pair.gateway.url, `${head(`POST ${PATHS.chat} HTTP/1.1`, lines)}${framed}0\r\n\r\n`));
  });

  test('a request that arrives byte by byte', async () => {
    const client = await connectRaw(pair.gateway.url);
    for (const byte of Buffer.from(good())) {
      client.send(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expectServed(await nextAnswer(client));
    client.leave();
  });

  test('expect: 100-continue is answered before the body is sent', async () => {
    const client = await connectRaw(pair.gateway.url);
    client.send(good(undefined, ['expect: 100-continue']).slice(0, -BODY.length));
    await client.until(() => client.received().includes('HTTP/1.1 100 Continue\r\n\r\n'));
    client.send(BODY);
    expectServed(await nextAnswer(client));
    client.leave();
  });
});

describe('connections', () => {
  test('one connection serves call after call, refusals of the body between them', async () => {
    const client = await connectRaw(pair.gateway.url);
    const bad = `${head(`POST ${PATHS.chat} HTTP/1.1`, [...goodLines(pair.gateway.key), 'content-length: 2'])}{}`;
    const unknown = head('GET /v1/nothing HTTP/1.1', ['host: 127.0.0.1']);
    let from = 0;
    for (const [bytes, status] of [
      [good(), 200],
      [bad, 400],
      [good(), 200],
      [unknown, 404],
      [good(), 200],
    ] as const) {
      client.send(bytes);
      const answer = await nextAnswer(client, from);
      expect(answer).toMatchObject({ status, ended: 'open' });
      from = answer?.next ?? 0;
    }
    client.leave();
  });

  test('requests sent ahead of the answers are answered in order, or the connection is closed: never mixed up', async () => {
    const client = await connectRaw(pair.gateway.url);
    const first = head('GET /healthz HTTP/1.1', ['host: 127.0.0.1']);
    const last = head('GET /v1/nothing HTTP/1.1', ['host: 127.0.0.1']);
    client.send(first + good() + last);
    const statuses: number[] = [];
    for (let from = 0; statuses.length < 3; ) {
      const answer = await nextAnswer(client, from);
      if (answer === null) break;
      statuses.push(answer.status);
      from = answer.next;
    }
    client.leave();
    expect([200, 200, 404].slice(0, statuses.length)).toEqual(statuses);
    expect(statuses.length).toBeGreaterThan(0);
    expect((await post(pair.gateway, 'chat', goodBody('chat'))).status).toBe(200);
  });
});
