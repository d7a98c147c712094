/** Defines the table types for queries. `migrations/baseline.ts` creates the tables. */
import type { BodyPolicy, CallRecord, HoldMode, KeyStatus } from '../ports/records.ts';

export interface WorkspaceRow {
  readonly id: string;
  readonly account_id: string;
  /** JSON list of patterns. */
  readonly models: string | null;
  readonly bodies: BodyPolicy | null;
  readonly bodies_days: number | null;
  readonly created_at_ms: number;
}

export interface ApiKeyRow {
  readonly id: string;
  readonly name: string;
  readonly account_id: string;
  readonly workspace_id: string;
  readonly hash: string;
  readonly last4: string;
  readonly previous_hash: string | null;
  readonly previous_expires_at_ms: number | null;
  readonly previous_last4: string | null;
  /** JSON lists. */
  readonly models: string | null;
  readonly ips: string | null;
  readonly scopes: string;
  readonly strict: 0 | 1;
  readonly holds: HoldMode | null;
  readonly status: KeyStatus;
  readonly created_at_ms: number;
  readonly expires_at_ms: number | null;
  readonly created_by: string | null;
  readonly disabled_by: string | null;
  readonly disabled_by_operator: number;
}

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
  workspace: WorkspaceRow;
  api_key: ApiKeyRow;
  call_record: CallRecordRow;
}
