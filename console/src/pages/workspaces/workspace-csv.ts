/** Owns the columns of the file of workspaces. */
import { type CsvColumns, listText, usdText } from '../../csv/csv-table.ts';
import { capsColumns } from '../../policy/caps-csv.ts';
import type { Workspace } from './workspace.ts';

const COLUMNS: CsvColumns<Workspace> = [
  ['id', ({ id }) => id],
  ['keys', ({ keys }) => keys],
  ['month_usd', ({ month_nano_usd }) => usdText(month_nano_usd)],
  ['models', ({ models }) => listText(models)],
  ...capsColumns<Workspace>(),
  // Empty: as configured for all.
  ['bodies', ({ bodies }) => bodies],
  ['bodies_days', ({ bodies_days }) => bodies_days],
  ['created_at', ({ created_at }) => created_at],
];

export default COLUMNS;
