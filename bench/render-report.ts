/**
 * Renders the report: the machine, a table per case, gaps, and the verdicts on the targets. Computes nothing but
 * rounding.
 */
import type { BenchCase } from './cases.ts';
import type { MachineFacts } from './machine.ts';
import type { Measurement } from './measure.ts';
import type { SkippedSubject } from './rig.ts';
import type { LeftOut } from './run-rounds.ts';
import type { Subject, SubjectName } from './subjects/subject.ts';
import { addedMsOf, BYTES_PER_MB, type Interval, type Row, ratioOf } from './summarize.ts';
import type { JudgedTarget, Verdict } from './targets.ts';

/** What the cells of a case's table are computed from. */
interface CaseResult {
  readonly benchCase: BenchCase;
  readonly measurements: readonly Measurement[];
  readonly subjects: readonly Subject[];
}

function renderMegabytes(bytes: number | null): string {
  return bytes === null ? MISSING : `${Math.round(bytes / BYTES_PER_MB)}`;
}

/** Two lines about the machine, and what the numbers can be used for. */
export function renderMachine(facts: MachineFacts): string {
  const versions = Object.entries(facts.versions).map(([program, version]) => `${program} ${version}`);
  return (
    `${facts.cores} cores, ${facts.cpu}, ${facts.system}; ${versions.join(', ')}\n` +
    'Absolute times vary with the machine; the ratios within one round count.'
  );
}

type Column = readonly [head: string, cell: (row: Row) => string];

/**
 * Streams show the time to the first event, all others the time of the whole call. Calls that arrive at a fixed rate show
 * what a subject adds to the time of a direct one.
 */
function columnsOf({ benchCase, measurements, subjects }: CaseResult): readonly Column[] {
  const { unit, callsPerSecond } = benchCase;
  const ratio = (against: SubjectName): Column => [
    `× ${against === 'bare' ? 'blind' : 'keyed'}`,
    (row) => renderInterval(ratioOf(measurements, benchCase, row.subject, against)),
  ];
  const added = (rank: 'p50' | 'p99'): Column => [
    `added ${rank} ms`,
    (row) => renderInterval(addedMsOf(measurements, benchCase, row.subject, 'direct', rank)),
  ];
  const common: Column[] = [
    ['', (row) => subjects.find(({ name }) => name === row.subject)?.title ?? row.subject],
    [`CPU µs/${unit}`, (row) => renderNumber(row.cpuMicros, 1)],
    ratio('bare'),
    ratio('bare-keyed'),
    [`${unit}s/s`, (row) => renderNumber(row.perSecond, 0)],
  ];
  const waits: Column[] =
    unit === 'event'
      ? [
          ['first event p50 ms', (row) => renderNumber(row.firstP50Ms, 2)],
          ['p99 ms', (row) => renderNumber(row.firstP99Ms, 2)],
        ]
      : [
          ['call p50 ms', (row) => renderNumber(row.callP50Ms, 2)],
          ['p99 ms', (row) => renderNumber(row.callP99Ms, 2)],
          ['longest ms', (row) => renderNumber(row.longestMs, 1)],
        ];
  const memory: Column[] = [
    ['MB', (row) => renderMegabytes(row.residentBytes)],
    ['MB peak', (row) => renderMegabytes(row.peakBytes)],
  ];
  return [...common, ...waits, ...(callsPerSecond === null ? memory : [added('p50'), added('p99'), ...memory])];
}

/** The table of one case, with a line for each row that does not count. */
export function renderCase(
  benchCase: BenchCase,
  rows: readonly Row[],
  measurements: readonly Measurement[],
  subjects: readonly Subject[],
): string {
  const own = rows.filter((row) => row.case === benchCase.name);
  const columns = columnsOf({ benchCase, measurements, subjects });
  const lines = [columns.map(([head]) => head), ...own.map((row) => columns.map(([, cell]) => cell(row)))];
  const faults = own
    .filter((row) => row.failures > 0)
    .map(
      (row) => `  ✗ ${row.subject}: ${row.failures} failed requests, so its row does not count; ${row.firstFailure}`,
    );
  const title = `${benchCase.title} (${benchCase.connections} connections)`;
  return [title, own.length === 0 ? 'nothing measured' : renderColumns(lines), ...faults].join('\n');
}

/** One line per subject that could not run, and per case that a subject could not answer; empty without gaps. */
export function renderGaps(skipped: readonly SkippedSubject[], leftOut: readonly LeftOut[]): string {
  return [
    ...skipped.map(({ subject, reason }) => `skipped ${subject}: ${reason}`),
    ...leftOut.map((pair) => `left out ${pair.subject}, ${pair.case}: ${pair.reason}`),
  ].join('\n');
}

const MISSING = '–';

function renderNumber(value: number | null, digits: number): string {
  return value === null ? MISSING : value.toFixed(digits);
}

/** The median, with its 95 % interval. */
function renderInterval(interval: Interval | null): string {
  if (interval === null) return MISSING;
  return `${interval.median.toFixed(2)} (${interval.lower.toFixed(2)}–${interval.upper.toFixed(2)})`;
}

/** Aligns cells in columns, the first one left and the others right. */
function renderColumns(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const MARKS: Record<Verdict, string> = {
  met: '✓',
  missed: '✗',
  'not measurable': '?',
  failed: '✗',
  'not measured': MISSING,
};

const EXPLANATION =
  'Medians of the rounds with their 95 % interval. Missed: the whole interval is beyond the target. Not measurable: the\n' +
  'interval is too wide, or the rounds are too few. A plain request is compared with the keyed proxy, which looks up a key and\n' +
  'parses the usage; streams and large requests with the blind proxy, which reads nothing; added time with direct requests.';

const UNITS: Record<JudgedTarget['measure'], string> = {
  cpu: ' ×',
  'added p50': ' ms',
  'added p99': ' ms',
  p99: ' ms',
  memory: ' MB',
};

function describeMeasure({ measure, subject, against }: JudgedTarget): string {
  if (measure === 'cpu') return `CPU, ${subject} / ${against}`;
  return measure === 'memory' ? `resident memory, ${subject}` : `${measure}, ${subject}`;
}

function describeBound({ bound, value, aim, measure }: JudgedTarget): string {
  return `${bound} ${value}${UNITS[measure]}${aim === undefined ? '' : ` (aim ${aim})`}`;
}

/** One line per target: what was measured, the result, the target, the verdict; empty without targets. */
export function renderTargets(targets: readonly JudgedTarget[], cases: readonly BenchCase[]): string {
  if (targets.length === 0) return '';
  const lines = targets.map((target) => [
    `${MARKS[target.verdict]} ${cases.find(({ name }) => name === target.case)?.title ?? target.case}`,
    describeMeasure(target),
    target.figure === null ? MISSING : `${renderInterval(target.figure)}${UNITS[target.measure]}`,
    describeBound(target),
    target.verdict,
  ]);
  const head = ['', 'measure', 'measured', 'target', 'verdict'];
  return `Targets\n${renderColumns([head, ...lines])}\n${EXPLANATION}`;
}
