/** CSV columns of caps. */
import type { CsvColumns } from '../csv/csv-table.ts';
import { capsByLayer, type Layered } from './layers.ts';

const CAPS = ['rpm', 'tpm', 'concurrency', 'budget_usd', 'budget_window'] as const;

/** The operator's caps under their plain names, the account's own as `own_…`, regardless of who saves the file. */
export function capsColumns<Row extends Layered>(): CsvColumns<Row> {
  return [
    ...CAPS.map((cap): CsvColumns<Row>[number] => [cap, (row) => capsByLayer(row).operator[cap]]),
    ...CAPS.map((cap): CsvColumns<Row>[number] => [`own_${cap}`, (row) => capsByLayer(row).account[cap]]),
  ];
}
