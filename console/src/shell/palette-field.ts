/** Defines what the palette's field looks like, before and after its results are loaded. */

export const PALETTE_HINT = 'A page, a key, a request id…';
export const PALETTE_FIELD = 'h-11 w-full border-b border-line bg-transparent px-4 text-read placeholder:text-ink-3';

/** What was typed before the results were there. */
export interface TypedAhead {
  readonly text: string;
  readonly isEntered: boolean;
}
