/**
 * Owns the words in which what calls keep crosses to the writer thread: JSON lists, told apart by their first letter,
 * amounts as decimal text. Knows no SQL.
 */
import type { Checkpoint, Hold, Movement, Settlement } from '../ledger-port.ts';
import type { CallRecord } from '../ports.ts';
import { type CheckpointValues, checkpointValues, type DraftValues, draftValues } from './call-draft-row.ts';
import { type CallRecordValues, callRecordValues } from './call-record-row.ts';

export type MovementKind = 'topup' | 'correct';

export type Operation =
  | readonly [tag: 'r', record: CallRecordValues]
  | readonly [tag: 'h', call_id: string, account: string, amount: string, at_ms: number, draft: DraftValues]
  | readonly [tag: 'e', call_id: string, nth: number, amount: string]
  | readonly [tag: 'c', call_id: string, checkpoint: CheckpointValues]
  | readonly [
      tag: 's',
      call_id: string,
      account: string,
      posted: string,
      released: string,
      absorbed: string,
      record: CallRecordValues,
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
    ];

/** Keeps the record of a call that holds nothing. */
export function keepRecord(record: CallRecord): Operation {
  return ['r', callRecordValues(record)];
}

export function keepHold({ draft, amount }: Hold): Operation {
  return ['h', draft.request_id, draft.account, amount.toString(), draft.at_ms, draftValues(draft)];
}

export function keepExtension(call_id: string, nth: number, amount: bigint): Operation {
  return ['e', call_id, nth, amount.toString()];
}

export function keepCheckpoint(checkpoint: Checkpoint): Operation {
  return ['c', checkpoint.call_id, checkpointValues(checkpoint)];
}

export function keepSettlement({ record, posted, released, absorbed }: Settlement): Operation {
  const { request_id, account } = record;
  return [
    's',
    request_id,
    account,
    posted.toString(),
    released.toString(),
    absorbed.toString(),
    callRecordValues(record),
  ];
}

/** Ends a call that nobody ended, as recovery would; harmless where it has ended. */
export function keepAbandonment(call_id: string): Operation {
  return ['a', call_id];
}

export function keepMovement(kind: MovementKind, { id, account, amount, at_ms, note }: Movement): Operation {
  return ['m', kind, id, account, amount.toString(), at_ms, note];
}
