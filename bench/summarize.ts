/** Aggregates measurements to one row per subject and case: medians, and ratios and differences within a round. */
import type { BenchCase, CaseName } from './cases.ts';
import type { Latency } from './load/load-plan.ts';
import { median } from './load/percentile.ts';
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
  /** The longest stall of any round, and the longest delay of the load generator itself; null without a probe. */
  readonly stallMs: number | null;
  readonly ownLateMs: number | null;
  readonly settledBytes: number | null;
  readonly peakBytes: number | null;
  /** Failed calls of all rounds; above 0, the row does not count. */
  readonly failures: number;
  readonly firstFailure: string | null;
}

/** A figure over the rounds. */
export interface Spread {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
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

function longestOf(measurements: readonly Measurement[], pick: (one: Measurement) => number | null): number | null {
  return spreadOf(measurements.map(pick))?.highest ?? null;
}

/** Null when no value is a number. */
function spreadOf(values: readonly (number | null)[]): Spread | null {
  const numbers = values.filter((value) => value !== null);
  const middle = median(numbers);
  return middle === null ? null : { median: middle, lowest: Math.min(...numbers), highest: Math.max(...numbers) };
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
        stallMs: longestOf(own, ({ load }) => load.stall?.longestMs ?? null),
        ownLateMs: longestOf(own, ({ load }) => load.stall?.ownLateMs ?? null),
        settledBytes: medianOf(own, ({ memory }) => memory.reduce((sum, one) => sum + one.residentBytes, 0)),
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
): Spread | null {
  const byRound = (wanted: SubjectName) =>
    new Map(measurements.filter((one) => one.subject === wanted).map((one) => [one.round, pick(one)] as const));
  const base = byRound(against);
  return spreadOf(
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
): Spread | null {
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
  rank: keyof Latency,
): Spread | null {
  return compareRounds(
    measurements.filter((one) => one.case === name),
    subject,
    against,
    ({ load }) => load.callMs[rank],
    (ms, other) => ms - other,
  );
}

/** The longest stall of each round, in milliseconds; null when not probed. */
export function stallMsOf(
  measurements: readonly Measurement[],
  { name }: BenchCase,
  subject: SubjectName,
): Spread | null {
  const own = measurements.filter((one) => one.case === name && one.subject === subject);
  return spreadOf(own.map(({ load }) => load.stall?.longestMs ?? null));
}
