/**
 * Defines the operations that the writer accepts for calls, lists identified by their first letter with amounts as
 * decimal text, and the text in which a batch of them crosses threads.
 */
import type { NewAuditEntry } from '../../ports/audit.ts';
import type { Checkpoint, Hold, Movement, Settlement } from '../../ports/ledger.ts';
import type { CallRecord } from '../../ports/records.ts';
import {
  type CallRecordValues,
  callRecordValues,
  renderAttempts,
  renderCheckpoint,
  renderDraft,
} from '../ledger/call-record-row.ts';
import { type AuditValues, auditValues } from '../policy/audit-row.ts';

export type MovementKind = 'topup' | 'correct';

/** The last member of a record, hold, checkpoint or settlement is JSON text that is stored unchanged. */
export type Operation =
  | readonly [tag: 'r', record: CallRecordValues, attempts: string]
  | readonly [tag: 'h', call_id: string, account: string, amount: string, at_ms: number, draft: string]
  | readonly [tag: 'e', call_id: string, nth: number, amount: string]
  | readonly [tag: 'c', call_id: string, checkpoint: string]
  | readonly [
      tag: 's',
      posted: string,
      released: string,
      writtenOff: string,
      record: CallRecordValues,
      attempts: string,
    ]
  | readonly [tag: 'a', call_id: string]
  | readonly [
      tag: 'm',
      kind: MovementKind,
      id: string,
      account: string,
      amount: string,
      at_ms: number,
      note: string | null,
      /** The entry for the audit trail, written once. */
      audit: AuditValues | null,
    ];

/** Writes the record of a call that holds nothing. */
export function keepRecord(record: CallRecord): Operation {
  return ['r', callRecordValues(record), renderAttempts(record)];
}

export function keepHold({ draft, amount }: Hold): Operation {
  return ['h', draft.request_id, draft.account, amount.toString(), draft.at_ms, renderDraft(draft)];
}

export function keepExtension(call_id: string, nth: number, amount: bigint): Operation {
  return ['e', call_id, nth, amount.toString()];
}

export function keepCheckpoint(checkpoint: Checkpoint): Operation {
  return ['c', checkpoint.call_id, renderCheckpoint(checkpoint)];
}

export function keepSettlement({ record, posted, released, writtenOff }: Settlement): Operation {
  return [
    's',
    posted.toString(),
    released.toString(),
    writtenOff.toString(),
    callRecordValues(record),
    renderAttempts(record),
  ];
}

/** Ends a call that was never ended, as recovery would; does nothing for a call that has ended. */
export function keepAbandonment(call_id: string): Operation {
  return ['a', call_id];
}

export function keepMovement(
  kind: MovementKind,
  { id, account, amount, at_ms, note }: Movement,
  entry?: NewAuditEntry,
): Operation {
  const audit = entry === undefined ? null : auditValues(entry);
  return ['m', kind, id, account, amount.toString(), at_ms, note, audit];
}

/**
 * Renders the operations as text for `parseOperations`. The JSON texts travel separately: nested JSON would be escaped
 * here and unescaped there, although the writer only passes it on. JSON contains no line breaks.
 */
export function renderOperations(operations: readonly Operation[]): string {
  let texts = '';
  const heads = operations.map((operation) => {
    if (!endsWithText(operation)) return operation;
    texts += `\n${operation.at(-1)}`;
    return operation.slice(0, -1);
  });
  return JSON.stringify(heads) + texts;
}

/** Parses a text made by `renderOperations`. */
export function parseOperations(batch: string): Operation[] {
  const [heads = '[]', ...texts] = batch.split('\n');
  const operations = JSON.parse(heads) as [Operation[0], ...unknown[]][];
  let next = 0;
  for (const operation of operations) {
    if (endsWithText(operation)) operation.push(texts[next++]);
  }
  return operations as unknown[] as Operation[];
}

function endsWithText([tag]: readonly [Operation[0], ...unknown[]]): boolean {
  return tag === 'h' || tag === 's' || tag === 'r' || tag === 'c';
}
