/**
 * Takes over a data folder from before the journal: stores what its spool holds, ends the calls that its last process left
 * running, and closes its ledger, whose last hash becomes the journal's first head.
 */
import type { Database } from 'bun:sqlite';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { endUnended, type Recovered } from '../../ledger/end-unended.ts';
import {
  type CallRecordValues,
  callRecordValues,
  completeRecordValues,
  INSERT_CALL_RECORD,
  recordText,
  renderAttempts,
} from '../ledger/call-record-row.ts';
import { indexEntryRanges } from '../ledger/entry-ranges.ts';
import { hashEntry, type LedgerEntry } from '../ledger/ledger-entry.ts';
import { openBalanceChanges } from './balance-changes.ts';
import { readUnendedCalls } from './open-holds.ts';

export interface TakenOver {
  /** The last hash of the old ledger; 32 zero bytes without one. */
  readonly head: Uint8Array;
  /** The calls that the last process left running. */
  readonly recovered: Recovered;
  /** How many calls were ended by settlements of the spool. */
  readonly spooled: number;
  /** Sentences for the operator. */
  readonly problems: readonly string[];
}

const NOTHING: TakenOver = {
  head: new Uint8Array(32),
  recovered: { posted: 0, voided: 0 },
  spooled: 0,
  problems: [],
};

/** A settlement as the spool has it: amounts as decimal text, the record's values, its attempts as JSON text. */
type SpooledEnd = readonly [
  tag: 's',
  posted: string,
  released: string,
  writtenOff: string,
  record: CallRecordValues,
  attempts: string,
];

interface Ending {
  readonly posted: bigint;
  readonly released: bigint;
  readonly writtenOff: bigint;
  readonly record: CallRecordValues;
  readonly attempts: string;
}

/** Runs inside the caller's transaction. Changes nothing in a folder without an old ledger. */
export function takeOver(database: Database, spool: string, nowMs: number): TakenOver {
  const ledger = openOldLedger(database, nowMs);
  if (ledger === null) return NOTHING;
  const { entries, problem } = existsSync(spool) ? readOldSpool(readFileSync(spool)) : { entries: [], problem: null };
  let spooled = 0;
  // An extension whose settlement is missing too is left out: what it would have covered is written off.
  for (const entry of entries.map((text) => JSON.parse(text) as SpooledEnd | readonly [tag: 'e'])) {
    if (entry[0] === 's' && ledger.settleSpooled(entry)) spooled += 1;
  }
  const recovered = { posted: 0, voided: 0 };
  for (const call of readUnendedCalls(database)) {
    const { record, ...amounts } = endUnended(call, 'gateway_crashed');
    ledger.settle({ ...amounts, record: callRecordValues(record), attempts: renderAttempts(record) });
    recovered[amounts.posted > 0n ? 'posted' : 'voided'] += 1;
  }
  const head = ledger.close();
  indexEntryRanges(database);
  return { head, recovered, spooled, problems: problem === null ? [] : [`${spool}: ${problem}`] };
}

interface EndRow {
  readonly epoch: number;
  readonly seal: string;
  readonly seq: number | null;
  readonly hash: string | null;
}

const READ_END = `SELECT e.id AS epoch, lower(hex(e.seal)) AS seal, l.seq AS seq,
    CASE WHEN l.epoch = e.id THEN lower(hex(l.hash)) END AS hash
  FROM (SELECT * FROM ledger_epoch ORDER BY id DESC LIMIT 1) e
  LEFT JOIN (SELECT * FROM ledger_entry ORDER BY seq DESC LIMIT 1) l`;
const INSERT_ENTRY = `INSERT INTO ledger_entry
  (seq, epoch, kind, ref, nth, account, prepaid, amount, released, at_ms, note, hash)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?)`;

/** Null: the folder has no old ledger. */
function openOldLedger(database: Database, nowMs: number) {
  const end = database.query<EndRow, []>(READ_END).get();
  if (end === null) return null;
  const { epoch } = end;
  let seq = end.seq ?? 0;
  let hash = end.hash ?? end.seal;
  const balances = openBalanceChanges(database);
  const insertEntry = database.prepare(INSERT_ENTRY);
  const insertRecord = database.prepare(INSERT_CALL_RECORD);
  const removeHold = database.prepare('DELETE FROM open_hold WHERE call_id = ?');
  const findHold = database.prepare<{ amount: string; extensions: number }, [string]>(
    'SELECT cast(amount AS TEXT) AS amount, extensions FROM open_hold WHERE call_id = ?',
  );
  const findRecord = database.prepare('SELECT 1 FROM call_record WHERE request_id = ?');
  const isPrepaid = database.prepare<{ prepaid: number; available: string }, [string]>(
    `SELECT mode = 'prepaid' AS prepaid, cast(coalesce(available, 0) AS TEXT) AS available
      FROM account LEFT JOIN account_balance ON account = id WHERE id = ?`,
  );

  function add(
    entry: Pick<LedgerEntry, 'kind' | 'ref' | 'nth' | 'account' | 'amount' | 'released'>,
    record: string | null,
  ): void {
    seq += 1;
    const prepaid = isPrepaid.get(entry.account)?.prepaid === 1;
    const whole = { ...entry, seq, epoch, prepaid, at_ms: nowMs, note: null };
    hash = hashEntry(hash, whole, record);
    const { kind, ref, nth, account, amount, released } = entry;
    const bytes = Buffer.from(hash, 'hex');
    insertEntry.run(seq, epoch, kind, ref, nth, account, prepaid ? 1 : 0, amount, released, nowMs, bytes);
  }

  function settle({ posted, released, writtenOff, record, attempts }: Ending): void {
    const [ref, , account] = record;
    const common = { ref, nth: 0, account };
    if (writtenOff > 0n) add({ ...common, kind: 'absorb', amount: writtenOff, released: 0n }, null);
    add({ ...common, kind: posted > 0n ? 'post' : 'void', amount: posted, released }, recordText(record, attempts));
    // Block 0: not rolled up yet.
    insertRecord.run(...record, attempts, null, null, null, null, null, null, null, 0);
    removeHold.run(ref);
    const change = balances.of(account);
    change.available += released;
    change.held -= posted + released;
    change.charged += posted;
    change.writtenOff += writtenOff;
    balances.write();
  }

  /** Extends the hold if the account covers it. */
  function tryExtend(call_id: string, account: string, nth: number, amount: bigint): boolean {
    const found = isPrepaid.get(account);
    if (found === null || (found.prepaid === 1 && BigInt(found.available) < amount)) return false;
    add({ kind: 'extend', ref: call_id, nth, account, amount, released: 0n }, null);
    const change = balances.of(account);
    change.available -= amount;
    change.held += amount;
    balances.write();
    return true;
  }

  return {
    settle,
    /** Returns whether the settlement ended the call; false: it has ended before. */
    settleSpooled([, postedText, releasedText, writtenOffText, values, attempts]: SpooledEnd): boolean {
      const record = completeRecordValues(values);
      const [call_id, , account] = record;
      const posted = BigInt(postedText);
      const cost = posted + BigInt(writtenOffText);
      const open = findHold.get(call_id);
      if (open === null) {
        if (findRecord.get(call_id) !== null) return false;
        // Its hold was not stored either: the client got an error, and the cost is written off.
        add({ kind: 'hold', ref: call_id, nth: 0, account, amount: 0n, released: 0n }, null);
        settle({ posted: 0n, released: 0n, writtenOff: cost, record, attempts });
        return true;
      }
      let held = BigInt(open.amount);
      // An extension was not stored, or one was stored that the call believed failed.
      const missing = posted + BigInt(releasedText) - held;
      if (missing > 0n && tryExtend(call_id, account, open.extensions + 1, missing)) held += missing;
      const covered = held < posted ? held : posted;
      settle({ posted: covered, released: held - covered, writtenOff: cost - covered, record, attempts });
      return true;
    },
    close(): Uint8Array {
      for (const statement of [insertEntry, insertRecord, removeHold, findHold, findRecord, isPrepaid])
        statement.finalize();
      balances.close();
      return Buffer.from(hash, 'hex');
    },
  };
}

/**
 * Frame header, in bytes: `magic` 8, `sequence` 4, `length` 4 (both big-endian), SHA-256 of sequence, length and
 * payload 32. The payload follows.
 */
const HEADER_BYTES = 48;
const MAGIC = Buffer.from('TGSPOOL1', 'latin1');
const CHECKED_FROM = 8;
const DIGEST_AT = 16;

/** The contents of a spool file. */
interface SpoolContents {
  /** The complete entries, in order. */
  readonly entries: readonly string[];
  /**
   * Describes data that is not a complete entry; null: none. At the end of the file it is a write cut off by a crash,
   * which was never reported as stored; before a complete entry it is damage.
   */
  readonly problem: string | null;
}

/** Parses a whole spool: settlements that the database did not take in time. Skips entries with a wrong checksum; accepts complete entries after them. */
function readOldSpool(file: Buffer): SpoolContents {
  const entries: string[] = [];
  let last = 0;
  let problem: string | null = null;
  for (let at = 0; !isBlankFrame(file, at); ) {
    const frame = frameAt(file, at, last + 1);
    if (frame !== null) {
      last = frame.readUInt32BE(CHECKED_FROM);
      entries.push(frame.toString('utf8', HEADER_BYTES));
      at += frame.length;
      continue;
    }
    const next = findFrame(file, at + 1, last + 1);
    problem ??=
      next === null
        ? `what follows entry ${last} of the spool, at byte ${at}, was cut off by a crash while it was written`
        : `the spool is damaged behind entry ${last}, at byte ${at}`;
    if (next === null) break;
    at = next;
  }
  return { entries, problem };
}

/** True where the next header is all zeros or beyond the end of the file. */
function isBlankFrame(file: Buffer, at: number): boolean {
  return file.subarray(at, at + HEADER_BYTES).every((byte) => byte === 0);
}

/** Returns the complete frame at the offset; null: none, or one with a lower sequence number. */
function frameAt(file: Buffer, at: number, sequenceMin: number): Buffer | null {
  if (!file.subarray(at, at + MAGIC.length).equals(MAGIC) || at + HEADER_BYTES > file.length) return null;
  const end = at + HEADER_BYTES + file.readUInt32BE(at + CHECKED_FROM + 4);
  if (end > file.length || file.readUInt32BE(at + CHECKED_FROM) < sequenceMin) return null;
  const frame = file.subarray(at, end);
  return digestOf(frame).equals(frame.subarray(DIGEST_AT, HEADER_BYTES)) ? frame : null;
}

function findFrame(file: Buffer, from: number, sequenceMin: number): number | null {
  for (let at = file.indexOf(MAGIC, from); at !== -1; at = file.indexOf(MAGIC, at + 1)) {
    if (frameAt(file, at, sequenceMin) !== null) return at;
  }
  return null;
}

function digestOf(frame: Buffer): Buffer {
  return createHash('sha256')
    .update(frame.subarray(CHECKED_FROM, DIGEST_AT))
    .update(frame.subarray(HEADER_BYTES))
    .digest();
}
