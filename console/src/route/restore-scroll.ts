/** Restores the scroll position of a page whose content may still be on its way. */

/** Events by which the user takes over. */
const OWN_MOVES = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

/** Placeholders may be as long as the page was, and shorter rows follow them for a moment. */
const WATCHED_MS = 10_000;

/**
 * Scrolls to the position, again each time the height of the page changes, until the user moves or ten seconds are over.
 * Returns the function that gives up.
 */
export function restoreScroll(px: number): () => void {
  const scroll = () => scrollTo(0, px);
  scroll();
  if (px === 0) return () => undefined;
  const growth = new ResizeObserver(scroll);
  const stop = () => {
    clearTimeout(end);
    growth.disconnect();
    for (const type of OWN_MOVES) removeEventListener(type, stop);
  };
  const end = setTimeout(stop, WATCHED_MS);
  for (const type of OWN_MOVES) addEventListener(type, stop, { passive: true });
  growth.observe(document.body);
  return stop;
}
