/** Tests json-lines.ts: lines come out whole and numbered, wherever the bytes are cut. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { LineTooLong, readLines, TooManyLines } from './json-lines.ts';

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function linesOf(text: string, size: number, most = 1_000): Promise<[number, string][]> {
  const lines: [number, string][] = [];
  for await (const { number, bytes } of readLines(cut(Buffer.from(text), size), most)) {
    lines.push([number, Buffer.from(bytes).toString()]);
  }
  return lines;
}

test('blank lines are counted and left out; the last line needs no line feed', async () => {
  for (const size of [1, 3, 100]) {
    expect(await linesOf('{"a":1}\n\n \t\r\n{"b":"é"}\r\n{"c":3}', size)).toEqual([
      [1, '{"a":1}'],
      [4, '{"b":"é"}\r'],
      [5, '{"c":3}'],
    ]);
  }
  expect(await linesOf('', 1)).toEqual([]);
});

test('the lines do not depend on where the bytes are cut', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'binary' })), fc.integer({ min: 1, max: 20 }), async (texts, size) => {
      const lines = texts.map((text) => JSON.stringify(text));
      const found = await linesOf(lines.join('\n'), size, 10_000);
      expect(found).toEqual(lines.map((line, index) => [index + 1, line]));
    }),
    { numRuns: 200 },
  ));

test('a line that is too long is named', async () => {
  const found = await linesOf('{"a":1}\n{"a":123}\n', 2, 8).catch((error: unknown) => error);
  expect(found).toBeInstanceOf(LineTooLong);
  expect((found as LineTooLong).number).toBe(2);
});

test('blank lines count toward the most lines', async () => {
  const countOf = async (text: string) => {
    let count = 0;
    for await (const _ of readLines(cut(Buffer.from(text), 4), 100, 3)) count += 1;
    return count;
  };
  expect(await countOf('1\n\n2\n')).toBe(2);
  expect(await countOf('\n\n3')).toBe(1);
  for (const text of ['\n\n\n4', '\n\n\n\n', '1\n2\n3\n4\n']) {
    expect(await countOf(text).catch((error: unknown) => error)).toBeInstanceOf(TooManyLines);
  }
});
