/** Owns caps as columns of a file. */
import type { CsvColumns } from '../csv/csv-table.ts';
import type { Caps } from './caps-draft.ts';

export function capsColumns<Row extends { readonly caps: Caps }>(): CsvColumns<Row> {
  return (['rpm', 'tpm', 'concurrency', 'budget_usd', 'budget_window'] as const).map((cap) => [
    cap,
    ({ caps }) => caps[cap],
  ]);
}
