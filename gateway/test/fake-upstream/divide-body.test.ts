/** Shows that each way of dividing a body keeps its bytes, splits where it says, and accounts for every part. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type BodyPart, concatBytes, recordPart, textOf, utf8 } from './body-part.ts';
import { divideBody, framedParts, type Piece } from './divide-body.ts';
import type { Chunking } from './scenario.ts';

const parts = fc
  .array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), { maxLength: 12 })
  .map((texts) => texts.map((text) => recordPart(`data: ${text}\n\n`)));

const chunking = fc.oneof(
  fc.constantFrom<Chunking>('record', 'bytes', 'all', 'utf8', 'crlf'),
  fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 }).map((sizes): Chunking => ({ sizes })),
);

function divide(given: readonly BodyPart[], how: Chunking): Piece[] {
  return [...divideBody(framedParts(given, how), how)];
}

describe('dividing a body', () => {
  test('keeps every byte and tells the end of each part exactly once, in order', () => {
    fc.assert(
      fc.property(parts, chunking, (given, how) => {
        const framed = [...framedParts(given, how)];
        const pieces = divide(given, how);
        expect(concatBytes(pieces.map((piece) => piece.bytes))).toEqual(concatBytes(framed.map((part) => part.bytes)));
        const ends = pieces.flatMap((piece) => piece.ends.map((part) => textOf(part.bytes)));
        expect(ends).toEqual(framed.map((part) => textOf(part.bytes)));
        expect(pieces.every((piece) => piece.bytes.byteLength > 0)).toBe(true);
      }),
    );
  });

  test('never tells the end of a part before its last byte is out', () => {
    fc.assert(
      fc.property(parts, chunking, (given, how) => {
        let out = 0;
        let ended = 0;
        for (const piece of divide(given, how)) {
          out += piece.bytes.byteLength;
          for (const part of piece.ends) ended += part.bytes.byteLength;
          expect(ended).toBeLessThanOrEqual(out);
        }
      }),
    );
  });

  const two = [recordPart('data: é🌊\n\n'), recordPart('data: x\n\n')];
  const texts = (how: Chunking): string[] =>
    divide(two, how).map((piece) => Buffer.from(piece.bytes).toString('latin1'));

  test('record: one write per record', () => {
    expect(divide(two, 'record').map((piece) => textOf(piece.bytes))).toEqual(['data: é🌊\n\n', 'data: x\n\n']);
  });

  test('bytes: one byte per write', () => {
    expect(divide(two, 'bytes').map((piece) => piece.bytes.byteLength)).toEqual(Array(23).fill(1));
  });

  test('all: one write', () => {
    expect(divide(two, 'all')).toHaveLength(1);
  });

  test('sizes: these sizes over and over, across records', () => {
    expect(divide(two, { sizes: [5, 9] }).map((piece) => piece.bytes.byteLength)).toEqual([5, 9, 5, 4]);
  });

  test('utf8: a new write before each continuation byte, and nowhere else', () => {
    expect(texts('utf8')).toEqual(['data: \xc3', '\xa9\xf0', '\x9f', '\x8c', '\x8a\n\n', 'data: x\n\n']);
  });

  test('crlf: lines end in CRLF, and a new write begins between CR and LF', () => {
    expect(texts('crlf').slice(-3)).toEqual(['data: x\r', '\n\r', '\n']);
    const already = divide([{ bytes: utf8('data: y\r\n\r\n'), usage: null }], 'crlf');
    expect(textOf(concatBytes(already.map((piece) => piece.bytes)))).toBe('data: y\r\n\r\n');
  });
});
