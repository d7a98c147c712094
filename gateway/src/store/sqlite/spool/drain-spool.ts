/**
 * Owns taking what lies in the spool into the ledger: each entry once, however often the spool is read, and before recovery
 * ends what calls of dead processes held. Leaves the file as it is.
 */
import type { Database } from 'bun:sqlite';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inSavepoint } from '../database/connection.ts';
import { completeRecordValues } from '../ledger/call-record-row.ts';
import type { LedgerBook } from '../ledger/ledger-book.ts';
import { nameSqliteFault } from '../store-failure.ts';
import type { OperationKeeper } from '../writer/keep-operations.ts';
import type { Operation } from '../writer/ledger-operations.ts';
import { readFrames } from './spool-file.ts';

/** What became of a spool's entries. */
export interface Drained {
  /** Calls whose end is in the ledger now. */
  readonly settled: number;
  /** Sentences for the operator: what the ledger does not take, and what in the file is no whole entry. */
  readonly problems: readonly string[];
}

type Settlement = Extract<Operation, readonly ['s', ...unknown[]]>;

/** The spool beside a database. */
export function spoolPath(database: string): string {
  return join(dirname(database), 'spool');
}

/** An older version may have written it: it is drained by the next start, after an update too. */
function readEntry(text: string): Operation {
  const entry = JSON.parse(text) as Operation;
  if (entry[0] !== 's') return entry;
  const [tag, posted, released, absorbed, record, attempts] = entry;
  return [tag, posted, released, absorbed, completeRecordValues(record), attempts];
}

const FIND_HOLD = 'SELECT cast(amount AS TEXT) AS amount, extensions FROM open_hold WHERE call_id = ?';
const FIND_RECORD = 'SELECT 1 FROM call_record WHERE request_id = ?';

/**
 * Keeps every entry of the spool at the path, inside a transaction of the caller that has begun the book.
 *
 * @throws the database's fault where nothing can be kept.
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

  /** Null: it is kept; else why the ledger does not take it. */
  function tryKeep(...operations: readonly Operation[]): string | null {
    const page = book.mark();
    try {
      inSavepoint(database, () => {
        for (const operation of operations) keeper.keep(operation, nowMs);
      });
      return null;
    } catch (fault) {
      const failure = nameSqliteFault(fault);
      if (failure.kind !== 'conflict' && failure.kind !== 'refused') throw fault;
      book.restore(page);
      return failure.message;
    }
  }

  /** The end of a call that holds nothing here: its hold was not kept either, so that its caller was told that it failed. */
  function absorb([, posted, , absorbed, record, attempts]: Settlement): string | null {
    const [call_id, at_ms, account] = record;
    const cost = (BigInt(posted) + BigInt(absorbed)).toString();
    return tryKeep(['h', call_id, account, '0', at_ms, '[]'], ['s', '0', '0', cost, record, attempts]);
  }

  function settle(entry: Settlement): string | null {
    const [, postedText, releasedText, absorbedText, record, attempts] = entry;
    const [call_id] = record;
    const open = findHold.get(call_id);
    if (open === null) return findRecord.get(call_id) === null ? absorb(entry) : null;
    const posted = BigInt(postedText);
    const cost = posted + BigInt(absorbedText);
    let held = BigInt(open.amount);
    if (held === posted + BigInt(releasedText)) return tryKeep(entry);
    // An extension was not kept, or one that the call did not hear of was.
    if (held < posted) {
      const missing = posted - held;
      if (tryKeep(['e', call_id, open.extensions + 1, missing.toString()]) === null) held = posted;
    }
    const bears = held < posted ? held : posted;
    const amounts = [bears, held - bears, cost - bears].map(String) as [string, string, string];
    return tryKeep(['s', ...amounts, record, attempts]);
  }

  for (const text of entries) {
    const entry = readEntry(text);
    if (entry[0] !== 's') {
      // What the ledger has by now, or does not bear: the settlement behind it finds what is held.
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
