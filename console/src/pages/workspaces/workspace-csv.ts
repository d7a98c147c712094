/** Columns of the workspaces CSV. */
import { type CsvColumns, listText, usdText } from '../../csv/csv-table.ts';
import { capsColumns } from '../../policy/caps-text.ts';
import type { Workspace } from './workspace.ts';

const COLUMNS: CsvColumns<Workspace> = [
  ['id', ({ id }) => id],
  ['keys', ({ keys }) => keys],
  ['month_usd', ({ month_nano_usd }) => usdText(month_nano_usd)],
  ['models', ({ models }) => listText(models)],
  ...capsColumns<Workspace>(),
  // Empty: the configured default.
  ['bodies', ({ bodies }) => bodies],
  ['bodies_days', ({ bodies_days }) => bodies_days],
  ['cache', ({ cache }) => cache],
  ['cache_seconds', ({ cache_seconds }) => cache_seconds],
  ['created_at', ({ created_at }) => created_at],
];

export default COLUMNS;
