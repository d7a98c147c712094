/** Tests chunked-body.ts: every split yields the same payload, and an invalid size ends the body. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ChunkedBody } from './chunked-body.ts';

/** Pushes the parts and returns the payload, the bytes left over, and the fault. */
function decode(parts: readonly Uint8Array[]) {
  const chunked = new ChunkedBody();
  const payload: Uint8Array[] = [];
  let left = 0;
  for (const part of parts) {
    const bytes = Buffer.from(part);
    const taken = chunked.push(bytes, 0, (span) => payload.push(Buffer.from(span)));
    if (typeof taken === 'string')
      return { payload: Buffer.concat(payload).toString(), done: false, left, problem: taken };
    left += bytes.length - taken;
  }
  return { payload: Buffer.concat(payload).toString(), done: chunked.done, left, problem: null };
}

const body = 'A;ext=1\r\n0123456789\r\n00001 \r\n!\r\n0;x\r\ntrailer: t\r\nanother: u\r\n\r\n';

describe('a chunked body', () => {
  test('yields its payload and leaves the bytes after its end', () => {
    expect(decode([Buffer.from(`${body}HTTP`)])).toEqual({
      payload: '0123456789!',
      done: true,
      left: 4,
      problem: null,
    });
  });

  test('yields the same at every split in two and in three', () => {
    const bytes = Buffer.from(body);
    const whole = decode([bytes]);
    for (let one = 0; one <= bytes.length; one++) {
      for (let two = one; two <= bytes.length; two++) {
        const parts = [bytes.subarray(0, one), bytes.subarray(one, two), bytes.subarray(two)];
        expect(decode(parts)).toEqual(whole);
      }
    }
  });

  test('yields any payload, however it was chunked and cut', () => {
    const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 12 });
    fc.assert(
      fc.property(chunks, fc.array(fc.nat(400)), (given, cuts) => {
        const framed = given.map((chunk) =>
          Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]),
        );
        const bytes = Buffer.concat([...framed, Buffer.from('0\r\n\r\n')]);
        const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
        const found = decode(at.slice(1).map((end, index) => bytes.subarray(at[index], end)));
        expect(found).toEqual({ payload: Buffer.concat(given).toString(), done: true, left: 0, problem: null });
      }),
    );
  });

  test('is not done before its last line', () => {
    for (let end = 0; end < body.length; end++) expect(decode([Buffer.from(body.slice(0, end))]).done).toBe(false);
  });

  test('begins at the given offset', () => {
    const bytes = Buffer.from(`head\r\n\r\n${body}`);
    const spans: string[] = [];
    expect(new ChunkedBody().push(bytes, 8, (span) => spans.push(span.toString()))).toBe(bytes.length);
    expect(spans.join('')).toBe('0123456789!');
  });
});

test('a span that may be kept holds little more than its payload', () => {
  const extension = 'e'.repeat(1_000);
  for (const chunks of [1, 60]) {
    const read = Buffer.from(`1;${extension}\r\nx\r\n`.repeat(chunks));
    const held: number[] = [];
    new ChunkedBody().push(read, 0, (span) => held.push(span.length, span.buffer.byteLength));
    expect(held).toEqual([chunks, chunks]);
  }
});

describe('refused is', () => {
  test.each([
    ['no size', '\r\nx'],
    ['a size that is no number', 'zz\r\n'],
    ['a negative size', '-1\r\n'],
    ['a size with a sign', '+5\r\nhello\r\n'],
    ['a size with 0x', '0x5\r\nhello\r\n'],
    ['a size with a space before it', ' 5\r\nhello\r\n'],
    ['a size beyond any answer', 'fffffffffffffffff\r\n'],
    ['a size without an end', '0'.repeat(2_000)],
    ['an extension without an end', `5;${'x'.repeat(2_000)}`],
    ['a line that ends in LF alone', '5\nhello\r\n'],
    ['a chunk longer than its size', '5\r\nhello!\r\n'],
    ['a last line that ends in LF alone', '0\r\n\n'],
    ['a trailer without an end', `0\r\nt: ${'x'.repeat(2_000)}`],
    ['trailers without number', `0\r\n${'t: x\r\n'.repeat(4_000)}`],
  ])('%s, wherever it is cut', (_, text) => {
    const whole = decode([Buffer.from(text)]);
    expect(whole.problem).toEqual(expect.any(String));
    expect(decode(Array.from(Buffer.from(text), (byte) => Uint8Array.of(byte))).problem).toBe(whole.problem);
  });
});
