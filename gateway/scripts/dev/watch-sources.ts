/** Detects that a source file below a folder has changed. Does not read the file. */
import { watch } from 'node:fs';

/** The files of the running program; excludes tests (below) and the files that editors create next to them. */
const SOURCE = /\.(?:ts|json)$/;
const TEST = /\.test\.ts$/;

/** An editor, or a checkout of another branch, writes many files at once: one callback covers all of them. */
const QUIET_MS = 150;

/** Calls back once the folder has been quiet for a while after a change. Returns a function that stops the watch. */
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
