/**
 * Finds duplicate keys of an object, compared after unescaping, and records the scanned values on a tape. Hostile keys
 * cannot make it slow: up to eight are compared pairwise, more are found by a hash that is secret to the process.
 */
import { BACKSLASH, LETTER_U } from './json-bytes.ts';

const PAIRWISE_MAX = 8;
const KEY_INTS = 3;
const FIRST_SLOTS = 32;

/**
 * One random multiplier per position: sums of products of them are a universal hash (Carter and Wegman, multilinear
 * form), so an attacker who does not know them cannot choose colliding keys.
 */
const MULTIPLIERS = crypto.getRandomValues(new Int32Array(256));
const BLOCK_MULTIPLIER = (MULTIPLIERS[0] as number) | 1;

/** The keys of the one open object on a level. Create one per level and `clear` it when an object opens. */
export interface KeySet {
  /** Three numbers per key: start of its content, its length, its mark. A negative start refers to `unescaped`. */
  keys: Int32Array;
  count: number;
  /** Open addressing: 0 is free, else the key's index + 1. Used once there are more than eight keys. */
  slots: Int32Array;
  slotBits: number;
  /** The content of keys that contain escapes. */
  unescaped: Uint8Array;
  unescapedBytes: number;
}

export function createKeySet(): KeySet {
  return {
    keys: new Int32Array(PAIRWISE_MAX * KEY_INTS),
    count: 0,
    slots: new Int32Array(0),
    slotBits: 0,
    unescaped: new Uint8Array(0),
    unescapedBytes: 0,
  };
}

/** Forgets the previous object's keys. */
export function clearKeySet(set: KeySet): void {
  set.count = 0;
  set.unescapedBytes = 0;
}

/** Adds the key whose content (without quotes) is `bytes[start, end)`; false if the object already has it. */
export function addKey(set: KeySet, bytes: Uint8Array, start: number, end: number, escaped: boolean): boolean {
  if (escaped) return addContent(set, bytes, -1 - set.unescapedBytes, storeUnescaped(set, bytes, start, end));
  return addContent(set, bytes, start, end - start);
}

function addContent(set: KeySet, bytes: Uint8Array, start: number, length: number): boolean {
  const index = set.count;
  const at = index * KEY_INTS;
  if (at === set.keys.length) set.keys = grown(set.keys);
  const { keys } = set;
  keys[at] = start;
  keys[at + 1] = length;
  if (index < PAIRWISE_MAX) {
    const mark = edgesOf(set, bytes, start, length);
    keys[at + 2] = mark;
    for (let other = 2; other < at; other += KEY_INTS) {
      if (keys[other] === mark && sameKey(set, bytes, at, other - 2)) return false;
    }
    set.count = index + 1;
    return true;
  }
  if (index === PAIRWISE_MAX) rebuildSlots(set, bytes, FIRST_SLOTS);
  else if (index * 2 >= 1 << set.slotBits) rebuildSlots(set, bytes, 2 << set.slotBits);
  keys[at + 2] = hashOf(set, bytes, start, length);
  set.count = index + 1;
  return occupySlot(set, bytes, index);
}

/** Puts all keys so far into a table of `capacity` slots; the marks of the first eight change from edges to hashes. */
function rebuildSlots(set: KeySet, bytes: Uint8Array, capacity: number): void {
  const { keys } = set;
  if (set.slots.length < capacity) set.slots = new Int32Array(capacity);
  else set.slots.fill(0, 0, capacity);
  set.slotBits = 31 - Math.clz32(capacity);
  for (let index = 0; index < set.count; index++) {
    const at = index * KEY_INTS;
    if (set.count === PAIRWISE_MAX) keys[at + 2] = hashOf(set, bytes, keys[at] as number, keys[at + 1] as number);
    occupySlot(set, bytes, index);
  }
}

function occupySlot(set: KeySet, bytes: Uint8Array, index: number): boolean {
  const { keys, slots } = set;
  const at = index * KEY_INTS;
  const hash = keys[at + 2] as number;
  const last = (1 << set.slotBits) - 1;
  // The high bits are the universal ones.
  let slot = hash >>> (32 - set.slotBits);
  for (;;) {
    const taken = slots[slot] as number;
    if (taken === 0) break;
    const other = (taken - 1) * KEY_INTS;
    if (keys[other + 2] === hash && sameKey(set, bytes, at, other)) return false;
    slot = (slot + 1) & last;
  }
  slots[slot] = index + 1;
  return true;
}

function sameKey(set: KeySet, bytes: Uint8Array, at: number, other: number): boolean {
  const { keys } = set;
  const length = keys[at + 1] as number;
  if (keys[other + 1] !== length) return false;
  const start = keys[at] as number;
  const otherStart = keys[other] as number;
  const content = start < 0 ? set.unescaped : bytes;
  const otherContent = otherStart < 0 ? set.unescaped : bytes;
  const from = start < 0 ? -1 - start : start;
  const otherFrom = otherStart < 0 ? -1 - otherStart : otherStart;
  for (let i = 0; i < length; i++) if (content[from + i] !== otherContent[otherFrom + i]) return false;
  return true;
}

/** Length, first and last byte: enough to distinguish most keys of a small object. */
function edgesOf(set: KeySet, bytes: Uint8Array, start: number, length: number): number {
  if (length === 0) return 0;
  const content = start < 0 ? set.unescaped : bytes;
  const from = start < 0 ? -1 - start : start;
  return (length << 16) | ((content[from] as number) << 8) | (content[from + length - 1] as number);
}

function hashOf(set: KeySet, bytes: Uint8Array, start: number, length: number): number {
  const content = start < 0 ? set.unescaped : bytes;
  const from = start < 0 ? -1 - start : start;
  let hash = Math.imul(length, BLOCK_MULTIPLIER);
  for (let i = 0; i < length; i++) {
    hash = (hash + Math.imul(MULTIPLIERS[i & 255] as number, (content[from + i] as number) + 1)) | 0;
    if ((i & 255) === 255) hash = Math.imul(hash ^ (hash >>> 15), BLOCK_MULTIPLIER);
  }
  return hash;
}

function storeUnescaped(set: KeySet, bytes: Uint8Array, start: number, end: number): number {
  const needed = set.unescapedBytes + (end - start);
  if (set.unescaped.length < needed) {
    const larger = new Uint8Array(Math.max(needed, set.unescaped.length * 2));
    larger.set(set.unescaped.subarray(0, set.unescapedBytes));
    set.unescaped = larger;
  }
  const length = unescapeBytes(bytes, start, end, set.unescaped, set.unescapedBytes);
  set.unescapedBytes += length;
  return length;
}

function grown(keys: Int32Array): Int32Array {
  const larger = new Int32Array(keys.length * 2);
  larger.set(keys);
  return larger;
}

const LETTERS: ReadonlyMap<number, number> = new Map(
  Object.entries({ b: 8, f: 12, n: 10, r: 13, t: 9 }).map(([letter, byte]) => [letter.charCodeAt(0), byte]),
);

/**
 * Writes the unescaped content of `source[start, end)` to `target` and returns its length in bytes (never more than the
 * source's). A lone surrogate becomes three bytes of its own (WTF-8), which no UTF-8 text can contain: two strings have
 * the same bytes exactly if they are equal.
 */
function unescapeBytes(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  let to = at;
  let from = start;
  while (from < end) {
    const byte = source[from] as number;
    if (byte !== BACKSLASH) {
      target[to++] = byte;
      from++;
    } else if (source[from + 1] !== LETTER_U) {
      const letter = source[from + 1] as number;
      target[to++] = LETTERS.get(letter) ?? letter;
      from += 2;
    } else {
      const unit = hexUnit(source, from);
      const low = isHigh(unit) && from + 12 <= end ? hexUnit(source, from + 6) : 0;
      const paired = low >= 0xdc00 && low <= 0xdfff;
      to = writeCodePoint(target, to, paired ? 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00) : unit);
      from += paired ? 12 : 6;
    }
  }
  return to - at;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** The code unit of the `\uXXXX` at `from`; 0 without one. */
function hexUnit(source: Uint8Array, from: number): number {
  if (source[from] !== BACKSLASH || source[from + 1] !== LETTER_U) return 0;
  let unit = 0;
  for (let i = from + 2; i < from + 6; i++) {
    const digit = source[i] as number;
    unit = (unit << 4) | (digit <= 0x39 ? digit - 0x30 : (digit | 0x20) - 0x57);
  }
  return unit;
}

function writeCodePoint(target: Uint8Array, at: number, point: number): number {
  let to = at;
  if (point < 0x80) {
    target[to++] = point;
  } else if (point < 0x800) {
    target[to++] = 0xc0 | (point >> 6);
    target[to++] = 0x80 | (point & 0x3f);
  } else {
    if (point < 0x10000) {
      target[to++] = 0xe0 | (point >> 12);
    } else {
      target[to++] = 0xf0 | (point >> 18);
      target[to++] = 0x80 | ((point >> 12) & 0x3f);
    }
    target[to++] = 0x80 | ((point >> 6) & 0x3f);
    target[to++] = 0x80 | (point & 0x3f);
  }
  return to;
}

/** A byte array with a 32-bit view over the same memory. */
export interface TypedView {
  readonly bytes: Uint8Array;
  /** Little-endian words; word `i` holds the bytes from `4 * i - shift` on. */
  readonly words: Int32Array;
  /** Offset of the first byte from a word boundary: 0–3. */
  readonly shift: number;
}

/**
 * Lays the word view over `bytes`, whatever their alignment; copies nothing. An incomplete word at the end is omitted.
 */
export function viewWords(bytes: Uint8Array): TypedView {
  const shift = bytes.byteOffset & 3;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset - shift, (bytes.length + shift) >> 2);
  return { bytes, words, shift };
}

/**
 * The bytes of `word` that stop a string (a quote, a backslash, a control character): sets bit 7 of each. Only the
 * lowest set bit is exact. Flipping bit 1 puts the quote right after the control characters, so that one subtraction
 * finds both; bytes from 0x80 on are never matched.
 */
export function stopsIn(word: number): number {
  return (((word ^ 0x02020202) - 0x21212121) | ((word ^ 0x5c5c5c5c) - 0x01010101)) & ~word & 0x80808080;
}

/** `word` with its first `count` (0–3) bytes replaced by bytes that are never matched. */
export function skipBytes(word: number, count: number): number {
  return word | (0x00808080 & ((1 << (count << 3)) - 1));
}

/** The byte of the word (0–3) that the lowest bit of a `stopsIn` result refers to. */
export function firstStop(stops: number): number {
  return (31 - Math.clz32(stops & -stops)) >> 3;
}

/**
 * Numbers per node: kind and flags, value start, value end, key start, key end, index of the node after its subtree.
 */
const NODE_INTS = 6;
export const AT_KIND = 0;
export const AT_START = 1;
export const AT_END = 2;
export const AT_KEY_START = 3;
export const AT_KEY_END = 4;
export const AT_NEXT = 5;

export const KIND_OBJECT = 0;
export const KIND_ARRAY = 1;
export const KIND_STRING = 2;
export const KIND_NUMBER = 3;
export const KIND_TRUE = 4;
export const KIND_FALSE = 5;
export const KIND_NULL = 6;
export const KIND_MASK = 7;
/** The value is a string that contains escapes. */
export const FLAG_ESCAPED = 8;
/** The member's key contains escapes. */
export const FLAG_KEY_ESCAPED = 16;
/** The value is a container on the last level of the outline: its children were validated, but not recorded. */
export const FLAG_CLOSED = 32;

const CHUNK_BITS = 13;
const CHUNK_NODES = 1 << CHUNK_BITS;
const CHUNK_INTS = CHUNK_NODES * NODE_INTS;
const FIRST_INTS = 64 * NODE_INTS;

/** Nodes in chunks of equal size, so that growing never copies more than the first chunk and never stalls a step. */
export interface JsonTape {
  chunks: Int32Array[];
  nodes: number;
  /** The last chunk, and the position of its next node. */
  chunk: Int32Array;
  at: number;
}

export function createTape(): JsonTape {
  const chunk = new Int32Array(FIRST_INTS);
  return { chunks: [chunk], nodes: 0, chunk, at: 0 };
}

/** Adds a node and returns its index; `closeNode` sets its end and subtree. */
export function appendNode(tape: JsonTape, kind: number, start: number, keyStart: number, keyEnd: number): number {
  if (tape.at === tape.chunk.length) extendTape(tape);
  const { chunk, at } = tape;
  chunk[at] = kind;
  chunk[at + AT_START] = start;
  chunk[at + AT_KEY_START] = keyStart;
  chunk[at + AT_KEY_END] = keyEnd;
  tape.at = at + NODE_INTS;
  return tape.nodes++;
}

/** Sets the end of a node's value; every node added since belongs to its subtree. */
export function closeNode(tape: JsonTape, index: number, end: number, flags: number): void {
  const chunk = tape.chunks[index >> CHUNK_BITS] as Int32Array;
  const at = (index & (CHUNK_NODES - 1)) * NODE_INTS;
  chunk[at] = (chunk[at] as number) | flags;
  chunk[at + AT_END] = end;
  chunk[at + AT_NEXT] = tape.nodes;
}

export function readNode(tape: JsonTape, index: number, field: number): number {
  return (tape.chunks[index >> CHUNK_BITS] as Int32Array)[(index & (CHUNK_NODES - 1)) * NODE_INTS + field] as number;
}

/** Forgets the nodes of a scan that failed. */
export function clearTape(tape: JsonTape): void {
  if (tape.chunks.length > 1) Object.assign(tape, createTape());
  tape.nodes = 0;
  tape.at = 0;
}

/** Moves the finished tape into its own memory and leaves `tape` empty for the next scan. */
export function detachTape(tape: JsonTape): JsonTape {
  const { chunks, nodes, chunk, at } = tape;
  if (chunks.length > 1) {
    Object.assign(tape, createTape());
    return { chunks, nodes, chunk, at };
  }
  clearTape(tape);
  return tapeOf(chunk, nodes);
}

/** Copies the first `nodes` nodes of `ints` to a tape. */
export function tapeOf(ints: Int32Array, nodes: number): JsonTape {
  const chunks: Int32Array[] = [];
  for (let from = 0; from < nodes; from += CHUNK_NODES) {
    chunks.push(ints.slice(from * NODE_INTS, Math.min(nodes, from + CHUNK_NODES) * NODE_INTS));
  }
  const chunk = chunks.at(-1) as Int32Array;
  return { chunks, nodes, chunk, at: chunk.length };
}

function extendTape(tape: JsonTape): void {
  const first = tape.chunk.length < CHUNK_INTS;
  const larger = new Int32Array(first ? Math.min(tape.chunk.length * 2, CHUNK_INTS) : CHUNK_INTS);
  if (first) {
    larger.set(tape.chunk);
    tape.chunks.pop();
  } else {
    tape.at = 0;
  }
  tape.chunks.push(larger);
  tape.chunk = larger;
}
