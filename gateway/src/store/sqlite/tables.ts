/** Defines the table types for queries. `migrations/baseline.ts` creates the tables. */
import type { CallRecord } from '../ports/records.ts';

/** A call record with its counters as columns, flags as 0 or 1, and lists as JSON text. */
export interface CallRecordRow extends Omit<CallRecord, 'usage' | 'usage_flags' | 'stream' | 'reason' | 'attempts'> {
  readonly stream: 0 | 1;
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write_5m: number;
  readonly cache_write_1h: number;
  readonly output: number;
  readonly reasoning: number;
  /** JSON list. */
  readonly usage_flags: string | null;
  /** JSON of `Usage.extras`; null: the call has none. */
  readonly usage_apart: string | null;
  /** JSON; null: none. */
  readonly reason: string | null;
  readonly attempts: string;
}

export interface Tables {
  call_record: CallRecordRow;
}
