/**
 * Renders the report: the machine, a table per case, gaps, and the verdicts on the targets. Computes nothing but
 * rounding.
 */
import type { BenchCase } from './cases.ts';
import type { MachineFacts } from './machine.ts';
import type { Measurement } from './measure.ts';
import type { SkippedSubject } from './rig.ts';
import type { LeftOut } from './run-rounds.ts';
import type { Subject } from './subjects/subject.ts';
import { addedMsOf, type Row, ratioOf, type Spread } from './summarize.ts';
import type { JudgedTarget, Verdict } from './targets.ts';

/** The data of a case's table. */
interface CaseResult {
  readonly benchCase: BenchCase;
  /** Of this case only. */
  readonly rows: readonly Row[];
  readonly measurements: readonly Measurement[];
  readonly subjects: readonly Subject[];
}

function renderMegabytes(bytes: number | null): string {
  return bytes === null ? MISSING : `${Math.round(bytes / 1_048_576)}`;
}

/** Two lines about the machine, and what the numbers can be used for. */
export function renderMachine(facts: MachineFacts): string {
  const versions = Object.entries(facts.versions).map(([program, version]) => `${program} ${version}`);
  return (
    `${facts.cores} cores, ${facts.cpu}, ${facts.system}; ${versions.join(', ')}\n` +
    'Absolute times vary with the machine; the ratios within one round count.'
  );
}

function titleOf(row: Row, subjects: readonly Subject[]): string {
  return subjects.find(({ name }) => name === row.subject)?.title ?? row.subject;
}

/**
 * Paced streams show the time to the first event, all others the time of the whole call. Only subjects with chat
 * clients are compared with the bare proxies, which relay chat calls: calls of other clients have different bytes.
 */
function renderCosts({ benchCase, rows, measurements, subjects }: CaseResult): string[][] {
  const { unit } = benchCase;
  const waits = unit === 'event' ? 'first event' : 'call';
  const comparable = new Set(subjects.filter(({ protocol }) => protocol === 'chat').map(({ name }) => name));
  const timesOf = (row: Row, against: 'bare' | 'bare-keyed') =>
    comparable.has(row.subject) ? renderSpread(ratioOf(measurements, benchCase, row.subject, against)) : MISSING;
  const head = [
    '',
    `CPU µs/${unit}`,
    '× blind',
    '× keyed',
    `${unit}s/s/core`,
    `${unit}s/s`,
    `${waits} p50 ms`,
    'p99 ms',
    'MB settled',
    'MB peak',
  ];
  const lines = rows.map((row) => [
    titleOf(row, subjects),
    renderNumber(row.cpuMicros, 1),
    timesOf(row, 'bare'),
    timesOf(row, 'bare-keyed'),
    renderNumber(row.perSecondPerCore, 0),
    renderNumber(row.perSecond, 0),
    renderNumber(unit === 'event' ? row.firstP50Ms : row.callP50Ms, 2),
    renderNumber(unit === 'event' ? row.firstP99Ms : row.callP99Ms, 2),
    renderMegabytes(row.settledBytes),
    renderMegabytes(row.peakBytes),
  ]);
  return [head, ...lines];
}

/**
 * Latencies of calls that arrive at a fixed rate. Shows no CPU, because it would include the stall probe's requests.
 */
function renderWaits({ benchCase, rows, measurements, subjects }: CaseResult): string[][] {
  const addedBy = (row: Row, rank: 'p50' | 'p99') =>
    row.subject === 'direct' ? MISSING : renderSpread(addedMsOf(measurements, benchCase, row.subject, 'direct', rank));
  const head = [
    '',
    'calls/s',
    'p50 ms',
    'p99 ms',
    'added p50 ms',
    'added p99 ms',
    'longest stall ms',
    'own lateness ms',
  ];
  const lines = rows.map((row) => [
    titleOf(row, subjects),
    renderNumber(row.perSecond, 0),
    renderNumber(row.callP50Ms, 2),
    renderNumber(row.callP99Ms, 2),
    addedBy(row, 'p50'),
    addedBy(row, 'p99'),
    renderNumber(row.stallMs, 1),
    renderNumber(row.ownLateMs, 1),
  ]);
  return [head, ...lines];
}

/** The table of one case, with a line for each row that does not count. */
export function renderCase(
  benchCase: BenchCase,
  rows: readonly Row[],
  measurements: readonly Measurement[],
  subjects: readonly Subject[],
): string {
  const own = rows.filter((row) => row.case === benchCase.name);
  const result = { benchCase, rows: own, measurements, subjects };
  const lines = benchCase.callsPerSecond === null ? renderCosts(result) : renderWaits(result);
  const faults = own
    .filter((row) => row.failures > 0)
    .map(
      (row) => `  ✗ ${row.subject}: ${row.failures} failed requests, so its row does not count; ${row.firstFailure}`,
    );
  const title = `${benchCase.title} (${benchCase.connections} connections)`;
  return [title, own.length === 0 ? 'nothing measured' : renderColumns(lines), ...faults].join('\n');
}

/** One line per subject that could not run, and per case that a subject could not answer; empty when there are none. */
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

/** The median, with the lowest and highest of the rounds. */
function renderSpread(spread: Spread | null): string {
  if (spread === null) return MISSING;
  return `${spread.median.toFixed(2)} (${spread.lowest.toFixed(2)}–${spread.highest.toFixed(2)})`;
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

const MARKS: Record<Verdict, string> = { met: '✓', missed: '✗', failed: '✗', 'not measured': MISSING };

/** Explains which baseline a plain request is compared with; the table shows both. */
const BASELINES =
  'A plain request is judged against the keyed proxy, which looks up a key and parses the usage; streams and large requests\n' +
  'against the blind proxy, which reads nothing. Added time is relative to direct requests to the upstream. The longest stall\n' +
  'is that of all rounds; in brackets that of a process without a gateway in this run.';

function describeMeasure({ measure, subject, against }: JudgedTarget): string {
  if (measure === 'cpu') return `CPU, ${subject} / ${against}`;
  return measure === 'added' ? `p50, ${subject} − ${against}` : `longest stall, ${subject}`;
}

function renderFigure({ measure, figure, control }: JudgedTarget): string {
  if (measure === 'cpu') return renderSpread(figure);
  if (figure === null) return MISSING;
  if (measure === 'added') return `${renderSpread(figure)} ms`;
  return `${figure.highest.toFixed(1)} ms (${renderNumber(control?.highest ?? null, 1)})`;
}

/** One line per target: promise, result, verdict. */
export function renderTargets(targets: readonly JudgedTarget[], cases: readonly BenchCase[]): string {
  const lines = targets.map((target) => [
    `${MARKS[target.verdict]} ${cases.find(({ name }) => name === target.case)?.title ?? target.case}`,
    describeMeasure(target),
    `${target.bound} ${target.value}${target.measure === 'cpu' ? ' ×' : ' ms'}`,
    renderFigure(target),
    target.verdict,
  ]);
  return `Targets\n${renderColumns(lines)}\n${BASELINES}`;
}
