/** Checks the master key's file: made once, kept, and refused when it is damaged. */
import { describe, expect, test } from 'bun:test';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadMasterKey } from './master-key.ts';
import { temporaryFolders } from './testing/temporary-folder.ts';

const newFolder = temporaryFolders();

describe('loadMasterKey', () => {
  test('makes a key that only its owner can read, and finds it again', () => {
    const folder = newFolder();
    const { key, warnings } = loadMasterKey(folder);
    expect(key.reveal()).toMatch(/^[0-9a-f]{64}$/);
    expect(warnings).toEqual([]);
    expect(statSync(join(folder, 'master.key')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['master.key']);
    expect(loadMasterKey(folder).key.reveal()).toBe(key.reveal());
    expect(loadMasterKey(newFolder()).key.reveal()).not.toBe(key.reveal());
  });

  test('starters at the same time agree on one key', async () => {
    const folder = newFolder();
    const program = `const { loadMasterKey } = await import(${JSON.stringify(join(import.meta.dir, 'master-key.ts'))});
      console.log(loadMasterKey(${JSON.stringify(folder)}).key.reveal());`;
    const starters = Array.from({ length: 6 }, () => Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe' }));
    const keys = await Promise.all(starters.map((starter) => starter.stdout.text()));
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]?.trim()).toBe(loadMasterKey(folder).key.reveal());
    expect(readdirSync(folder)).toEqual(['master.key']);
  });

  test('warns where others can read it, and says how to mend that', () => {
    const folder = newFolder();
    loadMasterKey(folder);
    chmodSync(join(folder, 'master.key'), 0o644);
    expect(loadMasterKey(folder).warnings).toEqual([
      `Other users can read ${folder}/master.key (mode 644). Close it to them: chmod 600 ${folder}/master.key`,
    ]);
  });

  test.each(['', 'not hex', 'ab'.repeat(31), 'AB'.repeat(32)])('refuses %p, and does not overwrite it', (text) => {
    const folder = newFolder();
    writeFileSync(join(folder, 'master.key'), text, { mode: 0o600 });
    expect(() => loadMasterKey(folder)).toThrow('expected 64 hex digits');
    expect(readFileSync(join(folder, 'master.key'), 'utf8')).toBe(text);
  });

  test('prints nothing of what it refuses', () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'master.key'), 'canary-7f3a', { mode: 0o600 });
    expect(() => loadMasterKey(folder)).not.toThrow('canary');
  });
});
