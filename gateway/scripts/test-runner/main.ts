/**
 * Owns `npm test`: runs the tests of all workspaces and ends with `N passed, N failed, N skipped`. Arguments are parts of
 * file paths to run only those. TOLLGATE_EXHAUSTIVE=1 makes the suites take every case instead of a sample.
 */
import { resolve } from 'node:path';
import { judge } from './judge.ts';
import { findTestFiles, runTests } from './run-tests.ts';

const ROOT = resolve(import.meta.dir, '../../..');
const FOLDERS = ['gateway', 'console', 'bench'];

const files = findTestFiles(ROOT, FOLDERS, process.argv.slice(2));
const verdict = judge(await runTests(ROOT, files));
const lines = [
  '',
  ...verdict.skips.map((skip) => `skipped: ${skip}`),
  ...verdict.problems.map((problem) => `problem: ${problem}`),
  `${verdict.passed} passed, ${verdict.failed} failed, ${verdict.skipped} skipped`,
];
process.stdout.write(`${lines.join('\n')}\n`);
process.exit(verdict.failed === 0 && verdict.passed > 0 ? 0 : 1);
