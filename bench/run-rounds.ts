/** Orders the measurements: rounds over all cases and subjects, so that the machine's noise affects all equally. */
import type { BenchCase, CaseName } from './cases.ts';
import { type Measurement, measure, type Timing } from './measure.ts';
import type { RunningSubject, Subject, SubjectName } from './subjects/subject.ts';

export interface Rounds {
  readonly cases: readonly BenchCase[];
  readonly subjects: ReadonlyMap<Subject, RunningSubject>;
  readonly upstreamPid: number;
  readonly rounds: number;
  readonly timing: Timing;
  /**
   * Timing of the uncounted first pass, which lets every subject compile its hot paths and finds cases that it cannot
   * answer.
   */
  readonly rehearsal: Timing;
  /** Called after each round. */
  onProgress(line: string): void;
}

/**
 * A pair of subject and case that is not measured: the case does not apply, or the subject does not answer it
 * correctly.
 */
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

/** The pairs of case and subject where the case has no call in the format of the subject's clients. */
function findUncalled({ cases, subjects }: Rounds): LeftOut[] {
  return cases.flatMap((benchCase) =>
    [...subjects.keys()]
      .filter(({ name, protocol }) => benchCase.subjects.includes(name) && benchCase.calls[protocol] === undefined)
      .map(({ name, protocol }) => ({
        subject: name,
        case: benchCase.name,
        reason: `the case has no request of ${protocol} clients`,
      })),
  );
}

/** Runs a rehearsal and `rounds` rounds. A pair with a failed call in the rehearsal is left out of the rounds. */
export async function runRounds(plan: Rounds): Promise<{ measurements: Measurement[]; leftOut: LeftOut[] }> {
  const leftOut = findUncalled(plan);
  const measurements: Measurement[] = [];
  for (let round = 0; round <= plan.rounds; round += 1) {
    const timing = round === 0 ? plan.rehearsal : plan.timing;
    for (const benchCase of plan.cases) {
      const own = [...plan.subjects].filter(([{ name }]) => benchCase.subjects.includes(name));
      for (const [subject, running] of rotate(own, round)) {
        if (leftOut.some((pair) => pair.subject === subject.name && pair.case === benchCase.name)) continue;
        const measurement = await measure(subject, running, benchCase, plan.upstreamPid, round, timing);
        const { failures, firstFailure } = measurement.load;
        if (round > 0) measurements.push(measurement);
        else if (failures > 0) {
          const reason = `${failures} failed requests in the rehearsal; ${firstFailure}`;
          leftOut.push({ subject: subject.name, case: benchCase.name, reason });
        }
      }
    }
    plan.onProgress(round === 0 ? 'rehearsal done' : `round ${round} of ${plan.rounds} done`);
  }
  return { measurements, leftOut };
}
