/** Tests `tollgate alerts …` over a data folder without a server. */
import { expect, test } from 'bun:test';
import { temporaryFolders } from '../../../store/testing/temporary-folder.ts';
import { runProgram } from '../../testing/run-program.ts';

const newFolder = temporaryFolders();
const HOOK = 'https://hooks.example.com/services/T0/SECRETPATH';

test('an alert is created, listed, tested and deleted, and its address is never shown', async () => {
  const run = (...words: string[]) => runProgram(folder, 'alerts', ...words);
  const folder = newFolder();
  const created = await run(
    'create',
    'Budget 80%',
    '--budget-percent',
    '80',
    '--channel',
    'webhook',
    '--url',
    HOOK,
    '--json',
  );
  expect(created).toMatchObject({ exitCode: 0 });
  const { id, signing_secret: secret } = JSON.parse(created.stdout);
  expect(secret).toMatch(/^whsec_[0-9a-f]{64}$/);
  const listed = await run('list', '--json');
  expect(JSON.parse(listed.stdout)).toMatchObject({ id, event: 'budget', shown_threshold: '80%', last_status: null });
  expect(JSON.parse(listed.stdout).receiver).toBe('https://hooks.example.com');
  expect((await run('test', id)).stdout).toMatch(/^ {2}id {2}dlv_[0-9a-f]+\n$/);
  expect((await run('test', id)).stderr).toContain('within the last 5 seconds');
  const deliveries = await run('deliveries', id);
  expect(deliveries.stdout).toContain('This is a test of the alert Budget 80%.');
  const shown = [created, listed, deliveries].map(({ stdout, stderr }) => stdout + stderr).join('');
  expect(shown).not.toContain('SECRETPATH');
  expect(await run('delete', id)).toMatchObject({ exitCode: 0 });
  expect((await run('list', '--json')).stdout).toBe('');
  expect((await run('test', id)).stderr).toContain('There is no alert with the id');
});

test('other events have their thresholds, and those of the operator no other account', async () => {
  const folder = newFolder();
  const create = (...words: string[]) =>
    runProgram(folder, 'alerts', 'create', 'a', '--channel', 'inbox', '--json', ...words);
  const expiring = await create('--event', 'key_expiring', '--threshold', '14');
  expect(JSON.parse(expiring.stdout)).toMatchObject({ event: 'key_expiring', shown_threshold: '14 days' });
  expect((await create('--event', 'key_expiring')).stderr).toContain('expected a number of days from 1 to 365');
  expect((await create('--event', 'provider_failing', '--threshold', '3')).stderr).toContain('has no threshold');
  expect((await create('--event', 'provider_failing')).exitCode).toBe(0);
  await runProgram(folder, 'accounts', 'create', 'acme');
  expect((await create('--event', 'provider_failing', '--account', 'acme')).stderr).toContain('choose another event');
});

test('an alert of the inbox has no address', async () => {
  const folder = newFolder();
  const create = (...words: string[]) =>
    runProgram(
      folder,
      'alerts',
      'create',
      'Budget',
      '--budget-percent',
      '80',
      '--channel',
      'inbox',
      '--json',
      ...words,
    );
  expect((await create('--url', HOOK)).stderr).toContain('expected none for the channel inbox');
  expect(JSON.parse((await create()).stdout)).toMatchObject({ channel: 'inbox', receiver: '', signing_secret: null });
});

test('addresses that are not public https and impossible thresholds are refused', async () => {
  const folder = newFolder();
  const create = (...words: string[]) => runProgram(folder, 'alerts', 'create', 'a', ...words);
  for (const url of [
    'http://example.com/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://u:p@example.com/',
    'ftp://a.b/',
  ])
    expect((await create('--balance-below', '5', '--url', url)).exitCode).toBe(2);
  expect((await create('--budget-percent', '80')).stderr).toContain('expected the address of the webhook');
  expect((await create('--url', HOOK)).stderr).toContain(
    'expected one of --budget-percent, --balance-below and --event',
  );
  for (const amount of ['0', '-1', '1e3', 'x']) {
    expect((await create('--balance-below', amount, '--url', HOOK)).exitCode).toBe(2);
  }
  expect((await create('--budget-percent', '101', '--url', HOOK)).exitCode).toBe(2);
  expect((await create('--budget-percent', '80', '--threshold', '5', '--url', HOOK)).stderr).toContain(
    'with --event only',
  );
  expect((await runProgram(folder, 'alerts', 'list', '--json')).stdout).toBe('');
});

test('email needs recipients', async () => {
  const folder = newFolder();
  const create = (...words: string[]) =>
    runProgram(folder, 'alerts', 'create', 'a', '--balance-below', '5', '--channel', 'email', '--json', ...words);
  const made = await create('--to', 'ada@example.com', 'bob@example.com');
  expect(JSON.parse(made.stdout)).toMatchObject({ channel: 'email', receiver: 'ada@example.com, bob@example.com' });
  expect((await create()).stderr).toContain('to: found 0 recipients, expected 1 to 10 email addresses');
  expect((await create('--to', 'ada')).stderr).toContain('to: found "ada", expected an email address');
});
