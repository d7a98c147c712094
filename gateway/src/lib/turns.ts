/** Runs asynchronous work one at a time, in the order of the calls. */

export type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

export function createTurns(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    // The caller gets the failure; the next work still runs.
    last = turn.catch(() => undefined);
    return turn;
  };
}
