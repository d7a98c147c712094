/**
 * Converts call records to and from their table rows, and drafts and checkpoints of open holds to and from JSON text.
 */

import type { Reason } from '../../../errors/reason.ts';
import type { MediaAndToolUsage, Usage, UsageFlag } from '../../../generation/usage.ts';
import type { CallDraft, Checkpoint, CheckpointTarget } from '../../ports/ledger.ts';
import type { AttemptRecord, CallRecord } from '../../ports/records.ts';
import type { CallRecordRow } from '../database/sqlite-dialect.ts';

/** In the order of the insert statement. Those that the hash of an entry from before the journal covers. */
export const CALL_RECORD_COLUMNS = [
  'request_id',
  'at_ms',
  'account',
  'workspace',
  'key_id',
  'key_name',
  'end_user',
  'session',
  'protocol',
  'model',
  'served_model',
  'provider',
  'stream',
  'status',
  'error',
  'finish_reason',
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'reasoning',
  'usage_source',
  'usage_flags',
  'price_version',
  'cost_nano_usd',
  'ttfb_ms',
  'duration_ms',
  'usage_apart',
  'reason',
  'attempts',
] as const;

/** What only records of the journal have. From `held` to `ended_ms` null: the call held nothing. */
const JOURNAL_COLUMNS = [
  'trace_id',
  'cached_from',
  'masked',
  'held',
  'posted',
  'written_off',
  'ended_ms',
  'block',
] as const;

const INSERTED = [...CALL_RECORD_COLUMNS, ...JOURNAL_COLUMNS];
export const INSERT_CALL_RECORD = `INSERT INTO call_record (${INSERTED.join(', ')}) VALUES (${INSERTED.map(() => '?').join(', ')})`;

/** A record's values in the order of the insert statement, without the last, its attempts. */
export type CallRecordValues = readonly [
  request_id: string,
  at_ms: number,
  account: string,
  ...rest: (string | number | null)[],
];

/**
 * Returns the record's values in the order of the insert statement, without the attempts. `cost_nano_usd` stays a
 * decimal string, which the strict integer column converts to 64 bits exactly, or refuses.
 */
export function callRecordValues(record: CallRecord): CallRecordValues {
  const { usage } = record;
  return [
    record.request_id,
    record.at_ms,
    record.account,
    record.workspace,
    record.key_id,
    record.key_name,
    record.end_user,
    record.session,
    record.protocol,
    record.model,
    record.served_model,
    record.provider,
    record.stream ? 1 : 0,
    record.status,
    record.error,
    record.finish_reason,
    usage.input,
    usage.cache_read,
    usage.cache_write_5m,
    usage.cache_write_1h,
    usage.output,
    usage.reasoning,
    record.usage_source,
    record.usage_flags === null ? null : JSON.stringify(record.usage_flags),
    record.price_version,
    record.cost_nano_usd,
    record.ttfb_ms,
    record.duration_ms,
    usage.extras === undefined ? null : JSON.stringify(usage.extras),
    record.reason === null ? null : JSON.stringify(record.reason),
  ];
}

/** Completes values written by an older version, which had no reason column. */
export function completeRecordValues(values: CallRecordValues): CallRecordValues {
  return values.length === CALL_RECORD_COLUMNS.length - 2 ? [...values, null] : values;
}

/**
 * The text of a record that is hashed with the entry ending its call: every value as in its row, so that the row can
 * reproduce it. Without a reason (the last value) the text matches that of records from before reasons existed, whose
 * hashes stay valid.
 */
export function recordText(values: readonly (string | number | null)[], attempts: string): string {
  return JSON.stringify(values.at(-1) === null ? values.slice(0, -1) : values) + attempts;
}

/** Returns the last value of the insert statement, as JSON text. */
export function renderAttempts({ attempts }: CallRecord): string {
  return JSON.stringify(attempts);
}

/** Failure kinds renamed on 2026-11-22. Older rows keep the former name, because the ledger's hashes cover it. */
const RENAMED_KINDS: ReadonlyMap<string, string> = new Map([
  ['upstream_nonsense', 'upstream_malformed'],
  ['upstream_refused_us', 'upstream_credential'],
  ['store_away', 'store_unavailable'],
]);

function currentKind(error: string | null): string | null {
  return error === null ? null : (RENAMED_KINDS.get(error) ?? error);
}

/** Converts a row to a record; `cost_nano_usd` must have been read as text. */
export function callRecordOfRow(row: CallRecordRow): CallRecord {
  const {
    input,
    cache_read,
    cache_write_5m,
    cache_write_1h,
    output,
    reasoning,
    usage_apart,
    stream,
    usage_flags,
    reason,
    attempts,
    held: _held,
    posted: _posted,
    written_off: _writtenOff,
    ended_ms: _ended,
    block: _block,
    reason_kind: _kind,
    reason_group: _group,
    cached_from,
    masked,
    ...rest
  } = row;
  const usage = { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning };
  return {
    ...rest,
    stream: stream === 1,
    usage: withStoredExtras(usage, usage_apart),
    ...(cached_from !== null && { cached_from }),
    ...(masked !== null && { masked: JSON.parse(masked) as NonNullable<CallRecord['masked']> }),
    usage_flags: usage_flags === null ? null : (JSON.parse(usage_flags) as UsageFlag[]),
    reason: reason === null ? null : (JSON.parse(reason) as Reason),
    error: currentKind(row.error),
    attempts: (JSON.parse(attempts) as AttemptRecord[]).map((attempt) => ({
      ...attempt,
      error: currentKind(attempt.error),
    })),
  };
}

/** Adds the content of the column `usage_apart` to the counters. */
export function withStoredExtras(usage: Usage, kept: string | null): Usage {
  return kept === null ? usage : { ...usage, extras: JSON.parse(kept) as MediaAndToolUsage };
}

/** The members of a draft in its JSON list. Call id and account have columns of their own. */
const MEMBERS = [
  'at_ms',
  'workspace',
  'key_id',
  'key_name',
  'end_user',
  'session',
  'protocol',
  'model',
  'served_model',
  'provider',
  'stream',
  'price_version',
  'trace_id',
] as const satisfies readonly (keyof CallDraft)[];

const COUNTERS = ['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output', 'reasoning'] as const;

/** A draft's values in the order of `MEMBERS`. */
type DraftValues = readonly (string | number | boolean | null)[];
/** A checkpoint's cost as decimal text, its counters, then `usage.extras` (or null) and `target` where present. */
type CheckpointValues = readonly [cost: string, ...counters: (number | MediaAndToolUsage | CheckpointTarget | null)[]];

/** Renders the draft as JSON text; without its last member where that is null, as drafts of older versions. */
export function renderDraft(draft: CallDraft): string {
  const values: DraftValues = MEMBERS.map((member) => draft[member]);
  return JSON.stringify(draft.trace_id === null ? values.slice(0, -1) : values);
}

/** Renders the checkpoint as JSON text. */
export function renderCheckpoint({ cost, usage, target }: Omit<Checkpoint, 'call_id'>): string {
  const counters = COUNTERS.map((counter) => usage[counter]);
  const extras = usage.extras === undefined && target === undefined ? [] : [usage.extras ?? null];
  const last = target === undefined ? [] : [target];
  return JSON.stringify([cost.toString(), ...counters, ...extras, ...last] satisfies CheckpointValues);
}

/** Parses a text made by `renderDraft`. */
export function parseDraft(request_id: string, account: string, text: string): CallDraft {
  const values = JSON.parse(text) as DraftValues;
  const members = Object.fromEntries(MEMBERS.map((member, index) => [member, values[index] ?? null]));
  return { ...members, request_id, account } as unknown as CallDraft;
}

/** Parses a text made by `renderCheckpoint`. */
export function parseCheckpoint(text: string): Omit<Checkpoint, 'call_id'> {
  const [cost, ...values] = JSON.parse(text) as CheckpointValues;
  const counters = Object.fromEntries(COUNTERS.map((counter, index) => [counter, values[index]]));
  const [extras = null, target] = values.slice(COUNTERS.length) as [MediaAndToolUsage | null, CheckpointTarget];
  const usage = { ...counters, ...(extras !== null && { extras }) } as unknown as Usage;
  return { usage, cost: BigInt(cost), ...(target !== undefined && { target }) };
}

/** What guardrails masked, as its column has it. */
export function renderMasked({ masked }: CallRecord): string | null {
  return masked === undefined ? null : JSON.stringify(masked);
}
