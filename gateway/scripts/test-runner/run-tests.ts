/** Owns one run of `bun test` over a list of files: starts it, waits, reads its report. Judges nothing. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Run } from './judge.ts';
import { parseJunit, type TestCase } from './junit.ts';
import { watchOutput } from './watch-output.ts';

/** Below it a second process costs more than it gains. */
const FILES_PER_RUN_MIN = 20;
const SETTLE = join(import.meta.dir, 'settle.ts');

/** The test files below the folders, as sorted paths relative to `root`; only those that contain one of `wanted`, if any is given. */
export function findTestFiles(root: string, folders: readonly string[], wanted: readonly string[]): string[] {
  const files = folders.flatMap((folder) =>
    [...new Bun.Glob(`${folder}/**/*.test.ts`).scanSync({ cwd: root })].filter(
      (file) => !file.includes('node_modules/'),
    ),
  );
  return files.filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part))).sort();
}

/**
 * Deals the files out to as many runs as go beside each other, one card at a time: slow suites lie in the same folders. Few
 * files are one run.
 */
export function dealFiles(files: readonly string[], runsMax: number): string[][] {
  const count = Math.max(1, Math.min(runsMax, Math.floor(files.length / FILES_PER_RUN_MIN)));
  return Array.from({ length: count }, (_, run) => files.filter((_, at) => at % count === run));
}

/** How long a run may say nothing before it counts as hung. */
const STILL_MS = process.env.TOLLGATE_EXHAUSTIVE === '1' ? 600_000 : 120_000;

/** For a test or hook that names no limit: as long as a busy machine may take, for Bun's own 5 s are too few to start a gateway there. */
const TEST_MS = 20_000;

/** Runs the files in one process of this same Bun, its output on ours. `CI=1` makes `.only` an error. */
export async function runTests(root: string, files: readonly string[], stillMs = STILL_MS): Promise<Run> {
  if (files.length === 0) return { files, cases: [], status: 0, signal: null, hungIn: null };
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-tests-'));
  const report = join(folder, 'junit.xml');
  const flags = [`--preload=${SETTLE}`, `--timeout=${TEST_MS}`, '--reporter=junit', `--reporter-outfile=${report}`];
  const running = Bun.spawn([process.execPath, 'test', ...flags, ...files.map((file) => `./${file}`)], {
    cwd: root,
    env: { ...process.env, CI: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let hungIn: string | null = null;
  const show = (lines: string): void => void process.stdout.write(lines);
  const output = watchOutput([running.stdout, running.stderr], show, stillMs, () => {
    hungIn = output.file();
    running.kill('SIGKILL');
  });
  const passOn = (signal: NodeJS.Signals): void => running.kill(signal);
  process.on('SIGINT', passOn).on('SIGTERM', passOn);
  await running.exited;
  await output.finish();
  process.off('SIGINT', passOn).off('SIGTERM', passOn);
  const cases = await readCases(report);
  await rm(folder, { recursive: true });
  return { files, cases, status: running.exitCode, signal: running.signalCode, hungIn };
}

async function readCases(report: string): Promise<TestCase[] | null> {
  const file = Bun.file(report);
  if (!(await file.exists())) return null;
  try {
    return parseJunit(await file.text());
  } catch (error) {
    process.stderr.write(`${error}\n`);
    return null;
  }
}
