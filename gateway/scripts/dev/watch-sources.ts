/** Owns noticing that a source file below a folder has changed. Does not read it, and does not know what is done then. */
import { watch } from 'node:fs';

/** What the running program is made of; not its tests, nor what editors put beside a file. */
const SOURCE = /\.(?:ts|json)$/;
const TEST = /\.test\.ts$/;

/** An editor, or a checkout of another branch, writes many files at once: one call is enough for all. */
const QUIET_MS = 150;

/** Calls back once the folder has been quiet for a while after a change. Returns a function that ends the watch. */
export function watchSources(folder: string, onChange: () => void, quietMs = QUIET_MS): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const watcher = watch(folder, { recursive: true }, (_event, name) => {
    if (name === null || !SOURCE.test(name) || TEST.test(name)) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, quietMs);
  });
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}
