/**
 * Owns the proof of a whole ledger, read from one consistent state of the database and changing nothing. What must hold of
 * the chain, of calls and of tables is in files of their own.
 */
import type { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import type { Usage } from '../../generation/usage.ts';
import type { LedgerProof, NotedEntry } from '../ledger-port.ts';
import { withKeptApart } from './call-record-row.ts';
import { openReadConnection } from './connection.ts';
import { Disproof } from './disproof.ts';
import {
  type EntryValues,
  entryOf,
  hashedRecordOf,
  hashOf,
  hasRecord,
  type RecordColumn,
  readLastWithout,
  recordValue,
  SELECT_ENTRIES,
} from './entry-row.ts';
import { type Balance, EMPTY_BALANCE, foldBalance } from './fold-balance.ts';
import { requireCurrentSchema } from './migrate.ts';
import { type CallsProof, type ChargedRecord, proveCalls, type RecomputeCost } from './prove-calls.ts';
import { type ChainProof, proveChain } from './prove-chain.ts';
import { proveBalances, proveOpenHolds, proveRecords } from './prove-tables.ts';
import { nameSqliteFault, StoreFailure } from './store-failure.ts';

type Counter = Exclude<keyof Usage, 'apart'>;

/** Bounds what is in memory at once. */
const PAGE_ENTRIES = 5_000;

const READ_ENTRIES = `${SELECT_ENTRIES} WHERE seq > ? ORDER BY seq LIMIT ${PAGE_ENTRIES}`;

/**
 * Proves the ledger in a database file, beside its server or without one. Beside a server the write-ahead log cannot
 * shrink until it is done. `noted`: an entry as an earlier proof told it, which must be there still: of entries taken out at
 * the end together with all that follows from them, nothing in the file itself could tell.
 *
 * @throws StoreFailure where the file cannot be read.
 */
export function proveLedger(path: string, recompute: RecomputeCost, noted: NotedEntry | null = null): LedgerProof {
  if (!existsSync(path)) throw new StoreFailure('foreign', `There is no database at ${path}.`);
  const database = openReadConnection(path);
  try {
    requireCurrentSchema(database);
    database.run('BEGIN');
    return prove(database, recompute, noted);
  } catch (fault) {
    throw nameSqliteFault(fault);
  } finally {
    database.close();
  }
}

function prove(database: Database, recompute: RecomputeCost, noted: NotedEntry | null): LedgerProof {
  const chain = proveChain(database);
  const calls = proveCalls(recompute);
  const balances = new Map<string, Balance>();
  const read = { entries: 0, last: null as NotedEntry | null };
  let problem: LedgerProof['problem'] = null;
  try {
    for (const [entry, hash] of proveEntries(database, { chain, calls, balances })) {
      read.entries += 1;
      read.last = { entry, hash };
      if (entry === noted?.entry && hash !== noted.hash)
        throw new Disproof(entry, `its hash is ${hash}, noted was ${noted.hash}`);
    }
    if (noted !== null && noted.entry > (read.last?.entry ?? 0)) {
      throw new Disproof(null, `entry ${noted.entry} was noted, and the last one is ${read.last?.entry ?? 0}`);
    }
    chain.finish();
    proveBalances(database, balances);
    proveOpenHolds(database, calls.running);
    proveRecords(database, calls.counts.charged);
  } catch (fault) {
    if (!(fault instanceof Disproof)) throw fault;
    problem = { entry: fault.entry, message: fault.message };
  }
  return { ...read, calls: calls.counts.ended, problem };
}

/** Number and hash of each entry, once it has been proved. */
function* proveEntries(
  database: Database,
  { chain, calls, balances }: { chain: ChainProof; calls: CallsProof; balances: Map<string, Balance> },
): Generator<readonly [entry: number, hash: string]> {
  const read = database.prepare<EntryValues, [number]>(READ_ENTRIES);
  const lastWithout = readLastWithout(database);
  let seq = 0;
  try {
    for (let rows = read.values(seq); rows.length > 0; rows = read.values(seq)) {
      for (const values of rows as unknown as EntryValues[]) {
        const entry = entryOf(values);
        const mark = values[6];
        if (mark !== 0 && mark !== 1)
          throw new Disproof(entry.seq, `its mark of a prepaid account is ${mark}, expected 0 or 1`);
        seq = entry.seq;
        const record = chargedOf(values);
        // What is wrong with the end of a call is said by its own name before the hash over it is found to be wrong.
        const ends = entry.kind === 'post' || entry.kind === 'void';
        if (ends) calls.take(entry, record);
        chain.take(entry, hashOf(values), hashedRecordOf(values, lastWithout));
        const folded = foldBalance(balances.get(entry.account) ?? EMPTY_BALANCE, entry);
        if (typeof folded === 'string') throw new Disproof(seq, folded);
        balances.set(entry.account, folded);
        if (!ends) calls.take(entry, null);
        yield [seq, hashOf(values)];
      }
    }
  } finally {
    // An open statement would keep the connection, and its view of the database, alive past its closing.
    read.finalize();
  }
}

function chargedOf(values: EntryValues): ChargedRecord | null {
  if (!hasRecord(values)) return null;
  const count = (counter: Counter) => Number(recordValue(values, counter));
  const usage = {
    input: count('input'),
    cache_read: count('cache_read'),
    cache_write_5m: count('cache_write_5m'),
    cache_write_1h: count('cache_write_1h'),
    output: count('output'),
    reasoning: count('reasoning'),
  };
  const word = (column: RecordColumn) => recordValue(values, column) as string | null;
  const cost = word('cost_nano_usd');
  return {
    account: String(word('account')),
    usage: readApart(values[0], usage, word('usage_apart')),
    usageSource: String(word('usage_source')),
    priceVersion: word('price_version'),
    cost: cost === null ? null : BigInt(cost),
  };
}

function readApart(seq: number, usage: Usage, kept: string | null): Usage {
  try {
    return withKeptApart(usage, kept);
  } catch {
    throw new Disproof(seq, `what its record says of sound, images and tools is no JSON: ${JSON.stringify(kept)}`);
  }
}
