/** Restores the scroll position of a page whose content may still be on its way. */

/** Events by which the user takes over. */
const OWN_MOVES = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

/**
 * Scrolls to the position, again each time the page grows, until it is reached or the user moves. Returns the function that
 * gives up.
 */
export function restoreScroll(px: number): () => void {
  const isReached = () => {
    scrollTo(0, px);
    return Math.ceil(scrollY) >= Math.floor(px);
  };
  if (isReached()) return () => undefined;
  const growth = new ResizeObserver(() => {
    if (isReached()) stop();
  });
  const stop = () => {
    growth.disconnect();
    for (const type of OWN_MOVES) removeEventListener(type, stop);
  };
  for (const type of OWN_MOVES) addEventListener(type, stop, { passive: true });
  growth.observe(document.body);
  return stop;
}
