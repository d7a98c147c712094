/** Owns where a JSON scan stands between two steps, and the stack of open objects and arrays. What a byte means there is
 * json-grammar.ts's. */

import { clearKeySet, createKeySet, type KeySet } from './json-key-set.ts';
import type { JsonScanLimits } from './json-limits.ts';
import { NUMBER_START } from './json-number-grammar.ts';
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
  /** The state of the number being read, by json-number-grammar.ts. */
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
