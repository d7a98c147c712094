/** Tests that the gateway holds little of a 200 MB upload and of a 50 MB answer: by the memory of its process. */
import { afterAll, beforeAll, expect } from 'bun:test';
import { readFileSync } from 'node:fs';
import { exhaustiveTest } from '../harness/exhaustive.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { BOUNDARY, FORM_END, partOf } from './audio-rig.ts';

const MB = 1_000_000;
const PIECE = Buffer.alloc(100_000, 'x');
const UPLOAD_BYTES = 200 * MB;
const ANSWER_BYTES = 50 * MB;
const GROWTH_MAX = 8 * MB;
/** The compiler, the collector and the runtime's pools take their memory once. */
const WARM_UPS = 4;

let gateway: RunningGateway;
let upstream: ReturnType<typeof Bun.serve>;
let receivedBytes = 0;

beforeAll(async () => {
  upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    maxRequestBodySize: 2 ** 40,
    async fetch(request) {
      if (request.url.endsWith('/speech')) return new Response(soundOf(ANSWER_BYTES), { headers: { 'content-type': 'audio/pcm' } });
      receivedBytes = 0;
      for await (const chunk of request.body ?? []) receivedBytes += chunk.length;
      return Response.json({ text: 'hi', usage: { type: 'duration', seconds: 4 } });
    },
  });
  const lab = { kind: 'openai-compatible', base_url: `http://127.0.0.1:${upstream.port}/v1`, api_key: 'x' };
  const price = { input: 0, output: 0, per_unit: { second: 0.0001, character: 0.000015 } };
  const models = ['whisper-1', 'tts-1'].map((model) => [model, { targets: [{ provider: 'lab', model }], price }]);
  gateway = await startGateway({ config: { providers: { lab }, models: Object.fromEntries(models) } });
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  await upstream.stop(true);
});

function soundOf(bytes: number): ReadableStream {
  let left = bytes;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(PIECE);
      left -= PIECE.length;
      if (left <= 0) controller.close();
    },
  });
}

const residentBytes = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))?.[1]) * 1024;

/** The most that the process grows while it serves the request. */
async function growthOf(act: () => Promise<void>): Promise<number> {
  const before = residentBytes();
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, residentBytes() - before);
  }, 5);
  await act();
  clearInterval(timer);
  return most;
}

async function upload(): Promise<void> {
  async function* send() {
    yield partOf('model', 'whisper-1');
    yield partOf('file', '', 'a.wav').subarray(0, -2);
    for (let left = UPLOAD_BYTES; left > 0; left -= PIECE.length) yield PIECE;
    yield Buffer.concat([Buffer.from('\r\n'), FORM_END]);
  }
  const reply = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
    body: send() as unknown as ReadableStream,
  });
  expect([reply.status, receivedBytes > UPLOAD_BYTES]).toEqual([200, true]);
}

async function speak(): Promise<void> {
  const reply = await fetch(`${gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tts-1', input: 'hi', voice: 'alloy' }),
  });
  let bytes = 0;
  for await (const chunk of reply.body ?? []) bytes += chunk.length;
  expect([reply.status, bytes]).toEqual([200, ANSWER_BYTES]);
}

for (const [name, act] of [
  ['a 200 MB upload', upload],
  ['a 50 MB answer', speak],
] as const) {
  exhaustiveTest(
    `${name} grows the process by less than 8 MB`,
    async () => {
      for (let turn = 0; turn < WARM_UPS; turn++) await act();
      const growths = [await growthOf(act), await growthOf(act), await growthOf(act)];
      expect(Math.min(...growths)).toBeLessThan(GROWTH_MAX);
    },
    300_000,
  );
}
