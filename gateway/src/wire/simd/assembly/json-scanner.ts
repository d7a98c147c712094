/**
 * Scans a JSON text 64 bytes at a time. AssemblyScript: `npm run scanner` compiles it to WebAssembly with SIMD. It
 * accepts only texts that the scan of json-grammar.ts accepts, and writes the same tape; whatever it refuses may still
 * be valid, and json-grammar.ts judges it. The masks follow simdjson (Langdale and Lemire, "Parsing gigabytes of JSON
 * per second", 2019).
 */
import { BACKSLASH, blank, equal, isUnit, noLetter, places, QUOTE, sign, stop, throughPairs } from './masks.ts';

/** Bytes that a text may have, and values that it may have within the outline: they bound the memory. */
export const TEXT_BYTES_MAX: i32 = 1024 * 1024;
const NODES_MAX: i32 = 65_536;
/** Quotes, signs and scalars that a text may have: they bound the time, 4 to 8 ns each, as nothing else can run. */
const EVENTS_MAX: i32 = 131_072;
/** Objects and arrays that may be open at once, keys that their objects may have so far, and bytes of one key. */
const DEPTH_MAX: i32 = 255;
const KEYS_MAX: i32 = 8_192;
const KEY_BYTES_MAX: i32 = 128;
/** Keys of one object: each is compared with all before it, four at a time. */
const OBJECT_KEYS_MAX: i32 = 128;

const BLOCK_BYTES: usize = 64;
const NODE_BYTES: usize = 24;
const FRAME_BYTES: usize = 16;

// The memory, area after area. Between two texts only the multipliers keep a meaning.
/** A random 64-bit number for the sum, and one for each four bytes of a key. The host writes them. */
export const MULTIPLIERS: usize = 1024;
export const MULTIPLIER_COUNT: i32 = 1 + KEY_BYTES_MAX / 4;
/** By depth: the container's node, then its parent's first key and whether its parent is an object. */
const FRAMES: usize = 2048;
/** The hashes of the keys of all open objects. */
const KEYS: usize = FRAMES + (<usize>DEPTH_MAX + 1) * FRAME_BYTES;
export const TAPE: usize = KEYS + <usize>KEYS_MAX * 4 + 64;
export const TEXT: usize = TAPE + <usize>NODES_MAX * NODE_BYTES;

/** In the result: the text has bytes from 0x80 on, which the host must check to be UTF-8. */
export const NOT_ASCII: i32 = 1 << 30;
const REFUSED: i32 = -1;

// What the grammar expects next.
const VALUE: i32 = 0;
const FIRST_ELEMENT: i32 = 1;
const FIRST_KEY: i32 = 2;
const KEY: i32 = 3;
const COLON_SIGN: i32 = 4;
const SEPARATOR: i32 = 5;
const NOTHING: i32 = 6;
const END_OF_STRING: i32 = 7;
const END_OF_KEY: i32 = 8;

// Kinds and flags of a node, as in json-key-set.ts.
const OBJECT: i32 = 0;
const ARRAY: i32 = 1;
const STRING: i32 = 2;
const NUMBER: i32 = 3;
const TRUE: i32 = 4;
const FALSE: i32 = 5;
const NULL: i32 = 6;
const ESCAPED: i32 = 8;
const CLOSED: i32 = 32;

/**
 * Scans the `length` bytes at TEXT within the limits of a JsonScanLimits. Returns the number of nodes at TAPE, perhaps
 * with NOT_ASCII; -1 if it refuses the text. Overwrites up to 127 bytes after the text.
 */
export function scan(
  length: i32,
  depthMax: i32,
  keysPerObjectMax: i32,
  keyBytesMax: i32,
  outlineDepth: i32,
  outlineNodesMax: i32,
): i32 {
  const depthLimit = min(depthMax, DEPTH_MAX);
  const keysLimit = min(keysPerObjectMax, OBJECT_KEYS_MAX);
  const keyBytesLimit = min(keyBytesMax, KEY_BYTES_MAX);
  const tapeEnd = TAPE + <usize>min(outlineNodesMax, NODES_MAX) * NODE_BYTES;
  const end = TEXT + <usize>length;
  // Blanks after the text end every number and word, so that no byte of an earlier text is read.
  memory.fill(end, 0x20, 2 * BLOCK_BYTES - 1);

  // All bits set while a string is open.
  let inString: u64 = 0;
  // Whether the first byte of the block is escaped, or follows a scalar: 1 or 0.
  let firstEscaped: u64 = 0;
  let afterScalar: u64 = 0;
  let lastBackslash: usize = 0;
  let highBytes = i8x16.splat(0);

  let expecting = VALUE;
  let depth = 0;
  let frame = FRAMES;
  let inObject = 0;
  let firstKey = KEYS;
  let nextKey = KEYS;
  let keyStart = -1;
  let keyEnd = -1;
  let stringStart: usize = 0;
  let tape = TAPE;
  let node: usize = 0;
  let eventsLeft = EVENTS_MAX;
  v128.store(KEYS, i32x4.splat(0));

  for (let block = TEXT; block < end; block += BLOCK_BYTES) {
    const a = v128.load(block);
    const b = v128.load(block, 16);
    const c = v128.load(block, 32);
    const d = v128.load(block, 48);
    highBytes = v128.or(highBytes, v128.or(v128.or(a, b), v128.or(c, d)));
    const stopsA = stop(a);
    const stopsB = stop(b);
    const stopsC = stop(c);
    const stopsD = stop(d);
    const escapesA = equal(a, BACKSLASH);
    const escapesB = equal(b, BACKSLASH);
    const escapesC = equal(c, BACKSLASH);
    const escapesD = equal(d, BACKSLASH);
    if (
      (inString & ~firstEscaped) === ~0 &&
      !v128.any_true(
        v128.or(
          v128.or(v128.or(stopsA, stopsB), v128.or(stopsC, stopsD)),
          v128.or(v128.or(escapesA, escapesB), v128.or(escapesC, escapesD)),
        ),
      )
    ) {
      continue;
    }

    const backslashes = places(escapesA, escapesB, escapesC, escapesD);
    let quotes = places(equal(a, QUOTE), equal(b, QUOTE), equal(c, QUOTE), equal(d, QUOTE));
    const controls = places(stopsA, stopsB, stopsC, stopsD) & ~quotes;
    if ((backslashes | firstEscaped) !== 0) {
      // A run of backslashes escapes every second byte, counted from its start.
      const odd: u64 = ((<u64>0xaaaaaaaa) << 32) | 0xaaaaaaaa;
      const starts = backslashes & ~firstEscaped;
      const ends = (((starts << 1) | odd) - starts) ^ odd;
      const escaped = ends ^ (backslashes | firstEscaped);
      firstEscaped = (ends & backslashes) >> 63;
      quotes &= ~escaped;
      let units = escaped & places(noLetter(a), noLetter(b), noLetter(c), noLetter(d));
      for (; units !== 0; units &= units - 1) {
        if (!isUnit(block + <usize>ctz(units))) return REFUSED;
      }
    }
    const strings = quotes === 0 ? inString : throughPairs(quotes) ^ inString;
    inString = <u64>(<i64>strings >> 63);
    if ((controls & strings) !== 0) return REFUSED;

    if (quotes !== 0 || strings === 0) {
      const blanks = places(blank(a), blank(b), blank(c), blank(d));
      const signs = places(sign(a), sign(b), sign(c), sign(d)) & ~strings;
      const scalars = ~(strings | quotes | blanks | signs);
      let events = signs | quotes | (scalars & ~((scalars << 1) | afterScalar));
      afterScalar = scalars >> 63;
      eventsLeft -= <i32>popcnt(events);
      if (eventsLeft < 0) return REFUSED;

      for (; events !== 0; events &= events - 1) {
        const place = ctz(events);
        const at = block + <usize>place;
        const byte: i32 = load<u8>(at);

        if (byte === QUOTE) {
          if (expecting >= END_OF_STRING) {
            const before = backslashes & (((<u64>1) << place) - 1);
            const last = before !== 0 ? block + 63 - <usize>clz(before) : lastBackslash;
            const escaped = last > stringStart;
            const after = <i32>(at - TEXT) + 1;
            if (expecting === END_OF_STRING) {
              if (node !== 0) {
                if (escaped) store<i32>(node, STRING | ESCAPED);
                store<i32>(node, after, 8);
              }
              expecting = depth === 0 ? NOTHING : SEPARATOR;
            } else {
              if (escaped || <i32>(at - stringStart) - 1 > keyBytesLimit) return REFUSED;
              const hash = hashOf(stringStart + 1, at);
              if (isKnown(hash, firstKey, nextKey)) return REFUSED;
              store<u32>(nextKey, hash);
              nextKey += 4;
              v128.store(nextKey, i32x4.splat(0));
              if (<i32>(nextKey - firstKey) >> 2 > keysLimit || nextKey >= KEYS + KEYS_MAX * 4) return REFUSED;
              keyEnd = after;
              expecting = COLON_SIGN;
            }
          } else if (expecting === KEY || expecting === FIRST_KEY) {
            stringStart = at;
            keyStart = <i32>(at - TEXT);
            expecting = END_OF_KEY;
          } else if (expecting <= FIRST_ELEMENT) {
            stringStart = at;
            node = 0;
            if (depth <= outlineDepth) {
              if (tape >= tapeEnd) return REFUSED;
              node = tape;
              tape = append(tape, STRING, at, keyStart, keyEnd);
            }
            expecting = END_OF_STRING;
          } else {
            return REFUSED;
          }
        } else if (byte === 0x3a) {
          if (expecting !== COLON_SIGN) return REFUSED;
          expecting = VALUE;
        } else if (byte === 0x2c) {
          if (expecting !== SEPARATOR) return REFUSED;
          if (inObject !== 0) {
            expecting = KEY;
          } else {
            expecting = VALUE;
            keyStart = -1;
            keyEnd = -1;
          }
        } else if (byte === 0x7b || byte === 0x5b) {
          if (expecting > FIRST_ELEMENT || depth >= depthLimit) return REFUSED;
          node = 0;
          if (depth <= outlineDepth) {
            if (tape >= tapeEnd) return REFUSED;
            node = tape;
            tape = append(tape, byte === 0x7b ? OBJECT : ARRAY, at, keyStart, keyEnd);
          }
          depth++;
          frame += FRAME_BYTES;
          store<usize>(frame, node);
          store<usize>(frame, firstKey, 4);
          store<i32>(frame, inObject, 8);
          firstKey = nextKey;
          if (byte === 0x7b) {
            inObject = 1;
            expecting = FIRST_KEY;
          } else {
            inObject = 0;
            keyStart = -1;
            keyEnd = -1;
            expecting = FIRST_ELEMENT;
          }
        } else if (byte === 0x7d || byte === 0x5d) {
          const empty = byte === 0x7d ? FIRST_KEY : FIRST_ELEMENT;
          const closesObject = byte === 0x7d ? 1 : 0;
          if (expecting !== empty && (expecting !== SEPARATOR || inObject !== closesObject)) return REFUSED;
          node = load<usize>(frame);
          nextKey = firstKey;
          v128.store(nextKey, i32x4.splat(0));
          firstKey = load<usize>(frame, 4);
          inObject = load<i32>(frame, 8);
          frame -= FRAME_BYTES;
          depth--;
          if (node !== 0) {
            if (depth === outlineDepth) store<i32>(node, load<i32>(node) | CLOSED);
            store<i32>(node, <i32>(at - TEXT) + 1, 8);
            store<i32>(node, <i32>((tape - TAPE) / NODE_BYTES), 20);
          }
          expecting = depth === 0 ? NOTHING : SEPARATOR;
        } else {
          if (expecting > FIRST_ELEMENT) return REFUSED;
          const kind = kindOfScalar(byte);
          const until = kind === NUMBER ? endOfNumber(at) : endOfWord(at, kind);
          if (until === 0 || !endsScalar(load<u8>(until))) return REFUSED;
          if (depth <= outlineDepth) {
            if (tape >= tapeEnd) return REFUSED;
            node = tape;
            tape = append(tape, kind, at, keyStart, keyEnd);
            store<i32>(node, <i32>(until - TEXT), 8);
          }
          expecting = depth === 0 ? NOTHING : SEPARATOR;
        }
      }
    }
    if (backslashes !== 0) lastBackslash = block + 63 - <usize>clz(backslashes);
  }
  if (expecting !== NOTHING) return REFUSED;
  const nodes = <i32>((tape - TAPE) / NODE_BYTES);
  return i8x16.bitmask(highBytes) !== 0 ? nodes | NOT_ASCII : nodes;
}

/** Adds a node that is its whole subtree and returns the place of the next one; its end is still to be set. */
function append(tape: usize, kind: i32, at: usize, keyStart: i32, keyEnd: i32): usize {
  store<i32>(tape, kind);
  store<i32>(tape, <i32>(at - TEXT), 4);
  store<i32>(tape, keyStart, 12);
  store<i32>(tape, keyEnd, 16);
  const next = tape + NODE_BYTES;
  store<i32>(tape, <i32>((next - TAPE) / NODE_BYTES), 20);
  return next;
}

/**
 * Hashes a key, never to 0: the multilinear form of Lemire and Kaser, "Strongly universal string hashing is fast"
 * (2014). A key has no zero byte, so padding the last word with zeros makes no two keys alike. Equal hashes only refuse
 * the text, so a collision costs time and nothing else.
 */
function hashOf(from: usize, to: usize): u32 {
  let sum = load<u64>(MULTIPLIERS);
  let factor = MULTIPLIERS + 8;
  for (let at = from; at < to; at += 8) {
    const rest = to - at;
    const word = rest >= 8 ? load<u64>(at) : load<u64>(at) & (((<u64>1) << ((<u64>rest) << 3)) - 1);
    sum += (word & 0xffffffff) * load<u64>(factor) + (word >> 32) * load<u64>(factor, 8);
    factor += 16;
  }
  return <u32>(sum >> 32) | 1;
}

/** Whether the hash is in `[first, next)`, which a zero follows, so that reading by fours finds nothing of old. */
function isKnown(hash: u32, first: usize, next: usize): bool {
  const sought = i32x4.splat(<i32>hash);
  let found = i32x4.splat(0);
  for (let at = first; at < next; at += 16) found = v128.or(found, i32x4.eq(v128.load(at), sought));
  return v128.any_true(found);
}

/** The only kind of scalar that can begin with this byte, or -1. */
function kindOfScalar(byte: i32): i32 {
  if (byte === 0x2d || isDigit(byte)) return NUMBER;
  if (byte === 0x74) return TRUE;
  if (byte === 0x66) return FALSE;
  return byte === 0x6e ? NULL : -1;
}

function isDigit(byte: i32): bool {
  return <u32>(byte - 0x30) <= 9;
}

/** The first byte after the number at `from`, or 0 if there is no complete one. */
function endOfNumber(from: usize): usize {
  let at = from;
  if (load<u8>(at) === 0x2d) at++;
  if (load<u8>(at) === 0x30) at++;
  else {
    at = afterDigits(at);
    if (at === 0) return 0;
  }
  if (load<u8>(at) === 0x2e) {
    at = afterDigits(at + 1);
    if (at === 0) return 0;
  }
  if ((load<u8>(at) | 0x20) !== 0x65) return at;
  at++;
  const byte = load<u8>(at);
  return afterDigits(byte === 0x2b || byte === 0x2d ? at + 1 : at);
}

/** The first byte after at least one digit, or 0. */
function afterDigits(from: usize): usize {
  let at = from;
  while (isDigit(load<u8>(at))) at++;
  return at === from ? 0 : at;
}

/** The first byte after the literal of that kind at `from`, or 0 if another word is there. */
function endOfWord(from: usize, kind: i32): usize {
  const word = load<u32>(from);
  if (kind === TRUE) return word === 0x65757274 ? from + 4 : 0;
  if (kind === NULL) return word === 0x6c6c756e ? from + 4 : 0;
  return kind === FALSE && load<u32>(from + 1) === 0x65736c61 ? from + 5 : 0;
}

/** Whether the byte may follow a number or a literal: white space, a comma or a closing bracket. */
function endsScalar(byte: i32): bool {
  return (
    byte === 0x2c || byte === 0x7d || byte === 0x5d || byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
  );
}
