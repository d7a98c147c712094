/** Formats numbers and text columns. */
import type { Spread } from './summarize.ts';

export const MISSING = '–';

export function renderNumber(value: number | null, digits: number): string {
  return value === null ? MISSING : value.toFixed(digits);
}

/** The median, with the lowest and highest of the rounds. */
export function renderSpread(spread: Spread | null): string {
  if (spread === null) return MISSING;
  return `${spread.median.toFixed(2)} (${spread.lowest.toFixed(2)}–${spread.highest.toFixed(2)})`;
}

/** Aligns cells in columns, the first one left and the others right. */
export function renderColumns(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
