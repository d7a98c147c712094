/** Describes the problem at which a JSON scan stopped, with its place and path. */
import { BACKSLASH, ESCAPE_CLASS, HEX_DIGIT, literalByFirstByte } from './json-bytes.ts';
import { stringText } from './json-node.ts';
import {
  describeProblem,
  type JsonProblem,
  type JsonProblemCode,
  memberPath,
  nameByte,
  quoteKey,
} from './json-problem.ts';
import * as Fault from './json-scan-state.ts';
import * as State from './json-scan-state.ts';
import { expectedInNumber, NUMBER_COMPLETE } from './json-scan-state.ts';

const EXPECTED: Readonly<Record<number, string>> = {
  [State.AWAIT_VALUE]: 'a value',
  [State.AWAIT_FIRST_ELEMENT]: "a value or ']'",
  [State.AWAIT_FIRST_KEY]: "a key in double quotes or '}'",
  [State.AWAIT_KEY]: 'a key in double quotes',
  [State.AWAIT_COLON]: "':' after the key",
  [State.AWAIT_SEPARATOR]: "',' or the bracket that closes this value",
  [State.AWAIT_NOTHING]: 'nothing more: send one JSON text',
  [State.IN_STRING]: 'the rest of a string and its closing quote',
  [State.IN_KEY]: 'the rest of a key and its closing quote',
};

/** The problem for a grammar fault. */
export function refuseFault(state: State.ScanState, fault: number): JsonProblem {
  const { limits, pos } = state;
  const keyStart = state.frames[state.depth * State.FRAME_INTS + State.FRAME_KEY_START] as number;
  switch (fault) {
    case Fault.FAULT_STRING:
      return refuseInString(state);
    case Fault.FAULT_LITERAL:
      return refuseLiteral(state);
    case Fault.FAULT_DEPTH:
      return refuse(
        state,
        'depth',
        pos,
        `objects and arrays more than ${limits.depthMax} deep`,
        `at most ${limits.depthMax}: flatten the value`,
      );
    case Fault.FAULT_NODES:
      return refuse(
        state,
        'outline-size',
        pos,
        `more than ${limits.outlineNodesMax} values in the outer levels`,
        'fewer: split the request',
      );
    case Fault.FAULT_KEYS:
      return refuse(
        state,
        'keys',
        keyStart,
        `more than ${limits.keysPerObjectMax} keys in one object`,
        `at most ${limits.keysPerObjectMax}: use several objects`,
      );
    case Fault.FAULT_KEY_BYTES:
      return refuse(
        state,
        'key-length',
        keyStart,
        `a key of more than ${limits.keyBytesMax} bytes`,
        `at most ${limits.keyBytesMax}: put long text into a value`,
      );
    case Fault.FAULT_DUPLICATE: {
      const key = quoteKey(stringText(state.view.bytes, keyStart, pos));
      return refuse(
        state,
        'duplicate-key',
        keyStart,
        `the key ${key} a second time in one object`,
        'each key once: remove one of them',
      );
    }
    default:
      return refuse(state, 'syntax', pos, nameByte(state.view.bytes[pos]), expectedBy(state));
  }
}

/** The problem when reading reaches `state.end`: the text is not UTF-8 there, or it ends too early. */
export function refuseEnd(state: State.ScanState, expected?: string): JsonProblem {
  const { bytes } = state.view;
  if (state.end < bytes.length) {
    return refuse(
      state,
      'utf8',
      state.end,
      `${nameByte(bytes[state.end])}, which is not UTF-8 there`,
      'text encoded as UTF-8',
    );
  }
  const isEmpty = state.depth === 0 && state.expecting === State.AWAIT_VALUE && expected === undefined;
  if (isEmpty) return refuse(state, 'empty', state.end, 'no text', 'a JSON value');
  return refuse(state, 'syntax', state.end, 'the end of the text', expected ?? expectedBy(state));
}

/** The problem of a byte order mark before the text. */
export function refuseByteOrderMark(state: State.ScanState): JsonProblem {
  return refuse(
    state,
    'bom',
    0,
    'a byte order mark (EF BB BF)',
    'the JSON text itself: send UTF-8 without a byte order mark',
  );
}

function refuseInString(state: State.ScanState): JsonProblem {
  const { bytes } = state.view;
  const { end, pos } = state;
  if (bytes[pos] !== BACKSLASH) {
    const found = `a raw control character (${nameByte(bytes[pos])}) in a string`;
    return refuse(state, 'syntax', pos, found, 'it escaped, such as \\n or \\u0000');
  }
  if (pos + 1 >= end) return refuseEnd(state);
  if (ESCAPE_CLASS[bytes[pos + 1] as number] === 0) {
    return refuse(
      state,
      'syntax',
      pos,
      `a backslash before ${nameByte(bytes[pos + 1])}`,
      'one of \\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX',
    );
  }
  let at = pos + 2;
  while (at < end && HEX_DIGIT[bytes[at] as number] === 1) at++;
  if (at === end) return refuseEnd(state);
  return refuse(state, 'syntax', at, `${nameByte(bytes[at])} in an escape`, '\\u and four hexadecimal digits');
}

function refuseLiteral(state: State.ScanState): JsonProblem {
  const { bytes } = state.view;
  const word = literalByFirstByte(bytes[state.pos]);
  let length = 1;
  while (state.pos + length < state.end && bytes[state.pos + length] === word.charCodeAt(length)) length++;
  if (state.pos + length === state.end) return refuseEnd(state, `'${word}' in full`);
  return refuse(state, 'syntax', state.pos, `a word that begins as '${word}'`, `'${word}' in full`);
}

/** A problem at `offset`, which must be on the scan's current line. */
function refuse(
  state: State.ScanState,
  code: JsonProblemCode,
  offset: number,
  found: string,
  expected: string,
): JsonProblem {
  const column = offset - state.lineStart + 1;
  return describeProblem(code, { offset, line: state.line, column, path: pathOf(state) }, found, expected);
}

function expectedBy(state: State.ScanState): string {
  const expecting = isWholeNumber(state) ? State.AWAIT_SEPARATOR : state.expecting;
  return EXPECTED[expecting] ?? expectedInNumber(state.numberState);
}

function isWholeNumber(state: State.ScanState): boolean {
  return state.expecting === State.IN_NUMBER && NUMBER_COMPLETE[state.numberState] === 1;
}

/** The path of the current value, such as `messages[3].content`; of its container if a key or a comma is expected. */
function pathOf(state: State.ScanState): string {
  const depth = state.depth + (isInValue(state.expecting) ? 1 : 0);
  let path = '';
  for (let level = 1; level < depth; level++) path = addLevel(state, level * State.FRAME_INTS, path);
  return path;
}

function isInValue(expecting: number): boolean {
  return (
    expecting !== State.AWAIT_FIRST_KEY &&
    expecting !== State.AWAIT_KEY &&
    expecting !== State.AWAIT_SEPARATOR &&
    expecting !== State.IN_KEY
  );
}

function addLevel(state: State.ScanState, frame: number, path: string): string {
  const { frames, view } = state;
  if (frames[frame + State.FRAME_IS_OBJECT] === 0) return `${path}[${frames[frame + State.FRAME_COUNT]}]`;
  const keyStart = frames[frame + State.FRAME_KEY_START] as number;
  return memberPath(path, stringText(view.bytes, keyStart, frames[frame + State.FRAME_KEY_END] as number));
}
