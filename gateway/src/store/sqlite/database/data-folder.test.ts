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
  test('makes a folder that only its owner can look into', () => {
    const folder = join(newFolder(), 'deep', 'data');
    expect(prepareDataFolder(folder)).toEqual({ created: true, warnings: [] });
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(prepareDataFolder(folder)).toEqual({ created: false, warnings: [] });
  });

  test('warns where others can look into it, and changes no mode by itself', () => {
    const folder = newFolder();
    chmodSync(folder, 0o755);
    expect(prepareDataFolder(folder).warnings).toEqual([
      `Other users can look into ${folder} (mode 755). Close it to them: chmod 700 ${folder}`,
    ]);
    expect(statSync(folder).mode & 0o777).toBe(0o755);
  });

  test('takes an empty disk, and a folder that has been ours', () => {
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
      `${folder} is not a Tollgate data folder: it holds passwd, expected`,
    );
  });

  test('refuses a file', () => {
    const path = join(newFolder(), 'file');
    writeFileSync(path, '');
    expect(() => prepareDataFolder(path)).toThrow();
  });
});
