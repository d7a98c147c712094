/** Runs `bun test` over a list of files: groups them, starts the process, waits, reads its report. Judges nothing. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Run, SHOWN_LINES } from './judge.ts';
import { parseFileSeconds, parseJunit, type TestCase } from './junit.ts';
import { watchOutput } from './watch-output.ts';

/** Modules that are loaded before the tests of every run. */
const PRELOADS = ['settle.ts', 'start-bundled-workers.ts'].map((file) => `--preload=${join(import.meta.dir, file)}`);

/**
 * The test files below the folders, as sorted paths relative to `root`; if `wanted` is not empty, only paths that
 * contain one of its entries.
 */
export function findTestFiles(root: string, folders: readonly string[], wanted: readonly string[]): string[] {
  const files = folders.flatMap((folder) =>
    [...new Bun.Glob(`${folder}/**/*.test.ts`).scanSync({ cwd: root })].filter(
      (file) => !file.includes('node_modules/'),
    ),
  );
  return files.filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part))).sort();
}

/** Suites that start processes; those with a browser take the longest. */
const BROWSER_SUITES = 'gateway/test/browser/';
const SUITES = 'gateway/test/';
/**
 * Files share a process, because each process costs up to 250 ms to load what the files of a folder have in common, and
 * suites with a browser share that. Few files per process, so that the last one does not run long alone.
 */
const SUITES_PER_RUN = 6;
const BROWSER_SUITES_PER_RUN = 8;
const OTHERS_PER_RUN = 40;

/** Whether the file is a suite that starts processes. */
export function isSuite(file: string): boolean {
  return file.startsWith(SUITES);
}

/** Groups the files into runs, the slowest first: every few suites of a folder, and every few other files. */
export function groupFiles(files: readonly string[]): string[][] {
  const folders = Map.groupBy(files.filter(isSuite), dirname);
  const suites = [...folders].flatMap(([folder, inFolder]) =>
    split(inFolder, `${folder}/`.startsWith(BROWSER_SUITES) ? BROWSER_SUITES_PER_RUN : SUITES_PER_RUN),
  );
  const [slowest, slow] = [true, false].map((wanted) =>
    suites.filter(([file]) => file?.startsWith(BROWSER_SUITES) === wanted),
  );
  const others = files.filter((file) => !isSuite(file));
  return [...(slowest ?? []), ...(slow ?? []), ...split(others, OTHERS_PER_RUN)];
}

function split(files: readonly string[], most: number): string[][] {
  return Array.from({ length: Math.ceil(files.length / most) }, (_, at) => files.slice(at * most, (at + 1) * most));
}

/**
 * Processes groups until none is left, `atOnce` at a time: half of the workers take from the front, half from the back,
 * so that they do not all have a slow group at once, nor a slow one at the end.
 */
export async function takeGroups<Result>(
  groups: readonly (readonly string[])[],
  atOnce: number,
  take: (files: readonly string[]) => Promise<Result>,
): Promise<Result[]> {
  const left = [...groups];
  const results: Result[] = [];
  const work = async (fromFront: boolean): Promise<void> => {
    for (
      let next = fromFront ? left.shift() : left.pop();
      next !== undefined;
      next = fromFront ? left.shift() : left.pop()
    ) {
      results.push(await take(next));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, taker) => work(taker % 2 === 0)));
  return results;
}

const IS_EXHAUSTIVE = process.env.TOLLGATE_EXHAUSTIVE === '1';

/** How long a run may print nothing before it counts as hung. */
const STILL_MS = IS_EXHAUSTIVE ? 600_000 : 120_000;

/**
 * Time limit for tests and hooks without their own: enough for a busy machine, where Bun's default of 5 s is too short
 * to start a gateway. It ends only a test that hangs, so an exhaustive one may compute for as long as a run may be still.
 */
const TEST_MS = IS_EXHAUSTIVE ? STILL_MS : 60_000;

/** A run with its durations. */
export interface TimedRun extends Run {
  /** Seconds by file; empty without a report. */
  readonly fileSeconds: ReadonlyMap<string, number>;
  /** CPU time of the run and of the child processes that ended before it. */
  readonly cpuSeconds: number;
}

/** Runs the files in one process of this same Bun, with its output on ours. `CI=1` makes `.only` an error. */
export async function runTests(root: string, files: readonly string[], stillMs = STILL_MS): Promise<TimedRun> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-tests-'));
  const report = join(folder, 'junit.xml');
  const flags = [...PRELOADS, `--timeout=${TEST_MS}`, '--reporter=junit', `--reporter-outfile=${report}`];
  const running = Bun.spawn([process.execPath, 'test', ...flags, ...files.map((file) => `./${file}`)], {
    cwd: root,
    env: { ...process.env, CI: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let hungIn: string | null = null;
  let lastLines: string[] = [];
  const show = (lines: string): void => {
    process.stdout.write(lines);
    lastLines = [...lastLines, ...lines.trimEnd().split('\n')].slice(-SHOWN_LINES);
  };
  const output = watchOutput([running.stdout, running.stderr], show, stillMs, () => {
    hungIn = output.file();
    running.kill('SIGKILL');
  });
  const passOn = (signal: NodeJS.Signals): void => running.kill(signal);
  process.on('SIGINT', passOn).on('SIGTERM', passOn);
  await running.exited;
  await output.finish();
  process.off('SIGINT', passOn).off('SIGTERM', passOn);
  const finished = await readReport(report);
  await rm(folder, { recursive: true });
  return {
    files,
    cases: finished?.cases ?? null,
    status: running.exitCode,
    signal: running.signalCode,
    hungIn,
    lastFile: output.file(),
    lastLines,
    fileSeconds: finished?.fileSeconds ?? new Map(),
    cpuSeconds: Number(running.resourceUsage()?.cpuTime.total ?? 0) / 1_000_000,
  };
}

interface Report {
  readonly cases: TestCase[];
  readonly fileSeconds: ReadonlyMap<string, number>;
}

async function readReport(report: string): Promise<Report | null> {
  const file = Bun.file(report);
  if (!(await file.exists())) return null;
  const xml = await file.text();
  try {
    return { cases: parseJunit(xml), fileSeconds: parseFileSeconds(xml) };
  } catch (error) {
    process.stderr.write(`${error}\n`);
    return null;
  }
}
