/** Tests what the writer thread answers: writes that come together, blocks of the journal, and requests after the end. */
import { afterEach, expect, test } from 'bun:test';
import { statSync } from 'node:fs';
import { openJournal } from '../../journal/journal.ts';
import type { Frame } from '../../ports/journal.ts';
import type { StoreError } from '../../ports/store-errors.ts';
import { sampleRecord } from '../../testing/sample-record.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { databasePath, openReadConnection } from '../database/connection.ts';
import { startWriter, type Writer } from './writer.ts';
import { journalFolder, LOG_BYTES_KEPT } from './writer-database.ts';

const newFolder = temporaryFolders();
const PROGRAM = new URL('./writer-worker.ts', import.meta.url);
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function start() {
  const path = databasePath(newFolder());
  const changes: (StoreError | null)[] = [];
  const onChange = (failure: StoreError | null) => void changes.push(failure);
  const writer = await startWriter({ path, databaseBytesMax: null, onChange, program: PROGRAM });
  closers.push(() => writer.close());
  const reading = openReadConnection(path);
  closers.push(() => reading.close());
  return { path, writer, reading, changes };
}

/** Appends each frame in a block of its own; returns the number of the last one. */
async function append(path: string, { opened }: Writer, frames: readonly Frame[]): Promise<number> {
  const { stream, end, epoch } = opened;
  const quiet = { onChange: () => undefined, onProblem: () => undefined };
  const journal = await openJournal({ folder: journalFolder(path), stream, end, epoch: epoch + 1, ...quiet });
  for (const frame of frames) {
    journal.append(frame, null);
    await journal.flush();
  }
  await journal.close();
  return journal.durableSeq;
}

const account = (id: string) => ({
  sql: 'INSERT INTO account (id, created_at_ms) VALUES (?, 1)',
  parameters: [id],
  changes: 1,
});
const refused = (id: string): Frame => ({ kind: 'refused', record: sampleRecord(id) });

test('writes that come together are kept or refused each by itself, in their order', async () => {
  const { writer, reading } = await start();
  const outcomes = await Promise.allSettled([
    writer.write([account('one')]),
    writer.write([account('two'), account('one')]),
    writer.write([account('two')]),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  await writer.write([account('three')]);
  const ids = reading.query<{ id: string }, []>("SELECT id FROM account WHERE id <> 'default' ORDER BY rowid").all();
  expect(ids.map(({ id }) => id)).toEqual(['one', 'two', 'three']);
});

test('readers see blocks once their ingest resolves; older ones are there already', async () => {
  const { path, writer, reading } = await start();
  const last = await append(path, writer, ['a', 'b', 'c'].map(refused));
  const count = () => reading.query('SELECT count(*) AS count FROM call_record').get();
  const [first, whole, again] = [writer.ingest(1), writer.ingest(last), writer.ingest(2)];
  expect((await first).through).toBe(1);
  expect([(await whole).through, (await again).through]).toEqual([last, last]);
  expect(count()).toEqual({ count: 3 });
  expect(last).toBe(3);
});

test('a block that does not fit rejects every ingest that needs it, and writes go on', async () => {
  const { path, writer, changes } = await start();
  const last = await append(path, writer, [refused('a'), refused('a'), refused('b')]);
  for (let attempt = 0; attempt < 2; attempt++) {
    await expect(writer.ingest(last)).rejects.toMatchObject({
      kind: 'incompatible',
      message: expect.stringContaining('Block 2 of the journal does not fit the database'),
    });
  }
  expect((await writer.ingest(1)).through).toBe(1);
  await writer.write([account('one')]);
  expect([writer.writable(), changes]).toEqual([true, []]);
});

test('closing keeps what was written before, and later requests are refused', async () => {
  const { writer, reading } = await start();
  const written = writer.write([account('one')]);
  await writer.close();
  await written;
  expect(reading.query("SELECT 1 AS found FROM account WHERE id = 'one'").get()).toEqual({ found: 1 });
  await expect(writer.write([account('two')])).rejects.toMatchObject({ kind: 'closed' });
  await expect(writer.ingest(1)).rejects.toMatchObject({ kind: 'closed' });
});

test('the log gives space back that it took while a long read kept it from being emptied', async () => {
  const { path, writer, reading } = await start();
  const fill = (bytes: number) => ({
    sql: "INSERT OR REPLACE INTO meta (name, value) VALUES ('fill', zeroblob(?))",
    parameters: [bytes],
    changes: null,
  });
  reading.run('BEGIN');
  reading.query('SELECT count(*) FROM meta').get();
  await writer.write([fill(LOG_BYTES_KEPT + 8_000_000)]);
  reading.run('COMMIT');
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(LOG_BYTES_KEPT);
  // The first empties the log, the second begins at its start again.
  for (let write = 0; write < 2; write++) await writer.write([fill(1)]);
  expect(statSync(`${path}-wal`).size).toBeLessThanOrEqual(LOG_BYTES_KEPT);
});
