/** Tests the frames of AWS event streams: vectors 35, 36 and 38, all header types, limits, hostile bytes. */
import { describe, expect, test } from 'bun:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { AWS_EVENT_STREAM } from './aws-event-stream.ts';
import { dataText, type FramingOutput, rawBytes } from './framing.ts';
import { encodeEvent, encodeException, encodeFrame } from './testing/encode-frame.ts';

const MESSAGE_START = Buffer.from(
  '0000008e00000052ee91e1420b3a6576656e742d7479706507000c6d65737361676553746172740d3a636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e0d3a6d6573736167652d747970650700056576656e747b2270223a226162636465666768696a6b6c6d6e6f7071222c22726f6c65223a22617373697374616e74227df450ac95',
  'hex',
);
const EMPTY = Buffer.from('000000100000000005c248eb7d98c8ff', 'hex');

function decode(parts: readonly Uint8Array[], recordBytesMax = 1_000_000): FramingOutput[] {
  const decoder = AWS_EVENT_STREAM.startDecoder(recordBytesMax, null);
  const outputs: FramingOutput[] = [];
  let over = false;
  for (const part of parts) {
    if (over) break;
    decoder.feed(part, (output) => {
      if (output.kind === 'skimmed') throw new Error('nothing was to be skimmed');
      if (over) throw new Error('an output after a problem');
      over = output.kind === 'problem';
      outputs.push(output);
    });
  }
  return over ? outputs : [...outputs, ...decoder.finish()];
}

/** The event type and the data of each record; a problem as its message. */
function readable(outputs: readonly FramingOutput[]): string[] {
  return outputs.map((output) =>
    output.kind === 'problem' ? `problem: ${output.message}` : `${output.kind} ${output.event} ${dataText(output)}`,
  );
}

const START = 'event messageStart {"p":"abcdefghijklmnopq","role":"assistant"}';
const isProblem = (output: FramingOutput) => output.kind === 'problem';

describe('a frame', () => {
  test('vector 35: messageStart, role assistant, its padding in the payload', () => {
    const outputs = decode([MESSAGE_START]);
    expect(readable(outputs)).toEqual([START]);
    expect(outputs.map((output) => (output.kind === 'problem' ? null : Buffer.from(rawBytes(output))))).toEqual([
      MESSAGE_START,
    ]);
  });

  test('vector 36: an exception is a record of its own kind, with its message', () => {
    const frame = encodeException('throttlingException', 'Too many tokens, please wait before trying again.');
    expect([frame.length, frame.readUInt32BE(4)]).toEqual([176, 97]);
    expect([frame.toString('hex', 8, 12), frame.toString('hex', 172)]).toEqual(['4f5086b3', 'f70ae57f']);
    expect(readable(decode([frame]))).toEqual([
      'event error:throttlingException {"message":"Too many tokens, please wait before trying again."}',
    ]);
  });

  test('that is an error has its message in a header', () => {
    const headers = { ':message-type': 'error', ':error-code': 'InternalFailure', ':error-message': 'it "broke"' };
    expect(readable(decode([encodeFrame(headers, '')]))).toEqual([
      'event error:InternalFailure {"message":"it \\"broke\\""}',
    ]);
  });

  test('without headers and payload is skipped', () => {
    expect(readable(decode([EMPTY, MESSAGE_START, EMPTY]))).toEqual([START]);
  });

  test('of another message type has no event', () => {
    expect(readable(decode([encodeFrame({ ':message-type': 'other' }, '{}')]))).toEqual(['no-data  {}']);
  });

  test('may have headers of every type', () => {
    const value = (type: number, size: number) => ({ type, bytes: Buffer.alloc(size, 0x3a) });
    const headers = {
      yes: true,
      no: false,
      byte: value(2, 1),
      short: value(3, 2),
      int: value(4, 4),
      long: value(5, 8),
      bytes: { type: 6, bytes: Buffer.from([0, 3, 1, 2, 3]) },
      time: value(8, 8),
      uuid: value(9, 16),
      ':message-type': 'event',
      'empty-text': '',
      ':event-type': 'größe',
    };
    expect(readable(decode([encodeFrame(headers, 'x')]))).toEqual(['event größe x']);
  });

  test.each<readonly [string, Buffer]>([
    ['a type that does not exist', encodeFrame({ odd: { type: 10, bytes: Buffer.alloc(0) } }, '')],
    ['a value beyond the headers', encodeFrame({ odd: { type: 7, bytes: Buffer.from([0, 9, 65]) } }, 'payload')],
    ['a length beyond the headers', encodeFrame({ odd: { type: 7, bytes: Buffer.from([0]) } }, 'payload')],
    ['a number beyond the headers', encodeFrame({ odd: { type: 5, bytes: Buffer.alloc(3) } }, 'payload')],
  ])('whose header has %s is a problem', (_, frame) => {
    expect(readable(decode([frame]))).toEqual([
      'problem: a frame of the event stream is invalid: its headers cannot be read',
    ]);
  });
});

describe('vector 38', () => {
  test('cut at every byte: truncation, never an event', () => {
    for (let at = 0; at < MESSAGE_START.length; at++) expect(decode([MESSAGE_START.subarray(0, at)])).toEqual([]);
  });

  test('in two or more pieces, at every byte: the same event', () => {
    for (let at = 1; at < MESSAGE_START.length; at++) {
      expect(readable(decode([MESSAGE_START.subarray(0, at), MESSAGE_START.subarray(at)]))).toEqual([START]);
    }
    expect(readable(decode([...MESSAGE_START].map((byte) => Buffer.from([byte]))))).toEqual([START]);
  });

  test('one bit flipped at every byte: a problem or truncation, never a wrong event', () => {
    for (let bit = 0; bit < MESSAGE_START.length * 8; bit++) {
      const flipped = Buffer.from(MESSAGE_START);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect([bit, decode([flipped, MESSAGE_START]).map(({ kind }) => kind)]).toEqual([bit, ['problem']]);
    }
  });
});

const FRAMES = fc.array(
  fc.oneof(
    fc.string({ maxLength: 300 }).map((text) => encodeEvent('contentBlockDelta', { text })),
    fc
      .uint8Array({ maxLength: 40 })
      .map((bytes) => encodeFrame({ ':message-type': 'event', ':event-type': 'x' }, bytes)),
    fc.constant(EMPTY),
  ),
  { minLength: 1, maxLength: 12 },
);
const SIZES = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 6 });

function divide(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let at = 0, next = 0; at < bytes.length; next++) {
    const to = at + (sizes[next % sizes.length] ?? 1);
    parts.push(bytes.subarray(at, to));
    at = to;
  }
  return parts;
}

describe('a stream', () => {
  test('gives the same records however it is divided', () => {
    fc.assert(
      fc.property(FRAMES, SIZES, (frames, sizes) => {
        const bytes = Buffer.concat(frames);
        expect(readable(decode(divide(bytes, sizes)))).toEqual(readable(decode([bytes])));
      }),
      { seed: 38, numRuns: 200 },
    );
  });

  test('its records end where the frames do, also for bytes that begin inside a frame', () => {
    fc.assert(
      fc.property(FRAMES, fc.nat(), fc.nat(), (frames, one, other) => {
        const bytes = Buffer.concat(frames);
        const ends = frames.map((_, index) => Buffer.concat(frames.slice(0, index + 1)).length);
        const from = one % bytes.length;
        const to = from + 1 + (other % (bytes.length - from));
        const within = ends.filter((end) => end > from && end <= to);
        const last = AWS_EVENT_STREAM.lastRecordEnd(bytes, from, to);
        const first = AWS_EVENT_STREAM.firstRecordEnd(bytes, from, to);
        expect([from, ...within]).toContain(last);
        expect([to, ...within]).toContain(first);
        if (from === 0 || ends.includes(from)) {
          expect(last).toBe(within.at(-1) ?? from);
          expect(first).toBe(within[0] ?? to);
        }
      }),
      { seed: 39, numRuns: 500 },
    );
  });

  test('has no frame above the limit, and refuses it by its lengths alone', () => {
    const long = encodeEvent('x', { text: 'a'.repeat(2_000) });
    expect(decode([long], long.length).map(({ kind }) => kind)).toEqual(['event']);
    expect(decode([long.subarray(0, 12)], long.length - 1).map(({ kind }) => kind)).toEqual(['problem']);
    const tooLarge = Buffer.alloc(12);
    tooLarge.writeUInt32BE(24 * 1024 * 1024 + 17);
    tooLarge.writeUInt32BE(crc32(tooLarge.subarray(0, 8)), 8);
    expect(decode([tooLarge], 2 ** 31).map(({ kind }) => kind)).toEqual(['problem']);
    const headers = encodeFrame({ ':message-type': 'event', ':event-type': 'a'.repeat(60_000) }, '');
    expect(decode([headers]).some(isProblem)).toBe(false);
    const wide = encodeFrame({ a: 'a'.repeat(60_000), b: 'b'.repeat(60_000), c: 'c'.repeat(60_000) }, '');
    expect(decode([wide]).map(({ kind }) => kind)).toEqual(['problem']);
  });

  test('cannot be fed after a problem', () => {
    const decoder = AWS_EVENT_STREAM.startDecoder(100, null);
    decoder.feed(Buffer.alloc(12, 0xff), () => undefined);
    expect(() => decoder.feed(MESSAGE_START, () => undefined)).toThrow('has ended');
  });

  test('is recognized by its content type and its first byte', () => {
    expect(AWS_EVENT_STREAM.isStream('application/vnd.amazon.eventstream')).toBe(true);
    expect(AWS_EVENT_STREAM.isStream('application/json')).toBe(false);
    expect(AWS_EVENT_STREAM.beginsStream(MESSAGE_START)).toBe(true);
    expect(AWS_EVENT_STREAM.beginsStream(Buffer.from('{"message":"no"}'))).toBe(false);
    expect(AWS_EVENT_STREAM.beginsStream(Buffer.alloc(0))).toBe(false);
  });
});
