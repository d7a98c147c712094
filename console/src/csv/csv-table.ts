/**
 * Writes a table as comma-separated values in the browser, in the same format as
 * `gateway/src/console-api/kernel/handlers.ts`; a test compares the two.
 */

export type Cell = string | number | boolean | null;

/** Column heads are member names of the API, with the unit last: `budget_usd`. */
export type CsvColumns<Row> = readonly (readonly [head: string, cell: (row: Row) => Cell])[];

export function csvTable<Row>(columns: CsvColumns<Row>, rows: readonly Row[]): string {
  const lines = [columns.map(([head]) => head), ...rows.map((row) => columns.map(([, cell]) => cell(row)))];
  return lines.map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('');
}

/**
 * Matches text that a spreadsheet may read as a formula: a sign, in ASCII or full width, after spaces and invisible
 * characters (some spreadsheets strip these), or a leading tab or line break.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cf}\p{Cc}]*[=+\-@|＝＋－＠｜﹦﹢﹣﹫−])/u;
const NUMBER = /^-?\d+(?:\.\d+)?$/;

function csvCell(cell: Cell): string {
  if (cell === null) return '';
  const text = String(cell);
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** `12300` → `0.0000123`: US dollars with exactly the digits needed. */
export function usdText(nanoUsd: string | null): string | null {
  if (nanoUsd === null) return null;
  const sign = nanoUsd.startsWith('-') ? '-' : '';
  const digits = nanoUsd.slice(sign.length).padStart(10, '0');
  const fraction = digits.slice(-9).replace(/0+$/, '');
  return `${sign}${digits.slice(0, -9)}${fraction === '' ? '' : `.${fraction}`}`;
}

export function listText(names: readonly string[] | null): string | null {
  return names?.join(', ') ?? null;
}
