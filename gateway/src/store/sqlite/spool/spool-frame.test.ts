/** Tests that a spool returns what was added, truncated or damaged anywhere, and never anything else. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { HEADER_BYTES, readFrames, renderFrame } from './spool-file.ts';

const entryLists = fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { minLength: 1, maxLength: 6 });

function fileOf(entries: readonly string[], restBytes = 200): Buffer {
  const frames = entries.map((entry, index) => renderFrame(index + 1, entry));
  return Buffer.concat([...frames, Buffer.alloc(restBytes)]);
}

test('a file of zeros, and one of no bytes, hold nothing', () => {
  const empty = { entries: [], endBytes: 0, problem: null };
  expect([readFrames(Buffer.alloc(4_096)), readFrames(Buffer.alloc(0))]).toEqual([empty, empty]);
});

test('what is put in comes back in its order, whatever the text and the room behind it', () => {
  fc.assert(
    fc.property(entryLists, fc.nat({ max: 100 }), (entries, restBytes) => {
      const file = fileOf(entries, restBytes);
      expect(readFrames(file)).toEqual({ entries, endBytes: file.length - restBytes, problem: null });
    }),
  );
});

test('a last entry of which only a part was written is told of, and not taken', () => {
  fc.assert(
    fc.property(entryLists, fc.double({ min: 0, max: 1, noNaN: true }), (entries, share) => {
      const before = fileOf(entries.slice(0, -1), 0);
      const last = renderFrame(entries.length, entries.at(-1) ?? '');
      const kept = 1 + Math.floor(share * (last.length - 2));
      // If the last bytes are zeros anyway, a part equals the whole.
      fc.pre(last.subarray(kept).some((byte) => byte !== 0));
      const found = readFrames(Buffer.concat([before, last.subarray(0, kept), Buffer.alloc(last.length)]));
      expect(found.entries).toEqual(entries.slice(0, -1));
      expect(found.problem).toContain(`what follows entry ${entries.length - 1} of the spool`);
    }),
  );
});

test('one changed bit takes no other entry with it, and is told of', () => {
  fc.assert(
    fc.property(entryLists, fc.nat(), (entries, at) => {
      const file = fileOf(entries);
      const bit = at % ((file.length - 200) * 8);
      const broken = Buffer.from(file);
      broken[bit >> 3] = (broken[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const { entries: found, problem } = readFrames(broken);
      const lengths = entries.map((entry) => HEADER_BYTES + Buffer.byteLength(entry));
      let hit = 0;
      for (let end = lengths[0] ?? 0; end <= bit >> 3; end += lengths[hit] ?? 0) hit += 1;
      expect(found).toEqual(entries.toSpliced(hit, 1));
      expect(problem).toContain(`entry ${hit}`);
    }),
  );
});

test('an entry of an earlier use of the file, behind one that was cut, is not taken for a new one', () => {
  const file = Buffer.concat([renderFrame(1, 'new'), Buffer.from('half'), renderFrame(1, 'old')]);
  expect(readFrames(file)).toMatchObject({ entries: ['new'], problem: expect.stringContaining('cut off') });
});
