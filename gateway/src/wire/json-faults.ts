/** Owns the numbers by which the grammar says why it stopped; json-refusals.ts puts them into words. */

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
