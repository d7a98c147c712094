/** Owns the arithmetic from measurements to one row per subject and case: medians, and ratios of the same round. Pure. */
import type { BenchCase, CaseName } from './cases.ts';
import { median } from './load/percentile.ts';
import type { Measurement } from './measure.ts';
import type { SubjectName } from './subjects/subject.ts';

/** Medians over the rounds; null where no round gave a number. Times in the unit named, memory of all its processes. */
export interface Row {
  readonly subject: SubjectName;
  readonly case: CaseName;
  readonly unit: 'call' | 'event';
  /** CPU time of the subject per unit, in microseconds. */
  readonly cpuMicros: number | null;
  /** Units per second of the subject's CPU time. */
  readonly perSecondPerCore: number | null;
  /** Units per second of wall time in this run. */
  readonly perSecond: number | null;
  readonly callP50Ms: number | null;
  readonly callP99Ms: number | null;
  readonly firstP50Ms: number | null;
  readonly firstP99Ms: number | null;
  readonly settledBytes: number | null;
  readonly peakBytes: number | null;
  /** Failed calls of all rounds: above 0 the row does not count. */
  readonly failures: number;
  readonly firstFailure: string | null;
}

/** How many times the CPU per unit of one subject another one needs, compared within each round. */
export interface Ratio {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

/** CPU microseconds of the subject per unit; null where no unit was completed. */
function cpuMicrosPerUnit(measurement: Measurement, unit: 'call' | 'event'): number | null {
  const units = unit === 'call' ? measurement.load.calls : measurement.load.events;
  const cpuMs = measurement.load.cpuMs.subject;
  return units === 0 || cpuMs === undefined ? null : (cpuMs * 1000) / units;
}

function medianOf(measurements: readonly Measurement[], pick: (one: Measurement) => number | null): number | null {
  return median(measurements.map(pick).filter((value) => value !== null));
}

/** One row for each pair of subject and case that was measured, in the order of `cases`, then of `order`. */
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
        settledBytes: medianOf(own, ({ memory }) => memory.reduce((sum, one) => sum + one.residentBytes, 0)),
        peakBytes: medianOf(own, ({ memory }) => memory.reduce((sum, one) => sum + one.peakBytes, 0)),
        failures: own.reduce((sum, { load }) => sum + load.failures, 0),
        firstFailure: own.find(({ load }) => load.firstFailure !== null)?.load.firstFailure ?? null,
      };
      return [row];
    });
  });
}

/** CPU per unit of `subject` over that of `against`, round by round; null where no round measured both. */
export function ratioOf(
  measurements: readonly Measurement[],
  { name, unit }: BenchCase,
  subject: SubjectName,
  against: SubjectName,
): Ratio | null {
  const byRound = (wanted: SubjectName) =>
    new Map(
      measurements
        .filter((one) => one.case === name && one.subject === wanted)
        .map((one) => [one.round, cpuMicrosPerUnit(one, unit)] as const),
    );
  const base = byRound(against);
  const ratios = [...byRound(subject)].flatMap(([round, micros]) => {
    const other = base.get(round) ?? null;
    return micros === null || other === null || other === 0 ? [] : [micros / other];
  });
  const middle = median(ratios);
  return middle === null ? null : { median: middle, lowest: Math.min(...ratios), highest: Math.max(...ratios) };
}
