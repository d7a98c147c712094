/** Tests the seconds of sound by files made here, under any split. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { SoundClock } from './sound-clock.ts';

/** MPEG 1 layer III, 128 kbit/s, 44.1 kHz: 417 bytes, 1,152 samples. */
const FRAME = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x00]), Buffer.alloc(413)]);
/** MPEG 2 layer III, 64 kbit/s, 24 kHz: 192 bytes, 576 samples. */
const HALF_FRAME = Buffer.concat([Buffer.from([0xff, 0xf3, 0x84, 0xc0]), Buffer.alloc(188)]);
const WAV = Buffer.alloc(44 + 32_000);
WAV.write('RIFF....WAVEfmt ', 0, 'latin1');
WAV.writeUInt32LE(8_000, 24);
WAV.writeUInt16LE(2, 32);

test.each<[string, Buffer, number]>([
  ['audio/mpeg', Buffer.concat(Array.from({ length: 50 }, () => FRAME)), (50 * 1_152) / 44_100],
  ['audio/mpeg', Buffer.concat([Buffer.from('ID3 a tag'), HALF_FRAME, HALF_FRAME]), (2 * 576) / 24_000],
  ['audio/mpeg', Buffer.alloc(32_000), 2],
  ['audio/pcm', Buffer.alloc(96_000), 2],
  ['audio/wav', WAV, 2],
  ['audio/opus', Buffer.alloc(32_000), 2],
  ['audio/wav', Buffer.alloc(0), 0],
])('of %s', (type, file, seconds) => {
  fc.assert(
    fc.property(fc.array(fc.nat(file.length), { maxLength: 8 }), (cuts) => {
      const clock = new SoundClock(type);
      let from = 0;
      for (const end of [...cuts.sort((one, other) => one - other), file.length]) {
        clock.push(file.subarray(from, end));
        from = end;
      }
      expect(clock.seconds).toBeCloseTo(seconds, 6);
    }),
    { numRuns: 30 },
  );
});
