/**
 * Parses the grammar of JSON (RFC 8259): reads the bytes, updates the scan's state, and records the outer values.
 * json-refusals.ts words the problems.
 */
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  CR,
  DIGIT_0,
  DIGIT_9,
  ESCAPE_CLASS,
  HEX_DIGIT,
  LF,
  literalAt,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
  STRING_STOP,
  TAB,
} from './json-bytes.ts';
import {
  addKey,
  appendNode,
  closeNode,
  FLAG_CLOSED,
  FLAG_ESCAPED,
  FLAG_KEY_ESCAPED,
  firstStop,
  type KeySet,
  KIND_ARRAY,
  KIND_FALSE,
  KIND_NULL,
  KIND_NUMBER,
  KIND_OBJECT,
  KIND_STRING,
  KIND_TRUE,
  skipBytes,
  stopsIn,
} from './json-key-set.ts';
import {
  AWAIT_COLON,
  AWAIT_FIRST_ELEMENT,
  AWAIT_FIRST_KEY,
  AWAIT_KEY,
  AWAIT_NOTHING,
  AWAIT_SEPARATOR,
  AWAIT_VALUE,
  FAULT_BYTE,
  FAULT_DEPTH,
  FAULT_DUPLICATE,
  FAULT_KEY_BYTES,
  FAULT_KEYS,
  FAULT_LITERAL,
  FAULT_NODES,
  FAULT_STRING,
  FRAME_COUNT,
  FRAME_INTS,
  FRAME_IS_OBJECT,
  FRAME_KEY_END,
  FRAME_KEY_FLAGS,
  FRAME_KEY_START,
  FRAME_NODE,
  IN_KEY,
  IN_NUMBER,
  IN_STRING,
  NO_FAULT,
  NUMBER_CLASS,
  NUMBER_COMPLETE,
  NUMBER_NEXT,
  NUMBER_START,
  NUMBER_STOP,
  openFrame,
  type ScanState,
} from './json-scan-state.ts';

/**
 * Reads up to `limit`, where a token may stay unfinished; an escape or a literal that begins before it is read
 * completely. Returns the fault at which it stopped, or NO_FAULT. One long function on purpose: split by token it took
 * twice as long, because the engine keeps the position and the expected token in registers only within one function.
 */
export function readJson(state: ScanState, limit: number): number {
  const { limits, frames, tape, end } = state;
  const { bytes, words, shift } = state.view;
  const wordLimit = (limit + shift) >> 2;
  let { pos, expecting, node, escaped } = state;
  let frame = state.depth * FRAME_INTS;
  let fault = NO_FAULT;
  while (pos < limit) {
    if (expecting === IN_STRING || expecting === IN_KEY) {
      let word = (pos + shift) >> 2;
      let stops = 0;
      if (word < wordLimit) {
        stops = stopsIn(skipBytes(words[word] as number, (pos + shift) & 3));
        while (stops === 0 && ++word < wordLimit) stops = stopsIn(words[word] as number);
      }
      if (stops !== 0) {
        pos = (word << 2) - shift + firstStop(stops);
      } else {
        // The last bytes before the limit do not fill a word.
        pos = Math.max(pos, (word << 2) - shift);
        while (pos < limit && STRING_STOP[bytes[pos] as number] === 0) pos++;
        if (pos >= limit) break;
      }
      const stop = bytes[pos] as number;
      if (stop === BACKSLASH) {
        escaped = true;
        const kind = pos + 1 < end ? (ESCAPE_CLASS[bytes[pos + 1] as number] as number) : 0;
        if (kind === 1) {
          pos += 2;
          // Escapes come in runs, and a run is faster byte by byte than by words.
          while (pos + 1 < limit && bytes[pos] === BACKSLASH && ESCAPE_CLASS[bytes[pos + 1] as number] === 1) pos += 2;
          continue;
        }
        if (kind === 2 && pos + 6 <= end && hasFourDigits(bytes, pos + 2)) {
          pos += 6;
          continue;
        }
      }
      if (stop !== QUOTE) {
        fault = FAULT_STRING;
        break;
      }
      pos++;
      if (expecting === IN_STRING) {
        if (node !== -1) closeNode(tape, node, pos, escaped ? FLAG_ESCAPED : 0);
        expecting = frame === 0 ? AWAIT_NOTHING : AWAIT_SEPARATOR;
        continue;
      }
      frames[frame + FRAME_KEY_END] = pos;
      frames[frame + FRAME_KEY_FLAGS] = escaped ? FLAG_KEY_ESCAPED : 0;
      fault = endKey(state, (frames[frame + FRAME_KEY_START] as number) + 1, pos - 1, escaped);
      if (fault !== NO_FAULT) break;
      expecting = AWAIT_COLON;
      continue;
    }

    if (expecting === IN_NUMBER) {
      let { numberState } = state;
      let next = numberState;
      for (; pos < limit; pos++) {
        next = NUMBER_NEXT[(numberState << 3) | (NUMBER_CLASS[bytes[pos] as number] as number)] as number;
        if (next === NUMBER_STOP) break;
        numberState = next;
      }
      state.numberState = numberState;
      if (next !== NUMBER_STOP) break;
      if (NUMBER_COMPLETE[numberState] === 0) {
        fault = FAULT_BYTE;
        break;
      }
      if (node !== -1) closeNode(tape, node, pos, 0);
      expecting = frame === 0 ? AWAIT_NOTHING : AWAIT_SEPARATOR;
      continue;
    }

    const byte = bytes[pos] as number;
    if (byte === SPACE || byte === LF || byte === CR || byte === TAB) {
      pos++;
      if (byte === LF) {
        state.line++;
        state.lineStart = pos;
      }
      continue;
    }

    if (expecting === AWAIT_SEPARATOR) {
      const inObject = frames[frame + FRAME_IS_OBJECT] === 1;
      if (byte === COMMA) {
        pos++;
        if (inObject) {
          expecting = AWAIT_KEY;
        } else {
          expecting = AWAIT_VALUE;
          frames[frame + FRAME_COUNT] = (frames[frame + FRAME_COUNT] as number) + 1;
        }
        continue;
      }
      if (byte !== (inObject ? CLOSE_BRACE : CLOSE_BRACKET)) {
        fault = FAULT_BYTE;
        break;
      }
    } else if (expecting === AWAIT_COLON) {
      if (byte !== COLON) {
        fault = FAULT_BYTE;
        break;
      }
      pos++;
      expecting = AWAIT_VALUE;
      continue;
    } else if (expecting === AWAIT_KEY || (expecting === AWAIT_FIRST_KEY && byte !== CLOSE_BRACE)) {
      if (byte !== QUOTE) {
        fault = FAULT_BYTE;
        break;
      }
      frames[frame + FRAME_KEY_START] = pos++;
      escaped = false;
      expecting = IN_KEY;
      continue;
    } else if (expecting === AWAIT_VALUE || (expecting === AWAIT_FIRST_ELEMENT && byte !== CLOSE_BRACKET)) {
      const kind = kindByFirstByte(byte);
      if (kind === -1) {
        fault = FAULT_BYTE;
        break;
      }
      const opens = kind === KIND_OBJECT || kind === KIND_ARRAY;
      if (opens && state.depth >= limits.depthMax) {
        fault = FAULT_DEPTH;
        break;
      }
      const word = kind >= KIND_TRUE ? literalAt(bytes, pos, end) : '';
      if (word === undefined) {
        fault = FAULT_LITERAL;
        break;
      }
      node = -1;
      if (state.depth <= limits.outlineDepth) {
        if (tape.nodes >= limits.outlineNodesMax) {
          fault = FAULT_NODES;
          break;
        }
        const keyStart = frames[frame + FRAME_KEY_START] as number;
        const flags = kind | (frames[frame + FRAME_KEY_FLAGS] as number);
        node = appendNode(tape, flags, pos, keyStart, frames[frame + FRAME_KEY_END] as number);
      }
      if (kind === KIND_STRING) {
        pos++;
        escaped = false;
        expecting = IN_STRING;
      } else if (opens) {
        pos++;
        openFrame(state, node, kind === KIND_OBJECT);
        frame += FRAME_INTS;
        expecting = kind === KIND_OBJECT ? AWAIT_FIRST_KEY : AWAIT_FIRST_ELEMENT;
      } else if (kind === KIND_NUMBER) {
        state.numberState = NUMBER_START;
        expecting = IN_NUMBER;
      } else {
        pos += word.length;
        if (node !== -1) closeNode(tape, node, pos, 0);
        expecting = frame === 0 ? AWAIT_NOTHING : AWAIT_SEPARATOR;
      }
      continue;
    } else if (expecting === AWAIT_NOTHING) {
      fault = FAULT_BYTE;
      break;
    }

    // The remaining byte is the closing bracket of the innermost container.
    pos++;
    node = frames[frame + FRAME_NODE] as number;
    frame -= FRAME_INTS;
    const depth = --state.depth;
    if (node !== -1) closeNode(tape, node, pos, depth === limits.outlineDepth ? FLAG_CLOSED : 0);
    expecting = depth === 0 ? AWAIT_NOTHING : AWAIT_SEPARATOR;
  }
  state.pos = pos;
  state.expecting = expecting;
  state.node = node;
  state.escaped = escaped;
  return isKeyTooLong(state) ? FAULT_KEY_BYTES : fault;
}

/** All bytes were read: whether they form a complete JSON text. Closes a number that only the end of the text ends. */
export function endJson(state: ScanState): boolean {
  if (state.end < state.view.bytes.length) return false;
  if (state.expecting === IN_NUMBER && state.depth === 0 && NUMBER_COMPLETE[state.numberState] === 1) {
    if (state.node !== -1) closeNode(state.tape, state.node, state.pos, 0);
    state.expecting = AWAIT_NOTHING;
  }
  return state.expecting === AWAIT_NOTHING;
}

/** Judges by position, whatever other faults the key has, so that the size of the steps makes no difference. */
function isKeyTooLong(state: ScanState): boolean {
  if (state.expecting !== IN_KEY) return false;
  const start = (state.frames[state.depth * FRAME_INTS + FRAME_KEY_START] as number) + 1;
  return state.pos - start > state.limits.keyBytesMax;
}

function endKey(state: ScanState, start: number, end: number, escaped: boolean): number {
  if (end - start > state.limits.keyBytesMax) return FAULT_KEY_BYTES;
  const keySet = state.keySets[state.depth] as KeySet;
  if (!addKey(keySet, state.view.bytes, start, end, escaped)) return FAULT_DUPLICATE;
  return keySet.count > state.limits.keysPerObjectMax ? FAULT_KEYS : NO_FAULT;
}

/** The only kind of value that can begin with this byte, or -1. */
function kindByFirstByte(byte: number): number {
  if (byte === QUOTE) return KIND_STRING;
  if (byte === OPEN_BRACE) return KIND_OBJECT;
  if (byte === OPEN_BRACKET) return KIND_ARRAY;
  if (byte === MINUS || (byte >= DIGIT_0 && byte <= DIGIT_9)) return KIND_NUMBER;
  if (byte === 0x74) return KIND_TRUE;
  if (byte === 0x66) return KIND_FALSE;
  return byte === 0x6e ? KIND_NULL : -1;
}

function hasFourDigits(bytes: Uint8Array, from: number): boolean {
  for (let i = from; i < from + 4; i++) if (HEX_DIGIT[bytes[i] as number] === 0) return false;
  return true;
}
