/**
 * Tests the handling of the data folder: created with private permissions, accepted if ours, refused if someone else's.
 */
import { describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { acquireDataLock, fileExists, inFolder, prepareDataFolder } from './data-folder.ts';

const newFolder = temporaryFolders();

describe('prepareDataFolder', () => {
  test('creates a folder that only its owner can read', () => {
    const folder = join(newFolder(), 'deep', 'data');
    expect(prepareDataFolder(folder)).toEqual({ created: true, warnings: [] });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(prepareDataFolder(folder)).toEqual({ created: false, warnings: [] });
  });

  test('warns where others can read it, and does not change the mode', () => {
    const folder = newFolder();
    chmodSync(folder, 0o755);
    expect(prepareDataFolder(folder).warnings).toEqual([
      `Other users can read ${folder} (mode 755). Restrict it: chmod 700 ${folder}`,
    ]);
    expect(statSync(folder).mode & 0o777).toBe(0o755);
  });

  test('accepts an empty disk and a folder of ours', () => {
    const folder = newFolder();
    mkdirSync(join(folder, 'lost+found'));
    writeFileSync(join(folder, '.keep'), '');
    expect(prepareDataFolder(folder).created).toBe(false);
    writeFileSync(join(folder, 'master.key'), '');
    writeFileSync(join(folder, 'notes.txt'), '');
    expect(prepareDataFolder(folder).created).toBe(false);
  });

  test("refuses a folder of other people's files, and names one", () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'passwd'), '');
    expect(() => prepareDataFolder(folder)).toThrow(
      `${folder} is not a Tollgate data folder: it contains passwd, expected`,
    );
  });

  test('refuses a file', () => {
    const path = join(newFolder(), 'file');
    writeFileSync(path, '');
    const words = 'is not a folder, or a file is on the way to it. Move the file away, or name another folder';
    expect(() => prepareDataFolder(path)).toThrow(`${path} ${words}`);
    expect(() => prepareDataFolder(join(path, 'data'))).toThrow(words);
  });
});

/** Root may do everything. */
const isRoot = process.getuid?.() === 0;

describe('a folder of another user', () => {
  test.skipIf(isRoot)('is told as one, and not as an empty one (needs a user that is not root)', () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'tollgate.db'), '');
    chmodSync(folder, 0o500);
    try {
      expect(() => acquireDataLock(folder)).toThrow(`This user cannot use the folder ${folder} (EACCES`);
      chmodSync(folder, 0);
      expect(() => prepareDataFolder(folder)).toThrow(`This user cannot use the folder ${folder} (EACCES`);
      expect(() => fileExists(join(folder, 'tollgate.db'))).toThrow(
        `This user cannot use the folder ${folder} (EACCES`,
      );
    } finally {
      chmodSync(folder, 0o700);
    }
  });

  test('is told for faults of the database too; other faults stay as they are', () => {
    const work = (code: string) => () =>
      inFolder('/data', () => {
        throw Object.assign(new Error('no'), { code });
      });
    for (const code of ['EACCES', 'EROFS', 'SQLITE_READONLY_DIRECTORY', 'SQLITE_CANTOPEN']) {
      expect(work(code)).toThrow('This user cannot use the folder /data (no). Run this as the user of the server');
    }
    expect(work('ENOSPC')).toThrow(/^no$/);
  });
});
