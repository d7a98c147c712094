/**
 * Applies the frames of running calls to the table of open holds. Collects the changes of a batch in memory: a call that
 * begins and ends within it never reaches the table.
 */
import type { Database } from 'bun:sqlite';
import type { UnendedCall } from '../../ledger/end-unended.ts';
import type { CallDraft, Checkpoint, DetachedJob } from '../../ports/ledger.ts';
import { parseCheckpoint, parseDraft, renderCheckpoint, renderDraft } from '../ledger/call-record-row.ts';
import { Contradiction } from './contradiction.ts';

/** A call that holds money. Draft and checkpoint are JSON text where they were read from the table. */
interface HeldCall {
  readonly account: string;
  readonly epoch: number;
  readonly draft: CallDraft | string;
  amount: bigint;
  extensions: number;
  checkpoint: Omit<Checkpoint, 'call_id'> | string | null;
  /** As in the table: JSON text. */
  job: string | null;
}

interface Change {
  readonly isStored: boolean;
  /** Null: the call has ended. */
  call: HeldCall | null;
}

/** Every method but `close` runs inside the transaction of an ingest. */
export interface OpenHolds {
  open(epoch: number, draft: CallDraft, amount: bigint): void;
  /** Returns the account. */
  extend(call_id: string, nth: number, amount: bigint): string;
  checkpoint(checkpoint: Checkpoint): void;
  /** Returns the call's draft. */
  detach(call_id: string, job: DetachedJob): CallDraft;
  /** Takes the call off the table. */
  end(call_id: string): Pick<HeldCall, 'account' | 'amount'>;
  /** Writes the changes of the batch. */
  write(): void;
  /** Drops the changes of a batch that was rolled back. */
  forget(): void;
  close(): void;
}

interface HoldRow {
  readonly call_id: string;
  readonly account: string;
  readonly epoch: number;
  /** Decimal text. */
  readonly amount: string;
  readonly extensions: number;
  readonly draft: string;
  readonly checkpoint: string | null;
  readonly job: string | null;
}

const SELECT =
  'SELECT call_id, account, epoch, cast(amount AS TEXT) AS amount, extensions, draft, checkpoint, job FROM open_hold';

export function openOpenHolds(database: Database): OpenHolds {
  const find = database.prepare<HoldRow, [string]>(`${SELECT} WHERE call_id = ?`);
  const insert = database.prepare(
    'INSERT INTO open_hold (call_id, epoch, account, amount, extensions, draft, checkpoint, job) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const update = database.prepare(
    'UPDATE open_hold SET amount = ?, extensions = ?, checkpoint = ?, job = ? WHERE call_id = ?',
  );
  const remove = database.prepare('DELETE FROM open_hold WHERE call_id = ?');
  const changes = new Map<string, Change>();

  function require(call_id: string): Change & { call: HeldCall } {
    let change = changes.get(call_id);
    if (change === undefined) {
      const row = find.get(call_id);
      change = { isStored: row !== null, call: row === null ? null : { ...row, amount: BigInt(row.amount) } };
      changes.set(call_id, change);
    }
    if (!isOpen(change)) throw new Contradiction(`the call ${call_id} holds nothing`);
    return change;
  }

  return {
    open(epoch, draft, amount) {
      const { request_id: call_id, account } = draft;
      const change = changes.get(call_id);
      // A call of an earlier batch is refused by the table's key.
      if (change !== undefined) throw new Contradiction(`the call ${call_id} is held twice`);
      changes.set(call_id, {
        isStored: false,
        call: { account, epoch, draft, amount, extensions: 0, checkpoint: null, job: null },
      });
    },
    extend(call_id, nth, amount) {
      const { call } = require(call_id);
      if (nth !== call.extensions + 1) {
        throw new Contradiction(`extension ${nth} of the call ${call_id} follows extension ${call.extensions}`);
      }
      call.extensions = nth;
      call.amount += amount;
      return call.account;
    },
    checkpoint(checkpoint) {
      require(checkpoint.call_id).call.checkpoint = checkpoint;
    },
    detach(call_id, job) {
      const { call } = require(call_id);
      if (call.job !== null) throw new Contradiction(`the call ${call_id} is detached twice`);
      call.job = JSON.stringify(job);
      const { draft, account } = call;
      return typeof draft === 'string' ? parseDraft(call_id, account, draft) : draft;
    },
    end(call_id) {
      const change = require(call_id);
      const { call } = change;
      (change as Change).call = null;
      return call;
    },
    write() {
      for (const [call_id, { isStored, call }] of changes) {
        if (call === null) {
          if (isStored) remove.run(call_id);
          continue;
        }
        const { checkpoint, job } = call;
        const text = checkpoint === null || typeof checkpoint === 'string' ? checkpoint : renderCheckpoint(checkpoint);
        if (isStored) update.run(call.amount, call.extensions, text, job, call_id);
        else {
          const draft = typeof call.draft === 'string' ? call.draft : renderDraft(call.draft);
          insert.run(call_id, call.epoch, call.account, call.amount, call.extensions, draft, text, job);
        }
      }
      changes.clear();
    },
    forget: () => changes.clear(),
    close() {
      for (const statement of [find, insert, update, remove]) statement.finalize();
    },
  };
}

function isOpen(change: Change): change is Change & { call: HeldCall } {
  return change.call !== null;
}

/** Reads all calls that hold money, by id. */
export function readUnendedCalls(database: Database): UnendedCall[] {
  const rows = database.query<HoldRow, []>(`${SELECT} ORDER BY call_id`).all();
  return rows.map(({ call_id, account, amount, extensions, draft, checkpoint, job }) => ({
    draft: parseDraft(call_id, account, draft),
    amount: BigInt(amount),
    extensions,
    checkpoint: checkpoint === null ? null : parseCheckpoint(checkpoint),
    job: job === null ? null : (JSON.parse(job) as DetachedJob),
  }));
}
