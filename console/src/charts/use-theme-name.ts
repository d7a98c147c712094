/** Owns telling what draws on a canvas that the theme changed: a canvas keeps the colours it was drawn with. */
import { useSyncExternalStore } from 'react';

function subscribe(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => observer.disconnect();
}

/** `light` or `dark`. */
export function useThemeName(): string {
  return useSyncExternalStore(subscribe, () => document.documentElement.dataset.theme ?? 'light');
}

/** The colour that `var(--name)` stands for now; any other text stays. */
export function canvasColor(color: string): string {
  const name = /^var\((--[\w-]+)\)$/.exec(color)?.[1];
  return name === undefined ? color : getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
