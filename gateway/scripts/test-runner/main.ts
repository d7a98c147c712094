/**
 * Runs `npm test`: the tests of all workspaces. Ends with `N passed, N failed, N skipped`. Arguments are parts of file
 * paths, to run only those; `--slowest` adds a table of the slowest files. TOLLGATE_EXHAUSTIVE=1 makes the suites run
 * every case instead of a sample, with as many processes at a time as there are cores; otherwise twice as many.
 */
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildConsole } from '../../src/app/build-console.ts';
import { judgeAll } from './judge.ts';
import { findTestFiles, groupFiles, runTests, takeGroups } from './run-tests.ts';
import { slowestFiles } from './slowest-files.ts';

const ROOT = resolve(import.meta.dir, '../../..');
const FOLDERS = ['gateway', 'console', 'bench'];

const { values: wanted, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: { slowest: { type: 'boolean', default: false } },
});
const groups = groupFiles(findTestFiles(ROOT, FOLDERS, positionals));
/** Most suites wait for their own child processes, so a core has time for two. The exhaustive ones keep a core busy. */
const AT_ONCE = (process.env.TOLLGATE_EXHAUSTIVE === '1' ? 1 : 2) * availableParallelism();
// Built once here: otherwise each gateway that starts before the first build has finished builds it too, even if it is
// killed.
await buildConsole();
const runs = await takeGroups(groups, AT_ONCE, (files) => runTests(ROOT, files));
const verdict = judgeAll(runs);
const lines = [
  '',
  ...(wanted.slowest ? slowestFiles(runs) : []),
  ...verdict.skips.map((skip) => `skipped: ${skip}`),
  ...verdict.problems.map((problem) => `problem: ${problem}`),
  `${verdict.passed} passed, ${verdict.failed} failed, ${verdict.skipped} skipped`,
];
process.stdout.write(`${lines.join('\n')}\n`);
process.exit(verdict.failed === 0 && verdict.passed > 0 ? 0 : 1);
