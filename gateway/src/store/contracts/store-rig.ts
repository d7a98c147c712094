/** Defines what the contract suites of the store's ports are given, and reads the outcome of a request. */
import { afterEach } from 'bun:test';
import type { Store } from '../ports/store.ts';
import { StoreError } from '../ports/store-errors.ts';

/** An implementation of some ports over new data: with the account and the workspace `default`. */
export interface StoreRig<Port extends keyof Store> {
  readonly store: Pick<Store, Port>;
  /** Closes the store and opens the same data again. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Opens rigs for the tests of the suite that calls it, and closes them after each test. */
export function startRigs<Port extends keyof Store>(
  openRig: () => Promise<StoreRig<Port>>,
): () => Promise<StoreRig<Port>> {
  const opened: StoreRig<Port>[] = [];
  afterEach(async () => {
    for (const rig of opened.splice(0)) await rig.close();
  });
  return async () => {
    const rig = await openRig();
    opened.push(rig);
    return rig;
  };
}

/** The outcome of a request: `kept`, or the kind of its StoreError. */
export async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'kept';
  } catch (failure) {
    return failure instanceof StoreError ? failure.kind : String(failure);
  }
}
