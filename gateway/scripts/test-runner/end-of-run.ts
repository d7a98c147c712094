/** Collects what the files of a test run share, and stops it after the last file. */

const ends: (() => Promise<unknown>)[] = [];

/** Registers `stop` to be called once after all files of the run. */
export function atEndOfRun(stop: () => Promise<unknown>): void {
  ends.push(stop);
}

/** Calls what was registered, the last first. */
export async function endRun(): Promise<void> {
  for (let stop = ends.pop(); stop !== undefined; stop = ends.pop()) await stop();
}
