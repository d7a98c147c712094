/**
 * Loads parts of the console, such as pages and dialogs, when they are first shown. A part needs a Suspense around it,
 * and above that an error boundary that offers a retry, since loading may fail.
 */
import { type ComponentType, createElement, lazy } from 'react';

interface PartModule<Props> {
  readonly default: ComponentType<Props>;
}

export type Part<Props> = ComponentType<Props> & {
  /** Called when the part is likely to be shown next, such as on hover or focus. */
  readonly prefetch: () => void;
};

/** A part of the console could not be loaded: no connection, or a new version without this file. */
export class PartNotLoaded extends Error {
  constructor(cause: unknown) {
    super('Couldn’t load this part of the console. Check your connection, then retry.', { cause });
    this.name = 'PartNotLoaded';
  }
}

/** One reset function per failed part. */
const failures = new Set<() => void>();

/** Lets failed parts be loaded again when they are next shown. */
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
      // Replaced only on a retry: React renders a failed part several times, and each render would load it again.
      failures.add(() => {
        view = makeView();
      });
      throw new PartNotLoaded(cause);
    });
  const makeView = () => lazy(() => (loaded === null ? showOrFail() : resolvedAtOnce(loaded)));
  let view = makeView();
  return Object.assign((props: Props) => createElement(view as ComponentType<Props>, props), {
    // Errors are ignored here; showing the part reports them.
    prefetch: () => void (loaded === null && fetchPart().catch(() => undefined)),
  });
}

/**
 * The address that a browser names when it cannot load one of our scripts; null when it names none. Chromium keeps the
 * failure of an address until the page is left (https://github.com/whatwg/html/issues/6768), so a retry needs another
 * address for the same file.
 */
function addressIn(cause: unknown): string | null {
  const address = /https?:\/\/\S+\.js$/.exec(cause instanceof Error ? cause.message : '')?.[0];
  return address !== undefined && new URL(address).origin === location.origin ? address : null;
}

/**
 * A promise whose `then` calls back synchronously. React then shows fetched content without the fallback; after a
 * fallback, even an empty one, it waits 300 ms before it shows the part.
 */
function resolvedAtOnce<Value>(value: Value): Promise<Value> {
  const promise = Promise.resolve(value);
  return Object.assign(promise, {
    // biome-ignore lint/suspicious/noThenProperty: React calls it and reads the value in the same step.
    then: (publish: (value: Value) => void) => {
      publish(value);
      return promise;
    },
  });
}
