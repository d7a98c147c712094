/** Columns of a session's CSV: its requests in order. */
import { type CsvColumns, usdText } from '../../csv/csv-table.ts';
import type { ShownTurn } from './turns.ts';

const COLUMNS: CsvColumns<ShownTurn> = [
  ['number', ({ number }) => number],
  ['request_id', (row) => row.request_id],
  ['at', (row) => row.at],
  ['duration_ms', (row) => row.duration_ms],
  ['key_name', (row) => row.key_name],
  ['model', (row) => row.model],
  ['served_model', (row) => row.served_model],
  ['provider', (row) => row.provider],
  ['status', (row) => row.status],
  ['error', (row) => row.error],
  ['input', (row) => row.input],
  ['cache_read', (row) => row.cache_read],
  ['cache_write', (row) => row.cache_write],
  ['output', (row) => row.output],
  ['cost_usd', (row) => usdText(row.cost_nano_usd)],
  ['cumulative_cost_usd', (row) => usdText(row.total)],
  ['cache_break', (row) => row.cache_break?.cause ?? null],
  ['cache_break_previous', (row) => row.cache_break?.previous ?? null],
  ['cache_break_lost', (row) => row.cache_break?.lost ?? null],
  ['cache_break_cost_usd', (row) => usdText(row.cache_break?.cost_nano_usd ?? null)],
];

export default COLUMNS;
