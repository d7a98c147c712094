/**
 * Loads parts of the console when they are first shown: a page, a dialog. A part needs a Suspense around it, and above that a
 * boundary that offers to retry, since a part may fail to load.
 */
import { type ComponentType, createElement, lazy } from 'react';

interface PartModule<Props> {
  readonly default: ComponentType<Props>;
}

export type Part<Props> = ComponentType<Props> & {
  /** Where it is likely to be shown next: under the pointer, at the focus. */
  readonly prefetch: () => void;
};

/** A part of the console could not be loaded: no connection, or a new version without this file. */
export class PartNotLoaded extends Error {
  constructor(cause: unknown) {
    super('A part of the console could not be loaded. Check the connection, then retry.', { cause });
    this.name = 'PartNotLoaded';
  }
}

/** What forgets the failure of each part that failed. */
const failures = new Set<() => void>();

/** Lets parts that failed be loaded again when they are shown next. */
export function retryParts(): void {
  for (const forget of failures) forget();
  failures.clear();
}

export function part<Props extends object>(load: () => Promise<PartModule<Props>>): Part<Props> {
  let loaded: PartModule<Props> | null = null;
  let failedAt: string | null = null;
  let failureCount = 0;
  const fetchPart = async (): Promise<PartModule<Props>> => {
    try {
      loaded = await (failedAt === null ? load() : import(/* @vite-ignore */ `${failedAt}?retry=${failureCount}`));
    } catch (cause) {
      failedAt ??= addressIn(cause);
      failureCount += 1;
      throw cause;
    }
    return loaded as PartModule<Props>;
  };
  const showOrFail = () =>
    fetchPart().catch((cause: unknown) => {
      // Not at once: React asks a part that failed several times, and each would begin anew.
      failures.add(() => {
        view = makeView();
      });
      throw new PartNotLoaded(cause);
    });
  const makeView = () => lazy(() => (loaded === null ? showOrFail() : resolvedAtOnce(loaded)));
  let view = makeView();
  return Object.assign((props: Props) => createElement(view as ComponentType<Props>, props), {
    // Where it cannot be fetched, showing it says so.
    prefetch: () => void (loaded === null && fetchPart().catch(() => undefined)),
  });
}

/**
 * The address that a browser names when it cannot load a script of ours. Chromium keeps the failure of an address until the page is
 * left (https://github.com/whatwg/html/issues/6768), so a retry needs another address of the same file. Null: it names none.
 */
function addressIn(cause: unknown): string | null {
  const address = /https?:\/\/\S+\.js$/.exec(cause instanceof Error ? cause.message : '')?.[0];
  return address !== undefined && new URL(address).origin === location.origin ? address : null;
}

/**
 * A promise that tells its value while `then` runs. React shows what is already fetched without the fallback: after a fallback, even
 * an empty one, it waits 300 ms before it shows the part.
 */
function resolvedAtOnce<Value>(value: Value): Promise<Value> {
  const promise = Promise.resolve(value);
  return Object.assign(promise, {
    // biome-ignore lint/suspicious/noThenProperty: React calls it and reads the value in the same step.
    then: (tell: (value: Value) => void) => {
      tell(value);
      return promise;
    },
  });
}
