/**
 * Moves the spool's entries into the ledger: each once, however often the spool is read, and before recovery ends calls
 * of dead processes. Does not change the file.
 */
import type { Database } from 'bun:sqlite';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inSavepoint } from '../database/connection.ts';
import { completeRecordValues } from '../ledger/call-record-row.ts';
import type { LedgerBook } from '../ledger/ledger-book.ts';
import type { OperationKeeper } from '../operations/keep-operations.ts';
import type { Operation } from '../operations/ledger-operations.ts';
import { isAboutRequest, nameSqliteFault } from '../sqlite-fault.ts';
import { readFrames } from './spool-file.ts';

/** The result of draining a spool. */
export interface Drained {
  /** Calls whose settlement is now in the ledger. */
  readonly settled: number;
  /** Sentences for the operator: entries that the ledger refuses, and damaged parts of the file. */
  readonly problems: readonly string[];
}

type Settlement = Extract<Operation, readonly ['s', ...unknown[]]>;

/** Returns the path of a database's spool, in the same folder. */
export function spoolPath(database: string): string {
  return join(dirname(database), 'spool');
}

/** Parses an entry. An older version may have written it: the next start drains the spool, even after an update. */
function readEntry(text: string): Operation {
  const entry = JSON.parse(text) as Operation;
  if (entry[0] !== 's') return entry;
  const [tag, posted, released, writtenOff, record, attempts] = entry;
  return [tag, posted, released, writtenOff, completeRecordValues(record), attempts];
}

const FIND_HOLD = 'SELECT cast(amount AS TEXT) AS amount, extensions FROM open_hold WHERE call_id = ?';
const FIND_RECORD = 'SELECT 1 FROM call_record WHERE request_id = ?';

/**
 * Applies every entry of the spool at the path. Runs inside the caller's transaction, after `book.begin`.
 *
 * @throws the database's fault where nothing can be stored.
 */
export function drainSpool(
  database: Database,
  { book, keeper }: { readonly book: LedgerBook; readonly keeper: OperationKeeper },
  path: string,
  nowMs: number,
): Drained {
  const { entries, problem } = existsSync(path) ? readFrames(readFileSync(path)) : { entries: [], problem: null };
  const findHold = database.prepare<{ amount: string; extensions: number }, [string]>(FIND_HOLD);
  const findRecord = database.prepare(FIND_RECORD);
  const problems = problem === null ? [] : [`${path}: ${problem}`];
  let settled = 0;

  /** Returns null where the operations were applied, else the reason for the refusal. */
  function tryKeep(...operations: readonly Operation[]): string | null {
    const page = book.mark();
    try {
      inSavepoint(database, () => {
        for (const operation of operations) keeper.keep(operation, nowMs);
      });
      return null;
    } catch (fault) {
      const failure = nameSqliteFault(fault);
      if (!isAboutRequest(failure)) throw fault;
      book.restore(page);
      return failure.message;
    }
  }

  /**
   * Ends a call without a hold in the ledger: its hold was not stored either, so the client received an error, and the
   * cost is written off.
   */
  function absorb([, posted, , writtenOff, record, attempts]: Settlement): string | null {
    const [call_id, at_ms, account] = record;
    const cost = (BigInt(posted) + BigInt(writtenOff)).toString();
    return tryKeep(['h', call_id, account, '0', at_ms, '[]'], ['s', '0', '0', cost, record, attempts]);
  }

  function settle(entry: Settlement): string | null {
    const [, postedText, releasedText, writtenOffText, record, attempts] = entry;
    const [call_id] = record;
    const open = findHold.get(call_id);
    if (open === null) return findRecord.get(call_id) === null ? absorb(entry) : null;
    const posted = BigInt(postedText);
    const cost = posted + BigInt(writtenOffText);
    let held = BigInt(open.amount);
    if (held === posted + BigInt(releasedText)) return tryKeep(entry);
    // An extension was not stored, or one was stored that the call believes failed.
    if (held < posted) {
      const missing = posted - held;
      if (tryKeep(['e', call_id, open.extensions + 1, missing.toString()]) === null) held = posted;
    }
    const covered = held < posted ? held : posted;
    const amounts = [covered, held - covered, cost - covered].map(String) as [string, string, string];
    return tryKeep(['s', ...amounts, record, attempts]);
  }

  for (const text of entries) {
    const entry = readEntry(text);
    if (entry[0] !== 's') {
      // The ledger may have the extension already, or refuse it: the settlement after it handles the amount actually
      // held.
      tryKeep(entry);
      continue;
    }
    const refusal = settle(entry);
    if (refusal === null) settled += 1;
    else problems.push(`${path}: the end of call ${entry[4][0]} was not kept. ${refusal}`);
  }
  findHold.finalize();
  findRecord.finalize();
  return { settled, problems };
}
