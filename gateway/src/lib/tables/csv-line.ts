/** Renders lines of CSV that no spreadsheet runs as formulas. */

/**
 * The start of text that spreadsheets treat as a formula: a tab or line break, or a sign, in ASCII or full width, after
 * spaces and invisible characters, which some spreadsheets remove.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cf}\p{Cc}]*[=+\-@|＝＋－＠｜﹦﹢﹣﹫−])/u;
const NUMBER = /^-?\d+(?:\.\d+)?$/;

/**
 * One line with its line break. A cell that would run as a formula is prefixed with an apostrophe; numbers are
 * unchanged.
 */
export function csvLine(cells: readonly (string | number | boolean | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: string | number | boolean | null): string {
  if (cell === null) return '';
  const text = String(cell);
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
