/**
 * Tests the master key's file: created once, kept, compared with its database, and refused when it is damaged or lost.
 */
import { describe, expect, test } from 'bun:test';
import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredKey } from '../../ports/records.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { openStore } from '../open-store.ts';
import { loadMasterKey, replaceMasterKey } from './master-key.ts';

const newFolder = temporaryFolders();

const KEY: StoredKey = {
  id: 'key_1',
  name: 'one',
  accountId: 'default',
  workspaceId: 'default',
  hash: 'a hash',
  last4: 'abcd',
  previousHash: null,
  previousExpiresAtMs: null,
  previousLast4: null,
  models: null,
  ips: null,
  scopes: ['inference'],
  strict: false,
  holds: null,
  status: 'active',
  createdAtMs: 1,
  expiresAtMs: null,
  createdBy: null,
  disabledBy: null,
};

describe('loadMasterKey', () => {
  test('creates a key that only its owner can read, and finds it again', () => {
    const folder = newFolder();
    const { key, warnings } = loadMasterKey(folder);
    expect(key.reveal()).toMatch(/^[0-9a-f]{64}$/);
    expect(warnings).toEqual([]);
    expect(statSync(join(folder, 'master.key')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['master.key']);
    expect(loadMasterKey(folder).key.reveal()).toBe(key.reveal());
    expect(loadMasterKey(newFolder()).key.reveal()).not.toBe(key.reveal());
  });

  test('warns where others can read it, with a remedy', () => {
    const folder = newFolder();
    loadMasterKey(folder);
    chmodSync(join(folder, 'master.key'), 0o644);
    expect(loadMasterKey(folder).warnings).toEqual([
      `Other users can read ${folder}/master.key (mode 644). Restrict it: chmod 600 ${folder}/master.key`,
    ]);
  });

  test.each(['', 'not hex', 'ab'.repeat(31), 'AB'.repeat(32)])('refuses %p, and does not overwrite it', (text) => {
    const folder = newFolder();
    writeFileSync(join(folder, 'master.key'), text, { mode: 0o600 });
    expect(() => loadMasterKey(folder)).toThrow('expected 64 hex digits');
    expect(readFileSync(join(folder, 'master.key'), 'utf8')).toBe(text);
  });

  // Root may read everything.
  test.skipIf(process.getuid?.() === 0)(
    'names the folder of a key of another user (needs a user that is not root)',
    () => {
      const folder = newFolder();
      loadMasterKey(folder);
      chmodSync(join(folder, 'master.key'), 0);
      expect(() => loadMasterKey(folder)).toThrow(`This user cannot use the folder ${folder} (EACCES`);
    },
  );

  test('prints no part of a refused file', () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'master.key'), 'canary-7f3a', { mode: 0o600 });
    expect(() => loadMasterKey(folder)).not.toThrow('canary');
  });
});

describe('beside a database', () => {
  /** A used folder: its database has the check value, and a key if `withKey`. Returns the master key. */
  async function useFolder(dataDir: string, { bound, withKey }: { bound: boolean; withKey: boolean }): Promise<string> {
    const { key, bind } = loadMasterKey(dataDir);
    const store = await openStore({ dataDir, ...(bound ? { bindMasterKey: bind } : {}) });
    if (withKey) await store.policies.save([{ of: 'key', isNew: true, key: KEY }]);
    await store.close();
    return key.reveal();
  }

  test('its check value is stored once and reveals nothing about the key', async () => {
    const folder = newFolder();
    const key = await useFolder(folder, { bound: true, withKey: false });
    expect(loadMasterKey(folder)).toMatchObject({ bind: null });
    expect(readFileSync(join(folder, 'tollgate.db')).includes(key)).toBe(false);
  });

  test.each([
    { bound: true, withKey: true },
    { bound: true, withKey: false },
    { bound: false, withKey: true },
  ])('a lost key is refused and not replaced: %p', async (used) => {
    const folder = newFolder();
    await useFolder(folder, used);
    rmSync(join(folder, 'master.key'));
    expect(() => loadMasterKey(folder)).toThrow(/master\.key is missing.*Put back the master\.key.*replace-master-key/);
    expect(readdirSync(folder)).not.toContain('master.key');
  });

  test('refuses another key, with a remedy', async () => {
    const folder = newFolder();
    await useFolder(folder, { bound: true, withKey: true });
    writeFileSync(join(folder, 'master.key'), 'ab'.repeat(32), { mode: 0o600 });
    expect(() => loadMasterKey(folder)).toThrow(/is not the master key of this database.*Put back/);
  });

  test('a folder of an earlier release gets its check value from the existing key', async () => {
    const folder = newFolder();
    const key = await useFolder(folder, { bound: false, withKey: true });
    expect(loadMasterKey(folder).bind).not.toBeNull();
    expect(await useFolder(folder, { bound: true, withKey: false })).toBe(key);
    expect(loadMasterKey(folder).bind).toBeNull();
  });

  test('a database that was never used with a key gets a new one', async () => {
    const folder = newFolder();
    await (await openStore({ dataDir: folder })).close();
    expect(loadMasterKey(folder).bind).not.toBeNull();
  });

  test('replaces a lost key only, with one that matches the database', async () => {
    const folder = newFolder();
    const key = await useFolder(folder, { bound: true, withKey: true });
    expect(() => replaceMasterKey(folder, 7)).toThrow('nothing is lost');
    renameSync(join(folder, 'master.key'), join(folder, 'kept'));
    expect(replaceMasterKey(folder, 7)).toEqual({ movedTo: null, keys: 1 });
    const replaced = loadMasterKey(folder);
    expect(replaced.bind).toBeNull();
    expect(replaced.key.reveal()).not.toBe(key);
    // The restored old file no longer matches, and is kept when it is replaced again.
    renameSync(join(folder, 'kept'), join(folder, 'master.key'));
    expect(() => loadMasterKey(folder)).toThrow('is not the master key');
    const movedTo = join(folder, 'master.key.replaced-8');
    expect(replaceMasterKey(folder, 8)).toEqual({ movedTo, keys: 1 });
    expect(readFileSync(movedTo, 'utf8').trim()).toBe(key);
    expect(loadMasterKey(folder).bind).toBeNull();
  });
});
