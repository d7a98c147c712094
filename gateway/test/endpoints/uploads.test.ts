/** Tests uploads through a running gateway: any split, spooling, other targets, refusals while they arrive, and their end. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { eventually } from '../harness/eventually.ts';
import { type AudioRig, BOUNDARY, digestOf, FORM_END, fileIn, partOf, startAudioRig, wavOf } from './audio-rig.ts';

const MIB = 1024 * 1024;
const PATH = '/v1/audio/transcriptions';

function configFor(url: string): object {
  const lab = { kind: 'openai-compatible', base_url: `${url}/v1`, api_key: 'lab-credential' };
  const price = { input: 0, output: 0, per_unit: { second: 0.0001, character: 0.000015 } };
  const target = (model: string) => ({ provider: 'lab', model });
  return {
    limits: {
      upload_bytes_max: '48MiB',
      spool_bytes_max: '200MiB',
      upload_stall_timeout: '1s',
      upload_bytes_per_second_min: '1KiB',
      spool_free_bytes_min: '1MiB',
    },
    providers: { lab },
    models: {
      'whisper-1': { targets: [target('whisper-1')], price },
      house: { targets: [target('whisper-1')], price },
      both: {
        targets: [
          { ...target('down-whisper'), priority: 1 },
          { ...target('whisper-1'), priority: 2 },
        ],
        price,
      },
    },
  };
}

let rig: AudioRig;
beforeAll(async () => {
  rig = await startAudioRig(configFor);
  rig.upstream.answer('whisper-1', { body: { text: 'hi', usage: { type: 'duration', seconds: 4 } } });
  rig.upstream.answer('down-whisper', { status: 503, body: { error: { message: 'down' } } });
}, 60_000);
afterAll(() => rig.stop());

/** Pieces of random sizes, and of one byte near both ends. */
function* piecesOf(bytes: Buffer): Generator<Buffer> {
  const edge = 300;
  for (let at = 0; at < bytes.length; ) {
    const isEdge = at < edge || at >= bytes.length - edge;
    const size = isEdge ? 1 : Math.min(bytes.length - edge - at, 1 + Math.floor(Math.random() * 200_000));
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

test('4: of 40 MB with its model last, in pieces of any size, arrives as it was, with its model changed', async () => {
  const file = Buffer.concat([
    randomBytes(40_000_000 - 40),
    Buffer.from(`\r\n${BOUNDARY}\r\n--${BOUNDARY.slice(0, 5)}\r\n`),
  ]);
  const body = Buffer.concat([
    partOf('file', file, 'speech.wav'),
    partOf('language', 'en'),
    partOf('model', 'house'),
    FORM_END,
  ]);
  const answer = await rig.postPieces(PATH, piecesOf(body));
  expect(answer.status).toBe(200);
  const sent = rig.upstream.served('whisper-1').at(-1)?.body ?? Buffer.alloc(0);
  expect(digestOf(fileIn(sent))).toBe(digestOf(file));
  const expected = Buffer.concat([
    partOf('file', file, 'speech.wav'),
    partOf('language', 'en'),
    partOf('model', 'whisper-1'),
    FORM_END,
  ]);
  expect(digestOf(sent)).toBe(digestOf(expected));
  expect(await rig.recordOf(answer)).toMatchObject({ usage: { seconds: 4 }, cost_nano_usd: '400000' });
});

test('goes to the next target whole, in memory or spooled, and leaves nothing on the disk', async () => {
  for (const bytes of [1_000, 3 * MIB]) {
    const file = randomBytes(bytes);
    const answer = await rig.postPieces(PATH, [
      Buffer.concat([partOf('model', 'both'), partOf('file', file, 'a.mp3'), FORM_END]),
    ]);
    expect([answer.status, answer.headers.get('x-tollgate-attempts')]).toEqual([200, '2']);
    for (const model of ['down-whisper', 'whisper-1']) {
      expect(digestOf(fileIn(rig.upstream.served(model).at(-1)?.body ?? Buffer.alloc(0)))).toBe(digestOf(file));
    }
  }
  expect(readdirSync(rig.gateway.dataDir).filter((name) => name.startsWith('upload-'))).toEqual([]);
});

describe('is refused', () => {
  const file = partOf('file', wavOf(1), 'a.wav');
  test.each<[string, Buffer[], string]>([
    ['5: with its model twice', [partOf('model', 'whisper-1'), partOf('model', 'house'), file], 'model: found twice'],
    ['with its model as a file', [partOf('model', 'whisper-1', 'model'), file], 'model'],
    [
      'with more than 64 parts',
      [...Array.from({ length: 65 }, (_, at) => partOf(`a${at}`, 'b'))],
      'more than 64 parts',
    ],
    [
      'with a long text',
      [partOf('model', 'whisper-1'), partOf('prompt', 'x'.repeat(65_537)), file],
      'longer than 65536 bytes',
    ],
    [
      'with a line that begins like its boundary',
      [partOf('model', 'whisper-1'), partOf('prompt', `a\r\n--${BOUNDARY}b`), file],
      'begins like the boundary',
    ],
  ])('%s', async (_, parts, words) => {
    const answer = await rig.postPieces(PATH, [...parts, FORM_END]);
    expect([answer.status, JSON.parse(answer.text).error.message]).toEqual([400, expect.stringContaining(words)]);
  });

  test('cut before its end, while the connection stays', async () => {
    const answer = await rig.postPieces(PATH, [partOf('model', 'whisper-1'), file]);
    expect([answer.status, JSON.parse(answer.text).error.message]).toEqual([
      400,
      expect.stringContaining('closing boundary'),
    ]);
  });

  test('above its size, stated or not', async () => {
    const answer = await rig.postPieces(PATH, [
      partOf('model', 'whisper-1'),
      partOf('file', Buffer.alloc(48 * MIB), 'a'),
      FORM_END,
    ]);
    expect([answer.status, JSON.parse(answer.text).error.message]).toEqual([
      413,
      expect.stringContaining('limits.upload_bytes_max'),
    ]);
    const { status } = await speakRaw(`content-length: ${49 * MIB}\r\n`, Buffer.alloc(0)).untilStatus();
    expect(status).toBe(413);
  });

  test('without a boundary, or compressed', async () => {
    const headers = { 'content-type': 'multipart/form-data' };
    expect((await rig.post(PATH, {}, headers)).status).toBe(400);
    const type = `multipart/form-data; boundary=${BOUNDARY}`;
    expect((await rig.post(PATH, {}, { 'content-type': type, 'content-encoding': 'gzip' })).status).toBe(415);
  });
});

test('6: the boundary in a file, after CR LF and without its dashes, does not end it', async () => {
  const file = Buffer.from(`a\r\n${BOUNDARY}\r\nContent-Disposition: form-data; name="model"\r\n\r\nother`);
  const answer = await rig.postPieces(PATH, [partOf('model', 'whisper-1'), partOf('file', file, 'a.wav'), FORM_END]);
  expect(answer.status).toBe(200);
  expect(fileIn(rig.upstream.served('whisper-1').at(-1)?.body ?? Buffer.alloc(0)).equals(file)).toBe(true);
});

/** Sends the head of an upload over a raw socket. */
function speakRaw(headers: string, body: Buffer) {
  const { hostname, port } = new URL(rig.gateway.url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
  });
  socket.on('error', () => undefined);
  const type = `content-type: multipart/form-data; boundary=${BOUNDARY}\r\n`;
  socket.write(`POST ${PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${rig.gateway.key}\r\n${type}${headers}\r\n`);
  if (body.length > 0) socket.write(body);
  const statusOf = () => /HTTP\/1\.1 ([2-5]\d\d)/.exec(text)?.[1];
  return {
    socket,
    text: () => text,
    async untilStatus() {
      const status = await eventually('an answer', statusOf);
      socket.destroy();
      return { status: Number(status), text };
    },
  };
}

const WHOLE = Buffer.concat([partOf('model', 'whisper-1'), partOf('file', wavOf(0.01), 'a.wav'), FORM_END]);

test('24: a client that expects 100-continue gets it before it sends its body', async () => {
  const raw = speakRaw(`content-length: ${WHOLE.length}\r\nexpect: 100-continue\r\n`, Buffer.alloc(0));
  await eventually('100-continue', () => raw.text().startsWith('HTTP/1.1 100 Continue\r\n\r\n') || null);
  raw.socket.write(WHOLE);
  expect((await raw.untilStatus()).status).toBe(200);
});

test('25: that is slow but never idle is taken; an idle one gets 408', async () => {
  const slow = speakRaw(`content-length: ${WHOLE.length + 4_000}\r\n`, Buffer.alloc(0));
  const idle = speakRaw(`content-length: ${WHOLE.length}\r\n`, WHOLE.subarray(0, 100));
  const body = Buffer.concat([
    partOf('model', 'whisper-1'),
    partOf('file', Buffer.concat([wavOf(0.01), Buffer.alloc(4_000)]), 'a.wav'),
    FORM_END,
  ]);
  const pieces = 8;
  for (let piece = 0; piece < pieces; piece++) {
    slow.socket.write(body.subarray((piece * body.length) / pieces, ((piece + 1) * body.length) / pieces));
    // A slow client: 1.6 seconds in all, with a limit of one second without a byte.
    await Bun.sleep(200);
  }
  expect((await slow.untilStatus()).status).toBe(200);
  const { status, text } = await idle.untilStatus();
  expect([status, text.toLowerCase().includes('connection: close')]).toEqual([408, true]);
});

test('whose client leaves holds nothing afterwards, and is recorded', async () => {
  const raw = speakRaw('transfer-encoding: chunked\r\n', Buffer.alloc(0));
  const piece = Buffer.concat([partOf('model', 'whisper-1'), partOf('file', Buffer.alloc(2 * MIB), 'a.wav')]);
  raw.socket.write(`${piece.length.toString(16)}\r\n`);
  raw.socket.write(piece);
  await eventually(
    'the bytes to go out',
    () => (raw.socket.bytesWritten > 2 * MIB && raw.socket.writableLength === 0) || null,
  );
  raw.socket.destroy();
  const record = await eventually('its record', async () => {
    const [last] = await rig.gateway.calls('--limit', '1');
    return last?.status === 499 ? last : null;
  });
  expect(record).toMatchObject({ error: 'client_left', cost_nano_usd: '0' });
});
