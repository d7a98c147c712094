/** Tests the journal's files on the disk: starts one after another, segments, and what is read back. */
import { afterEach, expect, jest, spyOn, test } from 'bun:test';
import type { StoreError } from '../ports/store-errors.ts';
import { sampleRecord } from '../testing/sample-record.ts';
import { temporaryFolders } from '../testing/temporary-folder.ts';
import { openBlockCursor, readBlocks } from './block-cursor.ts';
import { decodeFrames } from './decode-frames.ts';
import { DISK } from './file-port.ts';
import { openJournal } from './journal.ts';
import { recoverJournal } from './recover-journal.ts';
import { FOLDER, JournalTrial, NO_MARK, idsOf as numbersOf, SEGMENT_BYTES, turn } from './testing/journal-trial.ts';
import { systemError } from './testing/memory-files.ts';
import { pass } from './testing/run-schedule.ts';

function idsInOrder({ files, journal }: JournalTrial): number[] {
  return numbersOf(readBlocks(FOLDER, NO_MARK, journal?.durableSeq ?? 0, files));
}

const newFolder = temporaryFolders();

afterEach(() => {
  jest.useRealTimers();
});

function idsOf(blocks: Iterable<{ body: Uint8Array; frames: number }>): string[] {
  return [...blocks]
    .flatMap(({ body, frames }) => decodeFrames(body, frames))
    .map((frame) => (frame.kind === 'refused' ? frame.record.request_id : frame.kind));
}

test('a disk that hangs in a sync for five seconds lets no new call begin until the sync ends', async () => {
  jest.useFakeTimers();
  const trial = new JournalTrial();
  await trial.open();
  trial.files.isSlow = true;
  trial.append(10);
  await pass(0);
  const startMs = performance.now();
  const now = spyOn(performance, 'now');
  now.mockImplementation(() => startMs + 4_900);
  expect(trial.journal?.writable()).toBe(true);
  now.mockImplementation(() => startMs + 5_100);
  expect(trial.journal?.writable()).toBe(false);
  // A record of a refused call is not kept in memory until the disk answers.
  const refused: string[] = [];
  const waiter = { onDurable: () => undefined, onRefused: ({ kind }: StoreError) => void refused.push(kind) };
  trial.journal?.append({ kind: 'refused', record: sampleRecord('late') }, waiter);
  expect(refused).toEqual(['failed']);
  trial.files.isSlow = false;
  await pass(0);
  expect([trial.fates[0], trial.journal?.writable()]).toEqual(['acked', true]);
  now.mockRestore();
  await trial.journal?.close();
});

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
        // On a busy machine the disk may be late, and records of refusals are then turned away.
        while (!journal.writable()) await Bun.sleep(1);
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
  expect(idsOf(readBlocks(folder, NO_MARK, end.seq))).toEqual(given);

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

test('a block that is written without a waiter during a slow sync becomes durable by itself', async () => {
  jest.useFakeTimers();
  const trial = new JournalTrial();
  await trial.open();
  trial.append(10, true);
  await pass(5);
  await pass(80);
  trial.files.isSlow = true;
  trial.append(10);
  await pass(0);
  trial.append(10, true);
  await pass(10);
  await pass(20);
  trial.files.isSlow = false;
  await pass(0);
  expect(trial.journal?.durableSeq).toBe(2);
  await pass(100);
  expect(trial.journal?.durableSeq).toBe(3);
  await trial.journal?.close();
});

test('after a sync that many waited for, the next block gathers frames for a millisecond', async () => {
  jest.useFakeTimers();
  const trial = new JournalTrial();
  await trial.open();
  let syncs = 0;
  trial.files.faultOf = (name) => {
    if (name === 'datasync') syncs += 1;
    return null;
  };
  // Without a step of the clock: the test runner's fires timers of a millisecond at a step of none.
  const append = async (): Promise<number> => {
    const id = trial.append(10);
    for (let count = 0; count < 6; count++) await turn();
    return id;
  };
  await append();
  await append();
  expect(syncs).toBe(2);
  for (let count = 0; count < 3; count++) trial.append(10);
  await append();
  expect(syncs).toBe(3);
  const gathered = [await append(), await append()];
  expect([syncs, ...gathered.map((id) => trial.fates[id])]).toEqual([3, 'open', 'open']);
  await pass(1);
  expect([syncs, ...gathered.map((id) => trial.fates[id])]).toEqual([4, 'acked', 'acked']);
  const alone = await append();
  expect([syncs, trial.fates[alone]]).toEqual([5, 'acked']);
  for (let count = 0; count < 3; count++) trial.append(10);
  await append();
  const last = await append();
  const closed = trial.journal?.close();
  await pass(1);
  await closed;
  expect([syncs, trial.fates[last]]).toEqual([7, 'acked']);
});

test('a failed sync refuses what it had as unknown, the rest as failed, and keeps what no one waits for in order', async () => {
  jest.useFakeTimers();
  const trial = new JournalTrial();
  await trial.open();
  trial.files.isSlow = true;
  trial.files.faultOf = (name) => (name === 'datasync' ? systemError('EIO') : null);
  const lazy = [trial.append(10, true)];
  const synced = trial.append(10);
  await pass(0);
  lazy.push(trial.append(10, true));
  await pass(5);
  lazy.push(trial.append(10, true));
  const forming = trial.append(10);
  trial.files.isSlow = false;
  await pass(0);
  expect([trial.fates[synced], trial.fates[forming]]).toEqual(['unknown', 'refused']);
  expect([trial.changes, trial.journal?.writable()]).toEqual([['failed'], false]);
  lazy.push(trial.append(10, true));
  trial.files.faultOf = () => null;
  await pass(500);
  expect(trial.changes).toEqual(['failed', null]);
  const flushed = trial.flush();
  await pass(0);
  expect(await flushed).toBe('flushed');
  expect(idsInOrder(trial)).toEqual(lazy);
  await trial.journal?.close();
});

test('any number of frames at once, and any number kept through a fault, fills segment after segment in order', async () => {
  jest.useFakeTimers();
  const trial = new JournalTrial();
  await trial.open();
  const waited = Array.from({ length: 100 }, () => trial.append(2_000));
  for (let count = 0; count < 60; count++) await pass(0);
  expect(waited.map((id) => trial.fates[id])).toEqual(waited.map(() => 'acked'));
  trial.files.faultOf = (name) => (name === 'datasync' ? systemError('EIO') : null);
  const kept = Array.from({ length: 100 }, () => trial.append(2_000, true));
  await pass(100);
  expect(trial.journal?.writable()).toBe(false);
  kept.push(...Array.from({ length: 100 }, () => trial.append(2_000, true)));
  trial.files.faultOf = () => null;
  await pass(500);
  const flushed = trial.flush();
  for (let count = 0; count < 100; count++) await pass(0);
  expect(await flushed).toBe('flushed');
  expect(idsInOrder(trial)).toEqual([...waited, ...kept]);
  for (const name of trial.files.list('')) expect(trial.files.bytesOf(name).length).toBe(SEGMENT_BYTES);
  await trial.journal?.close();
});
