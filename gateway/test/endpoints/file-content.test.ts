/** Tests the content of files on its way to the client: whole, at the client's pace, broken off, left, compressed. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { eventually } from '../harness/eventually.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';

const MIB = 1024 * 1024;
const PIECE = randomBytes(64 * 1024);
const PIECES = 480;

let gateway: RunningGateway;
let file: string;
/** Pieces that the provider has handed out, and whether its client has left. */
let given = 0;
let isLeft = false;

function* pieces(most: number): Generator<Buffer> {
  for (given = 0; given < most; given++) yield PIECE;
}

const CONTENTS: Readonly<Record<string, (reply: ServerResponse) => void>> = {
  whole: (reply) => Readable.from(pieces(PIECES)).pipe(reply),
  empty: (reply) => reply.end(),
  broken: (reply) => reply.write(PIECE, () => reply.destroy()),
  endless: (reply) => Readable.from(pieces(1_000_000)).pipe(reply),
  compressed: (reply) => reply.setHeader('content-encoding', 'gzip').end(Bun.gzipSync('hello')),
};
let content: keyof typeof CONTENTS = 'whole';

const server = createServer((request, reply) => {
  isLeft = false;
  reply.on('close', () => {
    isLeft = true;
  });
  if (request.url?.endsWith('/content')) CONTENTS[content]?.(reply);
  else request.resume().on('end', () => reply.end('{"id":"file-1"}'));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  gateway = await startGateway({
    config: {
      limits: { slow_reader_bytes_max: '256KiB' },
      providers: {
        host: { kind: 'openai', base_url, api_key: 'a', files: 'on' },
      },
      models: { m: { targets: [{ provider: 'host' }], price: { input: 1, output: 1 } } },
    },
  });
  const form = new FormData();
  form.append('file', new Blob(['hello']), 'a.txt');
  const reply = await fetch(`${gateway.url}/v1/files`, { method: 'POST', body: form, headers: headers() });
  file = ((await reply.json()) as { id: string }).id;
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  server.closeAllConnections();
  server.close();
});

const headers = () => ({ authorization: `Bearer ${gateway.key}` });

function download(name: keyof typeof CONTENTS, signal?: AbortSignal): Promise<Response> {
  content = name;
  return fetch(`${gateway.url}/v1/files/${file}/content`, { headers: headers(), ...(signal && { signal }) });
}

test('of 30 MB arrives as the provider sent it', async () => {
  const bytes = Buffer.from(await (await download('whole')).arrayBuffer());
  const sent = createHash('sha256');
  for (let at = 0; at < PIECES; at++) sent.update(PIECE);
  expect(bytes.length).toBe(PIECES * PIECE.length);
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(sent.digest('hex'));
});

test('that is empty arrives empty', async () => {
  const reply = await download('empty');
  expect([reply.status, await reply.text()]).toEqual([200, '']);
});

test('that breaks off at the provider breaks off at the client', async () => {
  const reply = await download('broken');
  expect(reply.status).toBe(200);
  await expect(reply.arrayBuffer()).rejects.toThrow();
});

test('waits for a client that reads slowly, and ends at the provider when it leaves', async () => {
  const leaving = new AbortController();
  const reply = await download('endless', leaving.signal);
  const reader = reply.body?.getReader();
  expect((await reader?.read())?.value?.length).toBeGreaterThan(0);
  let before = -1;
  await eventually('the provider to be held back', async () => {
    const isStill = given === before;
    before = given;
    await Bun.sleep(100);
    return isStill || null;
  });
  // The kernel's buffers of both connections take some megabytes.
  expect(given * PIECE.length).toBeLessThan(64 * MIB);
  leaving.abort();
  await eventually('the end at the provider', () => isLeft || null);
});

test('in a content-encoding is a fault of the provider', async () => {
  const reply = await download('compressed');
  expect([reply.status, await reply.text()]).toEqual([500, expect.stringContaining('content-encoding')]);
});
