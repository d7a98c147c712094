/** Owns parts of a page that are fetched when they are first shown: a dialog, a sheet. Who shows one puts a Suspense around it. */
import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

export type Part<Props> = LazyExoticComponent<ComponentType<Props>> & {
  /** Where it is likely to be shown next: under the pointer, at the focus. */
  readonly prefetch: () => void;
};

export function part<Props>(load: () => Promise<{ readonly default: ComponentType<Props> }>): Part<Props> {
  // Where it cannot be fetched, showing it says so.
  return Object.assign(lazy(load), { prefetch: () => void load().catch(() => undefined) });
}
