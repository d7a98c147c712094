/**
 * Tests `tollgate accounts …` and `tollgate topup` as a person or a script uses them, on a data folder without a
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
  const { exitCode, stdout, stderr } = await run(...words, '--json');
  expect([words, exitCode, stderr.replace(/^Created the data folder .*\n/, '')]).toEqual([words, 0, '']);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

describe('accounts', () => {
  test('are created, changed and listed', async () => {
    const flags = ['--mode', 'prepaid', '--mark-up', '12.5', '--time-zone', 'Europe/Berlin', '--rpm', '7'];
    expect(await print('accounts', 'create', 'team', ...flags)).toMatchObject([
      {
        id: 'team',
        name: 'team',
        mode: 'prepaid',
        balance_nano_usd: '0',
        held_nano_usd: '0',
        mark_up_percent: '12.5',
        time_zone: 'Europe/Berlin',
        rpm: 7,
      },
    ]);
    expect(await print('accounts', 'set', 'team', '--mark-up', '-10', '--name', 'The team')).toMatchObject([
      { name: 'The team', mode: 'prepaid', mark_up_percent: '-10', time_zone: 'Europe/Berlin', rpm: 7 },
    ]);
    const listed = await print('accounts', 'list');
    expect(listed).toHaveLength(2);
    expect(listed.find(({ id }) => id === 'default')).toMatchObject({
      mode: 'postpaid',
      balance_nano_usd: '0',
      time_zone: 'UTC',
      rpm: null,
    });
    expect(listed.find(({ id }) => id === 'team')).toMatchObject({ mode: 'prepaid', mark_up_percent: '-10', rpm: 7 });
    await print('topup', 'team', '--usd', '2.50');
    expect((await run('accounts', 'list')).stdout).toMatch(
      /^team +The team +prepaid +2\.5 +0 +0 +-10 % +Europe\/Berlin +default +7 rpm$/m,
    );
  });

  test('say how much their calls hold, until they inherit it', async () => {
    expect(await print('accounts', 'create', 'team', '--holds', 'strict')).toMatchObject([{ holds: 'strict' }]);
    expect(await print('accounts', 'set', 'team', '--mode', 'prepaid')).toMatchObject([{ holds: 'strict' }]);
    expect((await run('accounts', 'list')).stdout).toMatch(/^team .* UTC +strict +none$/m);
    await print('accounts', 'set', 'team', '--holds', 'inherit');
    expect(await print('accounts', 'list')).toMatchObject([{ holds: null }, { holds: null }]);
  });

  test.each([
    [['create', 'Team'], 2, 'id: found "Team"'],
    [['create', 'default'], 1, 'already exists'],
    [['create', 'a', '--mode', 'free'], 2, 'mode: found "free", expected postpaid or prepaid'],
    [['create', 'a', '--holds', 'loose'], 2, 'holds: found "loose", expected adaptive or strict, or inherit'],
    [['create', 'a', '--mark-up', 'ten'], 2, 'mark_up_percent: found "ten"'],
    [['create', 'a', '--time-zone', 'Nowhere'], 2, 'time_zone: found "Nowhere"'],
    [['set', 'default', '--json'], 2, 'nothing to change'],
    [['set', 'gone', '--mode', 'prepaid'], 1, 'There is no account with the id "gone"'],
    [['correct', 'default', '--usd', '1'], 2, "required option '--note <text>' not specified"],
  ])('%p is refused', async (words, exitCode, message) => {
    const outcome = await run('accounts', ...words);
    expect(outcome).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(message) });
  });
});

describe('topup', () => {
  test('moves money, and prints the new balance and the note', async () => {
    await print('topup', 'default', '--usd', '10', '--note', 'first');
    expect(await print('topup', 'default', '--usd', '0.000000001')).toEqual([
      {
        id: expect.stringMatching(/^mov_/),
        account: 'default',
        moved_nano_usd: '1',
        note: null,
        balance_nano_usd: '10000000001',
        held_nano_usd: '0',
      },
    ]);
    const { stdout } = await run('topup', 'default', '--usd', '1', '--note', 'third');
    expect(stdout).toMatch(/^ {2}balance +11\.000000001 USD$/m);
    expect(stdout).toMatch(/^ {2}note +third$/m);
    expect(await print('accounts', 'list')).toMatchObject([
      { balance_nano_usd: '11000000001', topped_up_nano_usd: '11000000001' },
    ]);
  });

  test('the same id moves once; another amount under it is refused', async () => {
    await print('topup', 'default', '--usd', '1', '--id', 'mine');
    const again = await print('topup', 'default', '--usd', '1', '--id', 'mine', '--note', 'another');
    expect(again).toMatchObject([{ id: 'mine', moved_nano_usd: '0', note: null, balance_nano_usd: '1000000000' }]);
    expect((await run('topup', 'default', '--usd', '1', '--id', 'mine')).stdout).toContain('nothing was moved now');
    const other = await run('topup', 'default', '--usd', '2', '--id', 'mine');
    expect([other.exitCode, other.stdout]).toEqual([1, '']);
    expect(other.stderr).toBe(
      'The topup mine moved 1 USD of the account default earlier and cannot be 2 USD of default now. Use another id for another movement.',
    );
  });

  test('an unknown outcome prints the id for a retry; also for a correction', async () => {
    await print('topup', 'default', '--usd', '1');
    const server = Bun.serve({ unix: join(dataDir, 'tollgate.sock'), fetch: () => new Response('hello') });
    try {
      for (const act of [['topup'], ['accounts', 'correct', '--note', 'typo']]) {
        const { exitCode, stderr } = await run(...act, 'default', '--usd', '1', '--id', 'mine');
        expect([exitCode, stderr]).toEqual([1, expect.stringContaining('To retry safely, add --id mine')]);
      }
    } finally {
      await server.stop(true);
    }
  });

  test('a correction that exceeds a prepaid balance is refused with the amount in its unit', async () => {
    await print('accounts', 'create', 'team', '--mode', 'prepaid');
    await print('topup', 'team', '--usd', '1.5');
    const { exitCode, stderr } = await run('accounts', 'correct', 'team', '--usd', '-2', '--note', 'typo');
    expect([exitCode, stderr]).toEqual([
      1,
      'The account team is prepaid and has 1.5 USD available, less than 2 USD. Debit at most 1.5.',
    ]);
  });

  test('a correction debits or credits', async () => {
    await print('topup', 'default', '--usd', '5');
    const corrected = await print('accounts', 'correct', 'default', '--usd', '-2', '--note', 'typo');
    expect(corrected).toMatchObject([{ moved_nano_usd: '-2000000000', balance_nano_usd: '3000000000', note: 'typo' }]);
    expect(await print('accounts', 'correct', 'default', '--usd', '0.5', '--note', 'sorry')).toMatchObject([
      { balance_nano_usd: '3500000000' },
    ]);
  });

  test.each([
    [['default'], 2, "required option '--usd <amount>' not specified"],
    [['default', '--usd', '0'], 2, 'usd: found 0 USD'],
    [['default', '--usd', '-1'], 2, 'usd: found "-1"'],
    [['default', '--usd', '0.0000000001'], 2, 'expected at most 9 decimal places'],
    [['gone', '--usd', '1'], 1, 'There is no account with the id "gone"'],
  ])('%p is refused', async (words, exitCode, message) => {
    const { stderr, ...outcome } = await run('topup', ...words);
    expect(outcome).toEqual({ exitCode, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('To retry');
  });
});
