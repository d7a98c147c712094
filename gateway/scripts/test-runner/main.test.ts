/** Shows that the driver fails what `bun test` lets through: each case plants test files beside a copy of the driver and runs it. */
import { afterAll, expect, test } from 'bun:test';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { judge } from './judge.ts';
import { dealFiles, runTests } from './run-tests.ts';

const trees: string[] = [];
afterAll(() => {
  for (const tree of trees) rmSync(tree, { recursive: true });
});

/** Runs a copy of the driver over the files; returns its status and output, and its last line. */
function drive(files: Record<string, string>): { status: number; output: string; last: string } {
  const root = mkdtempSync(join(tmpdir(), 'tollgate-driver-'));
  trees.push(root);
  for (const part of ['main.ts', 'run-tests.ts', 'watch-output.ts', 'junit.ts', 'judge.ts', 'settle.ts']) {
    cpSync(join(import.meta.dir, part), join(root, 'gateway/scripts/test-runner', part));
  }
  mkdirSync(join(root, 'gateway/src/app'), { recursive: true });
  writeFileSync(join(root, 'gateway/src/app/build-console.ts'), 'export const buildConsole = () => undefined;');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), `import { test, describe, expect } from 'bun:test';\n${text}\n`);
  }
  const run = Bun.spawnSync([process.execPath, join(root, 'gateway/scripts/test-runner/main.ts')], {
    env: { ...process.env, CI: 'false' },
  });
  const output = run.stdout.toString() + run.stderr.toString();
  return { status: run.exitCode, output, last: run.stdout.toString().trimEnd().split('\n').at(-1) ?? '' };
}

const GOOD = `test('good', () => expect(1).toBe(1));`;

test('a good run of two workspaces passes', () => {
  const { status, last } = drive({ 'gateway/src/a.test.ts': GOOD, 'bench/b.test.ts': GOOD });
  expect({ status, last }).toEqual({ status: 0, last: '2 passed, 0 failed, 0 skipped' });
});

test('many files are run two at a time, and what one of them prints stands together', () => {
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [
      `gateway/src/${String(at).padStart(2, '0')}.test.ts`,
      at < 2
        ? `test('bad ${at}', async () => { for (const part of [1, 2, 3]) { console.error('part ' + part); await Bun.sleep(30); } throw new Error('of ${at}'); });`
        : GOOD,
    ]),
  );
  const { status, output, last } = drive(files);
  expect({ status, last }).toEqual({ status: 1, last: '38 passed, 2 failed, 0 skipped' });
  for (const at of [0, 1]) {
    expect(output).toMatch(new RegExp(`0${at}\\.test\\.ts:\\npart 1\\npart 2\\npart 3\\n[^]*?of ${at}\\n`));
  }
});

test('files are dealt out evenly, all of them, and few of them stay together', () => {
  const files = Array.from({ length: 45 }, (_, at) => `${at}`);
  const dealt = dealFiles(files, 2);
  expect(dealt.map(({ length }) => length)).toEqual([23, 22]);
  expect(dealt.flat().sort()).toEqual([...files].sort());
  expect(dealFiles(files.slice(0, 39), 2)).toEqual([files.slice(0, 39)]);
  expect(dealFiles(files, 1)).toEqual([files]);
  expect(dealFiles([], 2)).toEqual([[]]);
});

test('no test file at all fails', () => {
  const { status, output } = drive({});
  expect(status).toBe(1);
  expect(output).toContain('problem: no test file was found');
});

test('a file whose tests did not run fails, though others passed', () => {
  const { status, output, last } = drive({ 'gateway/a.test.ts': GOOD, 'gateway/empty.test.ts': '' });
  expect({ status, last }).toEqual({ status: 1, last: '1 passed, 1 failed, 0 skipped' });
  expect(output).toContain('problem: gateway/empty.test.ts: no test of it ran');
});

test('a skip needs a reason in its name; with one it is printed and passes', () => {
  const { status, output, last } = drive({
    'gateway/a.test.ts': `${GOOD}\ndescribe.skip('replays (needs ../shared/recordings)', () => { test('1', () => {}); test('2', () => {}); });`,
  });
  expect({ status, last }).toEqual({ status: 0, last: '1 passed, 0 failed, 2 skipped' });
  expect(output).toContain('skipped: 2 in gateway/a.test.ts: needs ../shared/recordings');
});

test('only skips fail, though each has its reason', () => {
  const { status } = drive({ 'gateway/a.test.ts': `test.skip('a (needs b)', () => {});` });
  expect(status).toBe(1);
});

test('a run that stands still is ended, and the file named', async () => {
  const root = mkdtempSync(join(tmpdir(), 'tollgate-driver-'));
  trees.push(root);
  writeFileSync(join(root, 'still.test.ts'), `import { test } from 'bun:test'; test('spins', () => { for (;;) {} });`);
  const run = await runTests(root, ['still.test.ts'], 500);
  expect(run).toMatchObject({ hungIn: 'still.test.ts', signal: 'SIGKILL', cases: null });
  expect(judge(run)).toMatchObject({
    failed: 1,
    problems: ['still.test.ts: a test of it stood still and the run was ended'],
  });
});

test('failures are shown with their file, passes are not', () => {
  const { output } = drive({ 'gateway/a.test.ts': `${GOOD} test('bad', () => expect(1).toBe(2));` });
  expect(output).toContain('gateway/a.test.ts:\n');
  expect(output).toContain('(fail) bad');
  expect(output).not.toContain('(pass)');
});

const REFUSED: [string, string, string, string][] = [
  ['a failed test', `${GOOD} test('bad', () => expect(1).toBe(2));`, '1 passed, 1 failed, 0 skipped', 'bad'],
  ['an empty file', '', '0 passed, 1 failed, 0 skipped', 'no report: no test was there'],
  [
    'a skip without a reason',
    `${GOOD} test.skip('later', () => {});`,
    '1 passed, 1 failed, 1 skipped',
    'later: skipped without',
  ],
  ['test.todo', `${GOOD} test.todo('later');`, '1 passed, 1 failed, 0 skipped', 'later: test.todo promises'],
  ['test.only', `${GOOD} test.only('only', () => {});`, '0 passed, 1 failed, 0 skipped', '.only is disabled'],
  [
    'an error in a file after its tests',
    `${GOOD} throw new Error('thrown late');`,
    '0 passed, 1 failed, 0 skipped',
    'thrown late',
  ],
  [
    'an error after the last test',
    `test('good', () => { setTimeout(() => { throw new Error('thrown later'); }, 5); });`,
    '1 passed, 1 failed, 0 skipped',
    'an error outside of any test',
  ],
  [
    'a rejection after the last test',
    `test('good', () => { setTimeout(() => Promise.reject(new Error('rejected later')), 5); });`,
    '1 passed, 1 failed, 0 skipped',
    'rejected later',
  ],
  [
    'a test that ends the process',
    `${GOOD} test('ends', () => process.exit(0));`,
    '0 passed, 1 failed, 0 skipped',
    'or one ended the process',
  ],
  [
    'a crash',
    `${GOOD} test('dies', () => process.kill(process.pid, 'SIGKILL'));`,
    '0 passed, 1 failed, 0 skipped',
    'ended by SIGKILL',
  ],
];

test.each(REFUSED)('%s fails the run and is said', (_name, text, closing, said) => {
  const { status, output, last } = drive({ 'gateway/a.test.ts': text });
  expect({ status, last }).toEqual({ status: 1, last: closing });
  expect(output).toContain(said);
});
