/** Owns where a JSON scan stands between two steps, and the stack of open objects and arrays. What a byte means there is
 * json-grammar.ts's. */
import { clearKeySet, createKeySet, type KeySet } from './json-key-set.ts';
import type { JsonScanLimits } from './json-limits.ts';
import { clearTape, createTape, type JsonTape } from './json-tape.ts';
import { viewWords, type WordView } from './json-word-view.ts';

/** What the grammar expects next. */
export const AWAIT_VALUE = 0;
export const AWAIT_FIRST_ELEMENT = 1;
export const AWAIT_FIRST_KEY = 2;
export const AWAIT_KEY = 3;
export const AWAIT_COLON = 4;
export const AWAIT_SEPARATOR = 5;
export const AWAIT_NOTHING = 6;
/** From here on: inside a token that a step may have left half read. */
export const IN_STRING = 7;
export const IN_KEY = 8;
export const IN_NUMBER = 9;

/** Numbers per open container. Frame `d` belongs to the `d`th open container; frame 0 is the root's, without a key. */
export const FRAME_INTS = 6;
/** Its node on the tape, or -1. */
export const FRAME_NODE = 0;
/** 1 for an object, 0 for an array. */
export const FRAME_IS_OBJECT = 1;
/** The index of the element being read. */
export const FRAME_COUNT = 2;
/** The key being read or last read, quotes included. */
export const FRAME_KEY_START = 3;
export const FRAME_KEY_END = 4;
export const FRAME_KEY_FLAGS = 5;

/** The memory of a scan that can serve the next one. */
interface ScanScratch {
  readonly frames: Int32Array;
  /** By depth; made when an object first opens there. */
  readonly keySets: KeySet[];
  readonly tape: JsonTape;
}

/** The whole state of one scan. */
export interface ScanState {
  readonly limits: JsonScanLimits;
  readonly view: WordView;
  readonly frames: Int32Array;
  readonly keySets: KeySet[];
  readonly tape: JsonTape;
  /** Whether the string or key being read has had an escape. */
  escaped: boolean;
  /** The state of the number being read, by json-scan-state.ts. */
  numberState: number;
  /** Where reading must stop: the length, or the first byte that is not UTF-8. */
  end: number;
  pos: number;
  expecting: number;
  depth: number;
  /** The line that `pos` is on, from 1, and where it starts. Line ends are illegal inside strings, so only white space moves them. */
  line: number;
  lineStart: number;
  /** The tape index of the value being read, or -1. */
  node: number;
}

const SCRATCH_KEYS_MAX = 1_024;
let spare: ScanScratch | undefined;

/** The state before the first byte. */
export function createScanState(bytes: Uint8Array, limits: JsonScanLimits): ScanState {
  const scratch = takeScratch(limits.depthMax);
  return {
    limits,
    view: viewWords(bytes),
    frames: scratch.frames,
    keySets: scratch.keySets,
    tape: scratch.tape,
    escaped: false,
    numberState: NUMBER_START,
    end: bytes.length,
    pos: 0,
    expecting: AWAIT_VALUE,
    depth: 0,
    line: 1,
    lineStart: 0,
    node: -1,
  };
}

/** Gives the memory of an ended scan to the next one, unless a hostile text made it large. Call it once; the state is dead then. */
export function releaseScanState(state: ScanState): void {
  if (state.keySets.some((set) => set.keys.length > SCRATCH_KEYS_MAX * 4 || set.unescaped.length > 4_096)) return;
  clearTape(state.tape);
  spare = { frames: state.frames, keySets: state.keySets, tape: state.tape };
}

function takeScratch(depthMax: number): ScanScratch {
  const taken = spare;
  spare = undefined;
  if (taken !== undefined && taken.frames.length === (depthMax + 1) * FRAME_INTS) return taken;
  const frames = new Int32Array((depthMax + 1) * FRAME_INTS);
  frames[FRAME_KEY_START] = -1;
  frames[FRAME_KEY_END] = -1;
  return { frames, keySets: [], tape: createTape() };
}

/** Opens the frame of the next container, whose node is `node`. */
export function openFrame(state: ScanState, node: number, isObject: boolean): void {
  const { frames, keySets } = state;
  const depth = ++state.depth;
  const at = depth * FRAME_INTS;
  frames[at + FRAME_NODE] = node;
  frames[at + FRAME_IS_OBJECT] = isObject ? 1 : 0;
  frames[at + FRAME_COUNT] = 0;
  if (isObject) {
    while (keySets.length <= depth) keySets.push(createKeySet());
    clearKeySet(keySets[depth] as KeySet);
  } else {
    frames[at + FRAME_KEY_START] = -1;
    frames[at + FRAME_KEY_END] = -1;
    frames[at + FRAME_KEY_FLAGS] = 0;
  }
}

export const NO_FAULT = 0;
/** The byte at the position cannot stand there. */
export const FAULT_BYTE = 1;
/** Inside a string or key: a raw control character, a wrong escape, or the end within an escape. */
export const FAULT_STRING = 2;
/** A word that begins as a literal and is none. */
export const FAULT_LITERAL = 3;
export const FAULT_DEPTH = 4;
export const FAULT_NODES = 5;
export const FAULT_DUPLICATE = 6;
export const FAULT_KEYS = 7;
export const FAULT_KEY_BYTES = 8;

const STATES = ['start', 'minus', 'zero', 'integer', 'point', 'fraction', 'exponent', 'sign', 'power'] as const;
type NumberState = (typeof STATES)[number];

const CLASSES: readonly string[] = ['0', '123456789', '.', 'eE', '+', '-'];

const NEXT: Record<NumberState, readonly (NumberState | null)[]> = {
  start: ['zero', 'integer', null, null, null, 'minus'],
  minus: ['zero', 'integer', null, null, null, null],
  zero: [null, null, 'point', 'exponent', null, null],
  integer: ['integer', 'integer', 'point', 'exponent', null, null],
  point: ['fraction', 'fraction', null, null, null, null],
  fraction: ['fraction', 'fraction', null, 'exponent', null, null],
  exponent: ['power', 'power', null, null, 'sign', 'sign'],
  sign: ['power', 'power', null, null, null, null],
  power: ['power', 'power', null, null, null, null],
};

/** The state before the first byte of a number. */
export const NUMBER_START = 0;

/** In NUMBER_NEXT: the byte does not belong to the number. */
export const NUMBER_STOP = 255;

/** The state after a byte, by `state << 3 | class`. */
export const NUMBER_NEXT: Uint8Array = Uint8Array.from({ length: STATES.length * 8 }, (_, cell) => {
  const from = STATES[cell >> 3];
  const to = from === undefined ? null : (NEXT[from][cell & 7] ?? null);
  return to === null ? NUMBER_STOP : STATES.indexOf(to);
});

/** The class of a byte in a number. */
export const NUMBER_CLASS: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  const found = CLASSES.findIndex((chars) => chars.includes(String.fromCharCode(byte)));
  return found === -1 ? CLASSES.length : found;
});

/** Whether a number may end in this state: 1 or 0. */
export const NUMBER_COMPLETE: Uint8Array = Uint8Array.from(STATES, (state) =>
  ['zero', 'integer', 'fraction', 'power'].includes(state) ? 1 : 0,
);

/** What an unfinished number still needs, in words for a message. */
export function expectedInNumber(state: number): string {
  if (STATES[state] === 'exponent') return 'a sign or a digit of the exponent';
  if (STATES[state] === 'sign') return 'a digit of the exponent';
  if (STATES[state] === 'point') return 'a digit after the decimal point';
  return 'a digit';
}
