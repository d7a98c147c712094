/** Owns handing a table to the browser as a file, as if it were downloaded. */
import { type CsvColumns, csvTable } from './csv-table.ts';

/** Long enough for any browser to have begun with it. */
const KEPT_MS = 60_000;

export function saveTable<Row>(name: string, columns: CsvColumns<Row>, rows: readonly Row[]): void {
  const url = URL.createObjectURL(new Blob([csvTable(columns, rows)], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name.replaceAll(/[^\w.-]/g, '_')}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
