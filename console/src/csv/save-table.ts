/** Saves a table as a file download in the browser. */
import { type CsvColumns, csvTable } from './csv-table.ts';

/** Long enough for any browser to have started the download. */
const LINK_MS = 60_000;

export function saveTable<Row>(name: string, columns: CsvColumns<Row>, rows: readonly Row[]): void {
  const url = URL.createObjectURL(new Blob([csvTable(columns, rows)], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name.replaceAll(/[^\w.-]/g, '_')}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), LINK_MS);
}
