/** Tests `tollgate members verify` on a data folder without a server. */
import { beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { makePerson } from '../../people/members/set-up.ts';
import { openStore } from '../../store/sqlite/open-store.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { NOW_MS, runProgram } from '../testing/run-program.ts';

const newFolder = temporaryFolders();
let dataDir: string;
const run = (...words: string[]) => runProgram(dataDir, 'members', 'verify', ...words);

beforeAll(async () => {
  dataDir = join(newFolder(), 'data');
  await runProgram(dataDir, 'accounts', 'create', 'team');
  const store = await openStore({ dataDir });
  for (const [name, email, account] of [
    ['Bob', 'bob@example.com', 'team'],
    ['Bob the operator', 'bob@example.com', 'default'],
    ['Eve', 'eve@example.com', 'team'],
  ] as const) {
    const { id, changes } = await makePerson({ name, email, password: 'a long password', account }, NOW_MS);
    const insert = { person: id, account, role: 'viewer', workspaces: null, joined_at_ms: NOW_MS };
    await store.people.save([...changes, { of: 'membership', insert }]);
  }
  await store.close();
});

test('verifies the user of an address, and prints the sign-in methods that keep working', async () => {
  const { exitCode, stdout } = await run('Eve@example.com');
  expect(exitCode).toBe(0);
  expect(stdout).toContain('Its user is Eve (person_');
  expect(stdout).toContain('by an invitation of the account team');
  expect(stdout).toContain('These sign-in methods keep working: a password.');
  expect(await run('eve@example.com')).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('is already verified'),
  });
});

test('requires the account if several users have the address', async () => {
  expect((await run('bob@example.com')).stderr).toContain('in the accounts default, team. Choose the one');
  const { stdout } = await run('bob@example.com', '--account', 'team', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ name: 'Bob', account: 'team', has_password: true, restored: [] });
});

test('refuses an unknown or invalid address', async () => {
  expect(await run('zoe@example.com')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('No user has') });
  expect(await run('zo\u00EB@example.com')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('ASCII') });
});
