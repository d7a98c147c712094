/**
 * Tests that bodies are split inside characters and line ends: otherwise suites that send such bodies would silently
 * test nothing.
 */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Chunking } from '../scenario.ts';
import { type BodyPart, concatBytes, recordPart, textOf, utf8 } from './body-part.ts';
import { divideBody, framedParts, type Piece } from './divide-body.ts';

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
  test('keeps every byte and reports the end of each part exactly once, in order', () => {
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

  const two = [recordPart('data: é🌊\n\n'), recordPart('data: x\n\n')];
  const texts = (how: Chunking): string[] =>
    divide(two, how).map((piece) => Buffer.from(piece.bytes).toString('latin1'));

  test('utf8: a new write before each continuation byte, and nowhere else', () => {
    expect(texts('utf8')).toEqual(['data: \xc3', '\xa9\xf0', '\x9f', '\x8c', '\x8a\n\n', 'data: x\n\n']);
  });

  test('crlf: lines end in CRLF, and a new write begins between CR and LF', () => {
    expect(texts('crlf').slice(-3)).toEqual(['data: x\r', '\n\r', '\n']);
    const already = divide([{ bytes: utf8('data: y\r\n\r\n'), usage: null }], 'crlf');
    expect(textOf(concatBytes(already.map((piece) => piece.bytes)))).toBe('data: y\r\n\r\n');
  });
});
