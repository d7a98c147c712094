/**
 * Proves a whole ledger from one consistent, read-only state of the database: entries, balances, open holds and call
 * records. `prove-chain.ts` checks the hash chain.
 */
import type { Database } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import type { Usage } from '../../../generation/usage.ts';
import { type Balance, EMPTY_BALANCE, foldBalance } from '../../ledger/fold-balance.ts';
import type { LedgerProof, NotedEntry } from '../../ports/ledger.ts';
import { StoreError, Unavailable } from '../../ports/store-errors.ts';
import { openReadConnection } from '../database/connection.ts';
import { withStoredExtras } from '../ledger/call-record-row.ts';
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
} from '../ledger/entry-row.ts';
import type { LedgerEntry } from '../ledger/ledger-entry.ts';
import { requireCurrentSchema } from '../migrations/migrate.ts';
import { nameSqliteFault } from '../sqlite-fault.ts';
import { type ChainProof, LedgerInvariantError, proveChain } from './prove-chain.ts';

type Counter = Exclude<keyof Usage, 'extras'>;

/** Limits the entries in memory. */
const PAGE_ENTRIES = 5_000;

const READ_ENTRIES = `${SELECT_ENTRIES} WHERE seq > ? ORDER BY seq LIMIT ${PAGE_ENTRIES}`;

/**
 * Proves the ledger in a database file, with or without a running server. While it runs, the server's write-ahead log
 * cannot shrink. `noted`: an entry reported by an earlier proof, which must still exist: the file alone cannot reveal
 * that its last entries were removed together with everything derived from them.
 *
 * @throws Unavailable where the file cannot be read.
 */
export function proveLedger(path: string, recompute: RecomputeCost, noted: NotedEntry | null = null): LedgerProof {
  if (!existsSync(path)) throw new Unavailable('incompatible', `There is no database at ${path}.`);
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
        throw new LedgerInvariantError(entry, `its hash is ${hash}, noted was ${noted.hash}`);
    }
    if (noted !== null && noted.entry > (read.last?.entry ?? 0)) {
      throw new LedgerInvariantError(
        null,
        `entry ${noted.entry} was noted, and the last one is ${read.last?.entry ?? 0}`,
      );
    }
    chain.finish();
    proveBalances(database, balances);
    proveOpenHolds(database, calls.running);
    proveRecords(database, calls.counts.charged);
  } catch (fault) {
    if (!(fault instanceof LedgerInvariantError)) throw fault;
    problem = { entry: fault.entry, message: fault.message };
  }
  return { ...read, calls: calls.counts.ended, problem };
}

/** Yields the sequence number and hash of each entry once proved. */
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
          throw new LedgerInvariantError(entry.seq, `its mark of a prepaid account is ${mark}, expected 0 or 1`);
        seq = entry.seq;
        const record = chargedOf(values);
        // Check the end of a call before the hash over it, so that the error names the call's problem and not a wrong
        // hash.
        const ends = entry.kind === 'post' || entry.kind === 'void';
        if (ends) calls.take(entry, record);
        chain.take(entry, hashOf(values), hashedRecordOf(values, lastWithout));
        const folded = foldBalance(balances.get(entry.account) ?? EMPTY_BALANCE, entry);
        if (folded instanceof StoreError) throw new LedgerInvariantError(seq, folded.message);
        balances.set(entry.account, folded);
        if (!ends) calls.take(entry, null);
        yield [seq, hashOf(values)];
      }
    }
  } finally {
    // An open statement would keep the connection, and its view of the database, alive after closing.
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
    return withStoredExtras(usage, kept);
  } catch {
    throw new LedgerInvariantError(
      seq,
      `what its record says of sound, images and tools is no JSON: ${JSON.stringify(kept)}`,
    );
  }
}

interface BalanceRow {
  readonly account: string;
  /** `available held charged absorbed topped_up`. */
  readonly amounts: string;
}

interface OpenHoldRow {
  readonly call_id: string;
  readonly account: string;
  readonly amount: string;
  readonly extensions: number;
}

/** Checks that every account's balance row equals the fold of its entries. @throws LedgerInvariantError */
function proveBalances(database: Database, folded: ReadonlyMap<string, Balance>): void {
  const rows = database
    .query<BalanceRow, []>(
      `SELECT account, available || ' ' || held || ' ' || charged || ' ' || absorbed || ' ' || topped_up AS amounts
        FROM account_balance`,
    )
    .all();
  const kept = new Map(rows.map(({ account, amounts }) => [account, amounts]));
  for (const account of new Set([...folded.keys(), ...kept.keys()])) {
    const { available, held, charged, writtenOff, toppedUp } = folded.get(account) ?? EMPTY_BALANCE;
    const expected = [available, held, charged, writtenOff, toppedUp].join(' ');
    const found = kept.get(account) ?? 'nothing';
    if (found !== expected) {
      throw new LedgerInvariantError(
        null,
        `the balance of account ${account} (available, held, charged, absorbed, topped up) is ${found}, its entries sum to ${expected}`,
      );
    }
  }
}

/** Checks that the open holds match the calls that have not ended, and their held amounts. @throws LedgerInvariantError */
function proveOpenHolds(database: Database, running: CallsProof['running']): void {
  const rows = database
    .query<OpenHoldRow, []>('SELECT call_id, account, cast(amount AS TEXT) AS amount, extensions FROM open_hold')
    .all();
  for (const { call_id, account, amount, extensions } of rows) {
    const call = running.get(call_id);
    if (call === undefined)
      throw new LedgerInvariantError(null, `there is an open hold of call ${call_id}, which has none by its entries`);
    if (call.account !== account || call.held.toString() !== amount || call.extensions !== extensions) {
      throw new LedgerInvariantError(
        null,
        `the open hold of call ${call_id} says ${amount} of account ${account} after ${extensions} extensions, its entries say ${call.held} of account ${call.account} after ${call.extensions}`,
      );
    }
  }
  if (rows.length === running.size) return;
  const open = new Set(rows.map(({ call_id }) => call_id));
  const lost = [...running.keys()].find((call_id) => !open.has(call_id));
  throw new LedgerInvariantError(null, `call ${lost} holds money by its entries, and has no open hold`);
}

/** Checks that every record with a cost has an end of its call in the ledger. @throws LedgerInvariantError */
function proveRecords(database: Database, charged: number): void {
  const costly = `FROM call_record WHERE cost_nano_usd <> 0
    AND request_id > (SELECT cast(value AS TEXT) FROM meta WHERE name = 'records_before_ledger')`;
  const found = database.query<{ count: number }, []>(`SELECT count(*) AS count ${costly}`).get()?.count ?? 0;
  if (found === charged) return;
  const stray = database
    .query<{ request_id: string; cost: string }, []>(
      `SELECT request_id, cast(cost_nano_usd AS TEXT) AS cost ${costly} AND request_id NOT IN
        (SELECT ref FROM ledger_entry WHERE kind IN ('post', 'void')) LIMIT 1`,
    )
    .get();
  throw new LedgerInvariantError(
    null,
    stray === null
      ? `${found} records cost something, the ledger has ${charged} of them`
      : `the record of call ${stray.request_id} costs ${stray.cost} nano-USD, and the ledger has no end of that call`,
  );
}

/** Computes the cost of usage at the price named in a record, in nano-USD. Throws where the price cannot be parsed. */
type RecomputeCost = (usage: Usage, priceVersion: string) => bigint;

/** The billing members of a call's record. */
interface ChargedRecord {
  readonly account: string;
  readonly usage: Usage;
  readonly usageSource: string;
  readonly priceVersion: string | null;
  /** Null: unpriced. */
  readonly cost: bigint | null;
}

interface RunningCall {
  readonly account: string;
  held: bigint;
  extensions: number;
  writtenOff: bigint;
}

interface CallsProof {
  /**
   * Checks the next entry; `record` is the call's record, null where there is none, and used only at the call's end.
   * @throws LedgerInvariantError
   */
  take(entry: LedgerEntry, record: ChargedRecord | null): void;
  /** Holds of calls that have not ended: call id → account, amount and extensions. */
  readonly running: ReadonlyMap<string, Readonly<RunningCall>>;
  /** Calls that ended, and those of them with a cost. */
  readonly counts: { readonly ended: number; readonly charged: number };
}

function proveCalls(recompute: RecomputeCost): CallsProof {
  const running = new Map<string, RunningCall>();
  const counts = { ended: 0, charged: 0 };

  function runningCall({ seq, ref, account, kind }: LedgerEntry): RunningCall {
    const call = running.get(ref);
    if (call === undefined) throw new LedgerInvariantError(seq, `a ${kind} of call ${ref}, which holds nothing then`);
    if (call.account !== account) {
      throw new LedgerInvariantError(
        seq,
        `a ${kind} of account ${account}, but call ${ref} holds money of ${call.account}`,
      );
    }
    return call;
  }

  function end(entry: LedgerEntry, record: ChargedRecord | null): void {
    const { seq, ref, amount, released } = entry;
    const call = runningCall(entry);
    if (amount + released !== call.held) {
      throw new LedgerInvariantError(seq, `call ${ref} held ${call.held}, its end disposes of ${amount + released}`);
    }
    if (record === null) throw new LedgerInvariantError(seq, `call ${ref} ended, and has no record`);
    const problem = recordProblem(record, entry.account, amount + call.writtenOff, recompute);
    if (problem !== null) throw new LedgerInvariantError(seq, `the record of call ${ref} ${problem}`);
    running.delete(ref);
    counts.ended += 1;
    if (record.cost !== null && record.cost !== 0n) counts.charged += 1;
  }

  return {
    running,
    counts,
    take(entry, record) {
      const { seq, kind, ref, nth, account, amount } = entry;
      if (kind === 'hold') {
        if (running.has(ref)) throw new LedgerInvariantError(seq, `a second hold of call ${ref}`);
        running.set(ref, { account, held: amount, extensions: 0, writtenOff: 0n });
      } else if (kind === 'extend') {
        const call = runningCall(entry);
        call.extensions += 1;
        if (nth !== call.extensions)
          throw new LedgerInvariantError(seq, `extension ${nth} of call ${ref}, expected ${call.extensions}`);
        call.held += amount;
      } else if (kind === 'absorb') {
        const call = runningCall(entry);
        if (call.writtenOff !== 0n) throw new LedgerInvariantError(seq, `a second absorb of call ${ref}`);
        call.writtenOff = amount;
      } else if (kind === 'post' || kind === 'void') {
        end(entry, record);
      }
    },
  };
}

function recordProblem(
  { account, usage, usageSource, priceVersion, cost }: ChargedRecord,
  expectedAccount: string,
  settled: bigint,
  recompute: RecomputeCost,
): string | null {
  if (account !== expectedAccount) return `is of account ${account}, expected ${expectedAccount}`;
  if ((cost ?? 0n) !== settled) return `costs ${cost} nano-USD, its entries post and absorb ${settled}`;
  // Unused and cached usage is not charged by tokens.
  if (usageSource === 'void' || usageSource === 'cache') return null;
  if (priceVersion === null) return cost === null ? null : `costs ${cost} nano-USD and names no price`;
  if (cost === null) return `names the price ${priceVersion} and no cost`;
  let expected: bigint;
  try {
    expected = recompute(usage, priceVersion);
  } catch (fault) {
    return `cannot be recomputed: ${fault instanceof Error ? fault.message : String(fault)}`;
  }
  return expected === cost ? null : `costs ${cost} nano-USD, its usage at ${priceVersion} costs ${expected}`;
}
