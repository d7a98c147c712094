/** Lists the columns of a chunk: the values of records that queries test and sort by, of rows and of records in memory. */
import type { SortField } from '../../../lib/query/call-order.ts';
import type { CallRecord } from '../../ports/records.ts';
import { EXPRESSIONS } from '../query/query-condition.ts';
import { outcomeOf } from '../rollup/tally.ts';
import type { ColumnKind, ColumnValue } from './chunk-column.ts';

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
  /** The same value of a record in memory. */
  readonly of: (record: CallRecord) => ColumnValue | null;
}

const row = (number: number, kind: ColumnKind, sql: string, of: ChunkFieldRow['of']): ChunkFieldRow => ({
  number,
  kind,
  sql,
  of,
});

const yesNo = (is: boolean) => (is ? 'yes' : 'no');
const inputOf = ({ usage }: CallRecord) => usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h;

/** An amount as text becomes a number where that is exact. */
export function exactAmount(text: string | null): number | bigint | null {
  if (text === null) return null;
  const amount = Number(text);
  return Number.isSafeInteger(amount) ? amount : BigInt(text);
}

/**
 * A later field needs a migration that empties `record_chunk` and `record_column` and adds every record to
 * `record_waiting`.
 */
export const CHUNK_FIELDS: Readonly<Record<ChunkField, ChunkFieldRow>> = {
  id: row(0, 'text', EXPRESSIONS.id, (record) => record.request_id),
  at: row(1, 'integer', 'at_ms', (record) => record.at_ms),
  key: row(2, 'text', EXPRESSIONS.key, (record) => record.key_id),
  key_name: row(3, 'text', 'key_name', (record) => record.key_name),
  model: row(4, 'text', EXPRESSIONS.model, (record) => record.model),
  served: row(5, 'text', EXPRESSIONS.served, (record) => record.served_model),
  provider: row(6, 'text', EXPRESSIONS.provider, (record) => record.provider),
  workspace: row(7, 'text', EXPRESSIONS.workspace, (record) => record.workspace),
  user: row(8, 'text', EXPRESSIONS.user, (record) => record.end_user),
  session: row(9, 'text', EXPRESSIONS.session, (record) => record.session),
  protocol: row(10, 'text', EXPRESSIONS.protocol, (record) => record.protocol),
  stream: row(11, 'text', EXPRESSIONS.stream, (record) => yesNo(record.stream)),
  status: row(12, 'integer', EXPRESSIONS.status, (record) => record.status),
  outcome: row(13, 'text', EXPRESSIONS.outcome, (record) => outcomeOf(record.status, record.error)),
  reason: row(14, 'text', EXPRESSIONS.reason, (record) => record.reason?.kind ?? null),
  error: row(15, 'text', EXPRESSIONS.error, (record) => record.error),
  cost: row(16, 'integer', `cast(${EXPRESSIONS.cost} AS TEXT)`, (record) => exactAmount(record.cost_nano_usd)),
  tokens: row(17, 'integer', EXPRESSIONS.tokens, (record) => inputOf(record) + record.usage.output),
  input: row(18, 'integer', EXPRESSIONS.input, inputOf),
  output: row(19, 'integer', EXPRESSIONS.output, (record) => record.usage.output),
  cache: row(20, 'integer', EXPRESSIONS.cache, (record) => record.usage.cache_read),
  ttft: row(21, 'real', EXPRESSIONS.ttft, (record) => record.ttfb_ms),
  duration: row(22, 'real', EXPRESSIONS.duration, (record) => record.duration_ms),
  tps: row(23, 'real', EXPRESSIONS.tps, ({ usage, duration_ms }) =>
    usage.output > 0 && duration_ms > 0 ? (usage.output * 1_000) / duration_ms : null,
  ),
  attempts: row(24, 'integer', EXPRESSIONS.attempts, (record) => record.attempts.length),
  trace: row(25, 'text', EXPRESSIONS.trace, (record) => record.trace_id),
  flag: row(26, 'text', 'usage_flags', ({ usage_flags: flags }) => (flags === null ? null : JSON.stringify(flags))),
  cached: row(27, 'text', EXPRESSIONS.cached, (record) => yesNo(record.cached_from !== undefined)),
};

export const FIELD_NAMES = Object.keys(CHUNK_FIELDS) as readonly ChunkField[];

/** Ids of columns: a chunk has at most this many. */
const FIELDS_MAX = 64;

/** The row of `record_column` with a column. */
export const columnId = (chunk: number, field: ChunkField) => chunk * FIELDS_MAX + CHUNK_FIELDS[field].number;

/** The column by which records are sorted. */
export const sortedField = (by: SortField): ChunkField => (by === 'key' ? 'key_name' : by);
