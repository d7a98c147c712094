/** Handles keyboard shortcuts on every page: `g` and a letter, `/`, `?`. Ignores keys typed into a field. */
import { useEffect } from 'react';

const SEQUENCE_MS = 1_200;

/** Whether keys type into the target. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** `sequences`: `g k` or a single key, each with its action. Inactive while a dialog is open. */
export function useShortcuts(sequences: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    let first: { key: string; atMs: number } | null = null;
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      const begun = first !== null && performance.now() - first.atMs < SEQUENCE_MS ? `${first.key} ${event.key}` : null;
      const act = (begun === null ? undefined : sequences[begun]) ?? sequences[event.key];
      first = act === undefined ? { key: event.key, atMs: performance.now() } : null;
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [sequences]);
}
