/** Tests how commands reach the data: next to a server, concurrently, and when they cannot. */

import { Database } from 'bun:sqlite';
import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLimitRules, followRules } from '../admission/limit-rules.ts';
import { createControl } from '../control/control.ts';
import { serveControl } from '../control/control-server.ts';
import { UNKNOWN_ROUTING } from '../control/testing/unknown-routing.ts';
import { followKeys, loadKeyDirectory } from '../identity/key-directory.ts';
import { authenticate } from '../identity/principal.ts';
import { createChangeFeed, publishChanges } from '../store/memory/change-feed.ts';
import { acquireDataLock } from '../store/sqlite/database/data-folder.ts';
import { loadMasterKey } from '../store/sqlite/database/master-key.ts';
import { openStore } from '../store/sqlite/open-store.ts';
import { sampleRecord } from '../store/testing/sample-record.ts';
import { temporaryFolders } from '../store/testing/temporary-folder.ts';
import { administer } from './administer.ts';
import type { CliEnvironment } from './environment.ts';
import { runProgram } from './testing/run-program.ts';

const newFolder = temporaryFolders();
/** The names of keys that as many processes create at once. */
const NAMES = process.env.TOLLGATE_EXHAUSTIVE === '1' ? ['a', 'b', 'c', 'd'] : ['a', 'b'];

function environmentOf(dataDir: string): CliEnvironment {
  return { dataDir, stdout: () => undefined, stderr: () => undefined, nowMs: () => 1 };
}

/** Runs a command line in another process. */
function runElsewhere(dataDir: string, ...words: string[]) {
  return Bun.spawn([process.execPath, join(import.meta.dir, 'testing/run-from-shell.ts'), dataDir, ...words], {
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

/** Holds a data folder as a server does. */
async function startServer(dataDir: string) {
  const lock = acquireDataLock(dataDir);
  if (lock === 'held') throw new Error('the folder was held');
  const changes = createChangeFeed();
  const store = publishChanges(await openStore({ dataDir }), changes);
  const directory = await loadKeyDirectory(store.policies, loadMasterKey(dataDir).key);
  const limits = createLimitRules(await store.policies.readLimitRules());
  changes.subscribe(followKeys(directory, store.policies));
  changes.subscribe(followRules(limits, store.policies));
  const credits: { account: string; amount: bigint }[] = [];
  const control = createControl({
    reconciliations: store.reconciliations,
    alerts: store.alerts,
    views: store.views,
    guardrails: store.guardrails,
    tryGuardrail: null,
    statements: store.statements,
    policies: store.policies,
    ledger: store.ledger,
    directory,
    limits,
    async credit(account, amount, move) {
      const moved = await move();
      credits.push({ account, amount });
      return moved;
    },
    links: { makeSetUp: async () => null, makeReset: async () => ({ kind: 'unknown' }), served: () => null },
    users: { verifyEmail: async () => ({ kind: 'unknown' }) },
    modelNames: () => null,
    routing: UNKNOWN_ROUTING,
    nowMs: Date.now,
  });
  const socket = serveControl(dataDir, control);
  return {
    store,
    directory,
    limits,
    credits,
    async stop() {
      await socket.stop();
      await store.close();
      lock.release();
    },
  };
}

async function namesIn(dataDir: string): Promise<string[]> {
  const { stdout } = await runProgram(dataDir, 'keys', 'list', '--json');
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).name)
    .sort();
}

describe('with a running server', () => {
  test('commands of other processes apply at once, and none is lost while the server is busy', async () => {
    const dataDir = newFolder();
    const server = await startServer(dataDir);
    let busy = true;
    let appended = 0;
    const load = (async () => {
      while (busy) {
        await Promise.all(
          Array.from({ length: 32 }, () => server.store.recorder.append(sampleRecord(`r${appended++}`))),
        );
        // Without a rest there would be more records than a test reads in its time.
        await Bun.sleep(2);
      }
    })();
    const commands = NAMES.map((name) => runElsewhere(dataDir, 'keys', 'create', '--name', name, '--json'));
    const printed = await Promise.all(commands.map((command) => command.stdout.text()));
    busy = false;
    await load;
    for (const text of printed) {
      const { id, key } = JSON.parse(text);
      expect(authenticate(server.directory, key, Date.now())).toMatchObject({ keyId: id });
    }
    expect(await namesIn(dataDir)).toEqual(NAMES);
    const kept = await server.store.calls.readCalls({
      limit: appended + 1,
      sinceMs: null,
      requestId: null,
      keyId: null,
    });
    expect(kept).toHaveLength(appended);
    await server.stop();
    expect(await namesIn(dataDir)).toEqual(NAMES);
  });

  test('changes of limits, accounts and money by other processes apply at once, and can be listed meanwhile', async () => {
    const dataDir = newFolder();
    const server = await startServer(dataDir);
    const run = async (...words: string[]) => {
      const { exitCode, stdout, stderr } = await runProgram(dataDir, ...words, '--json');
      expect([exitCode, stderr]).toEqual([0, '']);
      return stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    };
    const [{ id, key }] = await run('keys', 'create', '--name', 'n', '--rpm', '5');
    expect(server.limits.get({ kind: 'key', id })).toMatchObject({ requestsPerMinute: 5 });
    await run('limits', 'set', '--model', 'demo', '--concurrency', '2');
    expect(server.limits.get({ kind: 'model', id: 'demo' })).toMatchObject({ concurrency: 2 });
    await run('topup', 'default', '--usd', '0.3');
    expect(server.credits).toEqual([{ account: 'default', amount: 300_000_000n }]);
    await run('accounts', 'set', 'default', '--mode', 'prepaid');
    expect(authenticate(server.directory, key, Date.now())).toMatchObject({ account: { mode: 'prepaid' } });
    expect(await run('accounts', 'list')).toMatchObject([
      { id: 'default', mode: 'prepaid', balance_nano_usd: '300000000' },
    ]);
    expect(await run('keys', 'list')).toMatchObject([{ id, rpm: 5 }]);
    expect(await run('limits', 'list')).toHaveLength(2);
    await server.stop();
  });

  test('its refusals end a command as its own would', async () => {
    const dataDir = newFolder();
    const server = await startServer(dataDir);
    expect(await runProgram(dataDir, 'keys', 'revoke', 'key_gone')).toMatchObject({ exitCode: 1 });
    expect(await runProgram(dataDir, 'workspaces', 'create', 'Team')).toMatchObject({ exitCode: 2 });
    await server.stop();
  });
});

describe('without a server', () => {
  test('commands at once wait for one another, and all take effect', async () => {
    const dataDir = newFolder();
    const commands = NAMES.map((name) => runElsewhere(dataDir, 'keys', 'create', '--name', name));
    expect(await Promise.all(commands.map((command) => command.exited))).toEqual(NAMES.map(() => 0));
    expect(await namesIn(dataDir)).toEqual(NAMES);
  });

  test('a command waits for the lock, and fails clearly where it does not come free', async () => {
    const dataDir = newFolder();
    const lock = acquireDataLock(dataDir);
    if (lock === 'held') throw new Error('the folder was held');
    await expect(administer(environmentOf(dataDir), 'workspaces.create', { id: 'late' }, 120)).rejects.toMatchObject({
      exitCode: 1,
      message: `The data folder ${dataDir} is locked by another process that accepts no commands; waited 0.12 s. Try again when that process has ended.`,
    });
    const waiting = administer(environmentOf(dataDir), 'workspaces.create', { id: 'team' });
    lock.release();
    expect(await waiting).toMatchObject({ id: 'team' });
  });
});

describe('an invalid data folder', () => {
  const create = (dataDir: string) => runProgram(dataDir, 'keys', 'create', '--name', 'n');

  test('of a newer program', async () => {
    const dataDir = newFolder();
    await (await openStore({ dataDir })).close();
    const database = new Database(`${dataDir}/tollgate.db`);
    database.run('PRAGMA user_version = 99');
    database.close();
    for (const outcome of [await create(dataDir), await runProgram(dataDir, 'calls')]) {
      expect(outcome).toMatchObject({ exitCode: 1, stdout: '' });
      expect(outcome.stderr).toContain('schema version 99, newer than this program knows');
    }
  });

  test('of another program, or with foreign files', async () => {
    const [foreign, full] = [newFolder(), newFolder()];
    const database = new Database(`${foreign}/tollgate.db`);
    database.run('CREATE TABLE theirs (id INTEGER)');
    database.close();
    writeFileSync(join(full, 'letters.txt'), '');
    expect((await create(foreign)).stderr).toContain('is a database of another program');
    expect((await create(full)).stderr).toContain('is not a Tollgate data folder: it contains letters.txt');
  });

  test('with a damaged master key', async () => {
    const dataDir = newFolder();
    writeFileSync(join(dataDir, 'master.key'), 'gone', { mode: 0o600 });
    const outcome = await create(dataDir);
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain('expected 64 hex digits');
  });
});
