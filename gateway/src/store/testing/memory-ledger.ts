/** Runs the ledger over a journal in memory, for tests. */
import { createLedger, type OpenedLedger } from '../ledger/ledger.ts';
import type { AccountMode, Ledger, LedgerProof } from '../ports/ledger.ts';
import type { CallRecord, CallRecorder } from '../ports/records.ts';
import { FrameBooks } from './frame-books.ts';
import { SteeredJournal } from './steered-journal.ts';

export interface MemoryLedger {
  readonly ledger: Ledger;
  readonly recorder: CallRecorder;
  readonly journal: SteeredJournal;
  setAccount(id: string, mode: AccountMode): void;
  readCalls(): readonly CallRecord[];
  /** Kills the ledger: only durable frames are left. Ends every open call as a start does. */
  restart(): OpenedLedger['recovered'];
  /** Appends the holds that wait for their end. */
  appendHolds(): void;
  /** Recomputes everything from the durable frames. */
  proveDurable(): LedgerProof;
  /** Writes all frames, recomputes everything from them, and compares the balances. */
  prove(): LedgerProof;
}

export function createMemoryLedger(): MemoryLedger {
  const modes = new Map<string, AccountMode>([['default', 'postpaid']]);
  let journal = new SteeredJournal();
  let opened = open(new FrameBooks([]));

  function open(books: FrameBooks): OpenedLedger {
    return createLedger({
      journal,
      balances: books.balances(modes),
      left: [...books.open.values()],
      findMovement: async (kind, id) => books.movements.get(`${kind} ${id}`) ?? null,
      caughtUp: async () => undefined,
    });
  }

  return {
    get ledger() {
      return opened.ledger;
    },
    get recorder() {
      return opened.recorder;
    },
    get journal() {
      return journal;
    },
    setAccount(id, mode) {
      modes.set(id, mode);
      opened.setAccount(id, mode);
    },
    readCalls: () => [...new FrameBooks(journal.durable).records.values()],
    restart() {
      journal = new SteeredJournal(journal);
      opened = open(new FrameBooks(journal.durable));
      return opened.recovered;
    },
    appendHolds: () => opened.appendHolds(),
    proveDurable: () => new FrameBooks(journal.durable).prove(),
    prove() {
      opened.appendHolds();
      journal.write();
      const books = new FrameBooks(journal.durable);
      const balances = opened.readNow();
      if (books.problem === null && !Bun.deepEquals(balances, books.balances(modes)))
        books.problem = 'the balances in memory differ from those of the frames';
      return books.prove();
    },
  };
}
