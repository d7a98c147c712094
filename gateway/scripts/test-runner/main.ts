/**
 * Runs `npm test`: the tests of all workspaces. Ends with each failed test and `N passed, N failed, N skipped`.
 * Arguments are parts of file paths, to run only those; `--slowest` adds a table of the slowest files.
 * TOLLGATE_EXHAUSTIVE=1 makes the suites run every case instead of a sample, also those in folders named `exhaustive`,
 * with as many processes at a time as there are cores; otherwise two and a half times as many.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildConsole } from '../../src/app/build-console.ts';
import { BUNDLES, bundlePrograms, compileGateway } from './bundle-programs.ts';
import { judgeAll } from './judge.ts';
import { findTestFiles, groupFiles, isSuite, runTests, takeGroups } from './run-tests.ts';
import { slowestFiles } from './slowest-files.ts';

const ROOT = resolve(import.meta.dir, '../../..');
const FOLDERS = ['gateway', 'console', 'bench'];

const { values: wanted, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: { slowest: { type: 'boolean', default: false } },
});
const isExhaustive = process.env.TOLLGATE_EXHAUSTIVE === '1';
const found = findTestFiles(ROOT, FOLDERS, positionals);
/** Suites that the sample omits as a whole, unless they are asked for. */
const omitted = isExhaustive || positionals.length > 0 ? [] : found.filter((file) => file.includes('/exhaustive/'));
const groups = groupFiles(found.filter((file) => !omitted.includes(file)));
/**
 * Suites wait for the disk, for timers and for their child processes, so two cores have time for five. With six, the
 * whole run took a fifth more CPU time: suites that wait for each other's processes ask again and again; with four, a
 * tenth of the cores was idle (measured on 2026-11-28). The exhaustive ones keep a core busy for longer: two at once left
 * almost half of the time of two cores idle (measured on 2026-11-29).
 */
const AT_ONCE = Math.ceil((isExhaustive ? 1.5 : 2.5) * availableParallelism());
/** From so many suites on, their faster starts are worth the time that the executable file takes. */
const SUITES_THAT_COMPILE = 20;
const bundles = await mkdtemp(join(tmpdir(), 'tollgate-bundles-'));
// A few small files start no gateway, and run sooner without these.
if (groups.length > 1 || groups.flat().some(isSuite)) {
  // Built once here: otherwise each gateway that starts before the first build has finished builds it too, even if it
  // is killed.
  await buildConsole();
  // The exhaustive run tests the sources themselves, as they are installed.
  if (!isExhaustive) {
    await bundlePrograms(ROOT, bundles);
    if (groups.flat().filter(isSuite).length >= SUITES_THAT_COMPILE) await compileGateway(ROOT, bundles);
    process.env[BUNDLES] = bundles;
  }
}
const runs = await takeGroups(groups, AT_ONCE, (files) => runTests(ROOT, files));
await rm(bundles, { recursive: true });
const verdict = judgeAll(runs);
const lines = [
  '',
  ...(wanted.slowest ? slowestFiles(runs) : []),
  ...verdict.skips.map((skip) => `skipped: ${skip}`),
  ...omitted.map((file) => `omitted: ${file}: runs with TOLLGATE_EXHAUSTIVE=1, or when named`),
  ...verdict.problems.map((problem) => `problem: ${problem}`),
  ...verdict.failures.map((failure) => `failed: ${failure}`),
  `${verdict.passed} passed, ${verdict.failed} failed, ${verdict.skipped} skipped`,
];
process.stdout.write(`${lines.join('\n')}\n`);
process.exit(verdict.failed === 0 && verdict.passed > 0 ? 0 : 1);
