/**
 * Tests that the journal goes on into new segments while the process has no free descriptor, and that the tables follow it
 * once there is one, without a word of trouble.
 */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { runWithFewDescriptors } from '../../../test/harness/few-descriptors.ts';
import { temporaryFolders } from '../testing/temporary-folder.ts';

const newFolder = temporaryFolders();
const STORE = join(import.meta.dirname, '..');

test('segments are begun with reserved descriptors, and read with the next free one', () => {
  const folder = newFolder();
  const script = `
    import { keepSpareDescriptors } from '${STORE}/../lib/open-files.ts';
    import { openJournal } from '${STORE}/journal/journal.ts';
    import { startWriter } from '${STORE}/sqlite/writer/writer.ts';
    import { sampleRecord } from '${STORE}/testing/sample-record.ts';
    const problems = [];
    const onChange = (failure) => failure === null || problems.push(failure.message);
    const writer = await startWriter({
      path: '${folder}/tollgate.db',
      databaseBytesMax: null,
      onChange,
      program: Bun.pathToFileURL('${STORE}/sqlite/writer/writer-worker.ts'),
    });
    const { stream, end, epoch } = writer.opened;
    const journal = await openJournal({
      folder: '${folder}/journal',
      stream,
      end,
      epoch: epoch + 1,
      segmentBytes: 64 * 1024,
      onChange,
      onProblem: (problem) => problems.push(problem),
    });
    await journal.flush();
    keepSpareDescriptors(8);
    fill();
    const first = journal.state().segments;
    for (let count = 0; journal.state().segments < first + 2 && problems.length === 0; count++) {
      journal.append({ kind: 'refused', record: sampleRecord('req_' + count) }, null);
      await journal.flush().catch((fault) => problems.push(fault.message));
    }
    // Reserved ones that were used are free again.
    fill();
    const ingested = writer.ingest(journal.durableSeq).catch((fault) => ({ through: fault.message }));
    setTimeout(free, 50);
    const { through } = await ingested;
    console.log(through === journal.durableSeq ? 'read' : through, JSON.stringify(problems));
    process.exit(0);
  `;
  expect(runWithFewDescriptors(script)).toEqual({ output: 'read []\n', exitCode: 0 });
});
