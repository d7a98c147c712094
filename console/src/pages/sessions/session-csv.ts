/** Columns of the sessions CSV. */
import { type CsvColumns, listText, usdText } from '../../csv/csv-table.ts';
import type { SessionView } from './session-cost.tsx';

const COLUMNS: CsvColumns<SessionView> = [
  ['session', ({ session }) => session],
  ['first_at', (row) => row.first_at],
  ['duration_ms', (row) => row.duration_ms],
  ['requests', (row) => row.requests],
  ['errors', (row) => row.errors],
  ['cost_usd', (row) => usdText(row.cost_nano_usd)],
  ['unpriced', (row) => row.unpriced],
  ['input', (row) => row.input],
  ['cache_read', (row) => row.cache_read],
  ['output', (row) => row.output],
  ['models', ({ models }) => listText(models)],
  ['keys', ({ keys }) => listText(keys)],
];

export default COLUMNS;
