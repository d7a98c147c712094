/** Tests `tollgate keys …` as a person or a script uses it, on a data folder without a server. */
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

/** Creates a key and returns the output of `--json`. */
async function create(...flags: string[]): Promise<Record<string, unknown> & { id: string; key: string }> {
  return JSON.parse((await run('keys', 'create', '--name', 'first', '--json', ...flags)).stdout);
}

describe('keys create', () => {
  test('prints one JSON object that begins with the id and the key', async () => {
    const { exitCode, stdout, stderr } = await run('keys', 'create', '--name', 'first', '--json');
    expect([exitCode, stderr]).toEqual([0, `Created the data folder ${dataDir}.\n`]);
    expect(stdout).toMatch(/^\{"id":"key_[0-9A-Za-z]{20}","key":"tg_[0-9A-Za-z]{49}",.*\}\n$/);
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'first',
      account: 'default',
      workspace: 'default',
      status: 'active',
    });
  });

  test('takes every restriction', async () => {
    const flags = ['--models', 'a, b*', '--expires', '30d', '--ip', '10.0.0.0/8,::1', '--scopes', 'inference,usage'];
    flags.push('--strict');
    expect(await create(...flags)).toMatchObject({
      models: ['a', 'b*'],
      ips: ['10.0.0.0/8', '::1'],
      scopes: ['inference', 'usage'],
      strict: true,
      expires_at: '2026-12-20T12:00:00.000Z',
    });
  });

  test('takes tags; keys set adds, changes and removes them', async () => {
    const { id, tags } = await create('--tag', 'team=web', '--tag', 'env=a=b');
    expect(tags).toEqual({ env: 'a=b', team: 'web' });
    const changed = await run('keys', 'set', id, '--tag', 'team=', '--tag', 'env=prod', '--tag', 'cost-center=7');
    expect(changed.stdout).toContain('cost-center=7, env=prod');
    expect((await run('keys', 'list')).stdout).toContain('cost-center=7, env=prod');
    expect(await run('keys', 'set', id, '--tag', 'Team=web')).toMatchObject({ exitCode: 2, stdout: '' });
    expect((await run('keys', 'set', id, '--tag', 'team')).stderr).toContain('expected name=value');
  });

  test('takes every limit, and shows it', async () => {
    const flags = ['--rpm', '60', '--tpm', '100000', '--concurrency', '3'];
    flags.push('--budget-usd', '0.000000001', '--budget-window', 'day');
    const { id, ...shown } = await create(...flags);
    const limits = { rpm: 60, tpm: 100_000, concurrency: 3, budget_nano_usd: '1', budget_window: 'day' };
    expect(shown).toMatchObject(limits);
    expect(JSON.parse((await run('keys', 'list', '--json')).stdout)).toMatchObject({ id, ...limits });
    const words = '60 rpm, 100000 tpm, 3 concurrent, 0.000000001 USD per day';
    expect((await run('keys', 'list')).stdout).toContain(words);
    expect((await run('keys', 'disable', id)).stdout).toContain(words);
  });

  test('shows a person the key once, in words', async () => {
    const { stdout } = await run('keys', 'create', '--name', 'first');
    expect(stdout.match(/tg_[0-9A-Za-z]{49}/g)).toHaveLength(1);
    expect(stdout).toContain('This is the only time that the key is shown.');
  });

  test.each([
    [[], "required option '--name <name>' not specified"],
    [['--name', 'n', '--rpm', '0'], 'found "0", expected a whole number from 1 to 999999999, or none'],
    [['--name', 'n', '--tpm', '1e3'], 'found "1e3", expected a whole number'],
    [['--name', 'n', '--concurrency', '-1'], 'found "-1", expected a whole number'],
    [
      ['--name', 'n', '--budget-usd', '5.0000000001'],
      'budget_usd: found "5.0000000001", expected at most 9 decimal places',
    ],
    [['--name', 'n', '--budget-usd', 'lots'], 'budget_usd: found "lots", expected a decimal number of USD'],
    [
      ['--name', 'n', '--budget-usd', '5', '--budget-window', 'year'],
      'budget_window: found "year", expected one of day, week',
    ],
    [['--name', 'n', '--budget-window', 'day'], 'budget_window: found day without a budget'],
    [['--name', 'n', '--expires', '30'], 'found "30", expected a whole number and a unit'],
    [['--name', 'n', '--expires', '0d'], 'found zero'],
    [['--name', 'n', '--models', 'a,,b'], 'found "a,,b", expected names separated by single commas'],
    [['--name', 'n', '--models', ''], 'found "", expected names'],
    [['--name', 'n', '--ip', 'localhost'], 'expected an IP address or a CIDR range'],
    [['--name', 'n', '--scopes', 'root'], 'found "root", expected inference, usage or admin'],
    [['--name', 'n', '--strict', 'on'], 'too many arguments'],
    [['--name', ''], 'expected 1 to 128 characters'],
    [['--name', 'n', 'extra'], 'too many arguments'],
  ])('%p is wrong usage', async (flags, message) => {
    const { exitCode, stdout, stderr } = await run('keys', 'create', ...flags);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
  });

  test('a workspace that is not there cannot be done', async () => {
    const { exitCode, stderr } = await run('keys', 'create', '--name', 'n', '--workspace', 'gone');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('There is no workspace with the id "gone"');
  });
});

describe('keys list', () => {
  test('shows all keys and no secret, one JSON object per line', async () => {
    const made = [await create(), await create('--expires', '1s')];
    const { stdout } = await run('keys', 'list', '--json');
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ id }) => id).sort()).toEqual(made.map(({ id }) => id).sort());
    for (const { key } of made) expect(stdout).not.toContain(key);
    expect((await run('keys', 'list')).stdout).toStartWith('ID ');
  });

  test('shows whether each key is strict', async () => {
    const [eased, strict] = [await create(), await create('--strict')];
    const rows = (await run('keys', 'list')).stdout.trimEnd().split('\n');
    expect(rows[0]?.split(/ {2,}/)).toEqual([
      'ID',
      'NAME',
      'WORKSPACE',
      'LAST 4',
      'STATE',
      'STRICT',
      'MODELS',
      'TAGS',
      'LIMITS',
    ]);
    const strictnessOf = ({ id }: { id: string }) => rows.find((row) => row.startsWith(id))?.split(/ {2,}/)[5];
    expect([strictnessOf(eased), strictnessOf(strict)]).toEqual(['off', 'on']);
    const lines = (await run('keys', 'list', '--json')).stdout.trimEnd().split('\n');
    const listed = new Map(lines.map((line) => JSON.parse(line)).map(({ id, strict }) => [id, strict]));
    expect([listed.get(eased.id), listed.get(strict.id)]).toEqual([false, true]);
  });

  test('reports a missing database, and creates none', async () => {
    const { exitCode, stderr } = await run('keys', 'list');
    expect([exitCode, stderr]).toEqual([
      1,
      `There is no database in ${dataDir}. Start the server once, or name the right data folder with TOLLGATE_DATA_DIR.`,
    ]);
    expect(await Bun.file(`${dataDir}/tollgate.db`).exists()).toBe(false);
  });
});

describe('keys rotate', () => {
  test('keeps the id, prints a new key, and the time until which the old one works', async () => {
    const { id, key } = await create();
    const rotated = JSON.parse((await run('keys', 'rotate', id, '--grace', '24h', '--json')).stdout);
    expect(rotated).toMatchObject({ id, previous_expires_at: '2026-11-21T12:00:00.000Z' });
    expect(rotated.key).not.toBe(key);
    expect((await run('keys', 'rotate', id)).stdout).toContain('The old secret works until 2026-11-21T12:00:00.000Z');
    expect(
      JSON.parse((await run('keys', 'rotate', id, '--grace', '0s', '--json')).stdout).previous_expires_at,
    ).toBeNull();
  });
});

test('a key that expires before the grace ends shows its expiry', async () => {
  const { id } = await create('--expires', '1h');
  expect((await run('keys', 'rotate', id)).stdout).toContain('The old secret works until 2026-11-20T13:00:00.000Z');
});

describe('keys disable, enable, revoke', () => {
  test('set the state of a key', async () => {
    const { id } = await create();
    for (const [verb, status] of [
      ['disable', 'disabled'],
      ['enable', 'active'],
      ['revoke', 'revoked'],
    ] as const) {
      expect(JSON.parse((await run('keys', verb, id, '--json')).stdout)).toMatchObject({ id, status });
    }
    expect(await run('keys', 'enable', id)).toMatchObject({ exitCode: 1 });
    expect(await run('keys', 'revoke', 'key_gone')).toMatchObject({ exitCode: 1, stdout: '' });
  });
});

describe('keys set', () => {
  test('changes only the given settings; a word removes a restriction', async () => {
    const { id } = await create('--models', 'a', '--ip', '::1', '--expires', '1h');
    const set = async (...flags: string[]) => JSON.parse((await run('keys', 'set', id, '--json', ...flags)).stdout);
    expect(await set('--name', 'other', '--scopes', 'admin')).toMatchObject({
      name: 'other',
      scopes: ['admin'],
      models: ['a'],
    });
    expect(await set('--models', '*', '--ip', 'any', '--expires', 'never')).toMatchObject({
      models: null,
      ips: null,
      expires_at: null,
    });
    await run('workspaces', 'create', 'team');
    expect(await set('--workspace', 'team')).toMatchObject({ workspace: 'team', name: 'other' });
  });

  test('a limit is changed, and the word none lifts it', async () => {
    const { id } = await create('--rpm', '5', '--budget-usd', '2');
    const set = async (...flags: string[]) => JSON.parse((await run('keys', 'set', id, '--json', ...flags)).stdout);
    expect(await set('--budget-window', 'week')).toMatchObject({
      rpm: 5,
      budget_nano_usd: '2000000000',
      budget_window: 'week',
    });
    expect(await set('--rpm', 'none', '--budget-usd', 'none')).toMatchObject({ rpm: null, budget_nano_usd: null });
    expect((await run('keys', 'set', id, '--concurrency', '2')).stdout).toMatch(/^ {2}limits +2 concurrent$/m);
    expect((await run('keys', 'set', id, '--concurrency', 'none')).stdout).toMatch(/^ {2}limits +none$/m);
  });

  test('--strict on and off, in JSON and in words', async () => {
    const { id } = await create();
    expect(JSON.parse((await run('keys', 'set', id, '--strict', 'on', '--json')).stdout)).toMatchObject({
      strict: true,
    });
    expect((await run('keys', 'set', id, '--name', 'other')).stdout).toMatch(/^ {2}strict +on$/m);
    expect((await run('keys', 'set', id, '--strict', 'off')).stdout).toMatch(/^ {2}strict +off$/m);
    const { exitCode, stderr } = await run('keys', 'set', id, '--strict', 'yes');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('found "yes", expected on or off')]);
  });

  test('--holds strict, adaptive and inherit, in JSON and in words', async () => {
    const { id } = await create('--holds', 'strict');
    expect(JSON.parse((await run('keys', 'list', '--json')).stdout)).toMatchObject({ id, holds: 'strict' });
    expect((await run('keys', 'set', id, '--holds', 'adaptive')).stdout).toMatch(/^ {2}holds +adaptive$/m);
    expect((await run('keys', 'set', id, '--holds', 'inherit')).stdout).toMatch(/^ {2}holds +inherit$/m);
    expect(JSON.parse((await run('keys', 'list', '--json')).stdout)).toMatchObject({ id, holds: null });
    const { exitCode, stderr } = await run('keys', 'set', id, '--holds', 'loose');
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining('found "loose", expected adaptive or strict, or inherit'),
    ]);
  });

  test('without a change is wrong usage', async () => {
    const { id } = await create();
    expect(await run('keys', 'set', id, '--json')).toMatchObject({ exitCode: 2, stdout: '' });
  });
});
