/** Tests `tollgate setup-link` on a data folder without a server. */
import { beforeEach, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createSetUp } from '../../people/members/set-up.ts';
import { openStore } from '../../store/sqlite/open-store.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { NOW_MS, runProgram } from '../testing/run-program.ts';

const newFolder = temporaryFolders();
let dataDir: string;
const run = (...words: string[]) => runProgram(dataDir, 'setup-link', ...words);

beforeEach(() => {
  dataDir = join(newFolder(), 'data');
});

/** The state that setup finds in the data folder at the time of the commands. */
async function withSetUp<Found>(work: (setUp: ReturnType<typeof createSetUp>) => Promise<Found>): Promise<Found> {
  const store = await openStore({ dataDir });
  try {
    return await work(createSetUp(store.people, () => NOW_MS));
  } finally {
    await store.close();
  }
}

test('prints a link that works until the next one is created', async () => {
  const [first, second] = [JSON.parse((await run('--json')).stdout), JSON.parse((await run('--json')).stdout)];
  expect(first.link).toStartWith('http://127.0.0.1:8080/app/setup?token=');
  expect(first.expires_at).toBe(new Date(NOW_MS + 900_000).toISOString());
  const ends = await withSetUp((setUp) =>
    Promise.all([first, second].map(({ link }) => setUp.readLink(String(new URL(link).searchParams.get('token'))))),
  );
  expect(ends).toEqual([null, NOW_MS + 900_000]);
  expect((await run()).stdout).toMatch(
    /^http:\/\/127\.0\.0\.1:8080\/app\/setup\?token=[\w-]{43}\n\nIt works once, until /,
  );
});

test('is refused once the console is set up, and if the console is off', async () => {
  const { link } = JSON.parse((await run('--json')).stdout);
  const token = String(new URL(link).searchParams.get('token'));
  await withSetUp((setUp) => setUp.claim({ token, name: 'Ada', email: 'a@example.com', password: 'a long password' }));
  expect(await run()).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('already set up') });

  dataDir = join(newFolder(), 'data');
  mkdirSync(dirname(dataDir), { recursive: true });
  writeFileSync(join(dirname(dataDir), 'tollgate.yaml'), 'server: { console: off, public_url: https://gw.example }\n');
  expect(await run()).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('The console is off') });
  writeFileSync(join(dirname(dataDir), 'tollgate.yaml'), 'server: { public_url: https://gw.example }\n');
  expect((await run()).stdout).toStartWith('https://gw.example/app/setup?token=');
});
