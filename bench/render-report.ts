/** Owns how a result is printed: the table per case, and the targets. Computes nothing but roundings. */
import type { BenchCase } from './cases.ts';
import type { MachineFacts } from './machine.ts';
import type { Measurement } from './measure.ts';
import type { SkippedSubject } from './rig.ts';
import type { LeftOut } from './run-rounds.ts';
import type { Subject } from './subjects/subject.ts';
import { type Ratio, type Row, ratioOf } from './summarize.ts';
import type { JudgedTarget, Verdict } from './targets.ts';

const MISSING = '–';
const MARKS: Record<Verdict, string> = { met: '✓', missed: '✗', failed: '✗', 'not measured': MISSING };

function renderNumber(value: number | null, digits: number): string {
  return value === null ? MISSING : value.toFixed(digits);
}

function renderMegabytes(bytes: number | null): string {
  return bytes === null ? MISSING : `${Math.round(bytes / 1_048_576)}`;
}

function renderRatio(ratio: Ratio | null): string {
  if (ratio === null) return MISSING;
  return `${ratio.median.toFixed(2)} (${ratio.lowest.toFixed(2)}–${ratio.highest.toFixed(2)})`;
}

/** Cells in columns, the first one left-aligned and the others right-aligned. */
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

/** Two lines about the machine, and what the numbers are good for. */
export function renderMachine(facts: MachineFacts): string {
  const versions = Object.entries(facts.versions).map(([program, version]) => `${program} ${version}`);
  return (
    `${facts.cores} cores, ${facts.cpu}, ${facts.system}; ${versions.join(', ')}\n` +
    'Absolute times are this machine’s noise; what counts are the ratios within one round.'
  );
}

/**
 * The table of one case. Paced streams show the time to the first event, all others the time of the whole call. Only what
 * has chat clients is compared with the bare proxy, which relays their calls: those of others have other bytes.
 */
export function renderCase(
  benchCase: BenchCase,
  rows: readonly Row[],
  measurements: readonly Measurement[],
  subjects: readonly Subject[],
): string {
  const { unit } = benchCase;
  const waits = unit === 'event' ? 'first event' : 'call';
  const own = rows.filter((row) => row.case === benchCase.name);
  const comparable = new Set(subjects.filter(({ protocol }) => protocol === 'chat').map(({ name }) => name));
  const lines = own.map((row) => [
    subjects.find(({ name }) => name === row.subject)?.title ?? row.subject,
    renderNumber(row.cpuMicros, 1),
    comparable.has(row.subject) ? renderRatio(ratioOf(measurements, benchCase, row.subject, 'bare')) : MISSING,
    renderNumber(row.perSecondPerCore, 0),
    renderNumber(row.perSecond, 0),
    renderNumber(unit === 'event' ? row.firstP50Ms : row.callP50Ms, 2),
    renderNumber(unit === 'event' ? row.firstP99Ms : row.callP99Ms, 2),
    renderMegabytes(row.settledBytes),
    renderMegabytes(row.peakBytes),
  ]);
  const head = [
    '',
    `CPU µs/${unit}`,
    '× bare',
    `${unit}s/s/core`,
    `${unit}s/s`,
    `${waits} p50 ms`,
    'p99 ms',
    'MB settled',
    'MB peak',
  ];
  const faults = own
    .filter((row) => row.failures > 0)
    .map((row) => `  ✗ ${row.subject}: ${row.failures} failed calls, so its row does not count; ${row.firstFailure}`);
  const title = `${benchCase.title} (${benchCase.connections} connections)`;
  return [title, own.length === 0 ? 'nothing measured' : renderColumns([head, ...lines]), ...faults].join('\n');
}

/** One line per target, with its mark. */
export function renderTargets(targets: readonly JudgedTarget[], cases: readonly BenchCase[]): string {
  const lines = targets.map((target) => [
    `${MARKS[target.verdict]} ${cases.find(({ name }) => name === target.case)?.title ?? target.case}`,
    `${target.subject} / ${target.against}`,
    `${target.bound} ${target.value}`,
    renderRatio(target.ratio),
    target.verdict,
  ]);
  return `Targets (CPU per call or event)\n${renderColumns(lines)}`;
}

/** One line per subject that could not run, and per case that a subject could not answer; empty where there is none. */
export function renderGaps(skipped: readonly SkippedSubject[], leftOut: readonly LeftOut[]): string {
  return [
    ...skipped.map(({ subject, reason }) => `skipped ${subject}: ${reason}`),
    ...leftOut.map((pair) => `left out ${pair.subject}, ${pair.case}: ${pair.reason}`),
  ].join('\n');
}
