/**
 * Tests that the driver fails runs that `bun test` accepts: each case plants test files next to a copy of the driver
 * and runs it.
 */
import { afterAll, expect, test } from 'bun:test';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { judge } from './judge.ts';
import { groupFiles, runTests, takeGroups } from './run-tests.ts';

const trees: string[] = [];
afterAll(() => {
  for (const tree of trees) rmSync(tree, { recursive: true });
});

/** Runs a copy of the driver over the files; returns its status and output, and its last line. */
function drive(
  files: Record<string, string>,
  ...words: readonly string[]
): { status: number; output: string; last: string } {
  const root = mkdtempSync(join(tmpdir(), 'tollgate-driver-'));
  trees.push(root);
  for (const part of [
    'main.ts',
    'run-tests.ts',
    'watch-output.ts',
    'junit.ts',
    'judge.ts',
    'settle.ts',
    'end-of-run.ts',
    'bundle-programs.ts',
    'start-bundled-workers.ts',
    'slowest-files.ts',
  ]) {
    cpSync(join(import.meta.dir, part), join(root, 'gateway/scripts/test-runner', part));
  }
  mkdirSync(join(root, 'gateway/src/app'), { recursive: true });
  writeFileSync(join(root, 'gateway/src/app/build-console.ts'), 'export const buildConsole = () => undefined;');
  writeFileSync(join(root, 'gateway/src/main.ts'), '');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), `import { test, describe, expect } from 'bun:test';\n${text}\n`);
  }
  const run = Bun.spawnSync([process.execPath, join(root, 'gateway/scripts/test-runner/main.ts'), ...words], {
    env: { ...process.env, CI: 'false', TOLLGATE_EXHAUSTIVE: '' },
  });
  const output = run.stdout.toString() + run.stderr.toString();
  return { status: run.exitCode, output, last: run.stdout.toString().trimEnd().split('\n').at(-1) ?? '' };
}

const GOOD = `test('good', () => expect(1).toBe(1));`;

test('a good run of two workspaces passes', () => {
  const { status, last } = drive({ 'gateway/src/a.test.ts': GOOD, 'bench/b.test.ts': GOOD });
  expect({ status, last }).toEqual({ status: 0, last: '2 passed, 0 failed, 0 skipped' });
});

test('many files are run two at a time, and the output of each stays together', () => {
  const files = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [
      `gateway/src/${String(at).padStart(2, '0')}.test.ts`,
      at < 2
        ? `test('bad ${at}', async () => { for (const part of [1, 2, 3]) { console.error('part ' + part); await Bun.sleep(30); } throw new Error('of ${at}'); });`
        : GOOD,
    ]),
  );
  const { status, output, last } = drive(files);
  expect({ status, last }).toEqual({ status: 1, last: '58 passed, 2 failed, 0 skipped' });
  for (const at of [0, 1]) {
    expect(output).toMatch(new RegExp(`0${at}\\.test\\.ts:\\npart 1\\npart 2\\npart 3\\n[^]*?of ${at}\\n`));
  }
});

test('suites in a folder named exhaustive are omitted and told, unless they are asked for', () => {
  const suite = 'gateway/src/exhaustive/a.test.ts';
  const files = { [suite]: GOOD, 'gateway/src/b.test.ts': GOOD };
  const sample = drive(files);
  expect(sample.output).toContain(`omitted: ${suite}:`);
  expect(sample.last).toBe('1 passed, 0 failed, 0 skipped');
  expect(drive(files, suite).last).toBe('1 passed, 0 failed, 0 skipped');
  expect(drive(files, 'gateway/').last).toBe('2 passed, 0 failed, 0 skipped');
});

test('a few suites of a folder share a process, the browser’s come first; more small files share one', () => {
  const small = Array.from({ length: 81 }, (_, at) => `gateway/src/${at}.test.ts`);
  const browser = [...'abcdefghi'].map((name) => `gateway/test/browser/${name}.test.ts`);
  const fault = [...'abcdefg'].map((name) => `gateway/test/fault/${name}.test.ts`);
  const e2e = ['gateway/test/e2e/a.test.ts'];
  expect(groupFiles([...small, ...e2e, ...fault, ...browser])).toEqual([
    browser.slice(0, 8),
    browser.slice(8),
    e2e,
    fault.slice(0, 6),
    fault.slice(6),
    small.slice(0, 40),
    small.slice(40, 80),
    small.slice(80),
  ]);
  expect(groupFiles([])).toEqual([]);
});

test('groups are taken from both ends, each once, no more at a time than allowed', async () => {
  const groups = Array.from({ length: 9 }, (_, at) => [`${at}`]);
  const begun: string[] = [];
  let running = 0;
  let most = 0;
  const taken = await takeGroups(groups, 2, async ([name = '']) => {
    begun.push(name);
    running += 1;
    most = Math.max(most, running);
    await Promise.resolve();
    running -= 1;
    return name;
  });
  expect(begun.slice(0, 2)).toEqual(['0', '8']);
  expect(taken.sort()).toEqual(groups.flat());
  expect(most).toBe(2);
});

test('a passed test whose name has several lines is not shown, but the lines after it are', () => {
  const named = "test('one\\ntwo\\nthree', () => expect(1).toBe(1));";
  const { output } = drive({ 'gateway/a.test.ts': `${named} test('bad', () => expect(1).toBe(2));` });
  expect(output).not.toMatch(/two|three/);
  expect(output).toContain('(fail) bad');
});

test('the slowest files are named where that is asked for', () => {
  // Long enough that a busy machine cannot make the other file the slowest.
  const slow = `test('slow', () => Bun.sleep(1_500));`;
  const { output, last } = drive({ 'gateway/test/slow.test.ts': slow, 'gateway/a.test.ts': GOOD }, '--slowest');
  expect(output).toMatch(
    /seconds +cpu +file\n +\d\.\d +0\.\d +gateway\/test\/slow\.test\.ts\n +0\.\d +0\.\d +gateway\/a/,
  );
  expect(last).toBe('2 passed, 0 failed, 0 skipped');
});

test('no test file at all fails', () => {
  const { status, output } = drive({});
  expect(status).toBe(1);
  expect(output).toContain('problem: no test file was found');
});

test('a file whose tests did not run fails, though others passed', () => {
  const { status, output, last } = drive({ 'gateway/a.test.ts': GOOD, 'gateway/empty.test.ts': '' });
  expect({ status, last }).toEqual({ status: 1, last: '1 passed, 1 failed, 0 skipped' });
  expect(output).toContain('problem: gateway/empty.test.ts: none of its tests ran');
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
    problems: ['still.test.ts: a test hung and the run was ended'],
  });
});

test('failures are shown with their file, passes and Bun’s sums are not', () => {
  const { output } = drive({
    'gateway/a.test.ts': `${GOOD} test('bad', () => expect(1).toBe(2));`,
    'gateway/b.test.ts': GOOD,
  });
  expect(output).not.toContain('gateway/b.test.ts');
  expect(output).not.toMatch(/Ran \d+ tests|\d+ pass$/m);
  expect(output).toContain('gateway/a.test.ts:\n');
  expect(output).toContain('(fail) bad');
  expect(output).not.toContain('(pass)');
});

test('the last lines name each failed test with the first lines of its error, whatever else was printed', () => {
  const { output } = drive({
    'gateway/a.test.ts': `describe('outer', () => { test('bad', () => { console.error('noise'); expect(1).toBe(2); }); });`,
    'gateway/b.test.ts': `test('long', () => { throw new Error(Array.from({ length: 99 }, (_, at) => 'row ' + at).join('\\n')); });`,
    'gateway/c.test.ts': `test('none (needs c)', () => {}); test.skip('later (needs d)', () => {});`,
  });
  const rows = Array.from({ length: 39 }, (_, at) => `    row ${at + 1}`);
  const [start, end] = [output.indexOf('\nskipped: 1 in'), output.indexOf('\n1 passed, 2 failed')];
  expect(
    output
      .slice(start, end)
      .replaceAll(/:\d+:\d+$/gm, '')
      .split('\n'),
  ).toEqual([
    '',
    'skipped: 1 in gateway/c.test.ts: needs d',
    'failed: gateway/a.test.ts > outer > bad',
    '    AssertionError: expect(received).toBe(expected)',
    '    ',
    '    Expected: 2',
    '    Received: 1',
    '    ',
    '          at gateway/a.test.ts',
    'failed: gateway/b.test.ts > long',
    '    Error: row 0',
    ...rows,
  ]);
});

test('a process that ended badly is reported with the end of its output', () => {
  const { output } = drive({
    'gateway/a.test.ts': `test('dies', () => { for (let at = 0; at < 99; at += 1) console.error('row ' + at); process.kill(process.pid, 'SIGKILL'); });`,
  });
  const [problem, ...rest] = output
    .slice(output.indexOf('\nproblem: ') + 1)
    .trimEnd()
    .split('\n');
  expect(problem).toBe('problem: bun test was ended by SIGKILL in gateway/a.test.ts');
  expect(rest).toEqual([
    ...Array.from({ length: 40 }, (_, at) => `    row ${at + 59}`),
    '0 passed, 1 failed, 0 skipped',
  ]);
});

const REFUSED: [string, string, string, string][] = [
  ['a failed test', `${GOOD} test('bad', () => expect(1).toBe(2));`, '1 passed, 1 failed, 0 skipped', 'bad'],
  ['an empty file', '', '0 passed, 1 failed, 0 skipped', 'no report: there was no test'],
  [
    'a skip without a reason',
    `${GOOD} test.skip('later', () => {});`,
    '1 passed, 1 failed, 1 skipped',
    'later: skipped without',
  ],
  ['test.todo', `${GOOD} test.todo('later');`, '1 passed, 1 failed, 0 skipped', 'later: test.todo announces'],
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

test.each(REFUSED)('%s fails the run and is said', (_name, text, closing, message) => {
  const { status, output, last } = drive({ 'gateway/a.test.ts': text });
  expect({ status, last }).toEqual({ status: 1, last: closing });
  expect(output).toContain(message);
});
