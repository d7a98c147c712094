/** Owns finding a key that an object has already had, compared after unescaping. Hostile keys cannot make it slow: up to eight are
 * compared pairwise, more are found by a hash that is secret to the process. */

import { unescapeBytes } from './json-unescape.ts';

const PAIRWISE_MAX = 8;
const KEY_INTS = 3;
const FIRST_SLOTS = 32;

/**
 * One random multiplier per position: sums of products of them are a universal hash (Carter and Wegman, multilinear form), so an
 * attacker who does not know them cannot choose keys that collide.
 */
const MULTIPLIERS = crypto.getRandomValues(new Int32Array(256));
const BLOCK_MULTIPLIER = (MULTIPLIERS[0] as number) | 1;

/** The keys of the one object that is open on a level. Create one per level and `clear` it when an object opens. */
export interface KeySet {
  /** Three numbers per key: start of its content, its length, its mark. A negative start lies in `unescaped`. */
  keys: Int32Array;
  count: number;
  /** Open addressing: 0 for free, else the key's index + 1. In use once there are more than eight keys. */
  slots: Int32Array;
  slotBits: number;
  /** The content of keys that were written with escapes. */
  unescaped: Uint8Array;
  unescapedBytes: number;
}

/** An empty set. */
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

/** Forgets the keys of the object before. */
export function clearKeySet(set: KeySet): void {
  set.count = 0;
  set.unescapedBytes = 0;
}

/** Adds the key whose content (without quotes) is `bytes[start, end)`; false when the object has had it before. */
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

/** Puts every key so far into a table of `capacity` slots; the marks of the first eight turn from edges into hashes. */
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

/** Length, first and last byte: enough to tell most keys of a small object apart. */
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
