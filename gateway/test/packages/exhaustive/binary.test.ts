/** Tests the single binary: without Node it serves, records and shows the console; and it opens an older data folder. */
import { afterAll, describe, expect, test } from 'bun:test';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileBinary, ROOT } from '../../../scripts/package/bundle-program.ts';
import { buildConsole } from '../../../src/app/build-console.ts';
import {
  unpackOldDataFolder,
  unpackPreviousDataFolder,
} from '../../../src/store/sqlite/migrations/testing/old-data-folder.ts';
import { exhaustiveTest } from '../../harness/exhaustive.ts';
import { startScheduledClock } from '../../harness/scheduled-clock.ts';
import { expectFirstUse, startInstalled } from '../installed.ts';

const TEST_MS_MAX = 120_000;

const root = mkdtempSync(join(tmpdir(), 'tollgate-binary-test-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const console = await buildConsole();
const built = join(root, 'tollgate');
await compileBinary(built, { command: 'tollgate', console, runtime: null });

/** A machine without Node: no program is found by its name. */
const environment = { PATH: join(root, 'nothing'), HOME: root };

function emptyFolder(name: string): string {
  const folder = join(root, name);
  mkdirSync(folder);
  return folder;
}

function run(cwd: string, ...words: string[]): { status: number; stdout: string; stderr: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync([built, ...words], { cwd, env: environment });
  return { status: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

test(
  'in an empty folder it answers, records and shows the console, without Node',
  async () => {
    const folder = emptyFolder('empty');
    const elapsedMs = startScheduledClock();
    cpSync(built, join(folder, 'tollgate'));
    const gateway = await startInstalled([join(folder, 'tollgate'), 'serve', '--port', '0'], {
      cwd: folder,
      environment,
    });
    try {
      await expectFirstUse(gateway, elapsedMs);
      expect(JSON.parse(run(folder, 'requests', '--json').stdout)).toMatchObject({ model: 'demo', status: 200 });
    } finally {
      await gateway.stop();
    }
    expect(run(folder, 'verify')).toMatchObject({ status: 0 });
  },
  TEST_MS_MAX,
);

describe('upgrade', () => {
  test.each([
    ['the oldest that can be upgraded', unpackOldDataFolder, 'research'],
    ['the one before', unpackPreviousDataFolder, 'ci'],
  ])(
    'a folder of an older version is migrated, and its ledger is proven: %s',
    async (name, unpack, key) => {
      const folder = emptyFolder(name);
      mkdirSync(join(folder, '.tollgate'), { mode: 0o700 });
      unpack(join(folder, '.tollgate'));
      const started = Bun.spawn([built, 'serve', '--port', '0'], { cwd: folder, env: environment, stdout: 'pipe' });
      const reader = started.stdout.getReader();
      const { value } = await reader.read();
      expect(new TextDecoder().decode(value)).toContain('listens on');
      started.kill('SIGINT');
      expect(await started.exited).toBe(0);
      expect(run(folder, 'verify')).toMatchObject({ status: 0 });
      expect(run(folder, 'keys', 'list', '--json').stdout).toContain(`"name":"${key}"`);
    },
    TEST_MS_MAX,
  );
});

test('it names neither the folder of its build, nor a command that it does not have', () => {
  const bytes = readFileSync(built);
  expect(bytes.includes(ROOT)).toBe(false);
  expect(bytes.includes('bin/tollgate setup-link')).toBe(false);
});

exhaustiveTest(
  'a second build has the same bytes',
  async () => {
    const again = join(root, 'again');
    mkdirSync(again);
    await compileBinary(join(again, 'tollgate'), { command: 'tollgate', console, runtime: null });
    expect(readFileSync(join(again, 'tollgate')).equals(readFileSync(built))).toBe(true);
  },
  TEST_MS_MAX,
);

test('a wrong command fails with its usage', () => {
  expect(run(root, 'serv')).toMatchObject({ status: 2, stdout: '' });
});
