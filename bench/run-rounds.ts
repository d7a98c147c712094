/** Orders the measurements: rounds over all cases and subjects, so that the machine's noise affects all equally. */
import type { BenchCase, CaseName } from './cases.ts';
import { type Measurement, measure, measureFresh, type Timing } from './measure.ts';
import type { Rig } from './rig.ts';
import type { RunningSubject, Subject, SubjectName } from './subjects/subject.ts';

export interface Rounds {
  readonly cases: readonly BenchCase[];
  readonly subjects: ReadonlyMap<Subject, RunningSubject>;
  readonly rig: Rig;
  readonly rounds: number;
  /** Load before each window. */
  readonly warmupMs: number;
  /**
   * Timing of the uncounted first pass, which lets every subject compile its hot paths and finds cases that it cannot
   * answer.
   */
  readonly rehearsal: Timing;
  /** Called after each round. */
  onProgress(line: string): void;
}

/** A pair of subject and case that is not measured, because the subject does not answer it correctly. */
export interface LeftOut {
  readonly subject: SubjectName;
  readonly case: CaseName;
  readonly reason: string;
}

/** Rotates the entries to begin at `start`, so that no subject is always first. */
function rotate<Entry>(entries: readonly Entry[], start: number): Entry[] {
  const at = entries.length === 0 ? 0 : start % entries.length;
  return [...entries.slice(at), ...entries.slice(0, at)];
}

/**
 * Runs a rehearsal and `rounds` rounds. A pair with a failed call in the rehearsal is left out of the rounds. Subjects of
 * `fresh` cases have no rehearsal.
 */
export async function runRounds(plan: Rounds): Promise<{ measurements: Measurement[]; leftOut: LeftOut[] }> {
  const { rig } = plan;
  const leftOut: LeftOut[] = [];
  const measurements: Measurement[] = [];

  async function measureOne(subject: Subject, running: RunningSubject, benchCase: BenchCase, round: number) {
    const { name, windowMs, fresh } = benchCase;
    if (leftOut.some((pair) => pair.subject === subject.name && pair.case === name)) return;
    if (fresh !== null) {
      if (round === 0 || round > fresh.rounds) return;
      measurements.push(await measureFresh(rig, subject, benchCase, fresh, round));
      return;
    }
    const timing = round === 0 ? plan.rehearsal : { warmupMs: plan.warmupMs, windowMs, settleMs: 0 };
    const measurement = await measure(subject, running, benchCase, rig, round, timing);
    const { failures, firstFailure } = measurement.load;
    if (round > 0) measurements.push(measurement);
    else if (failures > 0) {
      const reason = `${failures} failed requests in the rehearsal; ${firstFailure}`;
      leftOut.push({ subject: subject.name, case: name, reason });
    }
  }

  for (let round = 0; round <= plan.rounds; round += 1) {
    for (const benchCase of plan.cases) {
      const own = [...plan.subjects].filter(([{ name }]) => benchCase.subjects.includes(name));
      for (const [subject, running] of rotate(own, round)) await measureOne(subject, running, benchCase, round);
    }
    plan.onProgress(round === 0 ? 'rehearsal done' : `round ${round} of ${plan.rounds} done`);
  }
  return { measurements, leftOut };
}
