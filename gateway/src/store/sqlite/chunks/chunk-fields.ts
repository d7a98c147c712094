/** Lists the columns of a chunk: the values of records that queries test and sort by, as SQL expressions. */
import type { SortField } from '../../../lib/query/call-order.ts';
import { EXPRESSIONS } from '../query/query-condition.ts';
import type { ColumnKind } from './chunk-column.ts';

/** Rows of a chunk. */
export const CHUNK_ROWS = 1_024;

/** Its rows are sorted by id. The values of `flag` are JSON lists. */
export type ChunkField = keyof typeof EXPRESSIONS | 'at' | 'flag' | 'key_name';

interface ChunkFieldRow {
  /** Part of the stored id: it never changes. */
  readonly number: number;
  readonly kind: ColumnKind;
  /** Over `call_record`. */
  readonly sql: string;
}

const row = (number: number, kind: ColumnKind, sql: string): ChunkFieldRow => ({ number, kind, sql });

/**
 * A later field needs a migration that empties `record_chunk` and `record_column` and adds every record to
 * `record_waiting`.
 */
export const CHUNK_FIELDS: Readonly<Record<ChunkField, ChunkFieldRow>> = {
  id: row(0, 'text', EXPRESSIONS.id),
  at: row(1, 'integer', 'at_ms'),
  key: row(2, 'text', EXPRESSIONS.key),
  key_name: row(3, 'text', 'key_name'),
  model: row(4, 'text', EXPRESSIONS.model),
  served: row(5, 'text', EXPRESSIONS.served),
  provider: row(6, 'text', EXPRESSIONS.provider),
  workspace: row(7, 'text', EXPRESSIONS.workspace),
  user: row(8, 'text', EXPRESSIONS.user),
  session: row(9, 'text', EXPRESSIONS.session),
  protocol: row(10, 'text', EXPRESSIONS.protocol),
  stream: row(11, 'text', EXPRESSIONS.stream),
  status: row(12, 'integer', EXPRESSIONS.status),
  outcome: row(13, 'text', EXPRESSIONS.outcome),
  reason: row(14, 'text', EXPRESSIONS.reason),
  error: row(15, 'text', EXPRESSIONS.error),
  cost: row(16, 'integer', `cast(${EXPRESSIONS.cost} AS TEXT)`),
  tokens: row(17, 'integer', EXPRESSIONS.tokens),
  input: row(18, 'integer', EXPRESSIONS.input),
  output: row(19, 'integer', EXPRESSIONS.output),
  cache: row(20, 'integer', EXPRESSIONS.cache),
  ttft: row(21, 'real', EXPRESSIONS.ttft),
  duration: row(22, 'real', EXPRESSIONS.duration),
  tps: row(23, 'real', EXPRESSIONS.tps),
  attempts: row(24, 'integer', EXPRESSIONS.attempts),
  trace: row(25, 'text', EXPRESSIONS.trace),
  flag: row(26, 'text', 'usage_flags'),
  cached: row(27, 'text', EXPRESSIONS.cached),
};

export const FIELD_NAMES = Object.keys(CHUNK_FIELDS) as readonly ChunkField[];

/** Ids of columns: a chunk has at most this many. */
const FIELDS_MAX = 64;

/** The row of `record_column` with a column. */
export const columnId = (chunk: number, field: ChunkField) => chunk * FIELDS_MAX + CHUNK_FIELDS[field].number;

/** The column by which records are sorted. */
export const sortedField = (by: SortField): ChunkField => (by === 'key' ? 'key_name' : by);
