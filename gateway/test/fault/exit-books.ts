/** Reads what is in a gateway's journal while it runs: records, transfers, open calls and balances. */
import type { Database } from 'bun:sqlite';
import { parseBlock } from '../../src/store/journal/block.ts';
import { decodeFrames } from '../../src/store/journal/decode-frames.ts';
import type { Balance, Transfer } from '../../src/store/ledger/fold-balance.ts';
import type { Frame } from '../../src/store/ports/journal.ts';
import type { CallRecord } from '../../src/store/ports/records.ts';
import { databasePath, openReadConnection } from '../../src/store/sqlite/database/connection.ts';
import { createTailReader } from '../../src/store/sqlite/journal-tail.ts';
import { journalFolder } from '../../src/store/sqlite/writer/writer-database.ts';
import { FrameBooks } from '../../src/store/testing/frame-books.ts';

export type RecordLine = CallRecord;
export type EntryLine = Pick<Transfer, 'kind' | 'amount' | 'released'>;

export interface HoldLine {
  readonly call_id: string;
  readonly account: string;
  readonly checkpoint: { readonly usage: CallRecord['usage']; readonly cost: bigint } | null;
}

export interface Books {
  /** Returns the records of a key's calls, oldest first. */
  recordsOf(keyId: string): Promise<readonly RecordLine[]>;
  record(requestId: string): Promise<RecordLine | null>;
  /** Returns the transfers of a call, oldest first. */
  entriesOf(requestId: string): Promise<readonly EntryLine[]>;
  balanceOf(account: string): Promise<Balance>;
  openHolds(): Promise<readonly HoldLine[]>;
  close(): void;
}

/** Opens a data folder read-only; a server may write to it meanwhile. */
export function openBooks(dataDir: string): Books {
  const path = databasePath(dataDir);
  const database = openReadConnection(path);
  const read = createTailReader(database, path, journalFolder(path));
  const stored: Frame[] = [];
  let lastSeq = 0;

  /** The blocks in the tables never change, those of the journal are read again. */
  function look(): Promise<FrameBooks> {
    return read(async (tail) => {
      for (const block of readBlocks(database, lastSeq)) {
        stored.push(...decodeFrames(block.body, block.frames));
        lastSeq = block.seq;
      }
      return new FrameBooks([...stored, ...tail]);
    });
  }

  return {
    recordsOf: async (keyId) => [...(await look()).records.values()].filter(({ key_id }) => key_id === keyId),
    record: async (requestId) => (await look()).records.get(requestId) ?? null,
    entriesOf: async (requestId) => (await look()).entries.filter(({ ref }) => ref === requestId),
    balanceOf: async (account) => (await look()).balanceOf(account),
    async openHolds() {
      const { open } = await look();
      return [...open].map(([call_id, { draft, checkpoint }]) => ({ call_id, account: draft.account, checkpoint }));
    },
    close: () => database.close(),
  };
}

function readBlocks(database: Database, afterSeq: number) {
  const rows = database
    .query<{ bytes: Uint8Array; epoch: number }, [number]>('SELECT bytes, epoch FROM block WHERE seq > ? ORDER BY seq')
    .all(afterSeq);
  return rows.map(({ bytes, epoch }) => {
    const block = parseBlock(Buffer.from(bytes), 0, epoch);
    if (block === null) throw new Error('a block of the database is damaged');
    return block;
  });
}
