/** Tests `tollgate verify` and `tollgate backup`: next to a server, without one, and with an invalid ledger. */
import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../store/ports/store.ts';
import { createContentStore } from '../../store/sqlite/content/content-store.ts';
import { loadMasterKey } from '../../store/sqlite/database/master-key.ts';
import { openStore } from '../../store/sqlite/open-store.ts';
import { heldCall, settledCall } from '../../store/testing/sample-call.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { runProgram } from '../testing/run-program.ts';

const newFolder = temporaryFolders();

/** A store with one settled call and one open call. */
async function openFilledStore(): Promise<{ dataDir: string; store: Store }> {
  const dataDir = newFolder();
  const store = await openStore({ dataDir });
  await store.ledger.hold(heldCall('a', 50n));
  await store.ledger.settle(settledCall('a', { held: 50n, output: 10 }));
  await store.ledger.hold(heldCall('b', 50n));
  return { dataDir, store };
}

function spoil(path: string): void {
  const database = new Database(path);
  database.run('DROP TRIGGER ledger_entry_keeps');
  database.run('UPDATE ledger_entry SET at_ms = at_ms + 1 WHERE seq = 2');
  database.close();
}

describe('verify', () => {
  test('verifies the ledger with and without a running server', async () => {
    const { dataDir, store } = await openFilledStore();
    const holds = await runProgram(dataDir, 'verify');
    expect(holds).toMatchObject({ exitCode: 0, stderr: '' });
    expect(holds.stdout).toStartWith('The ledger is valid: 3 entries, 1 settled requests.\n');
    await store.close();
    expect(await runProgram(dataDir, 'verify')).toEqual(holds);
    const report = JSON.parse((await runProgram(dataDir, 'verify', '--json')).stdout);
    expect(report).toMatchObject({ ok: true, entries: 3, calls: 1, last: { entry: 3 }, problem: null });
    expect(holds.stdout).toEndWith(` --noted 3:${report.last.hash}\n`);
  });

  test('fails with the first wrong entry', async () => {
    const { dataDir, store } = await openFilledStore();
    await store.close();
    spoil(join(dataDir, 'tollgate.db'));
    const message = "its hash does not follow from what it says, its call's record and the hash before it";
    expect(await runProgram(dataDir, 'verify')).toEqual({
      exitCode: 1,
      stdout: `The ledger is invalid: entry 2: ${message}.\n`,
      stderr: '',
    });
    const { exitCode, stdout } = await runProgram(dataDir, 'verify', '--json');
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, problem: { entry: 2, message } });
  });

  test('finds a noted entry, or reports that it is missing', async () => {
    const { dataDir, store } = await openFilledStore();
    await store.close();
    const { last } = JSON.parse((await runProgram(dataDir, 'verify', '--json')).stdout);
    expect((await runProgram(dataDir, 'verify', '--noted', `3:${last.hash}`)).exitCode).toBe(0);
    const gone = await runProgram(dataDir, 'verify', '--noted', `4:${last.hash}`);
    expect(gone).toMatchObject({
      exitCode: 1,
      stdout: 'The ledger is invalid: entry 4 was noted, and the last one is 3.\n',
    });
    const wrong = await runProgram(dataDir, 'verify', '--noted', '3');
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toContain('expected an entry number, a colon and the entry’s hash');
  });

  test('reports a missing database', async () => {
    const { exitCode, stderr } = await runProgram(newFolder(), 'verify');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('There is no database at');
  });
});

describe('backup', () => {
  test('is a complete store in one file that only its owner can read, copied while the server writes', async () => {
    const { dataDir, store } = await openFilledStore();
    const folder = newFolder();
    const copy = join(folder, 'tollgate.db');
    let writing = true;
    const writes = (async () => {
      for (let count = 0; writing; count++) {
        await store.ledger.hold(heldCall(`w${count}`, 5n));
        await store.ledger.settle(settledCall(`w${count}`, { held: 5n, output: 1 }));
      }
    })();
    const outcome = await runProgram(dataDir, 'backup', copy);
    writing = false;
    await writes;
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
    expect(outcome.stdout).toContain(`bytes to ${copy}; its ledger is valid: `);
    expect(outcome.stdout).toContain('master.key');
    expect(readdirSync(folder)).toEqual(['tollgate.db']);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect((await runProgram(dataDir, 'verify', copy)).exitCode).toBe(0);
    const restored = await openStore({ dataDir: folder });
    expect(restored.recovered.voided).toBeGreaterThanOrEqual(1);
    await restored.close();
    expect((await runProgram(folder, 'verify')).exitCode).toBe(0);
    await store.close();
  });

  test('replaces no file, and leaves none of a ledger that does not hold', async () => {
    const { dataDir, store } = await openFilledStore();
    await store.close();
    const taken = join(newFolder(), 'taken.db');
    writeFileSync(taken, 'mine');
    const refused = await runProgram(dataDir, 'backup', taken);
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused.stderr).toContain('exists already');
    spoil(join(dataDir, 'tollgate.db'));
    const folder = newFolder();
    const { exitCode, stderr } = await runProgram(dataDir, 'backup', join(folder, 'copy.db'));
    expect(exitCode).toBe(1);
    expect(stderr).toContain('entry 2: its hash');
    expect(readdirSync(folder)).toEqual([]);
    expect(existsSync(`${taken}.partial`)).toBe(false);
  });

  test('succeeds after a killed backup, and prints JSON', async () => {
    const { dataDir, store } = await openFilledStore();
    const copy = join(newFolder(), 'copy.db');
    writeFileSync(`${copy}.partial`, 'half');
    const { stdout } = await runProgram(dataDir, 'backup', copy, '--json');
    expect(JSON.parse(stdout)).toEqual({ file: copy, bytes: statSync(copy).size, entries: 3, calls: 1, content: null });
    await store.close();
  });

  test('reports that content is left out, and copies it on request: all or nothing', async () => {
    const { dataDir, store } = await openFilledStore();
    const folder = newFolder();
    const [plain, whole, taken] = ['plain.db', 'whole.db', 'taken.db'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    const silent = await runProgram(dataDir, 'backup', plain, '--with-content');
    expect(silent.stdout).toContain('No prompts or responses are stored.');
    const content = createContentStore(dataDir, loadMasterKey(dataDir).key, () => 1024 ** 3);
    const stored = { bytes: new TextEncoder().encode('{}'), totalBytes: 2 };
    const of = { requestId: 'r', account: 'team', workspace: 'w', atMs: 1, protocol: 'chat', status: 200 } as const;
    const bodies = { request: stored, upstreamRequest: 'same', response: stored, upstreamResponse: null } as const;
    await content.save({ ...of, ...bodies, stream: false });
    expect((await runProgram(dataDir, 'backup', join(folder, 'left-out.db'))).stdout).toContain(
      `Not copied: prompts and responses (${join(dataDir, 'content.db')}).`,
    );
    expect((await runProgram(dataDir, 'backup', whole, '--with-content')).stdout).toContain(`to ${whole}.content.`);
    expect(statSync(`${whole}.content`).mode & 0o777).toBe(0o600);
    writeFileSync(`${taken}.content`, 'mine');
    expect(await runProgram(dataDir, 'backup', taken, '--with-content')).toMatchObject({ exitCode: 1, stdout: '' });
    expect(existsSync(taken)).toBe(false);
    await content.close();
    await store.close();

    const restored = newFolder();
    renameSync(`${whole}.content`, join(restored, 'content.db'));
    const again = createContentStore(restored, loadMasterKey(dataDir).key, () => 1024 ** 3);
    expect(await again.read('team', 'r')).toMatchObject({ workspace: 'w', request: stored });
    await again.close();
  });
});
