/**
 * Tests that the gateway holds little of a 200 MB upload and of a 50 MB answer, the first time too: by the memory of its
 * process, without the pages of its program.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { exhaustiveTest } from '../harness/exhaustive.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { BOUNDARY, FORM_END, partOf } from './audio-rig.ts';

const MB = 1_000_000;
/** Frames of MPEG 1 layer III at 128 kbit/s; about 100 kB. */
const PIECE = Buffer.concat(
  Array.from({ length: 240 }, () => Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0]), randomBytes(413)])),
);
const UPLOADED_PIECES = 2_000;
const SPOKEN_PIECES = 500;
/** Speech comes in chunks. */
const CHUNK = Buffer.concat([Buffer.from(`${PIECE.length.toString(16)}\r\n`), PIECE, Buffer.from('\r\n')]);
const GROWTH_MAX = 8 * MB;
const LOOK_EVERY_MS = 5;
const FORM_START = Buffer.concat([partOf('model', 'whisper-1'), partOf('file', '', 'a.wav').subarray(0, -2)]);
const FORM_REST = Buffer.concat([Buffer.from('\r\n'), FORM_END]);
const SPEECH = { model: 'tts-1', input: 'hi', voice: 'alloy' };
const TRANSCRIPT = JSON.stringify({ text: 'hi', usage: { type: 'duration', seconds: 4 } });

let upstream: Server;
let receivedBytes = 0;
/** The sound that upstream sends. */
let spokenPieces = 0;
let gateway: RunningGateway;

/** Writes as fast as the other side reads. */
function pump(socket: Socket, pieces: Iterator<Buffer>): void {
  for (let next = pieces.next(); !next.done; next = pieces.next()) {
    if (socket.write(next.value)) continue;
    socket.once('drain', () => pump(socket, pieces));
    return;
  }
}

function* sound(pieces: number): Generator<Buffer> {
  for (let piece = 0; piece < pieces; piece++) yield CHUNK;
  yield Buffer.from('0\r\n\r\n');
}

function* form(pieces: number): Generator<Buffer> {
  yield FORM_START;
  for (let piece = 0; piece < pieces; piece++) yield PIECE;
  yield FORM_REST;
}

/** Answers each request once it is complete. */
function answerOn(socket: Socket): void {
  let head = '';
  let left = 0;
  socket.on('error', () => undefined);
  socket.on('data', (bytes) => {
    if (left > 0) left -= bytes.length;
    else {
      head += bytes.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) return;
      receivedBytes = Number(/content-length: (\d+)/i.exec(head)?.[1]);
      left = receivedBytes - (head.length - end - 4);
    }
    if (left > 0) return;
    const isSpeech = head.includes('/speech');
    const coding = isSpeech ? 'transfer-encoding: chunked' : `content-length: ${TRANSCRIPT.length}`;
    socket.write(
      `HTTP/1.1 200 OK\r\ncontent-type: ${isSpeech ? 'audio/mpeg' : 'application/json'}\r\n${coding}\r\n\r\n`,
    );
    if (isSpeech) pump(socket, sound(spokenPieces));
    else socket.write(TRANSCRIPT);
    head = '';
  });
}

beforeAll(async () => {
  upstream = createServer(answerOn);
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
});
afterAll(() => void upstream.close());

async function start(): Promise<void> {
  const { port } = upstream.address() as AddressInfo;
  const lab = { kind: 'openai-compatible', base_url: `http://127.0.0.1:${port}/v1`, api_key: 'x' };
  const models = ['whisper-1', 'tts-1'].map((model) => [
    model,
    { targets: [{ provider: 'lab', model }], price: 'free' },
  ]);
  gateway = await startGateway({ config: { providers: { lab }, models: Object.fromEntries(models) } });
}

/** Until a second without a change: the work after the start belongs to no request. */
async function untilQuiet(): Promise<void> {
  let least = heldBytes();
  for (let looks = 0, quiet = 0; looks < 100 && quiet < 10; looks++) {
    await Bun.sleep(100);
    const now = heldBytes();
    quiet = Math.abs(now - least) < MB / 4 ? quiet + 1 : 0;
    if (quiet === 0) least = now;
  }
}

/** Resolves with the head of the answer and its size, once the gateway closes the connection. */
function ask(path: string, type: string, length: number, body: Iterator<Buffer>): Promise<[string, number]> {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${gateway.key}\r\n`;
  socket.write(`${head}content-type: ${type}\r\ncontent-length: ${length}\r\n\r\n`);
  pump(socket, body);
  let status = '';
  let bytes = 0;
  socket.on('data', (read) => {
    if (bytes === 0) status = read.toString('latin1', 0, 12);
    bytes += read.length;
  });
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () => resolve([status, bytes]));
  });
}

async function upload(pieces: number): Promise<void> {
  const type = `multipart/form-data; boundary=${BOUNDARY}`;
  const length = FORM_START.length + pieces * PIECE.length + FORM_REST.length;
  const [status] = await ask('/v1/audio/transcriptions', type, length, form(pieces));
  expect([status, receivedBytes]).toEqual(['HTTP/1.1 200', length]);
}

async function speak(pieces: number): Promise<void> {
  spokenPieces = pieces;
  const body = JSON.stringify(SPEECH);
  const [status, read] = await ask('/v1/audio/speech', 'application/json', body.length, [Buffer.from(body)].values());
  expect([status, read > pieces * PIECE.length]).toEqual(['HTTP/1.1 200', true]);
}

const heldBytes = () =>
  Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))?.[1]) * 1024;

/** The most that the process grows while it serves the request. */
async function growthOf(act: () => Promise<void>): Promise<number> {
  const before = heldBytes();
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, heldBytes() - before);
  }, LOOK_EVERY_MS);
  await act();
  clearInterval(timer);
  return Math.max(most, heldBytes() - before);
}

const median = (numbers: number[]) => numbers.sort((one, other) => one - other)[Math.floor(numbers.length / 2)];

test('memory is freed only after its bytes have gone out', async () => {
  await start();
  await upload(30);
  spokenPieces = 50;
  const reply = await fetch(`${gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(SPEECH),
  });
  const sent = Buffer.concat(Array.from({ length: spokenPieces }, () => PIECE));
  expect(Buffer.from(await reply.arrayBuffer()).equals(sent)).toBe(true);
  await gateway.stop();
});

/** A busy machine delays the compiler and the collector: the best of three processes counts, and the median of all later. */
async function checkGrowth(act: () => Promise<void>): Promise<void> {
  const first: number[] = [];
  const later: number[] = [];
  for (let process = 0; process < 3; process++) {
    await start();
    await untilQuiet();
    first.push(await growthOf(act));
    for (let turn = 0; turn < 3; turn++) later.push(await growthOf(act));
    await gateway.stop();
  }
  expect(Math.min(...first)).toBeLessThan(GROWTH_MAX);
  expect(median(later)).toBeLessThan(GROWTH_MAX);
}

if (process.platform === 'linux') {
  const title = 'grows the process by less than 8 MB, the first time and later';
  exhaustiveTest(`a 200 MB upload ${title}`, () => checkGrowth(() => upload(UPLOADED_PIECES)), 300_000);
  exhaustiveTest(`a 50 MB answer ${title}`, () => checkGrowth(() => speak(SPOKEN_PIECES)), 300_000);
}
