/** Tests the duration of audio files by files made here, whole, cut, and with hostile headers. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readAudioSeconds } from './audio-seconds.ts';

/** Gives at most 7 bytes at a time, behind other bytes. */
function secondsOf(file: Buffer): Promise<number | null> {
  const before = Buffer.from('before');
  const all = Buffer.concat([before, file, Buffer.from('after')]);
  const source = { length: all.length, read: async (offset: number) => all.subarray(offset, offset + 7) };
  return readAudioSeconds(source, before.length, before.length + file.length);
}

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
};
const be32 = (value: number) => u32(value).reverse();

/** 24 kHz, 16 bit, mono: 48,000 bytes a second. */
function wav(dataBytes: number, statedBytes = dataBytes, extra = Buffer.alloc(0)): Buffer {
  const format = Buffer.concat([
    Buffer.from('fmt '),
    u32(16),
    Buffer.from([1, 0, 1, 0]),
    u32(24_000),
    u32(48_000),
    Buffer.from([2, 0, 16, 0]),
  ]);
  const data = Buffer.concat([Buffer.from('data'), u32(statedBytes), Buffer.alloc(dataBytes)]);
  return Buffer.concat([Buffer.from('RIFF'), u32(0xffff_ffff), Buffer.from('WAVE'), extra, format, data]);
}

/** A chunk of a RIFF file. */
function chunk(name: string, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from(name), u32(content.length), content]);
}

/** 8 kHz, 4 bit, mono, in blocks of 256 bytes: 4,064 bytes a second. */
const ADPCM = chunk(
  'fmt ',
  Buffer.concat([Buffer.from([0x11, 0, 1, 0]), u32(8_000), u32(4_064), Buffer.from([0, 1, 4, 0])]),
);
/** 24 kHz, 16 bit, mono, with blocks of 65,535 bytes. */
const WIDE = chunk(
  'fmt ',
  Buffer.concat([Buffer.from([1, 0, 1, 0]), u32(24_000), u32(48_000), Buffer.from([255, 255, 16, 0])]),
);
const riff = (...chunks: Buffer[]) => Buffer.concat([Buffer.from('RIFF'), u32(0), Buffer.from('WAVE'), ...chunks]);

/** MPEG 1 layer III, 128 kbit/s, 44.1 kHz, stereo: 417 bytes a frame. */
const FRAME = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x00]), Buffer.alloc(413)]);

function withXing(frames: number): Buffer {
  const frame = Buffer.from(FRAME);
  frame.write('Xing', 36, 'latin1');
  frame.writeUInt32BE(1, 40);
  frame.writeUInt32BE(frames, 44);
  return frame;
}

function box(name: string, content: Buffer): Buffer {
  return Buffer.concat([be32(content.length + 8), Buffer.from(name), content]);
}

function mp4(duration: number, scale: number): Buffer {
  const mvhd = Buffer.concat([Buffer.alloc(12), be32(scale), be32(duration), Buffer.alloc(80)]);
  return Buffer.concat([
    box('ftyp', Buffer.from('M4A ')),
    box('mdat', Buffer.alloc(900)),
    box('moov', box('mvhd', mvhd)),
  ]);
}

function page(position: bigint, serial: number, content: Buffer): Buffer {
  const head = Buffer.alloc(28);
  head.write('OggS', 0, 'latin1');
  head.writeBigInt64LE(position, 6);
  head.writeUInt32LE(serial, 14);
  head[26] = 1;
  head[27] = content.length;
  return Buffer.concat([head, content]);
}

const OPUS_HEAD = Buffer.concat([
  Buffer.from('OpusHead'),
  Buffer.from([1, 1]),
  Buffer.from([0x38, 0x01]),
  Buffer.alloc(7),
]);

function element(id: readonly number[], content: Buffer): Buffer {
  return Buffer.concat([Buffer.from(id), Buffer.from([0x40 | (content.length >> 8), content.length & 255]), content]);
}

function webm(ticks: number, withDuration = true): Buffer {
  const duration = Buffer.alloc(8);
  duration.writeDoubleBE(ticks);
  const scale = element([0x2a, 0xd7, 0xb1], Buffer.from([0x0f, 0x42, 0x40]));
  const info = element(
    [0x15, 0x49, 0xa9, 0x66],
    Buffer.concat([scale, withDuration ? element([0x44, 0x89], duration) : Buffer.alloc(0)]),
  );
  const segment = Buffer.concat([Buffer.from([0x18, 0x53, 0x80, 0x67, 0x01, 255, 255, 255, 255, 255, 255, 255]), info]);
  return Buffer.concat([element([0x1a, 0x45, 0xdf, 0xa3], Buffer.alloc(20)), segment]);
}

function flac(samples: number, rate: number): Buffer {
  const bytes = Buffer.alloc(42);
  bytes.write('fLaC', 0, 'latin1');
  bytes.writeUIntBE(rate << 4, 18, 3);
  bytes.writeUInt32BE(samples, 22);
  return bytes;
}

describe('the duration of', () => {
  test.each<[string, Buffer, number | null]>([
    ['a WAV file is exact', wav(177_600), 3.7],
    ['a WAV file whose writer did not know its size', wav(96_000, 0xffff_ffff), 2],
    ['a WAV file that claims more than it has', wav(48_000, 4_800_000), 1],
    [
      'a WAV file with other chunks before',
      wav(48_000, 48_000, Buffer.concat([Buffer.from('LIST'), u32(3), Buffer.alloc(4)])),
      1,
    ],
    ['a WAV file of a compressed format', riff(ADPCM, chunk('data', Buffer.alloc(8_128))), 2],
    ['a WAV file whose blocks are longer than its samples', riff(WIDE, chunk('data', Buffer.alloc(96_000))), 2],
    [
      'a WAV file whose sound is not in its first data alone',
      riff(WIDE, ...['data', 'LIST', 'data'].map((name) => chunk(name, Buffer.alloc(48_000)))),
      2,
    ],
    [
      'a WAV file that hides its sound behind many chunks',
      riff(
        WIDE,
        ...Array.from({ length: 80 }, () => chunk('junk', Buffer.alloc(0))),
        chunk('data', Buffer.alloc(48_000)),
      ),
      (48_000 + 17 * 8) / 48_000,
    ],
    ['a WAV file without a format', Buffer.concat([Buffer.from('RIFF'), u32(4), Buffer.from('WAVE')]), null],
    ['an MP3 file of one bit rate', Buffer.concat(Array.from({ length: 100 }, () => FRAME)), (41_700 * 8) / 128_000],
    ['an MP3 file that counts its frames', Buffer.concat([withXing(1_000), FRAME]), (1_000 * 1_152) / 44_100],
    [
      'an MP3 file that counts too few frames',
      Buffer.concat([withXing(1), Buffer.alloc(80_000)]),
      (80_417 * 8) / 320_000,
    ],
    [
      'an MP3 file with tags at both ends',
      Buffer.concat([
        Buffer.from('ID3'),
        Buffer.from([4, 0, 0, 0, 0, 1, 0]),
        Buffer.alloc(128),
        FRAME,
        Buffer.from('TAG'),
        Buffer.alloc(125),
      ]),
      (417 * 8) / 128_000,
    ],
    ['an M4A file whose description is at its end', mp4(5_250, 1_000), 5.25],
    ['a fragmented MP4 file', mp4(0, 1_000), null],
    [
      'an Opus file',
      Buffer.concat([page(0n, 7, OPUS_HEAD), page(96_312n, 7, Buffer.alloc(9)), page(5n, 8, Buffer.alloc(1))]),
      2,
    ],
    ['a WebM file', webm(2_500), 2.5],
    ['a WebM file that was recorded as it went', webm(0, false), null],
    ['a FLAC file', flac(88_200, 44_100), 2],
    ['text', Buffer.from('hello, this is no audio'), null],
    ['nothing', Buffer.alloc(0), null],
  ])('%s', async (_, file, seconds) => {
    const found = await secondsOf(file);
    if (seconds === null) expect(found).toBeNull();
    else expect(found).toBeCloseTo(seconds, 6);
  });

  test('any bytes behind a known begin is a number above 0 or unknown, and cut files end', async () => {
    const begins = [wav(50), mp4(5, 1), webm(9), flac(9, 8_000), FRAME, page(0n, 7, OPUS_HEAD)];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...begins),
        fc.nat(200),
        fc.uint8Array({ maxLength: 120 }),
        async (file, cut, rest) => {
          const seconds = await secondsOf(Buffer.concat([file.subarray(0, cut), rest]));
          expect(seconds === null || seconds > 0).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });
});

test('headers within one span are one read', async () => {
  // A segment of 900 empty elements, before which a file tells its duration.
  const elements = Buffer.concat(Array.from({ length: 900 }, () => Buffer.from([0xec, 0x80])));
  const head = [Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x80]), Buffer.from([0x18, 0x53, 0x80, 0x67, 0xff]), elements];
  const file = Buffer.concat([...head, Buffer.alloc(200)]);
  let reads = 0;
  const read = async (offset: number) => {
    reads += 1;
    return file.subarray(offset);
  };
  expect(await readAudioSeconds({ length: file.length, read }, 0, file.length)).toBeNull();
  expect(reads).toBe(1);
});

test('a WebM file whose duration claims all of it is not read whole', async () => {
  const MIB = 1024 * 1024;
  const length = 200 * MIB;
  const sized = (id: readonly number[]) => {
    const size = Buffer.alloc(8);
    size.writeBigUInt64BE(BigInt(length) | (1n << 56n));
    return Buffer.concat([Buffer.from(id), size]);
  };
  const info = [sized([0x18, 0x53, 0x80, 0x67]), sized([0x15, 0x49, 0xa9, 0x66]), sized([0x44, 0x89])];
  const head = Buffer.concat([element([0x1a, 0x45, 0xdf, 0xa3], Buffer.alloc(20)), ...info]);
  let readBytes = 0;
  const read = async (offset: number) => {
    const bytes = Buffer.alloc(Math.min(64 * 1024, length - offset));
    if (offset < head.length) head.copy(bytes, 0, offset);
    readBytes += bytes.length;
    return bytes;
  };
  expect(await readAudioSeconds({ length, read }, 0, length)).toBeNull();
  expect(readBytes).toBeLessThan(MIB);
});
