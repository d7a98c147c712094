/** Owns the key that the playground calls with: in memory, and for this tab only where the person asked for it. */
import { useSyncExternalStore } from 'react';

export interface PlaygroundKey {
  readonly secret: string;
  /** It outlives a reload of this tab. */
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
