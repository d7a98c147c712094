/** Defines the palette's field, which looks the same before and after the results are loaded. */

export const PALETTE_HINT = 'Search pages, actions, keys, models, members…';
export const PALETTE_FIELD = 'h-11 w-full border-b border-line bg-transparent px-4 text-read placeholder:text-ink-3';

/** Text typed before the results were loaded. */
export interface TypedAhead {
  readonly text: string;
  readonly isEntered: boolean;
}
