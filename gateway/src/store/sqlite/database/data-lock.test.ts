/** Tests that a data folder has one holder at a time, across processes and within one, however the holder ends. */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { acquireDataLock } from './data-folder.ts';

const newFolder = temporaryFolders();

/** Starts another process that tries to take the lock; resolves once it has reported the result. */
async function tryElsewhere(dataDir: string) {
  const process_ = Bun.spawn([process.execPath, join(import.meta.dir, '../testing/hold-lock.ts'), dataDir], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const reader = process_.stdout.getReader();
  const { value } = await reader.read();
  return { said: new TextDecoder().decode(value).trim(), process: process_ };
}

describe('acquireDataLock', () => {
  test('one process gets the lock, and the next one after kill -9', async () => {
    const folder = newFolder();
    const first = await tryElsewhere(folder);
    expect(first.said).toBe('taken');
    expect((await tryElsewhere(folder)).said).toBe('held');
    expect(acquireDataLock(folder)).toBe('held');
    first.process.kill('SIGKILL');
    await first.process.exited;
    const lock = acquireDataLock(folder);
    expect(lock).not.toBe('held');
    expect((await tryElsewhere(folder)).said).toBe('held');
    if (lock !== 'held') lock.release();
  });

  test('one of many concurrent processes gets it', async () => {
    const folder = newFolder();
    const tries = await Promise.all(Array.from({ length: 6 }, () => tryElsewhere(folder)));
    expect(tries.map(({ said }) => said).sort()).toEqual(['held', 'held', 'held', 'held', 'held', 'taken']);
    for (const { process } of tries) process.kill('SIGKILL');
  });

  test('one process gets it once, and can release it', () => {
    const folder = newFolder();
    const lock = acquireDataLock(folder);
    expect(acquireDataLock(folder)).toBe('held');
    Bun.gc(true);
    expect(acquireDataLock(folder)).toBe('held');
    if (lock === 'held') throw new Error('a new folder was held');
    lock.release();
    const again = acquireDataLock(folder);
    expect(again).not.toBe('held');
    if (again !== 'held') again.release();
  });

  test('fails where the folder cannot contain a lock', () => {
    expect(() => acquireDataLock(join(newFolder(), 'not-there'))).toThrow('ENOENT');
  });
});
