/** Aggregates measurements to one row per subject and case: medians, and ratios and differences within a round. */
import type { BenchCase, CaseName } from './cases.ts';
import { median, percentile } from './load/percentile.ts';
import type { Measurement } from './measure.ts';
import type { SubjectName } from './subjects/subject.ts';

/**
 * Medians over the rounds; null when no round produced a number. Times in the unit named, memory summed over all
 * processes.
 */
export interface Row {
  readonly subject: SubjectName;
  readonly case: CaseName;
  readonly unit: 'call' | 'event';
  /** The subject's CPU time per unit, in microseconds. */
  readonly cpuMicros: number | null;
  /** Units per second of the subject's CPU time. */
  readonly perSecondPerCore: number | null;
  /** Units per second of wall time in this run. */
  readonly perSecond: number | null;
  readonly callP50Ms: number | null;
  readonly callP99Ms: number | null;
  readonly firstP50Ms: number | null;
  readonly firstP99Ms: number | null;
  /** The longest call of any round. */
  readonly longestMs: number | null;
  readonly residentBytes: number | null;
  readonly peakBytes: number | null;
  /** Failed calls of all rounds; above 0, the row does not count. */
  readonly failures: number;
  readonly firstFailure: string | null;
}

/** A figure over `count` rounds: the median, and the bounds of its 95 % interval. */
export interface Interval {
  readonly median: number;
  readonly lower: number;
  readonly upper: number;
  readonly count: number;
}

/** The subject's CPU microseconds per unit; null when no unit was completed. */
export function cpuMicrosPerUnit(measurement: Measurement, unit: 'call' | 'event'): number | null {
  const units = unit === 'call' ? measurement.load.calls : measurement.load.events;
  const cpuMs = measurement.load.cpuMs.subject;
  return units === 0 || cpuMs === undefined ? null : (cpuMs * 1000) / units;
}

function medianOf(measurements: readonly Measurement[], pick: (one: Measurement) => number | null): number | null {
  return median(measurements.map(pick).filter((value) => value !== null));
}

function maximum(values: readonly (number | null)[]): number | null {
  return percentile(
    values.filter((value) => value !== null),
    1,
  );
}

function residentBytes({ memory }: Measurement): number {
  return memory.reduce((sum, one) => sum + one.residentBytes, 0);
}

/** Standard deviations of a 95 % interval. */
const Z_95 = 1.96;

/** The median of the values that are numbers, with its distribution-free 95 % interval; null without any. */
export function intervalOf(values: readonly (number | null)[]): Interval | null {
  const sorted = values.filter((value) => value !== null).sort((one, other) => one - other);
  const count = sorted.length;
  const middle = median(sorted);
  if (middle === null) return null;
  const reach = (Z_95 * Math.sqrt(count)) / 2;
  const lower = sorted[Math.max(0, Math.floor(count / 2 - reach))] ?? middle;
  const upper = sorted[Math.min(count - 1, Math.ceil(count / 2 + reach) - 1)] ?? middle;
  return { median: middle, lower, upper, count };
}

/** One row per measured pair of subject and case, in the order of `cases`, then of `order`. */
export function summarize(
  measurements: readonly Measurement[],
  cases: readonly BenchCase[],
  order: readonly SubjectName[],
): Row[] {
  return cases.flatMap(({ name, unit }) => {
    const ofCase = measurements.filter((one) => one.case === name);
    return order.flatMap((subject): Row[] => {
      const own = ofCase.filter((one) => one.subject === subject);
      if (own.length === 0) return [];
      const cpuMicros = medianOf(own, (one) => cpuMicrosPerUnit(one, unit));
      const row: Row = {
        subject,
        case: name,
        unit,
        cpuMicros,
        perSecondPerCore: cpuMicros === null || cpuMicros === 0 ? null : 1_000_000 / cpuMicros,
        perSecond: medianOf(own, ({ load }) => ((unit === 'call' ? load.calls : load.events) * 1000) / load.windowMs),
        callP50Ms: medianOf(own, ({ load }) => load.callMs.p50),
        callP99Ms: medianOf(own, ({ load }) => load.callMs.p99),
        firstP50Ms: medianOf(own, ({ load }) => load.firstMs.p50),
        firstP99Ms: medianOf(own, ({ load }) => load.firstMs.p99),
        longestMs: maximum(own.map(({ load }) => load.callMs.longest)),
        residentBytes: medianOf(own, residentBytes),
        peakBytes: medianOf(own, ({ memory }) => memory.reduce((sum, one) => sum + one.peakBytes, 0)),
        failures: own.reduce((sum, { load }) => sum + load.failures, 0),
        firstFailure: own.find(({ load }) => load.firstFailure !== null)?.load.firstFailure ?? null,
      };
      return [row];
    });
  });
}

/** Applies `compare` to two subjects' values round by round; a round that did not measure both is skipped. */
function compareRounds(
  measurements: readonly Measurement[],
  subject: SubjectName,
  against: SubjectName,
  pick: (one: Measurement) => number | null,
  compare: (value: number, other: number) => number | null,
): Interval | null {
  const byRound = (wanted: SubjectName) =>
    new Map(measurements.filter((one) => one.subject === wanted).map((one) => [one.round, pick(one)] as const));
  const base = byRound(against);
  return intervalOf(
    [...byRound(subject)].map(([round, value]) => {
      const other = base.get(round) ?? null;
      return value === null || other === null ? null : compare(value, other);
    }),
  );
}

/** CPU per unit of `subject` divided by that of `against`; null when no round measured both. */
export function ratioOf(
  measurements: readonly Measurement[],
  { name, unit }: BenchCase,
  subject: SubjectName,
  against: SubjectName,
): Interval | null {
  return compareRounds(
    measurements.filter((one) => one.case === name),
    subject,
    against,
    (one) => cpuMicrosPerUnit(one, unit),
    (micros, other) => (other === 0 ? null : micros / other),
  );
}

/**
 * Milliseconds that a call to `subject` takes longer than one to `against`, at a percentile; null when no round
 * measured both.
 */
export function addedMsOf(
  measurements: readonly Measurement[],
  { name }: BenchCase,
  subject: SubjectName,
  against: SubjectName,
  rank: 'p50' | 'p99',
): Interval | null {
  return compareRounds(
    measurements.filter((one) => one.case === name),
    subject,
    against,
    ({ load }) => load.callMs[rank],
    (ms, other) => ms - other,
  );
}

/** The 99th percentile of the subject's calls in each round, in milliseconds; null when no round measured it. */
export function p99Of(
  measurements: readonly Measurement[],
  { name }: BenchCase,
  subject: SubjectName,
): Interval | null {
  return intervalOf(ownOf(measurements, name, subject).map(({ load }) => load.callMs.p99));
}

/** Resident memory of all processes of the subject after each round, in MB; null when no round measured it. */
export function megabytesOf(
  measurements: readonly Measurement[],
  { name }: BenchCase,
  subject: SubjectName,
): Interval | null {
  return intervalOf(ownOf(measurements, name, subject).map((one) => residentBytes(one) / BYTES_PER_MB));
}

function ownOf(measurements: readonly Measurement[], name: CaseName, subject: SubjectName): Measurement[] {
  return measurements.filter((one) => one.case === name && one.subject === subject);
}

export const BYTES_PER_MB: number = 1_048_576;
