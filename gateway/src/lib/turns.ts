/** Orders asynchronous work: one after another, or in parts between which other work runs. */

export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Runs work one at a time, in the order of the calls. */
export function createTurns(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    // The caller gets the failure; the next work still runs.
    last = turn.catch(() => undefined);
    return turn;
  };
}

const PART_BYTES = 256 * 1024;
/** What a step costs besides its bytes. */
const STEP_BYTES = 4 * 1024;

/** Divides long work into parts, so that other work runs between them. */
export class Pace {
  #bytes = 0;

  /** To be awaited after each step of the work, which has read that many bytes. */
  step(bytes: number): Promise<void> | undefined {
    this.#bytes += STEP_BYTES + bytes;
    if (this.#bytes < PART_BYTES) return undefined;
    this.#bytes = 0;
    return new Promise((resolve) => setImmediate(resolve));
  }
}
