/** Runs the journal's contract suite against its files, on the disk and in memory. */
import { type JournalRig, testJournal } from '../contracts/journal-contract.ts';
import { temporaryFolders } from '../testing/temporary-folder.ts';
import { readBlocks } from './block-cursor.ts';
import { decodeFrames } from './decode-frames.ts';
import { DISK, type FilePort } from './file-port.ts';
import { openJournal } from './journal.ts';
import { recoverJournal } from './recover-journal.ts';
import { NO_MARK } from './testing/journal-trial.ts';
import { createMemoryFiles } from './testing/memory-files.ts';

const newFolder = temporaryFolders();

async function openRig(file: FilePort): Promise<JournalRig> {
  const folder = newFolder();
  const fail = (failure: unknown) => {
    if (failure !== null) throw new Error(String(failure));
  };
  async function open() {
    const { stream, end, epoch, problems } = recoverJournal(folder, null, null, file);
    for (const problem of problems) fail(problem);
    return openJournal({ folder, stream, end, epoch: epoch + 1, file, onChange: fail, onProblem: fail });
  }
  let journal = await open();
  return {
    get journal() {
      return journal;
    },
    readFrames: () =>
      [...readBlocks(folder, NO_MARK, journal.durableSeq, file)].flatMap(({ body, frames }) =>
        decodeFrames(body, frames),
      ),
    async restart() {
      await journal.close();
      journal = await open();
    },
    close: () => journal.close(),
  };
}

testJournal('files on the disk', () => openRig(DISK));
testJournal('files in memory', () => openRig(createMemoryFiles()));
