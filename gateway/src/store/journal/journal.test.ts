/** Tests the journal's files on the disk: starts one after another, segments, and what is read back. */
import { expect, jest, test } from 'bun:test';
import { sampleRecord } from '../testing/sample-record.ts';
import { temporaryFolders } from '../testing/temporary-folder.ts';
import { openBlockCursor, readBlocks } from './block-cursor.ts';
import { decodeFrames } from './decode-frames.ts';
import { DISK } from './file-port.ts';
import { openJournal } from './journal.ts';
import { recoverJournal } from './recover-journal.ts';
import { JournalTrial } from './testing/journal-trial.ts';
import { systemError } from './testing/memory-files.ts';
import { pass } from './testing/run-schedule.ts';

const newFolder = temporaryFolders();
const START = { epoch: 0, seq: 0, head: new Uint8Array(32) };

function idsOf(blocks: Iterable<{ body: Uint8Array; frames: number }>): string[] {
  return [...blocks]
    .flatMap(({ body, frames }) => decodeFrames(body, frames))
    .map((frame) => (frame.kind === 'refused' ? frame.record.request_id : frame.kind));
}

test('frames of several starts and segments are read back in order, and read segments can be released', async () => {
  const folder = newFolder();
  const given: string[] = [];
  for (let start = 1; start <= 3; start++) {
    const found = recoverJournal(folder, null);
    expect([found.problems, found.epoch]).toEqual([[], start - 1]);
    const problems: unknown[] = [];
    const journal = await openJournal({
      folder,
      stream: found.stream,
      end: found.end,
      epoch: found.epoch + 1,
      onChange: (failure) => problems.push(failure),
      onProblem: (problem) => problems.push(problem),
      segmentBytes: 32 * 1024,
    });
    const cursor = openBlockCursor(folder, found.end);
    for (let count = 0; count < 100; count++) {
      const id = `request-${start}-${count}`;
      given.push(id);
      const frame = { kind: 'refused', record: sampleRecord(id) } as const;
      if (count % 3 === 0) journal.append(frame, null);
      else {
        await new Promise<void>((resolve, reject) => {
          journal.append(frame, { onDurable: resolve, onRefused: reject });
        });
        expect(idsOf(cursor.read(journal.durableSeq)).at(-1)).toBe(id);
      }
    }
    const last = await journal.flush();
    expect(last).toBe(journal.durableSeq);
    await journal.close();
    cursor.close();
    expect(problems).toEqual([]);
  }
  const { end } = recoverJournal(folder, null);
  expect(idsOf(readBlocks(folder, START, end.seq))).toEqual(given);

  const before = DISK.list(folder).length;
  const { stream } = recoverJournal(folder, end);
  const ignored = { onChange: () => undefined, onProblem: () => undefined };
  const journal = await openJournal({ folder, stream, end, epoch: 4, ...ignored, segmentBytes: 32 * 1024 });
  journal.release(end.seq);
  await journal.close();
  expect(before).toBeGreaterThan(3);
  expect(DISK.list(folder).length).toBeLessThanOrEqual(2);
  expect(recoverJournal(folder, end).end).toEqual(end);
});

test('what is written without a waiter while a slow sync is under way becomes durable by itself', async () => {
  jest.useFakeTimers();
  const trial = new JournalTrial();
  await trial.open();
  trial.append(10, true);
  await pass(5);
  await pass(95);
  trial.files.isSlow = true;
  trial.append(10);
  await pass(0);
  trial.append(10, true);
  await pass(6);
  trial.files.isSlow = false;
  await pass(0);
  expect(trial.journal?.durableSeq).toBe(2);
  await pass(100);
  expect(trial.journal?.durableSeq).toBe(3);
  await trial.journal?.close();
  jest.useRealTimers();
});

test('frames that a failed sync leaves unwritten are refused as such, those it had as unknown', async () => {
  jest.useFakeTimers();
  const trial = new JournalTrial();
  await trial.open();
  trial.files.isSlow = true;
  trial.files.faultOf = (name) => (name === 'datasync' ? systemError('EIO') : null);
  const synced = trial.append(10);
  await pass(0);
  const forming = trial.append(10);
  trial.files.isSlow = false;
  await pass(0);
  expect([trial.fates[synced], trial.fates[forming]]).toEqual(['unknown', 'refused']);
  expect([trial.changes, trial.journal?.writable()]).toEqual([['failed'], false]);
  trial.files.faultOf = () => null;
  await pass(500);
  expect(trial.changes).toEqual(['failed', null]);
  await trial.journal?.close();
  jest.useRealTimers();
});
