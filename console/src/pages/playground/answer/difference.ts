/** Compares the figures of a new answer with those of the original request. */

/** `−63%`, `+12%`, `±0%`; null: one of them is unknown, or the original is 0. */
export function differenceText(now: number | null, original: number | null): string | null {
  if (now === null || original === null || original === 0) return null;
  const percent = Math.round((now / original - 1) * 100);
  if (percent === 0) return '±0%';
  return percent < 0 ? `−${-percent}%` : `+${percent}%`;
}

/** As `differenceText`, of nano-USD as text. */
export function costDifferenceText(now: string | null, original: string | null): string | null {
  return now === null || original === null ? null : differenceText(Number(now), Number(original));
}
