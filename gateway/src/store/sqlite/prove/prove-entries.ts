/** Proves the entries of a ledger from before the journal: chain, balances and calls. */
import type { Database } from 'bun:sqlite';
import type { Usage } from '../../../generation/usage.ts';
import { type Balance, EMPTY_BALANCE, foldBalance } from '../../ledger/fold-balance.ts';
import { StoreError } from '../../ports/store-errors.ts';
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
import { atEntry, LedgerInvariantError, placed } from './ledger-invariant-error.ts';
import type { CallsProof, ChargedRecord } from './prove-calls.ts';
import { type ChainProof, proveChain } from './prove-chain.ts';

type Counter = Exclude<keyof Usage, 'extras'>;

/** Limits the entries in memory. */
const PAGE_ENTRIES = 5_000;

const READ_ENTRIES = `${SELECT_ENTRIES} WHERE seq > ? ORDER BY seq LIMIT ${PAGE_ENTRIES}`;

/**
 * Proves all entries; adds to `calls` and `balances`, and tells `onEntry` each number and hash (64 hex digits). Returns
 * the end of the chain, which the journal continues.
 *
 * @throws LedgerInvariantError
 */
export function proveEntries(
  database: Database,
  calls: CallsProof,
  balances: Map<string, Balance>,
  onEntry: (number: number, hash: string) => void,
): string {
  const chain = proveChain(database);
  const read = database.prepare<EntryValues, [number]>(READ_ENTRIES);
  const lastWithout = readLastWithout(database);
  let seq = 0;
  try {
    for (let rows = read.values(seq); rows.length > 0; rows = read.values(seq)) {
      for (const values of rows as unknown as EntryValues[]) {
        seq = values[0];
        proveEntry(values, lastWithout, { chain, calls, balances });
        onEntry(seq, hashOf(values));
      }
    }
  } catch (fault) {
    throw placed(fault, atEntry(seq));
  } finally {
    // An open statement would keep the connection, and its view of the database, alive after closing.
    read.finalize();
  }
  return chain.finish();
}

function proveEntry(
  values: EntryValues,
  lastWithout: number,
  { chain, calls, balances }: { chain: ChainProof; calls: CallsProof; balances: Map<string, Balance> },
): void {
  const entry = entryOf(values);
  const mark = values[6];
  if (mark !== 0 && mark !== 1)
    throw new LedgerInvariantError(`its mark of a prepaid account is ${mark}, expected 0 or 1`);
  const record = chargedOf(values);
  // Check the end of a call before the hash over it, so that the error names the call's problem and not a wrong hash.
  const ends = entry.kind === 'post' || entry.kind === 'void';
  if (ends) takeEntry(calls, entry, record);
  chain.take(entry, hashOf(values), hashedRecordOf(values, lastWithout));
  const folded = foldBalance(balances.get(entry.account) ?? EMPTY_BALANCE, entry);
  if (folded instanceof StoreError) throw new LedgerInvariantError(folded.message);
  balances.set(entry.account, folded);
  if (!ends) takeEntry(calls, entry, null);
}

function takeEntry(calls: CallsProof, entry: LedgerEntry, record: ChargedRecord | null): void {
  const { kind, ref, nth, account, amount, released } = entry;
  if (kind === 'topup' || kind === 'correct') return;
  if (kind === 'hold') {
    calls.hold(ref, account, amount);
    return;
  }
  const call = calls.find(kind, ref);
  if (call.account !== account)
    throw new LedgerInvariantError(`a ${kind} of account ${account}, but call ${ref} holds money of ${call.account}`);
  if (kind === 'extend') calls.extend(ref, nth, amount);
  else if (kind === 'absorb') calls.absorb(ref, amount);
  else calls.end(ref, amount, amount + released, record);
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
    usage: readExtras(usage, word('usage_apart')),
    usageSource: String(word('usage_source')),
    priceVersion: word('price_version'),
    cost: cost === null ? null : BigInt(cost),
  };
}

function readExtras(usage: Usage, kept: string | null): Usage {
  try {
    return withStoredExtras(usage, kept);
  } catch {
    throw new LedgerInvariantError(
      `what its record says of sound, images and tools is no JSON: ${JSON.stringify(kept)}`,
    );
  }
}
