/** Owns parts of a page that are fetched when they are first shown: a dialog, a sheet. Who shows one puts a Suspense around it. */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

interface PartModule<Props> {
  readonly default: ComponentType<Props>;
}

export type Part<Props> = LazyExoticComponent<ComponentType<Props>> & {
  /** Where it is likely to be shown next: under the pointer, at the focus. */
  readonly prefetch: () => void;
};

export function part<Props>(load: () => Promise<PartModule<Props>>): Part<Props> {
  let loaded: PartModule<Props> | null = null;
  const fetchPart = async (): Promise<PartModule<Props>> => {
    loaded = await load();
    return loaded;
  };
  return Object.assign(
    lazy(() => (loaded === null ? fetchPart() : resolvedAtOnce(loaded))),
    // Where it cannot be fetched, showing it says so.
    { prefetch: () => void fetchPart().catch(() => undefined) },
  );
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
