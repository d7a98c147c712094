/** Stores the playground's key in memory, and in session storage only on request. */
import { useSyncExternalStore } from 'react';

export interface PlaygroundKey {
  readonly secret: string;
  /** The key survives a reload of this tab. */
  readonly isKept: boolean;
}

const STORED = 'tollgate.playground-key';
const kept = sessionStorage.getItem(STORED);
let current: PlaygroundKey = { secret: kept ?? '', isKept: kept !== null };
const listeners = new Set<() => void>();

export function setPlaygroundKey(key: PlaygroundKey): void {
  current = key;
  if (key.isKept && key.secret !== '') sessionStorage.setItem(STORED, key.secret);
  else sessionStorage.removeItem(STORED);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function usePlaygroundKey(): PlaygroundKey {
  return useSyncExternalStore(subscribe, () => current);
}
