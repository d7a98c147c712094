/** Tests speech while it is sent: each chunk at once, a client that leaves, a provider that breaks off, a slow client. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '../harness/eventually.ts';
import { exhaustiveTest } from '../harness/exhaustive.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';

const CHUNK = 64 * 1024;
const LARGE_CHUNKS = 800;

/** Answers of upstream that a test sends. */
let gateway: RunningGateway;
let upstream: Server;
const speaking: ServerResponse[] = [];
const left = { count: 0, sentChunks: 0 };

beforeAll(async () => {
  upstream = createServer((request, reply) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      reply.writeHead(200, { 'content-type': 'audio/mpeg' });
      reply.on('close', () => {
        if (!reply.writableEnded) left.count += 1;
      });
      if (Buffer.concat(pieces).includes('tts-large')) sendLarge(reply);
      else speaking.push(reply);
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo;
  const lab = { kind: 'openai-compatible', base_url: `http://127.0.0.1:${port}/v1`, api_key: 'x' };
  const price = { input: 0, output: 0, per_unit: { character: 0.000015 } };
  const models = ['tts-live', 'tts-large'].map((model) => [model, { targets: [{ provider: 'lab', model }], price }]);
  gateway = await startGateway({
    config: {
      defaults: { routing: { max_extra_attempts: 0 } },
      providers: { lab },
      models: Object.fromEntries(models),
    },
  });
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  upstream.closeAllConnections();
  upstream.close();
});

/** As fast as it is taken. */
function sendLarge(reply: ServerResponse): void {
  while (left.sentChunks < LARGE_CHUNKS) {
    left.sentChunks += 1;
    if (!reply.write(Buffer.alloc(CHUNK))) {
      reply.once('drain', () => sendLarge(reply));
      return;
    }
  }
  reply.end();
}

function speak(model: string, signal?: AbortSignal): Promise<Response> {
  return fetch(`${gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, input: 'four', voice: 'alloy' }),
    ...(signal === undefined ? {} : { signal }),
  });
}

async function begin(signal?: AbortSignal) {
  const before = speaking.length;
  const replying = speak('tts-live', signal);
  const source = await eventually('the request', () => speaking[before] ?? null);
  const sentMs = performance.now();
  source.write(Buffer.from('first'));
  const reply = await replying;
  const reader = reply.body?.getReader();
  if (reader === undefined) throw new Error('no body');
  const read = async () => Buffer.from((await reader.read()).value ?? []).toString();
  return { reply, source, sentMs, read, reader };
}

const recordOf = (reply: Response) =>
  eventually('its record', async () => {
    const id = reply.headers.get('x-request-id');
    return (await gateway.calls()).find(({ request_id }) => request_id === id);
  });

test('each chunk arrives before the next one is sent', async () => {
  const { reply, source, read, reader } = await begin();
  expect([reply.status, reply.headers.get('content-type'), await read()]).toEqual([200, 'audio/mpeg', 'first']);
  for (const text of ['second', 'third']) {
    source.write(Buffer.from(text));
    expect(await read()).toBe(text);
  }
  source.end();
  expect((await reader.read()).done).toBe(true);
  expect(await recordOf(reply)).toMatchObject({ status: 200, error: null, cost_nano_usd: '60000' });
});

exhaustiveTest('7: the first byte arrives within 5 ms of the provider’s, in the best of ten', async () => {
  const delaysMs: number[] = [];
  for (let turn = 0; turn < 10; turn++) {
    const { source, sentMs, read, reader } = await begin();
    expect(await read()).toBe('first');
    delaysMs.push(performance.now() - sentMs);
    source.end();
    expect((await reader.read()).done).toBe(true);
  }
  expect(Math.min(...delaysMs)).toBeLessThan(5);
});

test('7: a client that leaves ends the request at the provider at once, and pays for the characters', async () => {
  const client = new AbortController();
  const { reply, read } = await begin(client.signal);
  await read();
  const before = left.count;
  const leftMs = performance.now();
  client.abort();
  await eventually('the end upstream', () => left.count > before || null, 1_000);
  expect(performance.now() - leftMs).toBeLessThan(5_000);
  expect(await recordOf(reply)).toMatchObject({
    status: 499,
    error: 'client_left',
    usage: { characters: 4 },
    cost_nano_usd: '60000',
  });
});

test('a provider that breaks off breaks the connection of the client: half a sound is never whole', async () => {
  const { reply, source, read, reader } = await begin();
  await read();
  source.destroy();
  expect(reader.read()).rejects.toThrow();
  expect((await recordOf(reply)).error).toStartWith('upstream_');
});

test('a client that reads slowly slows the provider down: the gateway does not hold 50 MB', async () => {
  const reply = await speak('tts-large');
  const reader = reply.body?.getReader();
  if (reader === undefined) throw new Error('no body');
  let bytes = (await reader.read()).value?.length ?? 0;
  let last = -1;
  // Until the provider stands still, its buffers and the kernel's being full.
  await eventually('a standstill', () => {
    const isStill = left.sentChunks === last;
    last = left.sentChunks;
    return isStill && last > 1 ? last : null;
  });
  expect(last).toBeLessThan(LARGE_CHUNKS);
  for (let next = await reader.read(); !next.done; next = await reader.read()) bytes += next.value.length;
  expect(bytes).toBe(LARGE_CHUNKS * CHUNK);
  expect(await recordOf(reply)).toMatchObject({ status: 200, error: null, cost_nano_usd: '60000' });
});
