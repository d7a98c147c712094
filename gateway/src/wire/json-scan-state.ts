/**
 * Holds the state of a JSON scan between two steps: the stack of open objects and arrays, the fault codes and the
 * number automaton. The grammar is in json-grammar.ts.
 */
import {
  clearKeySet,
  clearTape,
  createKeySet,
  createTape,
  type JsonTape,
  type KeySet,
  type TypedView,
  viewWords,
} from './json-key-set.ts';
import type { JsonScanLimits } from './json-limits.ts';

/** The next item that the grammar expects. */
export const AWAIT_VALUE = 0;
export const AWAIT_FIRST_ELEMENT = 1;
export const AWAIT_FIRST_KEY = 2;
export const AWAIT_KEY = 3;
export const AWAIT_COLON = 4;
export const AWAIT_SEPARATOR = 5;
export const AWAIT_NOTHING = 6;
/** From here on: inside a token that a step may leave unfinished. */
export const IN_STRING = 7;
export const IN_KEY = 8;
export const IN_NUMBER = 9;

/** Numbers per open container. Frame `d` belongs to the `d`th open container; frame 0 to the root, without a key. */
export const FRAME_INTS = 6;
/** The container's node on the tape, or -1. */
export const FRAME_NODE = 0;
/** 1 for an object, 0 for an array. */
export const FRAME_IS_OBJECT = 1;
/** The index of the element being read. */
export const FRAME_COUNT = 2;
/** The key being read or last read, quotes included. */
export const FRAME_KEY_START = 3;
export const FRAME_KEY_END = 4;
export const FRAME_KEY_FLAGS = 5;

/** Scan memory that the next scan can reuse. */
interface ScanScratch {
  readonly frames: Int32Array;
  /** By depth; created when an object first opens at that depth. */
  readonly keySets: KeySet[];
  readonly tape: JsonTape;
}

export interface ScanState {
  readonly limits: JsonScanLimits;
  readonly view: TypedView;
  readonly frames: Int32Array;
  readonly keySets: KeySet[];
  readonly tape: JsonTape;
  /** Whether the current string or key contains an escape. */
  escaped: boolean;
  /** The state of the current number in `NUMBER_NEXT`. */
  numberState: number;
  /** End of the valid input: the length, or the first byte that is not UTF-8. */
  end: number;
  pos: number;
  expecting: number;
  depth: number;
  /**
   * The line of `pos`, from 1, and its start. Line ends are illegal inside strings, so only white space advances them.
   */
  line: number;
  lineStart: number;
  /** The tape index of the current value, or -1. */
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

/**
 * Passes the memory of a finished scan to the next one, unless a hostile text made it large. Call it once; do not use
 * the state afterwards.
 */
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

/** Opens the frame of a container with the given node. */
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
/** The byte at the position is not allowed there. */
export const FAULT_BYTE = 1;
/** Inside a string or key: a raw control character, an invalid escape, or the end within an escape. */
export const FAULT_STRING = 2;
/** A word that begins like a literal but is not one. */
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

/** What an unfinished number still needs, worded for a message. */
export function expectedInNumber(state: number): string {
  if (STATES[state] === 'exponent') return 'a sign or a digit of the exponent';
  if (STATES[state] === 'sign') return 'a digit of the exponent';
  if (STATES[state] === 'point') return 'a digit after the decimal point';
  return 'a digit';
}
