/** Owns the order of measurements: rounds over all cases and subjects, so that the machine's noise hits all alike. */
import type { BenchCase, CaseName } from './cases.ts';
import { type Measurement, measure, type Timing } from './measure.ts';
import type { RunningSubject, Subject, SubjectName } from './subjects/subject.ts';

export interface Rounds {
  readonly cases: readonly BenchCase[];
  readonly subjects: ReadonlyMap<Subject, RunningSubject>;
  readonly upstreamPid: number;
  readonly rounds: number;
  readonly timing: Timing;
  /** Of the uncounted first pass, which lets every subject compile its hot paths and shows what it cannot answer. */
  readonly rehearsal: Timing;
  /** Hears of each finished round. */
  onProgress(line: string): void;
}

/** A pair of subject and case that is not measured: the case is not for it, or it does not answer the case rightly. */
export interface LeftOut {
  readonly subject: SubjectName;
  readonly case: CaseName;
  readonly reason: string;
}

/** The entries, begun at `start` and wrapped around: no subject is always the first. */
function rotate<Entry>(entries: readonly Entry[], start: number): Entry[] {
  const at = entries.length === 0 ? 0 : start % entries.length;
  return [...entries.slice(at), ...entries.slice(0, at)];
}

/** The pairs of a case and a subject whose clients' format the case has no call in. */
function findUncalled({ cases, subjects }: Rounds): LeftOut[] {
  return cases.flatMap((benchCase) =>
    [...subjects.keys()]
      .filter(({ name, protocol }) => benchCase.subjects.includes(name) && benchCase.calls[protocol] === undefined)
      .map(({ name, protocol }) => ({
        subject: name,
        case: benchCase.name,
        reason: `the case has no call of ${protocol} clients`,
      })),
  );
}

/** Runs a rehearsal and `rounds` rounds. A pair whose rehearsal has a failed call is left out of the rounds. */
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
          const reason = `${failures} failed calls in the rehearsal; ${firstFailure}`;
          leftOut.push({ subject: subject.name, case: benchCase.name, reason });
        }
      }
    }
    plan.onProgress(round === 0 ? 'rehearsal done' : `round ${round} of ${plan.rounds} done`);
  }
  return { measurements, leftOut };
}
