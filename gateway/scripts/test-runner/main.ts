/**
 * Owns `npm test`: runs the tests of all workspaces and ends with `N passed, N failed, N skipped`. Arguments are parts of
 * file paths to run only those. TOLLGATE_EXHAUSTIVE=1 makes the suites take every case instead of a sample, and one file run
 * after the other; else two run at a time for each core.
 */
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { buildConsole } from '../../src/app/build-console.ts';
import { judgeAll } from './judge.ts';
import { dealFiles, findTestFiles, runTests } from './run-tests.ts';

const ROOT = resolve(import.meta.dir, '../../..');
const FOLDERS = ['gateway', 'console', 'bench'];

const files = findTestFiles(ROOT, FOLDERS, process.argv.slice(2));
/** Most suites wait for processes of their own: on two cores four runs take 4:48, two take 6:09. The exhaustive ones fill the machine. */
const RUNS_MAX = process.env.TOLLGATE_EXHAUSTIVE === '1' ? 1 : 2 * availableParallelism();
const runs = dealFiles(files, RUNS_MAX);
// Once: else each gateway that starts before the first has built it builds it as well, and so does each that is killed meanwhile.
await buildConsole();
const verdict = judgeAll(await Promise.all(runs.map((dealt) => runTests(ROOT, dealt))));
const lines = [
  '',
  ...verdict.skips.map((skip) => `skipped: ${skip}`),
  ...verdict.problems.map((problem) => `problem: ${problem}`),
  `${verdict.passed} passed, ${verdict.failed} failed, ${verdict.skipped} skipped`,
];
process.stdout.write(`${lines.join('\n')}\n`);
process.exit(verdict.failed === 0 && verdict.passed > 0 ? 0 : 1);
