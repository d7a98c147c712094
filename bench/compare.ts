/**
 * Compares two versions of Tollgate: windows of both alternate, and the CPU time per unit of each pair gives one ratio.
 * A version is worse if the whole 95 % interval of the ratio's median is above 1.
 */
import type { BenchCase, CaseName } from './cases.ts';
import { requireQuietMachine } from './machine.ts';
import { measure, type Timing } from './measure.ts';
import type { Rig } from './rig.ts';
import type { RunningSubject, Subject, SubjectName } from './subjects/subject.ts';
import { cpuMicrosPerUnit, intervalOf } from './summarize.ts';
import { judgeInterval } from './targets.ts';

/** Pairs of windows for each case, and rounds of a run that is judged. */
export const WINDOWS = 40;
/** A paced stream lasts a second; shorter windows would hold parts of streams only. */
const TIMING: Timing = { warmupMs: 100, windowMs: 700, settleMs: 0 };
const PACED_TIMING: Timing = { warmupMs: 200, windowMs: 2_000, settleMs: 0 };
/** As the rehearsal of a bench: lets hot paths reach the compiler's last tier. */
const REHEARSAL: Timing = { warmupMs: 200, windowMs: 3_000, settleMs: 0 };

export interface Comparison {
  readonly subject: SubjectName;
  readonly case: CaseName;
  /** CPU time per unit, this version divided by the other; the bounds of its median's 95 % interval. */
  readonly ratio: number;
  readonly lower: number;
  readonly upper: number;
  readonly verdict: 'worse' | 'no worse' | 'not measurable';
}

/** The median of the ratios with its 95 % interval, and what it shows. */
export function judgeRatios(ratios: readonly number[]): Pick<Comparison, 'ratio' | 'lower' | 'upper' | 'verdict'> {
  const interval = intervalOf(ratios);
  if (interval === null) throw new Error('a comparison needs at least one pair of windows');
  const { median: ratio, lower, upper } = interval;
  return { ratio, lower, upper, verdict: VERDICTS[judgeInterval(interval, 'at most', 1)] };
}

const VERDICTS = { met: 'no worse', missed: 'worse', 'not measurable': 'not measurable' } as const;

/**
 * Compares the launcher that the rig uses with another one, for each Tollgate subject and case.
 * @throws Error if other programs keep the processors busy, or a call fails
 */
export async function compareVersions(
  rig: Rig,
  { subjects, cases }: { readonly subjects: readonly Subject[]; readonly cases: readonly BenchCase[] },
  otherCommand: string,
  onProgress: (line: string) => void,
): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const subject of subjects.filter(({ name }) => name.startsWith('tollgate'))) {
    const own = await rig.start(subject);
    const other = await rig.start(subject, otherCommand);
    await requireQuietMachine();
    for (const benchCase of cases) {
      if (!benchCase.subjects.includes(subject.name) || benchCase.fresh !== null) continue;
      const ratios = await measurePairs(subject, own, other, benchCase, rig);
      const comparison = { subject: subject.name, case: benchCase.name, ...judgeRatios(ratios) };
      onProgress(renderRow(comparison));
      comparisons.push(comparison);
    }
    await own.group.stop();
    await other.group.stop();
  }
  return comparisons;
}

async function measurePairs(
  subject: Subject,
  own: RunningSubject,
  other: RunningSubject,
  benchCase: BenchCase,
  rig: Rig,
): Promise<number[]> {
  const timing = benchCase.name === 'paced' ? PACED_TIMING : TIMING;
  const cost = async (running: RunningSubject, round: number): Promise<number> => {
    const chosen = round === 0 ? REHEARSAL : timing;
    const measurement = await measure(subject, running, benchCase, rig, round, chosen);
    const { failures, firstFailure } = measurement.load;
    if (failures > 0) throw new Error(`${subject.name}, ${benchCase.name}: ${failures} calls failed; ${firstFailure}`);
    const micros = cpuMicrosPerUnit(measurement, benchCase.unit);
    if (micros === null || micros === 0)
      throw new Error(`${subject.name}, ${benchCase.name}: no CPU time was measured`);
    return micros;
  };
  await cost(own, 0);
  await cost(other, 0);
  const ratios: number[] = [];
  for (let round = 1; round <= WINDOWS; round += 1) {
    // The first of a pair changes, so that a drift of the machine favors neither.
    const isOwnFirst = round % 2 === 1;
    const first = await cost(isOwnFirst ? own : other, round);
    const second = await cost(isOwnFirst ? other : own, round);
    ratios.push(isOwnFirst ? first / second : second / first);
  }
  return ratios;
}

export function renderComparison(comparisons: readonly Comparison[]): string {
  return ['CPU time per unit, this version / the other (95 % interval)', ...comparisons.map(renderRow)].join('\n');
}

function renderRow({ subject, case: name, ratio, lower, upper, verdict }: Comparison): string {
  const interval = `${lower.toFixed(3)} to ${upper.toFixed(3)}`;
  return `${subject.padEnd(13)} ${name.padEnd(10)} ${ratio.toFixed(3)}  (${interval})  ${verdict}`;
}
