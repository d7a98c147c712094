/**
 * Compares two versions of Tollgate: windows of both alternate, and the CPU time per unit of each pair gives one ratio.
 * A version is worse if the whole 95 % interval of the ratio's median is above 1.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { BenchCase, CaseName } from './cases.ts';
import { median } from './load/percentile.ts';
import { measure, type Timing } from './measure.ts';
import type { Rig } from './rig.ts';
import type { RunningSubject, Subject, SubjectName } from './subjects/subject.ts';
import { cpuMicrosPerUnit } from './summarize.ts';

/** Pairs of windows for each case. */
export const WINDOWS = 40;
/** A paced stream lasts a second; shorter windows would hold parts of streams only. */
const TIMING: Timing = { warmupMs: 100, windowMs: 700, settleMs: 0 };
const PACED_TIMING: Timing = { warmupMs: 200, windowMs: 2_000, settleMs: 0 };
/** As the rehearsal of a bench: lets hot paths reach the compiler's last tier. */
const REHEARSAL: Timing = { warmupMs: 200, windowMs: 3_000, settleMs: 0 };
/** Above this ratio of its bounds, an interval shows nothing. */
const WIDEST = 1.1;
/** Standard deviations of a 95 % interval. */
const Z_95 = 1.96;
/** The share of the processors that other programs may use. */
const BUSY_MAX = 0.15;

export type Verdict = 'worse' | 'no worse' | 'not measurable';

export interface Comparison {
  readonly subject: SubjectName;
  readonly case: CaseName;
  /** CPU time per unit, this version divided by the other; the bounds of its median's 95 % interval. */
  readonly ratio: number;
  readonly lower: number;
  readonly upper: number;
  readonly verdict: Verdict;
}

/** The median of an odd or even number of ratios, its distribution-free 95 % interval, and what it shows. */
export function judgeRatios(ratios: readonly number[]): Pick<Comparison, 'ratio' | 'lower' | 'upper' | 'verdict'> {
  const middle = median(ratios);
  if (middle === null) throw new Error('a comparison needs at least one pair of windows');
  const sorted = [...ratios].sort((one, other) => one - other);
  const reach = (Z_95 * Math.sqrt(sorted.length)) / 2;
  const lower = sorted[Math.max(0, Math.floor(sorted.length / 2 - reach))] ?? middle;
  const upper = sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length / 2 + reach) - 1)] ?? middle;
  const verdict = lower > 1 ? 'worse' : upper / lower > WIDEST ? 'not measurable' : 'no worse';
  return { ratio: middle, lower, upper, verdict };
}

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
  await requireQuietMachine();
  const comparisons: Comparison[] = [];
  for (const subject of subjects.filter(({ name }) => name.startsWith('tollgate'))) {
    const own = await rig.start(subject);
    const other = await rig.start(subject, otherCommand);
    for (const benchCase of cases) {
      if (!benchCase.subjects.includes(subject.name) || benchCase.calls[subject.protocol] === undefined) continue;
      const ratios = await measurePairs(subject, own, other, benchCase, rig.upstreamPid);
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
  upstreamPid: number,
): Promise<number[]> {
  const timing = benchCase.name === 'paced' ? PACED_TIMING : TIMING;
  const cost = async (running: RunningSubject, round: number): Promise<number> => {
    const chosen = round === 0 ? REHEARSAL : timing;
    const measurement = await measure(subject, running, benchCase, upstreamPid, round, chosen);
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

async function requireQuietMachine(): Promise<void> {
  const before = readBusyTicks();
  const start = performance.now();
  await Bun.sleep(2_000);
  const seconds = (performance.now() - start) / 1_000;
  const busy = (readBusyTicks() - before) / (seconds * TICKS_PER_SECOND * availableParallelism());
  if (busy <= BUSY_MAX) return;
  throw new Error(
    `other programs use ${(busy * 100).toFixed(0)} % of the processors; expected at most ${BUSY_MAX * 100} %. Stop them and compare again`,
  );
}

/** https://man7.org/linux/man-pages/man5/proc_stat.5.html (read 2026-11-22): USER_HZ, 100 on every Linux of today. */
const TICKS_PER_SECOND = 100;

/** Ticks that all processors have worked: user, nice, system, and interrupts. */
function readBusyTicks(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = (
    readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? ''
  )
    .split(/\s+/)
    .slice(1)
    .map(Number);
  return user + nice + system + irq + softirq;
}

export function renderComparison(comparisons: readonly Comparison[]): string {
  return ['CPU time per unit, this version / the other (95 % interval)', ...comparisons.map(renderRow)].join('\n');
}

function renderRow({ subject, case: name, ratio, lower, upper, verdict }: Comparison): string {
  const interval = `${lower.toFixed(3)} to ${upper.toFixed(3)}`;
  return `${subject.padEnd(13)} ${name.padEnd(7)} ${ratio.toFixed(3)}  (${interval})  ${verdict}`;
}
