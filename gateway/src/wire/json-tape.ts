/** Records the values of an outline as flat numbers, in text order. json-node.ts interprets them. */

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
  const used = chunk.slice(0, at);
  clearTape(tape);
  return { chunks: [used], nodes, chunk: used, at };
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
