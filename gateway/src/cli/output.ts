/** Owns how results look in a terminal: JSON lines for programs, tables for people. Knows no command. */
import type { Json } from '../control/command.ts';

/** One JSON value on a line of its own. */
export function renderJsonLine(value: Json | object): string {
  return `${JSON.stringify(value)}\n`;
}

/** Rows under a heading, in columns as wide as their widest cell. Control characters in cells are made visible. */
export function renderTable(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heading, ...rows].map((cells) => cells.map(makeVisible));
  const widths = heading.map((_, column) => Math.max(...lines.map((cells) => widthOf(cells[column] ?? ''))));
  return lines
    .map(
      (cells) =>
        `${cells
          .map((cell, column) => pad(cell, widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** Named values, one on each line, in two columns. */
export function renderFields(fields: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `  ${name.padEnd(width)}  ${makeVisible(value)}\n`).join('');
}

/** Text that cannot move the cursor, ring a bell or reverse the line: what callers wrote is only ever text. */
export function makeVisible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) => `\\u{${found.codePointAt(0)?.toString(16)}}`);
}

function pad(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - widthOf(cell)));
}

function widthOf(cell: string): number {
  return Bun.stringWidth(cell);
}
