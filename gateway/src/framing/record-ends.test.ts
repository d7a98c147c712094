/** Tests where records end, for blank lines of every kind, against the decoder. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { firstRecordEnd, lastRecordEnd } from './line-ends.ts';
import { startSseDecoder } from './sse-decoder.ts';

/** The record ends according to the decoder, without separate blank lines and the LF that may still follow a CR. */
function decodedEnds(text: string): number[] {
  const ends: number[] = [];
  let at = 0;
  for (const output of startSseDecoder().push(Buffer.from(text))) {
    if (output.kind === 'problem') throw new Error(output.message);
    at += output.end - output.start;
    if (output.kind === 'event') ends.push(at);
  }
  return ends;
}

const lines = fc.array(fc.constantFrom('data: a', 'data: bb', ': note', 'event: x'), { minLength: 1, maxLength: 3 });

test.each(['\n', '\r\n', '\r'])('the ends of records whose lines end in %j are found from both sides', (lineEnd) => {
  fc.assert(
    fc.property(fc.array(lines, { minLength: 1, maxLength: 5 }), fc.nat(6), (records, cut) => {
      const text = records.map((one) => [...one, 'data: end', '', ''].join(lineEnd)).join('');
      const bytes = Buffer.from(text.slice(0, text.length - cut));
      const ends = decodedEnds(text).filter((end) => end <= bytes.length);
      const found: number[] = [];
      for (let from = 0; from < bytes.length; from = found.at(-1) ?? 0) {
        found.push(firstRecordEnd(bytes, from, bytes.length));
      }
      if (ends.at(-1) !== bytes.length) found.pop();
      expect(found).toEqual(ends);
      expect(lastRecordEnd(bytes, 0, bytes.length)).toBe(ends.at(-1) ?? 0);
    }),
  );
});

test('a blank line that begins before is not seen', () => {
  const bytes = Buffer.from('data: a\n\ndata: b');
  expect(lastRecordEnd(bytes, 8, bytes.length)).toBe(8);
  expect(firstRecordEnd(bytes, 8, bytes.length)).toBe(bytes.length);
});
