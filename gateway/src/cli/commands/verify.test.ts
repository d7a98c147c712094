/** Tests `tollgate verify` and `tollgate backup`: next to a server, without one, and with an invalid ledger. */
import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createContentStore } from '../../store/sqlite/content/content-store.ts';
import { backupDatabase } from '../../store/sqlite/database/backup-database.ts';
import { loadMasterKey } from '../../store/sqlite/database/master-key.ts';
import { type OpenedStore, openStore } from '../../store/sqlite/open-store.ts';
import { heldCall, settledCall } from '../../store/testing/sample-call.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { runProgram } from '../testing/run-program.ts';

const newFolder = temporaryFolders();

/** A store with one settled call and one open call. */
async function openFilledStore(): Promise<{ dataDir: string; store: OpenedStore }> {
  const dataDir = newFolder();
  const store = await openStore({ dataDir });
  await store.ledger.hold(heldCall('a', 50n));
  await store.ledger.settle(settledCall('a', { held: 50n, output: 10 }));
  await store.ledger.hold(heldCall('b', 50n));
  return { dataDir, store };
}

function spoil(path: string): void {
  const database = new Database(path);
  database.run('DROP TRIGGER call_record_keeps');
  database.run("UPDATE call_record SET status = status + 1 WHERE request_id = 'a'");
  database.close();
}

describe('verify', () => {
  test('verifies the ledger with and without a running server', async () => {
    const { dataDir, store } = await openFilledStore();
    const holds = await runProgram(dataDir, 'verify');
    expect(holds).toMatchObject({ exitCode: 0, stderr: '' });
    expect(holds.stdout).toStartWith('The ledger is valid: 3 blocks, 3 entries, 1 settled requests.\n');
    await store.close();
    expect(await runProgram(dataDir, 'verify')).toEqual(holds);
    const report = JSON.parse((await runProgram(dataDir, 'verify', '--json')).stdout);
    expect(report).toMatchObject({ ok: true, entries: 3, blocks: 3, calls: 1, last: { number: 3 }, problem: null });
    expect(holds.stdout).toEndWith(` --noted 3:${report.last.hash}\n`);
  });

  test('fails with the first wrong block', async () => {
    const { dataDir, store } = await openFilledStore();
    await store.close();
    spoil(join(dataDir, 'tollgate.db'));
    const message = 'frame 1: the record of call a has status 201, the frame has 200';
    expect(await runProgram(dataDir, 'verify')).toEqual({
      exitCode: 1,
      stdout: `The ledger is invalid: block 2: ${message}.\n`,
      stderr: '',
    });
    const { exitCode, stdout } = await runProgram(dataDir, 'verify', '--json');
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, problem: { entry: null, block: 2, message } });
  });

  test('finds a noted entry, or reports that it is missing', async () => {
    const { dataDir, store } = await openFilledStore();
    await store.close();
    const { last } = JSON.parse((await runProgram(dataDir, 'verify', '--json')).stdout);
    expect((await runProgram(dataDir, 'verify', '--noted', `3:${last.hash}`)).exitCode).toBe(0);
    const gone = await runProgram(dataDir, 'verify', '--noted', `4:${last.hash}`);
    expect(gone).toMatchObject({
      exitCode: 1,
      stdout: 'The ledger is invalid: number 4 was noted, and the last one is block 3.\n',
    });
    const wrong = await runProgram(dataDir, 'verify', '--noted', '3');
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toContain('expected a number, a colon and a hash');
  });

  test('says what a folder lacks that cannot be written, as on a read-only disk', async () => {
    const { dataDir, store } = await openFilledStore();
    await store.close();
    // In the place of a file that reading needs beside the database.
    mkdirSync(join(dataDir, 'tollgate.db-wal'));
    const { exitCode, stderr } = await runProgram(dataDir, 'verify');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('also to read it, its folder must be writable for this user');
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

  test('has everything that was confirmed before it, also what only the journal has', async () => {
    const { dataDir, store } = await openFilledStore();
    const killed = newFolder();
    // Both at once, so that the copy of the folder is that of a server killed before its database had everything.
    await store.ledger.settle(settledCall('b', { held: 50n, output: 10 }));
    cpSync(dataDir, killed, { recursive: true });
    const beside = join(newFolder(), 'tollgate.db');
    const without = join(newFolder(), 'tollgate.db');
    expect((await runProgram(dataDir, 'backup', beside)).exitCode).toBe(0);
    expect((await runProgram(killed, 'backup', without)).exitCode).toBe(0);
    for (const copy of [beside, without]) {
      const told = JSON.parse((await runProgram(dataDir, 'verify', copy, '--json')).stdout);
      expect(told).toMatchObject({ blocks: 4, calls: 2, problem: null });
    }
    await store.close();
  });

  test('is restored without the journal, which then begins a new epoch, and its noted end stays there', async () => {
    const { dataDir, store } = await openFilledStore();
    const folder = newFolder();
    await runProgram(dataDir, 'backup', join(folder, 'tollgate.db'));
    await store.ledger.settle(settledCall('b', { held: 50n, output: 10 }));
    await store.close();
    const { last } = JSON.parse((await runProgram(folder, 'verify', '--json')).stdout);
    const problems: string[] = [];
    const restored = await openStore({ dataDir: folder, onJournalProblem: (problem) => problems.push(problem) });
    expect(problems).toEqual([expect.stringContaining('It continues after block 3')]);
    expect(restored.recovered).toEqual({ posted: 0, voided: 1 });
    expect(restored.epoch).toBeGreaterThan(store.epoch);
    await restored.ledger.hold(heldCall('c', 50n));
    await restored.close();
    const proof = await runProgram(folder, 'verify', '--noted', `${last.number}:${last.hash}`);
    expect(proof).toMatchObject({ exitCode: 0, stderr: '' });
    expect(proof.stdout).toStartWith('The ledger is valid: 5 blocks');
  });

  test('is restored beside the journal, which brings everything after it', async () => {
    const { dataDir, store } = await openFilledStore();
    const copy = join(newFolder(), 'copy.db');
    await runProgram(dataDir, 'backup', copy);
    await store.ledger.settle(settledCall('b', { held: 50n, output: 10 }));
    await store.close();
    for (const name of readdirSync(dataDir)) if (name.startsWith('tollgate.db')) rmSync(join(dataDir, name));
    cpSync(copy, join(dataDir, 'tollgate.db'));
    const restored = await openStore({ dataDir });
    expect(restored.recovered).toEqual({ posted: 0, voided: 0 });
    const calls = await restored.calls.readCalls({ limit: 9, sinceMs: null, requestId: null, keyId: null });
    expect(calls.map(({ request_id, status }) => [request_id, status])).toEqual([
      ['b', 200],
      ['a', 200],
    ]);
    await restored.close();
    expect((await runProgram(dataDir, 'verify')).exitCode).toBe(0);
  });

  test('is restored beside the journal although an account was created after it', async () => {
    const { dataDir, store } = await openFilledStore();
    const copy = join(newFolder(), 'copy.db');
    await runProgram(dataDir, 'backup', copy);
    const { readAccounts, save } = store.policies;
    const [account] = await readAccounts();
    if (account === undefined) throw new Error('a new folder has an account');
    await save(
      [{ of: 'account', account: { ...account, id: 'acme', name: 'Acme', mode: 'prepaid' }, isNew: true }],
      [],
    );
    await store.ledger.topup({ id: 'm', account: 'acme', amount: 70n, note: null, at_ms: 1 });
    await store.close();
    for (const name of readdirSync(dataDir)) if (name.startsWith('tollgate.db')) rmSync(join(dataDir, name));
    cpSync(copy, join(dataDir, 'tollgate.db'));
    const problems: string[] = [];
    const restored = await openStore({ dataDir, onJournalProblem: (problem) => problems.push(problem) });
    expect(problems).toEqual([expect.stringContaining('of account acme, which the database does not have')]);
    expect(await restored.ledger.readBalances('acme')).toMatchObject([{ mode: 'prepaid', available: 70n }]);
    await restored.close();
    expect((await runProgram(dataDir, 'verify')).exitCode).toBe(0);
  });

  test('is not mixed with the log that a killed server left of the database before it', async () => {
    const { dataDir, store } = await openFilledStore();
    const copy = join(newFolder(), 'copy.db');
    await runProgram(dataDir, 'backup', copy);
    const killed = newFolder();
    await store.ledger.settle(settledCall('b', { held: 50n, output: 10 }));
    cpSync(dataDir, killed, { recursive: true });
    await store.close();
    const database = join(killed, 'tollgate.db');
    cpSync(copy, database);
    const remedy = `Move ${database}-wal and ${database}-shm away`;
    expect(() => loadMasterKey(killed)).toThrow(remedy);
    for (const command of [['verify'], ['requests'], ['backup', `${copy}.2`]]) {
      const { exitCode, stderr } = await runProgram(killed, ...command);
      expect(exitCode).toBe(1);
      expect(stderr).toContain(remedy);
    }
    expect(readFileSync(database).equals(readFileSync(copy))).toBe(true);
    for (const companion of ['-wal', '-shm']) rmSync(`${database}${companion}`);
    // The journal has the blocks after the backup.
    const restored = await openStore({ dataDir: killed });
    expect(restored.recovered).toEqual({ posted: 0, voided: 0 });
    await restored.close();
    const { calls, problem } = JSON.parse((await runProgram(killed, 'verify', '--json')).stdout);
    expect({ calls, problem }).toEqual({ calls: 2, problem: null });
  });

  test('replaces no file, and leaves none of a ledger that does not hold', async () => {
    const { dataDir, store } = await openFilledStore();
    await store.close();
    const taken = join(newFolder(), 'taken.db');
    writeFileSync(taken, 'mine');
    const refused = await runProgram(dataDir, 'backup', taken);
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused.stderr).toContain('exists already');
    const lost = await runProgram(dataDir, 'backup', join(dirname(taken), 'none', 'copy.db'));
    expect(lost).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`There is no folder ${dirname(taken)}/none.`),
    });
    const inFile = await runProgram(dataDir, 'backup', join(taken, 'copy.db'));
    expect(inFile.stderr).toContain(`There is no folder ${taken}.`);
    const meanwhile = join(newFolder(), 'copy.db');
    const takeName = () => writeFileSync(meanwhile, 'mine');
    expect(() => backupDatabase(join(dataDir, 'tollgate.db'), meanwhile, takeName)).toThrow('exists already');
    expect(readFileSync(meanwhile, 'utf8')).toBe('mine');
    expect(readdirSync(dirname(meanwhile))).toEqual(['copy.db']);
    const unnamed = join(newFolder(), 'copy.db');
    const replaceCopy = (copy: string) => {
      rmSync(copy);
      mkdirSync(copy);
    };
    expect(() => backupDatabase(join(dataDir, 'tollgate.db'), unnamed, replaceCopy)).toThrow();
    expect(existsSync(unnamed)).toBe(false);
    spoil(join(dataDir, 'tollgate.db'));
    const folder = newFolder();
    const { exitCode, stderr } = await runProgram(dataDir, 'backup', join(folder, 'copy.db'));
    expect(exitCode).toBe(1);
    expect(stderr).toContain('block 2: frame 1: the record of call a');
    expect(readdirSync(folder)).toEqual([]);
    expect(existsSync(`${taken}.partial`)).toBe(false);
  });

  test('succeeds after a killed backup, and prints JSON', async () => {
    const { dataDir, store } = await openFilledStore();
    const copy = join(newFolder(), 'copy.db');
    writeFileSync(`${copy}.partial`, 'half');
    const { stdout } = await runProgram(dataDir, 'backup', copy, '--json');
    expect(JSON.parse(stdout)).toEqual({
      file: copy,
      bytes: statSync(copy).size,
      blocks: 3,
      entries: 3,
      calls: 1,
      content: null,
    });
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
