/** Remembers when the range of a page was chosen. */
import { useState } from 'react';

/**
 * Unix ms of when the page was opened or its range changed, to which presets and calendar periods refer: a range must
 * not move while its pages are read.
 */
export function useChosenAt({ range, from, to }: Readonly<Record<string, string>>): number {
  const chosen = `${range} ${from} ${to}`;
  const [known, setKnown] = useState(() => ({ chosen, ms: Date.now() }));
  if (known.chosen === chosen) return known.ms;
  const next = { chosen, ms: Date.now() };
  setKnown(next);
  return next.ms;
}
