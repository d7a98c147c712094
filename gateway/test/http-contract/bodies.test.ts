/**
 * Tests bodies before they are parsed: content type, size in both framings, content coding. Limits table of the
 * reliability design, contract 5.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { connectRaw } from '../fake-upstream/raw-client.ts';
import { type Pair, type SharedPair, startPair } from '../harness/start-pair.ts';
import { callHeaders, goodBody, PATHS, post, type Side } from './calls.ts';
import { contractConfig, scriptContractModels, shareContractPair } from './contract-config.ts';
import { expectRefusal, expectRefusalBody, invalid } from './expect-refusal.ts';
import { goodLines, head, nextAnswer } from './wire.ts';

const SIDES: readonly Side[] = ['chat', 'messages'];
const SMALL_MAX = 4_096;
const DEFAULT_MAX = 32 * 1024 * 1024;
const RATIO_MAX = 5;

let pair: SharedPair;
let small: Pair;
beforeAll(async () => {
  [pair, small] = await Promise.all([
    shareContractPair(),
    startPair((url) => contractConfig(url, { limits: { body_bytes_max: '4KiB', gzip_ratio_max: RATIO_MAX } })),
  ]);
  scriptContractModels(small.fake);
});
afterAll(() => small.stop());

/** Renders a good body of exactly `bytes` bytes. */
function bodyOf(side: Side, bytes: number): Buffer {
  const bare = JSON.stringify(goodBody(side, { padding: '' }));
  return Buffer.from(bare.replace('"padding":""', `"padding":"${'p'.repeat(bytes - bare.length)}"`));
}

const tooLarge = (side: Side, bytesMax: number) => invalid(side, `${bytesMax} bytes`, null, 413);

/** Sends a body without a content length: in chunks of `piece` bytes. */
function postChunked({ gateway }: SharedPair, side: Side, body: Uint8Array, piece = 1_000): Promise<Response> {
  let at = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= body.length) return controller.close();
      controller.enqueue(body.subarray(at, at + piece));
      at += piece;
    },
  });
  return fetch(gateway.url + PATHS[side], { method: 'POST', headers: callHeaders(gateway.key), body: stream });
}

describe('size', () => {
  for (const side of SIDES) {
    test(`${side}: limit − 1, limit, limit + 1, with a length and in chunks`, async () => {
      for (const send of [
        (bytes: number) => post(small.gateway, side, bodyOf(side, bytes)),
        (bytes: number) => postChunked(small, side, bodyOf(side, bytes)),
      ]) {
        expect((await send(SMALL_MAX - 1)).status).toBe(200);
        expect((await send(SMALL_MAX)).status).toBe(200);
        await expectRefusal(await send(SMALL_MAX + 1), side, tooLarge(side, SMALL_MAX));
      }
    });

    test(`${side}: the default is 32 MiB`, async () => {
      expect((await post(pair.gateway, side, bodyOf(side, DEFAULT_MAX))).status).toBe(200);
      const response = await post(pair.gateway, side, bodyOf(side, DEFAULT_MAX + 1));
      await expectRefusal(response, side, tooLarge(side, DEFAULT_MAX));
    });

    test(`${side}: a length over the limit is refused before a byte of the body was sent`, async () => {
      const client = await connectRaw(small.gateway.url);
      client.send(
        head(`POST ${PATHS[side]} HTTP/1.1`, [...goodLines(small.gateway.key), `content-length: ${SMALL_MAX + 1}`]),
      );
      const answer = await nextAnswer(client);
      expect(answer?.status).toBe(413);
      expectRefusalBody(answer?.headers ?? new Headers(), answer?.text ?? '', side, tooLarge(side, SMALL_MAX));
      expect(await client.untilEnd()).toBe('fin');
    });

    test(`${side}: chunks are counted as they arrive: refused at the first byte too many, with the rest never sent`, async () => {
      const client = await connectRaw(small.gateway.url);
      const chunk = `400\r\n${' '.repeat(0x400)}\r\n`;
      client.send(
        head(`POST ${PATHS[side]} HTTP/1.1`, [...goodLines(small.gateway.key), 'transfer-encoding: chunked']),
      );
      client.send(chunk.repeat(SMALL_MAX / 0x400));
      client.send('1\r\n \r\n');
      const answer = await nextAnswer(client);
      expect(answer?.status).toBe(413);
      expectRefusalBody(answer?.headers ?? new Headers(), answer?.text ?? '', side, tooLarge(side, SMALL_MAX));
      client.leave();
    });
  }

  test('a client that sends on for long after the refusal still reads it', async () => {
    const client = await connectRaw(small.gateway.url);
    const body = Buffer.alloc(8 * 1024 * 1024, ' ');
    client.send(
      head(`POST ${PATHS.chat} HTTP/1.1`, [...goodLines(small.gateway.key), `content-length: ${body.length}`]),
    );
    client.send(body);
    expect(await nextAnswer(client)).toMatchObject({ status: 413 });
    client.leave();
  });

  test('an absurd length is refused and holds nothing', async () => {
    for (const length of ['9007199254740993', '18446744073709551615', '99999999999999999999999']) {
      const client = await connectRaw(small.gateway.url);
      client.send(head(`POST ${PATHS.chat} HTTP/1.1`, [...goodLines(small.gateway.key), `content-length: ${length}`]));
      const answer = await nextAnswer(client);
      expect([400, 413]).toContain(answer?.status ?? 0);
      client.leave();
    }
    expect((await post(small.gateway, 'chat', goodBody('chat'))).status).toBe(200);
  });

  test('an empty body is 400, with a length of 0, in no chunk, and without either', async () => {
    const empty = invalid('chat', 'JSON');
    await expectRefusal(await post(pair.gateway, 'chat', ''), 'chat', empty);
    await expectRefusal(await postChunked(pair, 'chat', new Uint8Array(0)), 'chat', empty);
    const client = await connectRaw(pair.gateway.url);
    client.send(head(`POST ${PATHS.chat} HTTP/1.1`, goodLines(pair.gateway.key)));
    const answer = await nextAnswer(client);
    expectRefusalBody(answer?.headers ?? new Headers(), answer?.text ?? '', 'chat', empty);
    client.leave();
  });
});

describe('content type', () => {
  const TAKEN = [
    'application/json',
    'Application/JSON; charset=utf-8',
    'application/json;charset="utf-8"',
    'application/vnd.api+json',
  ];
  const REFUSED = [
    '',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'json',
    'application/jsonx',
    'text/json, application/json',
  ];
  for (const side of SIDES) {
    test(`${side}: JSON is taken in each way of writing it`, async () => {
      for (const type of TAKEN) {
        expect((await post(pair.gateway, side, goodBody(side), { 'content-type': type })).status).toBe(200);
      }
    });

    test(`${side}: another type is 400, none at all too`, async () => {
      for (const type of REFUSED) {
        const response = await post(pair.gateway, side, goodBody(side), { 'content-type': type });
        await expectRefusal(response, side, invalid(side, 'expected application/json', null));
      }
      const body = JSON.stringify(goodBody(side));
      const [host = '', authorization = ''] = goodLines(pair.gateway.key);
      const client = await connectRaw(pair.gateway.url);
      client.send(head(`POST ${PATHS[side]} HTTP/1.1`, [host, authorization, `content-length: ${body.length}`]) + body);
      const answer = await nextAnswer(client);
      expectRefusalBody(
        answer?.headers ?? new Headers(),
        answer?.text ?? '',
        side,
        invalid(side, 'content-type is missing'),
      );
      client.leave();
    });
  }
});

describe('content coding', () => {
  const gzipped = (body: Uint8Array) => gzipSync(body);
  const send = (to: SharedPair, body: Uint8Array, coding: string, side: Side = 'chat') =>
    post(to.gateway, side, body, { 'content-encoding': coding });

  /** Gzip with a ratio as close to `ratio` as single bytes of padding allow, from below or above. */
  function gzipOfRatio(ratio: number, above: boolean): Uint8Array {
    for (let bytes = 100; bytes <= SMALL_MAX; bytes += 1) {
      const packed = gzipped(bodyOf('chat', bytes + 100));
      const over = (bytes + 100) / packed.length > ratio;
      if (over) return above ? packed : gzipped(bodyOf('chat', bytes + 99));
    }
    throw new Error(`no body of ratio ${ratio}`);
  }

  test('gzip and identity are taken, in any case', async () => {
    for (const side of SIDES) {
      for (const coding of ['gzip', 'GZIP', ' gzip ']) {
        expect((await send(pair, gzipped(bodyOf(side, 300)), coding, side)).status).toBe(200);
      }
      expect((await send(pair, bodyOf(side, 300), 'identity', side)).status).toBe(200);
    }
  });

  test('upstream gets the body inflated, and no coding', async () => {
    await send(pair, gzipped(bodyOf('chat', 300)), 'gzip');
    const served = pair.fake.served('ok').at(-1);
    expect(Buffer.from(served?.requestBody ?? []).toString()).toBe(bodyOf('chat', 300).toString());
    expect(served?.headers.map(([name]) => name)).not.toContain('content-encoding');
  });

  test('another coding is 415', async () => {
    for (const side of SIDES) {
      for (const coding of ['br', 'deflate', 'zstd', 'compress', 'x-gzip', 'gzip, gzip', 'chunked', '*']) {
        const response = await send(pair, gzipped(bodyOf(side, 300)), coding, side);
        await expectRefusal(response, side, invalid(side, JSON.stringify(coding), null, 415));
      }
    }
  });

  test('a body that is not gzip, is truncated, or has bytes after its end is 400', async () => {
    const whole = gzipped(bodyOf('chat', 300));
    for (const broken of [
      bodyOf('chat', 300),
      whole.subarray(0, -1),
      whole.subarray(0, 5),
      Buffer.concat([whole, Buffer.from('x')]),
    ]) {
      await expectRefusal(await send(pair, broken, 'gzip'), 'chat', invalid('chat', 'gzip', null));
    }
  });

  test('inflating to more than the ratio is 415, to less is taken', async () => {
    expect((await send(small, gzipOfRatio(RATIO_MAX, false), 'gzip')).status).toBe(200);
    const response = await send(small, gzipOfRatio(RATIO_MAX, true), 'gzip');
    await expectRefusal(response, 'chat', invalid('chat', `${RATIO_MAX} times`, null, 415));
  });

  test('inflating to more than a body may have is 413, to as much is taken', async () => {
    // Every other byte is random, so that the ratio stays below its own limit.
    const body = (bytes: number) => {
      const bare = JSON.stringify(goodBody('chat', { padding: '' }));
      const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex');
      return Buffer.from(bare.replace('""', JSON.stringify(noise.slice(0, bytes - bare.length))));
    };
    expect((await send(small, gzipped(body(SMALL_MAX)), 'gzip')).status).toBe(200);
    const response = await send(small, gzipped(body(SMALL_MAX + 1)), 'gzip');
    await expectRefusal(response, 'chat', tooLarge('chat', SMALL_MAX));
  });

  test('a bomb of 64 MiB in 64 KiB is refused by its ratio, at the default of 20', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
    expect(bomb.length).toBeLessThan(70_000);
    await expectRefusal(await send(pair, bomb, 'gzip'), 'chat', invalid('chat', '20 times', null, 415));
  });
});
