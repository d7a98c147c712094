/**
 * Defines the columns of the list of requests, for the console's table and for CSV files. An address, a saved view and
 * the API write them as `columns=at,status,model`.
 */
import { SORTS } from './call-order.ts';

/** Each column with its members in a CSV file. */
export const CALL_COLUMNS = {
  at: ['at'],
  status: ['status', 'error'],
  reason: ['reason'],
  model: ['model'],
  served: ['served_model'],
  provider: ['provider'],
  key: ['key_id', 'key_name'],
  workspace: ['workspace'],
  user: ['end_user'],
  session: ['session'],
  protocol: ['protocol'],
  stream: ['stream'],
  cost: ['cost_nano_usd'],
  tokens: ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output'],
  input: ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h'],
  output: ['output'],
  cache: ['cache_read'],
  ttft: ['ttfb_ms'],
  duration: ['duration_ms'],
  tps: ['output', 'duration_ms'],
  attempts: ['attempts'],
  id: ['request_id'],
} as const;

export type CallColumn = keyof typeof CALL_COLUMNS;

/** In the order in which they are offered. */
export const COLUMN_NAMES = Object.keys(CALL_COLUMNS) as readonly CallColumn[];

/** Without `columns=`. */
export const USUAL_COLUMNS: readonly CallColumn[] = [
  ...(['at', 'status', 'model', 'provider', 'key', 'cost', 'tokens', 'ttft', 'duration', 'id'] as const),
];

export const isCallColumn = (name: string): name is CallColumn => Object.hasOwn(CALL_COLUMNS, name);

/** Columns by which the list cannot be sorted have no order of their own. */
export const isSorted = (name: CallColumn): boolean => (SORTS as readonly string[]).includes(name);
