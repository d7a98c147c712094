/** Owns the grammar of a JSON number as a table of states, so that a number can be read in pieces. It computes no values. */

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
