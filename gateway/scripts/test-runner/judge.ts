/** Decides whether a test run passed, and fails runs that Bun itself would accept. Runs nothing. */
import type { TestCase } from './junit.ts';

export interface Run {
  /** The test files that should have run. */
  readonly files: readonly string[];
  /** The cases in the JUnit file; null if it is missing or truncated. */
  readonly cases: readonly TestCase[] | null;
  /** Exit status of the process, or null and the signal. */
  readonly status: number | null;
  readonly signal: string | number | null;
  /** The file that was running when the run was ended because it hung; else null. */
  readonly hungIn: string | null;
  /** The file whose tests were reported last; empty if there was none. */
  readonly lastFile: string;
  /** The end of its output. */
  readonly lastLines: readonly string[];
}

export interface Verdict {
  readonly passed: number;
  /** Failed tests plus other problems; 0 only for a good run. */
  readonly failed: number;
  readonly skipped: number;
  /** `file > test: reason`, one for each reason of each file. */
  readonly skips: readonly string[];
  /** Problems other than failed tests, one sentence each; those of a process with the end of its output. */
  readonly problems: readonly string[];
  /** The failed tests, each with the first lines of its error. */
  readonly failures: readonly string[];
}

const NOTHING: Verdict = { passed: 0, failed: 0, skipped: 0, skips: [], problems: [], failures: [] };

/** Most lines printed of an error, and of the output of a process that ended badly. */
export const SHOWN_LINES = 40;

/** The verdict on all runs of a list of files; no runs at all is a failure. */
export function judgeAll(runs: readonly Run[]): Verdict {
  if (runs.length === 0) return { ...NOTHING, failed: 1, problems: ['no test file was found'] };
  const verdicts = runs.map(judge);
  const sum = (count: (verdict: Verdict) => number) => verdicts.reduce((total, verdict) => total + count(verdict), 0);
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failed }) => failed),
    skipped: sum(({ skipped }) => skipped),
    skips: verdicts.flatMap(({ skips }) => skips).sort(),
    problems: verdicts.flatMap(({ problems }) => problems),
    failures: verdicts.flatMap(({ failures }) => failures).sort(),
  };
}

/** The reason of a skip is in the test's name or in that of a describe around it. */
const REASON = /\((needs|skipped:) ([^)]+)\)/;

/**
 * Judges a run. A good run has a passed test in each file, a reason for each skip, and a process that ended by itself.
 */
export function judge(run: Run): Verdict {
  const cases = run.cases ?? [];
  const failures = cases.filter(({ outcome }) => outcome === 'failed');
  const skips = cases.filter(({ outcome }) => outcome === 'skipped');
  const problems = [
    ...processProblems(run, failures.length).map((problem) => withLines(problem, run.lastLines)),
    ...(run.cases === null ? [] : filesThatRanNothing(run.files, cases)),
    ...cases
      .filter(({ outcome }) => outcome === 'todo')
      .map((one) => `${title(one)}: test.todo announces a missing test`),
    ...skips
      .filter((one) => reasonOf(one) === null)
      .map((one) => `${title(one)}: skipped without a reason; write "(needs …)" into its name or its describe's`),
  ];
  return {
    passed: cases.filter(({ outcome }) => outcome === 'passed').length,
    failed: failures.length + problems.length,
    skipped: skips.length,
    skips: reasonsByFile(skips),
    problems,
    failures: failures.map((one) => withLines(title(one), one.error.trimEnd().split('\n').slice(0, SHOWN_LINES))),
  };
}

function withLines(text: string, lines: readonly string[]): string {
  return [text, ...lines.map((line) => `    ${line}`)].join('\n');
}

function processProblems({ files, cases, status, signal, hungIn, lastFile }: Run, failed: number): string[] {
  if (hungIn !== null) return [`${hungIn}: a test hung and the run was ended`];
  if (signal !== null) return [`bun test was ended by ${signal} in ${lastFile || files.join(', ')}`];
  if (cases === null)
    return [
      `${files.join(', ')}: bun test ended with status ${status} and no report: there was no test to run, or one ended the process`,
    ];
  if (status !== 0 && failed === 0)
    return [`${files.join(', ')}: bun test ended with status ${status}: an error outside of any test`];
  if (status === 0 && failed > 0) return ['bun test ended with status 0 though tests failed'];
  return [];
}

function filesThatRanNothing(files: readonly string[], cases: readonly TestCase[]): string[] {
  const ran = new Set(cases.map(({ file }) => file));
  return files.filter((file) => !ran.has(file)).map((file) => `${file}: none of its tests ran`);
}

function reasonsByFile(skips: readonly TestCase[]): string[] {
  const counts = new Map<string, number>();
  for (const one of skips) {
    const line = `${one.file}: ${reasonOf(one) ?? 'no reason given'}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return [...counts].map(([line, count]) => `${count} in ${line}`);
}

function reasonOf({ path }: TestCase): string | null {
  for (const name of path) {
    const found = REASON.exec(name);
    if (found !== null) return found[1] === 'needs' ? `needs ${found[2]}` : (found[2] ?? null);
  }
  return null;
}

function title({ file, path }: TestCase): string {
  return [file, ...path].join(' > ');
}
