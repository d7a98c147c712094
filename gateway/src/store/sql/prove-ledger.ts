/**
 * Owns the proof of a whole ledger, read from one consistent state of the database and changing nothing. What must hold of
 * the chain, of calls and of tables is in files of their own.
 */
import type { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import type { Usage } from '../../generation/usage.ts';
import type { EntryKind, LedgerProof } from '../ledger-port.ts';
import { withKeptApart } from './call-record-row.ts';
import { openReadConnection } from './connection.ts';
import { Disproof } from './disproof.ts';
import { type Balance, EMPTY_BALANCE, foldBalance } from './fold-balance.ts';
import type { LedgerEntry } from './ledger-entry.ts';
import { requireCurrentSchema } from './migrate.ts';
import { type CallsProof, type ChargedRecord, proveCalls, type RecomputeCost } from './prove-calls.ts';
import { type ChainProof, proveChain } from './prove-chain.ts';
import { proveBalances, proveOpenHolds, proveRecords } from './prove-tables.ts';
import { nameSqliteFault, StoreFailure } from './store-failure.ts';

/** Bounds what is in memory at once. */
const PAGE_ENTRIES = 5_000;

/** Amounts as text: beyond 2^53 a number would lose its last digits without a word. */
const READ_ENTRIES = `SELECT seq, epoch, kind, ref, nth, e.account, prepaid, cast(amount AS TEXT), cast(released AS TEXT),
    e.at_ms, note, lower(hex(hash)),
    r.account, input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, usage_source, price_version,
    cast(cost_nano_usd AS TEXT), usage_apart
  FROM ledger_entry e LEFT JOIN call_record r ON e.kind IN ('post', 'void') AND r.request_id = e.ref
  WHERE seq > ? ORDER BY seq LIMIT ${PAGE_ENTRIES}`;

type EntryValues = [
  seq: number,
  epoch: number,
  kind: EntryKind,
  ref: string,
  nth: number,
  account: string,
  prepaid: number,
  amount: string,
  released: string,
  at_ms: number,
  note: string | null,
  hash: string,
  ...record: RecordValues | NoRecord,
];
type RecordValues = [
  account: string,
  input: number,
  cache_read: number,
  cache_write_5m: number,
  cache_write_1h: number,
  output: number,
  reasoning: number,
  usage_source: string,
  price_version: string | null,
  cost: string | null,
  usage_apart: string | null,
];
type NoRecord = [account: null, ...null[]];

/**
 * Proves the ledger in a database file, beside its server or without one. Beside a server the write-ahead log cannot
 * shrink until it is done.
 *
 * @throws StoreFailure where the file cannot be read.
 */
export function proveLedger(path: string, recompute: RecomputeCost): LedgerProof {
  if (!existsSync(path)) throw new StoreFailure('foreign', `There is no database at ${path}.`);
  const database = openReadConnection(path);
  try {
    requireCurrentSchema(database);
    database.run('BEGIN');
    return prove(database, recompute);
  } catch (fault) {
    throw nameSqliteFault(fault);
  } finally {
    database.close();
  }
}

function prove(database: Database, recompute: RecomputeCost): LedgerProof {
  const chain = proveChain(database);
  const calls = proveCalls(recompute);
  const balances = new Map<string, Balance>();
  let entries = 0;
  let problem: LedgerProof['problem'] = null;
  try {
    entries = proveEntries(database, { chain, calls, balances });
    chain.finish();
    proveBalances(database, balances);
    proveOpenHolds(database, calls.running);
    proveRecords(database, calls.counts.charged);
  } catch (fault) {
    if (!(fault instanceof Disproof)) throw fault;
    problem = { entry: fault.entry, message: fault.message };
  }
  return { entries, calls: calls.counts.ended, problem };
}

function proveEntries(
  database: Database,
  { chain, calls, balances }: { chain: ChainProof; calls: CallsProof; balances: Map<string, Balance> },
): number {
  const read = database.prepare<EntryValues, [number]>(READ_ENTRIES);
  let seq = 0;
  let count = 0;
  try {
    for (let rows = read.values(seq); rows.length > 0; rows = read.values(seq)) {
      for (const values of rows as EntryValues[]) {
        const entry = entryOf(values);
        seq = entry.seq;
        chain.take(entry, values[11]);
        const folded = foldBalance(balances.get(entry.account) ?? EMPTY_BALANCE, entry);
        if (typeof folded === 'string') throw new Disproof(seq, folded);
        balances.set(entry.account, folded);
        calls.take(entry, recordOf(values));
      }
      count += rows.length;
    }
  } finally {
    // An open statement would keep the connection, and its view of the database, alive past its closing.
    read.finalize();
  }
  return count;
}

function entryOf(values: EntryValues): LedgerEntry {
  const [seq, epoch, kind, ref, nth, account, prepaid, amount, released, at_ms, note] = values;
  if (prepaid !== 0 && prepaid !== 1)
    throw new Disproof(seq, `its mark of a prepaid account is ${prepaid}, expected 0 or 1`);
  return {
    seq,
    epoch,
    kind,
    ref,
    nth,
    account,
    prepaid: prepaid === 1,
    amount: BigInt(amount),
    released: BigInt(released),
    at_ms,
    note,
  };
}

function recordOf(values: EntryValues): ChargedRecord | null {
  const record = values.slice(12) as RecordValues | NoRecord;
  if (record[0] === null) return null;
  const [account, input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, source, version, cost, apart] =
    record as RecordValues;
  const usage = { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning };
  return {
    account,
    usage: readApart(values[0], usage, apart),
    usageSource: source,
    priceVersion: version,
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
