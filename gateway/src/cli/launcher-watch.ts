/** Owns noticing that the launcher is gone, so that no server outlives what started it. What to do then is the caller's. */

/**
 * Calls `onGone` once when the process that started this one with a channel (`bin/tollgate`) is gone, however it ended,
 * also when that was before this call. Does nothing where there is no channel, and never keeps the process alive.
 * Returns a function that stops the watch.
 */
export function watchLauncher(onGone: () => void): () => void {
  if (process.send === undefined) return () => {};
  process.once('disconnect', onGone);
  process.channel?.unref();
  return () => {
    process.off('disconnect', onGone);
  };
}
