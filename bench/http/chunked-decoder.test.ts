/** Tests that chunked bodies decode the same at every split, and that broken ones are refused. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createChunkedDecoder } from './chunked-decoder.ts';

function decode(pieces: readonly Buffer[]): { body: string; ends: number[] } {
  const taken: Buffer[] = [];
  const decoder = createChunkedDecoder((bytes) => taken.push(Buffer.from(bytes)));
  const ends = pieces.map((piece) => decoder.push(piece, 0));
  return { body: Buffer.concat(taken).toString('latin1'), ends };
}

describe('chunked bodies', () => {
  test('decode to the same bytes at every split in two', () => {
    const chunk = fc.string({ minLength: 1, maxLength: 40, unit: 'binary-ascii' });
    fc.assert(
      fc.property(fc.array(chunk), fc.boolean(), (chunks, extended) => {
        const coded = chunks
          .map((text) => `${text.length.toString(16)}${extended ? ';a=b' : ''}\r\n${text}\r\n`)
          .join('');
        const bytes = Buffer.from(`${coded}0\r\n${extended ? 'x-sum: 1\r\n' : ''}\r\n`, 'latin1');
        for (let cut = 0; cut <= bytes.length; cut += 1) {
          const { body, ends } = decode([bytes.subarray(0, cut), bytes.subarray(cut)]);
          expect(body).toBe(chunks.join(''));
          expect(ends.at(cut === bytes.length ? 0 : 1)).toBe(cut === bytes.length ? cut : bytes.length - cut);
        }
      }),
      { numRuns: 30 },
    );
  });

  test('end where they end and leave the next message alone', () => {
    expect(decode([Buffer.from('2\r\nab\r\n0\r\n\r\nHTTP/1.1 200 OK')]).ends).toEqual([12]);
  });

  test.each(['\r\n', 'xy\r\n', '1\r\nabc\r\n', '1\r\na\n', 'ffffffffff\r\n'])('%j is refused', (text) => {
    expect(() => decode([Buffer.from(text)])).toThrow('chunked body: byte');
  });
});
