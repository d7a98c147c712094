/** Runs the journal's contract suite against the steered journal: tests of the ledger rely on it. */
import { testJournal } from '../contracts/journal-contract.ts';
import { SteeredJournal } from './steered-journal.ts';

testJournal('steered by a test', async () => {
  let journal = new SteeredJournal();
  return {
    get journal() {
      return journal;
    },
    readFrames: () => journal.durable,
    async restart() {
      await journal.close();
      journal = new SteeredJournal(journal);
    },
    close: () => journal.close(),
  };
});
