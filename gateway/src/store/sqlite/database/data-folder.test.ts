/**
 * Tests the handling of the data folder: created with private permissions, accepted if ours, refused if someone else's.
 */
import { describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { prepareDataFolder } from './data-folder.ts';

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
    expect(() => prepareDataFolder(path)).toThrow();
  });
});
