/** Splits a body into separate writes. Never adds, drops or reorders a byte, except CRLF for LF on request. */

import type { Chunking } from '../scenario.ts';
import { type BodyPart, concatBytes } from './body-part.ts';

/** Bytes of one write, and the parts that are complete once these bytes have been sent. */
export interface Piece {
  readonly bytes: Uint8Array;
  readonly ends: readonly BodyPart[];
}

const LF = 10;
const CR = 13;

/** True where a write may begin: between two bytes of the same part. */
type Boundary = (bytes: Uint8Array, at: number) => boolean;

const insideCharacter: Boundary = (bytes, at) => ((bytes[at] ?? 0) & 0xc0) === 0x80;
const betweenCrAndLf: Boundary = (bytes, at) => bytes[at] === LF && bytes[at - 1] === CR;
const anywhere: Boundary = () => true;

function* splitWhere(parts: Iterable<BodyPart>, boundary: Boundary): Generator<Piece> {
  for (const part of parts) {
    let start = 0;
    for (let at = 1; at < part.bytes.byteLength; at += 1) {
      if (!boundary(part.bytes, at)) continue;
      yield { bytes: part.bytes.subarray(start, at), ends: [] };
      start = at;
    }
    yield { bytes: part.bytes.subarray(start), ends: [part] };
  }
}

function* inSizes(parts: Iterable<BodyPart>, sizes: readonly number[]): Generator<Piece> {
  let turn = 0;
  const nextSize = (): number => sizes[turn++ % sizes.length] ?? 1;
  let wanted = nextSize();
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let ends: BodyPart[] = [];
  for (const part of parts) {
    let rest = part.bytes;
    while (heldBytes + rest.byteLength >= wanted) {
      const taken = rest.subarray(0, wanted - heldBytes);
      rest = rest.subarray(taken.byteLength);
      const ended = rest.byteLength === 0;
      yield { bytes: concatBytes([...held, taken]), ends: ended ? [...ends, part] : ends };
      held = [];
      heldBytes = 0;
      ends = [];
      wanted = nextSize();
      if (ended) break;
    }
    if (rest.byteLength > 0) {
      held.push(rest);
      heldBytes += rest.byteLength;
      ends.push(part);
    }
  }
  if (heldBytes > 0) yield { bytes: concatBytes(held), ends };
}

function withCrlf(part: BodyPart): BodyPart {
  const bytes: number[] = [];
  let previous = 0;
  for (const byte of part.bytes) {
    if (byte === LF && previous !== CR) bytes.push(CR);
    bytes.push(byte);
    previous = byte;
  }
  return { bytes: Uint8Array.from(bytes), usage: part.usage };
}

function* asCrlf(parts: Iterable<BodyPart>): Generator<BodyPart> {
  for (const part of parts) yield withCrlf(part);
}

function* wholeParts(parts: Iterable<BodyPart>): Generator<Piece> {
  for (const part of parts) yield { bytes: part.bytes, ends: [part] };
}

/** The parts as sent on the wire: unchanged, except that `crlf` gives their lines CRLF ends. */
export function framedParts(parts: Iterable<BodyPart>, chunking: Chunking): Iterable<BodyPart> {
  return chunking === 'crlf' ? asCrlf(parts) : parts;
}

/** Splits (already framed) parts into writes. `all` needs parts that end. */
export function divideBody(parts: Iterable<BodyPart>, chunking: Chunking): Iterable<Piece> {
  if (typeof chunking === 'object') return inSizes(parts, chunking.sizes);
  switch (chunking) {
    case 'record':
      return wholeParts(parts);
    case 'bytes':
      return splitWhere(parts, anywhere);
    case 'utf8':
      return splitWhere(parts, insideCharacter);
    case 'crlf':
      return splitWhere(parts, betweenCrAndLf);
    case 'all': {
      const ends = [...parts];
      return ends.length === 0 ? [] : [{ bytes: concatBytes(ends.map((part) => part.bytes)), ends }];
    }
  }
}
