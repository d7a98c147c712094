/** Tests `tollgate guardrails …` over a data folder without a server. */
import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolders } from '../../../store/testing/temporary-folder.ts';
import { runProgram } from '../../testing/run-program.ts';

const newFolder = temporaryFolders();
const HOOK = 'https://guard.example.com/check/SECRETPATH';

test('a rule of terms is created from a file, listed, changed and deleted', async () => {
  const folder = newFolder();
  const run = (...words: string[]) => runProgram(folder, 'guardrails', ...words);
  const file = join(newFolder(), 'terms.txt');
  writeFileSync(file, 'Project Falcon\r\n\nunreleased\n');
  const created = await run('create', 'Code names', '--check', 'terms', '--items', file, '--item', 'Falcon', '--json');
  const { id, ...rule } = JSON.parse(created.stdout);
  expect(rule).toMatchObject({ items: ['Falcon', 'Project Falcon', 'unreleased'], side: 'request', action: 'block' });
  expect(rule).toMatchObject({ enabled: true, fails_open: false, timeout_ms: null, signing_secret: null });
  expect((await run('list')).stdout).toContain('Code names');
  const changed = await run(
    'set',
    id,
    '--side',
    'both',
    '--workspace',
    'default',
    '--fails-open',
    '--disable',
    '--json',
  );
  expect(JSON.parse(changed.stdout)).toMatchObject({ side: 'both', fails_open: true, enabled: false });
  const back = await run('set', id, '--all-workspaces', '--fails-closed', '--enable', '--name', 'Names', '--json');
  expect(JSON.parse(back.stdout)).toMatchObject({ workspace: null, fails_open: false, enabled: true, name: 'Names' });
  expect(JSON.parse((await run('list', '--json')).stdout)).toMatchObject({ id, name: 'Names', side: 'both' });
  expect((await run('test', id, 'hello')).stderr).toContain('No server is running');
  expect(await run('delete', id)).toMatchObject({ exitCode: 0 });
  expect((await run('list', '--json')).stdout).toBe('');
  expect((await run('delete', id)).stderr).toContain('There is no guardrail with the id');
});

test('a hook has a signing secret, and its address is never shown', async () => {
  const folder = newFolder();
  const run = (...words: string[]) => runProgram(folder, 'guardrails', ...words);
  const created = await run('create', 'Our service', '--check', 'hook', '--url', HOOK, '--timeout-ms', '500', '--json');
  const { id, signing_secret: secret, ...rule } = JSON.parse(created.stdout);
  expect(secret).toMatch(/^whsec_[0-9a-f]{64}$/);
  expect(rule).toMatchObject({ receiver: 'https://guard.example.com', timeout_ms: 500, action: null });
  const renamed = await run('set', id, '--name', 'Other', '--json');
  expect(JSON.parse(renamed.stdout).signing_secret).toBeNull();
  const moved = await run('set', id, '--url', `${HOOK}2`, '--json');
  expect(JSON.parse(moved.stdout).signing_secret).not.toBe(secret);
  for (const { stdout, stderr } of [created, renamed, moved, await run('list', '--json'), await run('list')])
    expect(stdout + stderr).not.toContain('SECRETPATH');
});

test('a file of items that is not there is named', async () => {
  const missing = join(newFolder(), 'missing');
  const words = ['guardrails', 'create', 'a', '--check', 'terms', '--items', missing];
  expect(await runProgram(newFolder(), ...words)).toMatchObject({
    exitCode: 1,
    stderr: `--items ${missing}: found no such file, expected a readable file`,
  });
});

test('wrong flags end with exit code 2 and say what was expected', async () => {
  const folder = newFolder();
  const run = (...words: string[]) => runProgram(folder, 'guardrails', ...words);
  const { id } = JSON.parse((await run('create', 'a', '--check', 'secrets', '--json')).stdout);
  for (const [words, expected] of [
    [['create', 'a', '--check', 'terms'], 'items: found nothing, expected at least one term'],
    [['create', 'a', '--check', 'secrets', '--item', 'email'], 'expected one of private_key'],
    [['create', 'a', '--check', 'hook'], 'url: found nothing'],
    [['create', 'a', '--check', 'hook', '--url', HOOK, '--timeout-ms', '99999'], 'expected 100 to 10000 ms'],
    [['create', 'a', '--check', 'hook', '--url', HOOK, '--action', 'mask'], 'a hook decides itself'],
    [['create', 'a', '--check', 'secrets', '--url', HOOK], 'only a hook has it'],
    [['set', id], 'expected at least one option'],
    [['set', id, '--enable', '--disable'], 'expected one of --enable and --disable'],
    [['set', id, '--fails-open', '--fails-closed'], 'expected one of --fails-open and --fails-closed'],
    [['set', id, '--workspace', 'default', '--all-workspaces'], 'expected one of --workspace and --all-workspaces'],
  ] as const) {
    const { exitCode, stderr } = await run(...words);
    expect(stderr).toContain(expected);
    expect(exitCode).toBe(2);
  }
});

test('without --json the members are told one per line', async () => {
  const folder = newFolder();
  const made = await runProgram(folder, 'guardrails', 'create', 'Our service', '--check', 'hook', '--url', HOOK);
  expect(made.stdout).toMatch(/^ {2}id +grl_[0-9a-f]+\n/);
  expect(made.stdout).toMatch(/\n {2}signing secret +whsec_[0-9a-f]{64}\n/);
  expect(made.stdout).not.toContain('null');
});
