/** Applies the frames of blocks to the tables: call records, movements, open holds, balances and sums of usage. */
import type { Database } from 'bun:sqlite';
import { sumAttempts } from '../../ledger/fold-balance.ts';
import type { DetachFrame, EndFrame, Frame, MovementFrame } from '../../ports/journal.ts';
import type { CallDraft } from '../../ports/ledger.ts';
import type { CallRecord } from '../../ports/records.ts';
import type { StoredByCall } from '../../ports/stored-state.ts';
import { callRecordValues, INSERT_CALL_RECORD, renderAttempts, renderMasked } from '../ledger/call-record-row.ts';
import { auditValues, INSERT_AUDIT_ENTRY } from '../policy/audit-row.ts';
import type { UsageFolder } from '../rollup/fold-usage.ts';
import { type Charge, chargeOf, summedOf } from '../rollup/tally.ts';
import { storedRows } from '../stored/stored-rows.ts';
import { openBalanceChanges } from './balance-changes.ts';
import { Contradiction } from './contradiction.ts';
import { openOpenHolds } from './open-holds.ts';

/** The block that a frame is from. */
interface FrameBlock {
  readonly epoch: number;
  readonly seq: number;
}

/** Every method but `close` runs inside the transaction of an ingest. */
export interface FrameTables {
  /** @throws Contradiction, or the database's fault, where the frame does not fit the tables */
  apply(frame: Frame, block: FrameBlock): void;
  /** Writes what is gathered in memory; call after the last frame of a batch. */
  write(): void;
  /** Drops what is gathered of a batch that was rolled back. */
  forget(): void;
  close(): void;
}

const INSERT_MOVEMENT =
  'INSERT INTO movement (kind, id, account, amount, note, at_ms, block) VALUES (?, ?, ?, ?, ?, ?, ?)';

/** Also changes a row of the workspace: a later answer may name the same again. It never expires earlier than before. */
const INSERT_STORED_STATE = `INSERT INTO stored_state
  (account, workspace, id, kind, provider, model, credential, tokens, request_id, expires_at_ms)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (account, workspace, id) DO UPDATE SET
    kind = excluded.kind, provider = excluded.provider, model = excluded.model, credential = excluded.credential,
    tokens = excluded.tokens, request_id = excluded.request_id, expires_at_ms = max(expires_at_ms, excluded.expires_at_ms)`;

export function openFrameTables(database: Database, usage: Pick<UsageFolder, 'take'>): FrameTables {
  const insertRecord = database.prepare(INSERT_CALL_RECORD);
  const insertMovement = database.prepare(INSERT_MOVEMENT);
  const insertAudit = database.prepare(INSERT_AUDIT_ENTRY);
  const insertStored = database.prepare(INSERT_STORED_STATE);
  const holds = openOpenHolds(database);
  const balances = openBalanceChanges(database);

  function hold(account: string, amount: bigint): void {
    const change = balances.of(account);
    change.available -= amount;
    change.held += amount;
  }

  function keepStored(call: CallDraft, stored: StoredByCall): void {
    for (const row of storedRows(call, stored)) {
      const { account, workspace, id, kind, provider, model, credential, tokens, request_id, expires_at_ms } = row;
      insertStored.run(account, workspace, id, kind, provider, model, credential, tokens, request_id, expires_at_ms);
    }
  }

  function end({ record, hold: own, posted, released, writtenOff, at_ms, stored }: EndFrame, seq: number): void {
    const { request_id, account } = record;
    const held = own === null ? holds.end(request_id) : { account, amount: own.amount };
    const amount = posted + released;
    if (held.account !== account || held.amount !== amount) {
      throw new Contradiction(
        `the call ${request_id} holds ${held.amount} nano-USD of account ${held.account}, and its end disposes of ${amount} of account ${account}`,
      );
    }
    const change = balances.of(account);
    if (own === null) {
      change.available += released;
      change.held -= amount;
    } else change.available -= posted;
    change.charged += posted;
    change.writtenOff += writtenOff;
    const attempts = sumAttempts(record);
    if (attempts !== 0n) change.absorbedAttempts += attempts;
    keep(record, [amount, posted, writtenOff, at_ms, seq], chargeOf(posted, at_ms, record.key_name));
    if (stored !== undefined) keepStored(record, stored);
  }

  function refused(record: CallRecord, seq: number): void {
    const attempts = sumAttempts(record);
    if (attempts !== 0n) balances.of(record.account).absorbedAttempts += attempts;
    keep(record, [null, null, null, null, seq], null);
  }

  /** `settlement`: the values of the columns from `held` to `block`. */
  function keep(record: CallRecord, settlement: readonly (bigint | number | null)[], charge: Charge | null): void {
    insertRecord.run(
      ...callRecordValues(record),
      renderAttempts(record),
      record.trace_id,
      record.cached_from ?? null,
      renderMasked(record),
      ...settlement,
    );
    usage.take(summedOf(record), charge);
  }

  function detach({ call_id, job, stored }: DetachFrame): void {
    const draft = holds.detach(call_id, job);
    if (stored !== undefined) keepStored(draft, stored);
  }

  function move({ of, movement, audit }: MovementFrame, seq: number): void {
    const { id, account, amount, note, at_ms } = movement;
    insertMovement.run(of, id, account, amount, note, at_ms, seq);
    const change = balances.of(account);
    change.available += amount;
    if (of === 'topup') change.toppedUp += amount;
    if (audit !== null) insertAudit.run(...auditValues(audit));
  }

  return {
    apply(frame, { epoch, seq }) {
      switch (frame.kind) {
        case 'end':
          return end(frame, seq);
        case 'refused':
          return refused(frame.record, seq);
        case 'hold':
          holds.open(epoch, frame.draft, frame.amount);
          return hold(frame.draft.account, frame.amount);
        case 'extend':
          return hold(holds.extend(frame.call_id, frame.nth, frame.amount), frame.amount);
        case 'checkpoint':
          return holds.checkpoint(frame);
        case 'movement':
          return move(frame, seq);
        case 'detach':
          return detach(frame);
      }
    },
    write() {
      holds.write();
      balances.write();
    },
    forget() {
      holds.forget();
      balances.forget();
    },
    close() {
      for (const statement of [insertRecord, insertMovement, insertAudit, insertStored]) statement.finalize();
      holds.close();
      balances.close();
    },
  };
}
