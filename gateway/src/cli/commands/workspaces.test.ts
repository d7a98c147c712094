/**
 * Tests `tollgate workspaces …` and `tollgate limits …` as a person or a script uses them, on a data folder without a
 * server.
 */
import { beforeEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { runProgram } from '../testing/run-program.ts';

const newFolder = temporaryFolders();
let dataDir: string;
const run = (...words: string[]) => runProgram(dataDir, ...words);

beforeEach(() => {
  dataDir = join(newFolder(), 'data');
});

/** The output of `--json`, line by line. */
async function print(...words: string[]): Promise<Record<string, unknown>[]> {
  const { exitCode, stdout } = await run(...words, '--json');
  expect([words, exitCode]).toEqual([words, 0]);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

describe('workspaces', () => {
  test('are made, changed and listed', async () => {
    expect(await run('workspaces', 'create', 'team', '--models', 'gpt-*')).toMatchObject({ exitCode: 0 });
    expect(await print('workspaces', 'set', 'team', '--models', '*')).toMatchObject([{ models: null }]);
    expect((await print('workspaces', 'list')).map(({ id }) => id).sort()).toEqual(['default', 'team']);
    expect((await run('workspaces', 'list')).stdout).toStartWith('ID ');
  });

  test('have an account, and limits that are set with them or later', async () => {
    await print('accounts', 'create', 'payer');
    const made = await print('workspaces', 'create', 'team', '--account', 'payer', '--rpm', '5', '--models', 'a');
    expect(made).toMatchObject([{ account: 'payer', rpm: 5, models: ['a'] }]);
    expect(await print('workspaces', 'set', 'team', '--budget-usd', '1')).toMatchObject([
      { rpm: 5, models: ['a'], budget_nano_usd: '1000000000', budget_window: 'total' },
    ]);
    expect((await run('workspaces', 'list')).stdout).toContain('5 rpm, 1 USD in total');
    expect(await print('keys', 'create', '--name', 'n', '--workspace', 'team')).toMatchObject([{ account: 'payer' }]);
  });

  test('cache answers once they are told to, and keep bodies', async () => {
    expect(await print('workspaces', 'create', 'team', '--cache', 'all')).toMatchObject([
      { cache: 'all', cache_seconds: 3_600 },
    ]);
    expect(await print('workspaces', 'set', 'team', '--cache-ttl', '10m')).toMatchObject([
      { cache: 'all', cache_seconds: 600 },
    ]);
    expect((await run('workspaces', 'list')).stdout).toContain('all, 600 s');
    const [before] = await print('workspaces', 'set', 'team', '--cache', 'request');
    const [cleared] = await print('workspaces', 'set', 'team', '--clear-cache');
    expect(cleared).toMatchObject({ cache: 'request', cache_seconds: 600 });
    expect(Date.parse(String(cleared?.cache_since))).toBeGreaterThanOrEqual(Date.parse(String(before?.cache_since)));
    const refusals = [
      [['--bodies', 'errors'], 'cache: found request for a workspace that stores the bodies of failed requests only'],
      [['--cache', 'off', '--cache-ttl', '1h'], 'cache_seconds: answers are not cached'],
      [['--cache-ttl', '31d'], 'found "2678400", expected a whole number of seconds from 1 to 2592000'],
      [['--cache', 'on'], 'found "on", expected off, request or all'],
    ] as const;
    for (const [flags, message] of refusals) {
      expect((await run('workspaces', 'set', 'team', ...flags)).stderr).toContain(message);
    }
    expect(await print('workspaces', 'set', 'team', '--cache', 'off', '--bodies', 'off')).toMatchObject([
      { cache: 'off', cache_seconds: null, cache_since: null },
    ]);
    expect((await run('workspaces', 'set', 'team', '--clear-cache')).stderr).toContain('clear_cache: answers are not');
  });

  test('a wrong id, one that is taken, and a change without a change are refused', async () => {
    expect(await run('workspaces', 'create', 'Team')).toMatchObject({ exitCode: 2 });
    expect(await run('workspaces', 'create', 'default')).toMatchObject({ exitCode: 1 });
    expect(await run('workspaces', 'create', 'team', '--account', 'gone')).toMatchObject({ exitCode: 1 });
    expect(await run('workspaces', 'set', 'default', '--json')).toMatchObject({ exitCode: 2 });
    expect(await run('workspaces', 'set', 'gone', '--models', 'a')).toMatchObject({ exitCode: 1 });
  });
});

describe('limits', () => {
  test('are set, changed, listed and lifted', async () => {
    expect(await print('limits', 'set', '--end-user', '*', '--rpm', '10')).toEqual([
      {
        kind: 'end_user',
        id: '*',
        account: 'default',
        layer: 'operator',
        rpm: 10,
        tpm: null,
        concurrency: null,
        budget_nano_usd: null,
        budget_window: null,
      },
    ]);
    await print('limits', 'set', '--model', 'gpt-5-mini', '--concurrency', '100');
    await print('limits', 'set', '--account', 'default', '--budget-usd', '25', '--budget-window', 'month');
    await print('limits', 'set', '--workspace', 'default', '--tpm', '1000000');
    expect((await print('limits', 'list')).map(({ kind }) => kind)).toEqual([
      'account',
      'end_user',
      'model',
      'workspace',
    ]);
    const { stdout } = await run('limits', 'list');
    expect(stdout).toMatch(/^end user +\* +default +operator +10 rpm$/m);
    expect(stdout).toMatch(/^account +default +- +operator +25 USD per month$/m);
    expect(await print('limits', 'set', '--end-user', '*', '--rpm', 'none')).toMatchObject([{ rpm: null }]);
    expect(await print('limits', 'list')).toHaveLength(3);
  });

  test.each([
    [['--rpm', '5'], 2, 'expected exactly one of account, workspace, end_user and model'],
    [['--workspace', 'default', '--model', 'm', '--rpm', '5'], 2, 'expected exactly one of'],
    [['--workspace', 'default'], 2, 'nothing to change'],
    [['--workspace', 'gone', '--rpm', '5'], 1, 'There is no workspace with the id "gone"'],
    [['--key', 'key_1', '--rpm', '5'], 2, "unknown option '--key'"],
  ])('set %p is refused', async (flags, exitCode, message) => {
    const outcome = await run('limits', 'set', ...flags);
    expect(outcome).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(message) });
  });
});
