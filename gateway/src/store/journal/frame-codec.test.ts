/** Tests the codec of frames: what is encoded comes back, and no bytes make it hang or crash. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { EndFrame, Frame } from '../ports/journal.ts';
import type { CallRecord } from '../ports/records.ts';
import { ConstraintViolation } from '../ports/store-errors.ts';
import type { StoredByCall } from '../ports/stored-state.ts';
import { anyFrame, SAMPLE_FRAMES } from '../testing/sample-frames.ts';
import { sampleRecord } from '../testing/sample-record.ts';
import { BlockWriter } from './block-writer.ts';
import { decodeFrames } from './decode-frames.ts';
import { encodeFrame } from './encode-frame.ts';
import { JournalFormatError } from './frame-reader.ts';

function encode(frames: readonly Frame[]): Buffer {
  const writer = new BlockWriter();
  for (const frame of frames) encodeFrame(writer, frame);
  return writer.bytes();
}

const END = SAMPLE_FRAMES.end;

/** Decodes, or says why not. Any other failure than JournalFormatError fails the test. */
function tryDecode(body: Uint8Array, count: number): Frame[] | string {
  try {
    return decodeFrames(body, count);
  } catch (fault) {
    if (fault instanceof JournalFormatError) return fault.message;
    throw fault;
  }
}

function frameOf(kind: number, ...bytes: number[]): Uint8Array {
  return Uint8Array.of(kind, bytes.length, ...bytes);
}

describe('frames', () => {
  test('decode to exactly what was encoded', () => {
    fc.assert(
      fc.property(fc.array(anyFrame, { maxLength: 6 }), (frames) => {
        expect(decodeFrames(encode(frames), frames.length)).toStrictEqual(frames);
      }),
    );
  });

  test('decode with the same order of members, so that their JSON text is the same', () => {
    const frames = Object.values(SAMPLE_FRAMES);
    const text = (frame: unknown) =>
      JSON.stringify(frame, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
    expect(decodeFrames(encode(frames), frames.length).map(text)).toEqual(frames.map(text));
  });

  test('repeat no word within a block, and begin each block with an empty dictionary', () => {
    const writer = new BlockWriter();
    encodeFrame(writer, END);
    const first = Buffer.from(writer.bytes());
    encodeFrame(writer, END);
    expect(writer.length - first.length).toBeLessThan(first.length - 80);
    writer.reset();
    encodeFrame(writer, END);
    expect(writer.bytes()).toEqual(first);
  });

  test('leave the head of the buffer to the caller', () => {
    const writer = new BlockWriter(92);
    for (let round = 0; round < 3; round++) {
      writer.reset();
      for (let count = 0; count < 1_000; count++) encodeFrame(writer, END);
      writer.bytes().fill(round, 0, 92);
      expect(decodeFrames(writer.bytes().subarray(92), 1_000)).toEqual(new Array(1_000).fill(END));
    }
  });

  test('that cannot be encoded leave the block as before', () => {
    const writer = new BlockWriter();
    encodeFrame(writer, END);
    const before = Buffer.from(writer.bytes());
    const hold = { amount: 1n, prepaid: true };
    const changed = (changes: Partial<CallRecord>): Frame => ({
      ...END,
      record: sampleRecord('new', { key_name: 'a new word', ...changes }),
    });
    const refused: Frame[] = [
      changed({ session: 'x'.repeat(1024 * 1024) }),
      changed({ session: '\uffff'.repeat(400_000) }),
      changed({ model: 'y'.repeat(20 * 1024 * 1024) }),
      changed({ duration_ms: Number.NaN }),
      changed({ ttfb_ms: Number.POSITIVE_INFINITY }),
      changed({
        attempts: [{ provider: 'p', model: 'm', status: null, error: null, ttft_ms: Number.NaN, duration_ms: 0 }],
      }),
      ...['', '-0', '00', '1.5', '1e3', ' 1', '9223372036854775808', '99999999999999999999'].map((cost_nano_usd) =>
        changed({ cost_nano_usd }),
      ),
      { ...END, hold: { amount: 2n ** 63n, prepaid: true } },
      { ...END, hold, writtenOff: -(2n ** 63n) - 1n },
      ...[Number.NEGATIVE_INFINITY, -1e300, 1.5].map((expires_at_ms): Frame => {
        const { storedEnd } = SAMPLE_FRAMES;
        return { ...storedEnd, stored: { ...(storedEnd.stored as StoredByCall), expires_at_ms } };
      }),
    ];
    for (const frame of refused) {
      expect(() => encodeFrame(writer, frame)).toThrow(ConstraintViolation);
      expect(writer.bytes()).toEqual(before);
    }
    encodeFrame(writer, END);
    expect(decodeFrames(writer.bytes(), 2)).toEqual([END, END]);
  });

  test('of nearly 1 MiB are taken', () => {
    const end = { ...END, record: sampleRecord('r', { session: 'é'.repeat(524_000) }) };
    expect(decodeFrames(encode([end, END]), 2)).toEqual([end, END]);
  });

  test('pass over members that this version does not know, and keep their words', () => {
    const unknown = [0xb8, 0x1f, 7, 0xbb, 0x1f, 1, 0x61, 0xbd, 0x1f, 7, 0x0b, 1, 0x62, 0x14, 0, 0x12, 0];
    const later = { ...SAMPLE_FRAMES.extend, call_id: 'b' };
    const [kind = 0, length = 0, ...rest] = encode([SAMPLE_FRAMES.extend]);
    const first = Uint8Array.of(kind, length + unknown.length, ...rest, ...unknown);
    const second = [...encode([{ ...later, call_id: '' }])];
    // The call id becomes a reference to the dictionary's second word.
    second[2] = (1 << 3) | 4;
    second[3] = 1;
    expect(tryDecode(Uint8Array.of(...first, ...second), 2)).toEqual([SAMPLE_FRAMES.extend, later]);
  });

  test('have the bytes of this format, whatever the version of the program', async () => {
    const golden = await Bun.file(`${import.meta.dir}/golden-frames.json`).json();
    const hex = Object.fromEntries(
      Object.entries(SAMPLE_FRAMES).map(([kind, frame]) => [kind, encode([frame]).toString('hex')]),
    );
    expect(hex).toEqual(golden);
  });

  test('have U+FFFD for an unpaired surrogate', () => {
    const end = { ...END, record: sampleRecord('r', { model: 'a\ud800b', session: `${'x'.repeat(60)}\udc00` }) };
    const [decoded] = decodeFrames(encode([end]), 1) as [EndFrame];
    expect(decoded.record.model).toBe('a\ufffdb');
    expect(decoded.record.session).toBe(`${'x'.repeat(60)}\ufffd`);
  });
});

describe('bytes that are no frames', () => {
  test('of a block cut short are refused', () => {
    const frames = Object.values(SAMPLE_FRAMES);
    const body = encode(frames);
    for (let length = 0; length < body.length; length++) {
      expect(tryDecode(body.subarray(0, length), frames.length)).toBeString();
    }
  });

  test('with a flipped byte are refused, or decode without harm', () => {
    const frames = Object.values(SAMPLE_FRAMES);
    const body = encode(frames);
    for (let at = 0; at < body.length; at++) {
      for (const flip of [0x01, 0x80, 0xff]) {
        const flipped = Uint8Array.from(body);
        flipped[at] = (flipped[at] as number) ^ flip;
        tryDecode(flipped, frames.length);
      }
    }
  });

  test('of any content are refused, or decode without harm', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.nat(6),
        fc.constantFrom(1, 2, 3, 4, 5, 6, 11),
        (bytes, count, kind) => {
          tryDecode(bytes, count);
          tryDecode(frameOf(kind, ...bytes.subarray(0, 100)), 1);
        },
      ),
    );
  });

  test('are refused with their place', () => {
    const refused: [string, Uint8Array, number, string][] = [
      ['nothing where a frame should be', Uint8Array.of(), 1, 'Frame 1 of the block ends within a member'],
      [
        'bytes after the last frame',
        encode([END, END]),
        1,
        'Frame 1 of the block is the last one, and bytes follow it',
      ],
      ['fewer frames than stated', encode([END]), 0xffff_ffff, 'Frame 2 of the block ends'],
      ['a frame beyond the block', Uint8Array.of(2, 9, 0), 1, 'has 9 bytes by its length'],
      ['an unknown kind', frameOf(7), 1, 'is of kind 7, which this version does not know'],
      ['a number of member 0', frameOf(2, 0, 0), 1, 'has member 0 after member 0'],
      ['members out of order', frameOf(2, 2 << 3, 1, 1 << 3, 1), 1, 'has member 1 after member 2'],
      ['a repeated member', frameOf(2, 2 << 3, 1, 2 << 3, 1), 1, 'has member 2 after member 2'],
      ['a wrong wire type', frameOf(2, (2 << 3) | 2, 0), 1, 'has member 2 of wire type 2'],
      ['an unknown wire type', frameOf(2, (2 << 3) | 7), 1, 'has member 2 of wire type 7'],
      ['a text beyond the frame', frameOf(2, (1 << 3) | 2, 0xff, 0xff, 0x7f), 1, 'has a member of 2097151 bytes'],
      ['a text that is not UTF-8', frameOf(2, (1 << 3) | 2, 1, 0xff), 1, 'has a text that is not UTF-8'],
      ['an unknown word', frameOf(2, (1 << 3) | 4, 0), 1, 'refers to a word that the block does not have'],
      ['a number beyond 2^53', frameOf(2, 2 << 3, 255, 255, 255, 255, 255, 255, 255, 127), 1, 'beyond 2^53'],
      ['an endless number', frameOf(2, 2 << 3, ...new Array(60).fill(128), 0), 1, 'has a number of too many bytes'],
      ['a number that is NaN', frameOf(2, (2 << 3) | 1, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f), 1, 'has a member that is NaN'],
      ['a flag of 2', frameOf(2, 0x88, 0x02, 2), 1, 'has the flag 2'],
      ['text that is no JSON', frameOf(5, 0xc2, 0x01, 1, 0x7b), 1, 'has a text that is no JSON object'],
      ['a missing member', frameOf(2), 1, 'lacks its member 1 (callId)'],
      ['members nested too deep', frameOf(2, ...nested(40)), 1, 'nested deeper than 8'],
    ];
    for (const [name, body, count, problem] of refused) {
      expect([name, tryDecode(body, count)]).toEqual([name, expect.stringContaining(problem)]);
    }
  });
});

/** Members of the unknown number 120, each within the one before it. */
function nested(levels: number): number[] {
  let bytes: number[] = [];
  for (let level = 0; level < levels; level++) bytes = [0xc5, 0x07, bytes.length, ...bytes];
  return bytes;
}
