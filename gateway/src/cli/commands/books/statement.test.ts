/** Tests `tollgate statement` on a data folder without a server. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { temporaryFolders } from '../../../store/testing/temporary-folder.ts';
import { runProgram } from '../../testing/run-program.ts';

const newFolder = temporaryFolders();

test('prints a month as CSV or JSON, with the credits of that month', async () => {
  const dataDir = join(newFolder(), 'data');
  const run = (...words: string[]) => runProgram(dataDir, ...words);
  await run('accounts', 'create', 'team', '--mode', 'prepaid', '--time-zone', 'Europe/Berlin');
  await run('topup', 'team', '--usd', '2.50', '--note', 'invoice 7', '--id', 'mov_1');
  const { stdout, exitCode } = await run('statement', 'team', '--month', '2026-11');
  expect(exitCode).toBe(0);
  const lines = stdout.trim().split('\r\n');
  expect(lines[1]).toBe('opening,2026-10-31T23:00:00.000Z,,,,,,,,,,,,,,,0');
  expect(lines[2]).toMatch(/^topup,2026-11-20T12:00:00.000Z,,,,,,,,,,,mov_1,invoice 7,,2.5,$/);
  expect(lines[3]).toBe('closing,2026-11-30T23:00:00.000Z,,,,,,,,,,,,,,,2.5');
  const json = JSON.parse((await run('statement', 'team', '--json')).stdout);
  expect(json).toMatchObject({
    account: 'team',
    month: '2026-11',
    final: false,
    closing_nano_usd: '2500000000',
    lines: [],
  });
});

test('refuses unknown accounts and months that have not begun', async () => {
  const dataDir = join(newFolder(), 'data');
  const run = (...words: string[]) => runProgram(dataDir, ...words);
  expect(await run('statement', 'nobody')).toMatchObject({ exitCode: 1 });
  for (const month of ['2026-12', '2026-1', 'last']) {
    const { exitCode, stderr } = await run('statement', '--month', month);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('month')]);
  }
});
