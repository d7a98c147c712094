/**
 * Reads a data folder exactly beside a server, or after one was killed: the tables as of their mark, and the frames of
 * the journal after it.
 */
import type { Database } from 'bun:sqlite';
import { ChainReader } from '../journal/block-cursor.ts';
import { decodeFrames } from '../journal/decode-frames.ts';
import { DISK } from '../journal/file-port.ts';
import { type Balance, EMPTY_BALANCE, moveMoney, transfersOf } from '../ledger/fold-balance.ts';
import type { Frame, JournalEnd } from '../ports/journal.ts';
import type { AccountBalance } from '../ports/ledger.ts';
import type { CallFilter, CallRecord } from '../ports/records.ts';
import { Unavailable } from '../ports/store-errors.ts';
import { findMark, readMarkNow } from './ingest/mark.ts';

type ReadExactly = <Found>(look: (tail: readonly Frame[]) => Promise<Found>) => Promise<Found>;

/**
 * Returns a function that runs `look`, one after another, in a snapshot of the tables, with the frames after their mark.
 * `database` is a connection to `path`.
 */
export function createTailReader(database: Database, path: string, journalFolder: string): ReadExactly {
  let last: Promise<unknown> = Promise.resolve();

  async function readNext<Found>(look: (tail: readonly Frame[]) => Promise<Found>): Promise<Found> {
    for (;;) {
      database.run('BEGIN');
      try {
        const mark = findMark(database);
        if (mark === null) return await look([]);
        const { frames, end } = readAfter(journalFolder, mark);
        // What the server has moved into the tables meanwhile, it may have removed before it was read here.
        if (readMarkNow(path) <= end) return await look(frames);
      } finally {
        database.run('COMMIT');
      }
    }
  }

  return (look) => {
    const read = last.then(() => readNext(look));
    last = read.catch(() => undefined);
    return read;
  };
}

/** The account of a call that the tables know as open. @throws Unavailable `incompatible` where they do not know it */
export function findHoldAccount(database: Database, call_id: string): string {
  const found = database
    .query<{ readonly account: string }, [string]>('SELECT account FROM open_hold WHERE call_id = ?')
    .get(call_id);
  if (found !== null) return found.account;
  throw new Unavailable(
    'incompatible',
    `The journal extends the call ${call_id}, which holds nothing. Run \`verify\`.`,
  );
}

function readAfter(folder: string, mark: JournalEnd): { readonly frames: readonly Frame[]; readonly end: number } {
  const chain = new ChainReader(DISK, folder, mark);
  try {
    chain.refresh();
    const frames: Frame[] = [];
    for (let block = chain.next(); block !== null; block = chain.next())
      frames.push(...decodeFrames(block.body, block.frames));
    return { frames, end: chain.seq };
  } finally {
    chain.close();
  }
}

/** The records among the frames that match, newest arrival first, before those of the tables. */
export function withRecordsOf(
  tail: readonly Frame[],
  stored: readonly CallRecord[],
  { limit, sinceMs, requestId, keyId, traceId }: CallFilter,
): readonly CallRecord[] {
  const records = tail.flatMap((frame) => (frame.kind === 'end' || frame.kind === 'refused' ? [frame.record] : []));
  const matching = records.filter(
    ({ at_ms, request_id, key_id, trace_id }) =>
      (sinceMs === null || at_ms >= sinceMs) &&
      (requestId === null || request_id === requestId) &&
      (keyId === null || key_id === keyId) &&
      (traceId === undefined || trace_id === traceId),
  );
  return [...stored, ...matching].sort((one, other) => (one.request_id < other.request_id ? 1 : -1)).slice(0, limit);
}

/** The balances after the frames. `accountOf`: of a call that the tables know as open. */
export function withTransfersOf(
  tail: readonly Frame[],
  stored: readonly AccountBalance[],
  accountOf: (call_id: string) => string,
): readonly AccountBalance[] {
  const held = new Map<string, string>();
  const changed = new Map<string, Balance>(stored.map(({ account, mode: _, ...balance }) => [account, balance]));
  for (const frame of tail) {
    if (frame.kind === 'hold') held.set(frame.draft.request_id, frame.draft.account);
    for (const transfer of transfersOf(frame, (call_id) => held.get(call_id) ?? accountOf(call_id))) {
      changed.set(transfer.account, moveMoney(changed.get(transfer.account) ?? EMPTY_BALANCE, transfer));
    }
  }
  return stored.map(({ account, mode }) => ({ account, mode, ...(changed.get(account) ?? EMPTY_BALANCE) }));
}
