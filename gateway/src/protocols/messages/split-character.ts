/** Owns knowing that a text ends in the first half of a character of two UTF-16 units, which some hosts split over two deltas. */

/** Whether the second half has to be waited for. */
export function endsInHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
