/**
 * Proves a whole ledger: the entries from before the journal, then the journal's blocks in the database with the tables
 * that were made of them, then the blocks that are still in its segments.
 */
import type { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { readTail } from '../../journal/recover-journal.ts';
import type { Balance } from '../../ledger/fold-balance.ts';
import type { Frame } from '../../ports/journal.ts';
import type { LedgerProof, NotedPlace } from '../../ports/ledger.ts';
import { Unavailable } from '../../ports/store-errors.ts';
import { databasePath, openReadConnection } from '../database/connection.ts';
import { fileExists } from '../database/data-folder.ts';
import { refuseForeignLog } from '../database/foreign-log.ts';
import { findMark, readMarkNow } from '../ingest/mark.ts';
import { requireCurrentSchema } from '../migrations/migrate.ts';
import { nameSqliteFault } from '../sqlite-fault.ts';
import { journalFolder } from '../writer/writer-database.ts';
import { atBlock, atEntry, LedgerInvariantError } from './ledger-invariant-error.ts';
import { type BlockRows, type ChainEnd, proveBlocks, readStoredBlocks } from './prove-blocks.ts';
import { CallsProof, type RecomputeCost } from './prove-calls.ts';
import { proveEntries } from './prove-entries.ts';
import { FramesProof } from './prove-frames.ts';
import { openRowsProof } from './prove-rows.ts';
import { proveBalances, proveCounts, proveMark, proveOpenHolds, proveUnframedRecords } from './prove-tables.ts';

/**
 * Proves the ledger in a database file, with or without a running server: the database in one consistent state, and the
 * journal beside it as far as it is durable. While it runs, the server's write-ahead log cannot shrink. `noted`: a block,
 * or an entry from before the journal, reported by an earlier proof, which must still exist: the files alone cannot
 * reveal that their end was removed together with everything derived from it.
 *
 * @throws Unavailable where the file cannot be read.
 */
export function proveLedger(path: string, recompute: RecomputeCost, noted: NotedPlace | null = null): LedgerProof {
  if (!fileExists(path)) throw new Unavailable('incompatible', `There is no database at ${path}.`);
  refuseForeignLog(path);
  const database = openReadConnection(path);
  try {
    requireCurrentSchema(database);
    database.run('BEGIN');
    return prove(database, findJournal(path), recompute, new ReadPlaces(noted));
  } catch (fault) {
    throw nameSqliteFault(fault);
  } finally {
    database.close();
  }
}

/** Null: the file is a copy, whose journal is all in it. */
function findJournal(path: string): string | null {
  const folder = journalFolder(path);
  return path === databasePath(dirname(path)) && existsSync(folder) ? folder : null;
}

function prove(database: Database, folder: string | null, recompute: RecomputeCost, read: ReadPlaces): LedgerProof {
  const calls = new CallsProof(recompute);
  const balances = new Map<string, Balance>();
  const frames = new FramesProof(calls, balances);
  let problem: LedgerProof['problem'] = null;
  try {
    const before = proveEntries(database, calls, balances, (number, hash) => read.entry(number, hash));
    proveUnframedRecords(database, hasEpochs(database) ? calls.charged : null);
    proveJournal(database, folder, Buffer.from(before, 'hex'), frames, read);
    read.requireNoted();
  } catch (fault) {
    if (!(fault instanceof LedgerInvariantError)) throw fault;
    problem = { ...fault.place, message: fault.message };
  }
  return { entries: read.entries + frames.entries, blocks: read.blocks, calls: calls.ended, last: read.last, problem };
}

function hasEpochs(database: Database): boolean {
  return database.query('SELECT 1 FROM ledger_epoch').get() !== null;
}

/** `head`: the hash of the last entry from before the journal. */
function proveJournal(
  database: Database,
  folder: string | null,
  head: Uint8Array,
  frames: FramesProof,
  read: ReadPlaces,
): void {
  const mark = findMark(database);
  const onBlock = (number: number, hash: string) => read.block(number, hash);
  const rows = openRowsProof(database);
  let end: ChainEnd = { stream: mark?.stream ?? new Uint8Array(16), epoch: 0, seq: 0, head };
  try {
    end = proveBlocks(readStoredBlocks(database), end, frames, rows, onBlock);
    proveMark(mark ?? end, end);
    proveCounts(database, rows.counts);
    rows.finishState((call) => frames.calls.running.get(call)?.draft ?? null);
  } finally {
    rows.close();
  }
  proveBalances(database, frames.balances);
  proveOpenHolds(database, frames.calls.running);
  if (folder === null || mark === null) return;
  try {
    const tail = readTail(folder, mark.stream, end, () => readMarkNow(database.filename));
    proveBlocks(tail, end, frames, createTailRows(database), onBlock);
  } catch (fault) {
    if (fault instanceof Unavailable && fault.kind === 'incompatible') throw new LedgerInvariantError(fault.message);
    throw fault;
  }
}

/** Notes how far the proof read, and looks for the noted place. */
class ReadPlaces {
  entries = 0;
  blocks = 0;
  last: NotedPlace | null = null;
  #lastEntry = 0;
  #lastBlock = 0;
  #notedEntry: string | null = null;
  #notedBlock: string | null = null;

  constructor(private readonly noted: NotedPlace | null) {}

  entry(number: number, hash: string): void {
    this.entries += 1;
    this.#lastEntry = number;
    this.last = { number, hash };
    if (number === this.noted?.number) this.#notedEntry = hash;
  }

  block(number: number, hash: string): void {
    this.blocks += 1;
    this.#lastBlock = number;
    this.last = { number, hash };
    if (number === this.noted?.number) this.#notedBlock = hash;
  }

  /** A noted number may be that of an entry or of a block: the hash tells which. @throws LedgerInvariantError */
  requireNoted(): void {
    if (this.noted === null) return;
    const { number, hash } = this.noted;
    const [entry, block] = [this.#notedEntry, this.#notedBlock];
    if (entry === hash || block === hash) return;
    if (entry !== null && block !== null)
      throw new LedgerInvariantError(`neither entry ${number} nor block ${number} has the noted hash ${hash}`);
    if (block !== null) throw new LedgerInvariantError(`its hash is ${block}, noted was ${hash}`, atBlock(number));
    if (entry !== null) throw new LedgerInvariantError(`its hash is ${entry}, noted was ${hash}`, atEntry(number));
    const last = this.#lastBlock > 0 ? `block ${this.#lastBlock}` : `entry ${this.#lastEntry}`;
    throw new LedgerInvariantError(`number ${number} was noted, and the last one is ${last}`);
  }
}

/** Checks that the frames that are not in the database yet bring no record and no movement for a second time. */
function createTailRows(database: Database): BlockRows {
  const findRecord = database.query<unknown, [string]>('SELECT 1 FROM call_record WHERE request_id = ?');
  const findMovement = database.query<unknown, [string, string]>('SELECT 1 FROM movement WHERE kind = ? AND id = ?');
  const seen = new Set<string>();

  function takeNew(what: string, isStored: boolean): void {
    if (isStored || seen.has(what)) throw new LedgerInvariantError(`a second ${what}`);
    seen.add(what);
  }

  return {
    begin: () => undefined,
    take(frame: Frame) {
      if (frame.kind === 'end' || frame.kind === 'refused') {
        const { request_id } = frame.record;
        takeNew(`record of call ${request_id}`, findRecord.get(request_id) !== null);
      } else if (frame.kind === 'movement') {
        const { id } = frame.movement;
        takeNew(`${frame.of} ${id}`, findMovement.get(frame.of, id) !== null);
      }
    },
    finish: () => undefined,
  };
}
