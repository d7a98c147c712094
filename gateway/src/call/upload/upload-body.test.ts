/** Tests where the bytes of an upload are kept: memory, the sealed file, its limits, and that nothing of it is left. */
import { afterAll, describe, expect, test } from 'bun:test';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BodyBytes } from '../../admission/capacity.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { SealedFile, WriteStalls } from './sealed-file.ts';
import { MEMORY_BYTES_MAX, UploadBody, type UploadSpool } from './upload-body.ts';

const HOUR_MS = 3_600_000;
const MIB = 1024 * 1024;
const folder = mkdtempSync(join(tmpdir(), 'upload-'));
afterAll(() => rmSync(folder, { recursive: true }));

const roomy: UploadSpool = { folder, freeBytes: () => 1024 * MIB };

interface Plan {
  readonly spool?: UploadSpool;
  readonly memory?: number;
  readonly disk?: number;
  readonly keyDisk?: number;
  readonly most?: number;
}

function open({ spool = roomy, memory = 100 * MIB, disk = 100 * MIB, keyDisk = disk, most = 50 * MIB }: Plan = {}) {
  const memoryBytes = new BodyBytes({ process: memory, key: memory });
  const diskBytes = new BodyBytes({ process: disk, key: keyDisk });
  const shares = { memory: memoryBytes.open('key'), disk: diskBytes.open('key') };
  const body = new UploadBody(spool, { uploadBytesMax: most, spoolFreeBytesMin: 64 * MIB }, shares);
  return { body, held: () => ({ memory: memoryBytes.held, disk: diskBytes.held }) };
}

/** Bytes that differ at every position. */
function bytesOf(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
  return bytes;
}

async function readFrom(body: UploadBody, offset: number): Promise<Buffer> {
  const spans: Buffer[] = [];
  for (let at = offset; at < body.length; ) {
    const span = await body.read(at);
    spans.push(span);
    at += span.length;
  }
  return Buffer.concat(spans);
}

async function kindOf(run: () => void | Promise<void>): Promise<string> {
  try {
    await run();
  } catch (error) {
    if (error instanceof CallFailure) return error.kind;
    throw error;
  }
  return 'none';
}

/** The content of the files of this process that have no name any more. */
function unnamedFiles(): Buffer[] {
  return readdirSync('/proc/self/fd').flatMap((number) => {
    try {
      const path = `/proc/self/fd/${number}`;
      return readlinkSync(path).startsWith(join(folder, 'upload-')) ? [readFileSync(path)] : [];
    } catch {
      return [];
    }
  });
}

describe('an upload', () => {
  test('stays in memory up to 1 MiB, and its file has no name and none of its bytes', async () => {
    const { body, held } = open();
    const given = bytesOf(MEMORY_BYTES_MAX);
    // An upload takes its bytes over.
    await body.append(Buffer.from(given));
    expect([body.isSpooled, held()]).toEqual([false, { memory: MEMORY_BYTES_MAX, disk: 0 }]);
    const more = Buffer.from('a sentence that is looked for. '.repeat(20_000));
    await body.append(Buffer.from(more));
    expect([body.isSpooled, held().memory, readdirSync(folder)]).toEqual([true, 0, []]);
    expect(held().disk).toBe(given.length + more.length);
    if (process.platform === 'linux') {
      const files = unnamedFiles();
      expect(files).toHaveLength(1);
      expect(files[0]?.length).toBeGreaterThan(MIB);
      expect(files[0]?.includes('a sentence that')).toBe(false);
    }
    expect((await readFrom(body, 0)).equals(Buffer.concat([given, more]))).toBe(true);
    body.release();
    expect(held()).toEqual({ memory: 0, disk: 0 });
    if (process.platform === 'linux') expect(unnamedFiles()).toEqual([]);
  });

  test('can be read from any offset, as often as needed', async () => {
    const { body } = open();
    const given = bytesOf(3 * MIB + 17);
    for (let at = 0; at < given.length; at += 100_003) await body.append(Buffer.from(given.subarray(at, at + 100_003)));
    for (const offset of [0, 1, 65_535, 65_536, 65_537, 3 * MIB, 3 * MIB + 16]) {
      expect((await readFrom(body, offset)).equals(given.subarray(offset))).toBe(true);
    }
    body.release();
  });

  test('goes to the disk at once where memory has no room', async () => {
    const { body, held } = open({ memory: 10 });
    await body.append(Buffer.from('eleven bytes'));
    expect([body.isSpooled, held(), (await readFrom(body, 0)).toString()]).toEqual([
      true,
      { memory: 0, disk: 12 },
      'eleven bytes',
    ]);
    body.release();
  });

  test.each([
    ['above its size', { most: 2 * MIB - 1 }, 'body_too_large'],
    ['at its size', { most: 2 * MIB }, 'none'],
    ['above the part of its key', { keyDisk: 2 * MIB - 1 }, 'rate_limited'],
    ['above the spool', { disk: 2 * MIB - 1, keyDisk: 3 * MIB }, 'over_capacity'],
    ['with too little free space', { spool: { folder, freeBytes: () => 63 * MIB } }, 'over_capacity'],
    ['without the folder', { spool: { folder: join(folder, 'gone'), freeBytes: () => 99 * MIB } }, 'over_capacity'],
  ])('%s ends as it should', async (_, plan, kind) => {
    const { body, held } = open(plan);
    expect(await kindOf(() => body.append(bytesOf(2 * MIB)))).toBe(kind);
    body.release();
    expect(held()).toEqual({ memory: 0, disk: 0 });
  });
});

test('bytes that were read are freed, whatever part of a record they are', async () => {
  const { body } = open();
  await body.append(bytesOf(2 * MIB + 17));
  for (const offset of [0, 5, 2 * MIB + 3]) {
    const bytes = await body.read(offset);
    expect(bytes.length).toBeGreaterThan(0);
    body.free(bytes);
    expect(bytes.length).toBe(0);
  }
  body.release();
});

describe('the sealed file', () => {
  test('is written by other threads once writes stall', async () => {
    const file = new SealedFile(folder, new WriteStalls(-1, Number.POSITIVE_INFINITY));
    const given = bytesOf(5 * 64 * 1024 + 17);
    for (let at = 0; at < given.length; at += 50_000) await file.append(given.subarray(at, at + 50_000));
    const spans: Buffer[] = [];
    for (let at = 0; at < file.length; at += spans.at(-1)?.length ?? 0) spans.push(await file.read(at));
    expect(Buffer.concat(spans).equals(given)).toBe(true);
    const pending = file.append(bytesOf(64 * 1024));
    file.close();
    expect(pending).rejects.toThrow('closed');
    expect(file.append(bytesOf(64 * 1024))).rejects.toThrow('closed');
  });

  test('is written by other threads only for a pause, which stalls of all files begin', () => {
    const stalls = new WriteStalls(HOUR_MS, Number.POSITIVE_INFINITY);
    const noteWriteOf = (ms: number) => stalls.noteWrite(performance.now() - ms);
    for (const ms of [2, 2, 0, 2, 2]) noteWriteOf(ms * HOUR_MS);
    expect(stalls.isPaused).toBe(false);
    noteWriteOf(2 * HOUR_MS);
    expect(stalls.isPaused).toBe(true);
    const again = new WriteStalls(-1, 0);
    for (let write = 0; write < 9; write++) again.noteWrite(performance.now());
    expect(again.isPaused).toBe(false);
  });

  test('is for its owner only', () => {
    const modes: number[] = [];
    const file = new SealedFile(folder);
    for (const number of process.platform === 'linux' ? readdirSync('/proc/self/fd') : []) {
      try {
        if (readlinkSync(`/proc/self/fd/${number}`).startsWith(folder))
          modes.push(statSync(`/proc/self/fd/${number}`).mode & 0o777);
      } catch {}
    }
    file.close();
    expect(modes).toEqual(process.platform === 'linux' ? [0o600] : []);
  });

  test.skipIf(process.platform !== 'linux')('is not read where a byte was changed (needs Linux)', async () => {
    const file = new SealedFile(folder);
    await file.append(bytesOf(128 * 1024));
    expect((await file.read(70_000)).length).toBe(128 * 1024 - 70_000);
    const path = readdirSync('/proc/self/fd').find((number) => {
      try {
        return readlinkSync(`/proc/self/fd/${number}`).startsWith(folder);
      } catch {
        return false;
      }
    });
    const other = openSync(`/proc/self/fd/${path}`, 'r+');
    writeSync(other, Buffer.from([1, 2, 3]), 0, 3, 66_000);
    closeSync(other);
    expect(file.read(70_000)).rejects.toThrow();
    expect((await file.read(0)).length).toBe(64 * 1024);
    file.close();
    expect(file.read(0)).rejects.toThrow('closed');
  });
});
