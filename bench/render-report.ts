/** Renders the report: the machine, a table per case, and gaps. Computes nothing but rounding. */
import type { BenchCase } from './cases.ts';
import type { MachineFacts } from './machine.ts';
import type { Measurement } from './measure.ts';
import { MISSING, renderColumns, renderNumber, renderSpread } from './render-columns.ts';
import type { SkippedSubject } from './rig.ts';
import type { LeftOut } from './run-rounds.ts';
import type { Subject } from './subjects/subject.ts';
import { addedMsOf, type Row, ratioOf } from './summarize.ts';

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
    'Absolute times are this machine’s noise; what counts are the ratios within one round.'
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
    .map((row) => `  ✗ ${row.subject}: ${row.failures} failed calls, so its row does not count; ${row.firstFailure}`);
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
