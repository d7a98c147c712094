/** Tests `tollgate reset-password` on a data folder without a server. */
import { beforeEach, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createResetLinks } from '../../people/members/password-resets.ts';
import { createSetUp } from '../../people/members/set-up.ts';
import type { Store } from '../../store/ports/store.ts';
import { openStore } from '../../store/sqlite/open-store.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { NOW_MS, runProgram } from '../testing/run-program.ts';

const newFolder = temporaryFolders();
let dataDir: string;
const run = (...words: string[]) => runProgram(dataDir, 'reset-password', ...words);

async function inStore<Found>(work: (store: Store) => Promise<Found>): Promise<Found> {
  const store = await openStore({ dataDir });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

beforeEach(async () => {
  dataDir = join(newFolder(), 'data');
  await runProgram(dataDir, 'setup-link');
  await inStore(async ({ people }) => {
    const setUp = createSetUp(people, () => NOW_MS);
    const { token } = (await setUp.makeLink()) ?? { token: '' };
    await setUp.claim({ token, name: 'Ada', email: 'ada@example.com', password: 'a long password' });
  });
});

test('prints a link for an hour, to a page of the configured address', async () => {
  writeFileSync(join(dirname(dataDir), 'tollgate.yaml'), 'server: { public_url: https://gw.example }\n');
  const { link, expires_at } = JSON.parse((await run('ada@example.com', '--json')).stdout);
  expect(link).toMatch(/^https:\/\/gw\.example\/app\/reset\/[\w-]{43}$/);
  expect(expires_at).toBe(new Date(NOW_MS + 3_600_000).toISOString());
  const row = await inStore(({ people }) => createResetLinks(people, () => NOW_MS).find(link.split('/').at(-1)));
  expect(row).toMatchObject({ made_by: null, ends_second_factor: 0 });
});

test('prints whether the second factor stays', async () => {
  expect((await run('ada@example.com')).stdout).toContain('The second factor stays');
  const { stdout } = await run('Ada@Example.com', '--without-second-factor');
  expect(stdout).toContain('The second factor is turned off');
  const token = /reset\/(\S+)/.exec(stdout)?.[1] ?? '';
  const row = await inStore(({ people }) => createResetLinks(people, () => NOW_MS).find(token));
  expect(row?.ends_second_factor).toBe(1);
});

test('is refused for an unknown address, and if the console is off', async () => {
  expect(await run('bob@example.com')).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringContaining('No user has the address "bob@example.com"'),
  });
  writeFileSync(join(dirname(dataDir), 'tollgate.yaml'), 'server: { console: off }\n');
  expect(await run('ada@example.com')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is off') });
});
