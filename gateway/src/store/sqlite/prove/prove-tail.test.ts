/** Tests that the proof goes on in the journal's segments where the database ends. */
import { expect, test } from 'bun:test';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXHAUSTIVE } from '../../../../test/fault/calls.ts';
import { eventually } from '../../../../test/harness/eventually.ts';
import { openBlockCursor } from '../../journal/block-cursor.ts';
import { openJournal } from '../../journal/journal.ts';
import { recoverJournal } from '../../journal/recover-journal.ts';
import type { Frame } from '../../ports/journal.ts';
import type { NotedPlace } from '../../ports/ledger.ts';
import { recompute, settledCall } from '../../testing/sample-call.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { databasePath, openWriteConnection } from '../database/connection.ts';
import { openIngest } from '../ingest/ingest.ts';
import { migrate } from '../migrations/migrate.ts';
import { journalFolder } from '../writer/writer-database.ts';
import { proveLedger } from './prove-ledger.ts';

const newFolder = temporaryFolders();
const WRITING_PROGRAM = new URL('../testing/run-calls-until-killed.ts', import.meta.url).pathname;
const NO_REACH = () => undefined;

function end(id: string): Frame {
  return {
    kind: 'end',
    ...settledCall(id, { held: 30n, output: 10 }),
    hold: { amount: 30n, prepaid: false },
    at_ms: 9,
  };
}

/** A data folder with a block for each of these calls in its journal, and some of them in the database. */
async function fill(calls: number | readonly string[], ingested: number): Promise<string> {
  const ids = typeof calls === 'number' ? Array.from({ length: calls }, (_, call) => `call-${call}`) : calls;
  const dataDir = newFolder();
  const path = databasePath(dataDir);
  const folder = journalFolder(path);
  const database = openWriteConnection(path);
  migrate(database, 1);
  const { stream, end: start } = recoverJournal(folder, null);
  database.run('INSERT INTO stream (one, id, epoch, seq, head) VALUES (1, ?, 0, 0, zeroblob(32))', [stream]);
  const journal = await openJournal({ folder, stream, end: start, epoch: 1, onChange: NO_REACH, onProblem: NO_REACH });
  for (const [index, id] of ids.entries()) {
    journal.append(end(id), { onDurable: NO_REACH, onRefused: NO_REACH });
    expect(await journal.flush()).toBe(index + 1);
  }
  const openBlocks = (from: Parameters<typeof openBlockCursor>[1]) => openBlockCursor(folder, from);
  const ingest = openIngest({ database, openBlocks, nowMs: () => 1, reach: NO_REACH });
  ingest.reach(ingested);
  ingest.close();
  database.close();
  await journal.close();
  return dataDir;
}

/** The segment that has blocks, and its content. */
function segmentOf(dataDir: string): { path: string; bytes: Buffer } {
  const folder = join(dataDir, 'journal');
  for (const name of readdirSync(folder)) {
    const bytes = readFileSync(join(folder, name));
    if (blockAt(bytes, 0) > 0) return { path: join(folder, name), bytes };
  }
  throw new Error('no segment has a block');
}

/** Where the block begins, counted from 0. */
function blockAt(bytes: Buffer, number: number): number {
  let at = -1;
  for (let found = 0; found <= number; found++) at = bytes.indexOf(Buffer.from([0xff, 0x54, 0x47, 0xfe]), at + 1);
  return at;
}

test('all durable blocks are proved, wherever they are', async () => {
  for (const ingested of [0, 3, 5]) {
    const path = databasePath(await fill(5, ingested));
    const proof = proveLedger(path, recompute);
    expect(proof).toMatchObject({ entries: 10, blocks: 5, calls: 5, last: { number: 5 }, problem: null });
    expect(proveLedger(path, recompute, proof.last).problem).toBeNull();
    rmSync(journalFolder(path), { recursive: true });
    expect(proveLedger(path, recompute)).toMatchObject({ blocks: ingested, problem: null });
    if (ingested < 5) expect(proveLedger(path, recompute, proof.last).problem?.message).toContain('5 was noted');
  }
});

test('a changed byte of a durable block is found, with its place', async () => {
  const { path, bytes } = segmentOf(await fill(5, 1));
  for (const changed of [2, 3]) {
    const dataDir = join(path, '..', '..');
    const at = blockAt(bytes, changed) + 100;
    writeFileSync(path, bytes.with(at, (bytes[at] as number) ^ 1));
    const { problem } = proveLedger(databasePath(dataDir), recompute);
    expect(problem?.message).toContain(`block ${changed + 1} is missing or damaged (${path}`);
  }
});

test('a torn block at the end is left out', async () => {
  const dataDir = await fill(5, 1);
  const { path, bytes } = segmentOf(dataDir);
  writeFileSync(path, bytes.fill(0, blockAt(bytes, 4) + 100));
  expect(proveLedger(databasePath(dataDir), recompute)).toMatchObject({ blocks: 4, problem: null });
});

test('a segment that is missing between the database and a later one is found', async () => {
  const dataDir = await fill(3, 1);
  const path = databasePath(dataDir);
  const folder = journalFolder(path);
  const { stream, end: last } = recoverJournal(folder, null);
  const journal = await openJournal({ folder, stream, end: last, epoch: 2, onChange: NO_REACH, onProblem: NO_REACH });
  journal.append(end('later'), { onDurable: NO_REACH, onRefused: NO_REACH });
  await journal.flush();
  await journal.close();
  expect(proveLedger(path, recompute)).toMatchObject({ blocks: 4, problem: null });
  rmSync(segmentOf(dataDir).path);
  expect(proveLedger(path, recompute).problem?.message).toContain('block 2 is missing');
});

test('a call that ends twice is found, in the database and after it', async () => {
  for (const ingested of [0, 1]) {
    const { problem } = proveLedger(databasePath(await fill(['once', 'once'], ingested)), recompute);
    expect(problem).toMatchObject({ block: 2, message: 'frame 1: a second record of call once' });
  }
});

test('segments of another database are found', async () => {
  const [dataDir, other] = [await fill(2, 1), await fill(1, 1)];
  rmSync(journalFolder(databasePath(dataDir)), { recursive: true });
  cpSync(journalFolder(databasePath(other)), journalFolder(databasePath(dataDir)), { recursive: true });
  expect(proveLedger(databasePath(dataDir), recompute).problem?.message).toContain('belongs to another database');
});

/** Each ends with a proof of more blocks than the one before, as the server writes on. */
const ROUNDS = EXHAUSTIVE ? 25 : 6;

test('a ledger is sound at every moment while a server writes it', async () => {
  const dataDir = newFolder();
  const server = Bun.spawn([process.execPath, WRITING_PROGRAM, dataDir, 'r'], { stdout: 'pipe', stderr: 'inherit' });
  try {
    const acknowledged = server.stdout.getReader();
    await acknowledged.read();
    const told = drain(acknowledged);
    const path = databasePath(dataDir);
    let noted: NotedPlace | null = null;
    for (let round = 0; round < ROUNDS; round++) {
      const before: NotedPlace | null = noted;
      noted = await eventually('a longer ledger', (): NotedPlace | null => {
        const { problem, last } = proveLedger(path, recompute, before);
        expect(problem).toBeNull();
        const grown = (last?.number ?? 0) - (before?.number ?? 0);
        expect(grown).toBeGreaterThanOrEqual(0);
        return grown > 0 ? last : null;
      });
    }
    server.kill('SIGKILL');
    await told;
    expect(proveLedger(path, recompute, noted).problem).toBeNull();
  } finally {
    server.kill('SIGKILL');
    await server.exited;
  }
}, 60_000);

async function drain(reader: { read(): Promise<{ readonly done: boolean }> }): Promise<void> {
  for (let next = await reader.read(); !next.done; next = await reader.read());
}
