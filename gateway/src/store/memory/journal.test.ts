/** Runs the journal's contract suite against the journal in memory. */
import { testJournal } from '../contracts/journal-contract.ts';
import { createJournalMemory, openMemoryJournal } from './journal.ts';

testJournal('in memory', async () => {
  const memory = createJournalMemory();
  let journal = openMemoryJournal(memory);
  return {
    get journal() {
      return journal;
    },
    readFrames: () => memory.frames,
    async restart() {
      await journal.close();
      journal = openMemoryJournal(memory);
    },
    close: () => journal.close(),
  };
});
