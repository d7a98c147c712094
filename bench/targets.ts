/** Defines Tollgate's cost targets, and judges them. */
import type { BenchCase, CaseName } from './cases.ts';
import type { Measurement } from './measure.ts';
import type { SubjectName } from './subjects/subject.ts';
import { addedMsOf, ratioOf, type Spread, stallMsOf } from './summarize.ts';

/**
 * `cpu`: CPU per unit of `subject` divided by that of `against`, the median of the rounds. `added`: milliseconds of the
 * median call beyond that of `against`, the median of the rounds. `stall`: the longest of all rounds, in milliseconds;
 * `against` shows what the same machine did to a process without a gateway.
 */
export type Measure = 'cpu' | 'added' | 'stall';

interface Target {
  readonly case: CaseName;
  readonly measure: Measure;
  readonly subject: SubjectName;
  readonly against: SubjectName;
  readonly bound: 'at most' | 'at least';
  readonly value: number;
}

/**
 * Maximum cost of translation: relative to the same call, from the same client, with an upstream of the client's own
 * format.
 */
const TRANSLATED_AT_MOST = 1.6;

/** `failed`: measured with failed calls, so the figure proves nothing. */
export type Verdict = 'met' | 'missed' | 'failed' | 'not measured';

export interface JudgedTarget extends Target {
  readonly figure: Spread | null;
  /** For a stall: the same figure of `against`. */
  readonly control: Spread | null;
  readonly verdict: Verdict;
}

const TOLLGATE = { measure: 'cpu', subject: 'tollgate', against: 'bare', bound: 'at most' } as const;

const TARGETS: readonly Target[] = [
  // The target was set against a proxy that looks up a key and parses the usage, so it is judged against that one.
  { ...TOLLGATE, case: 'plain', against: 'bare-keyed', value: 1.6 },
  { case: 'plain', measure: 'cpu', subject: 'portkey', against: 'tollgate', bound: 'at least', value: 10 },
  { ...TOLLGATE, case: 'steady', measure: 'added', against: 'direct', value: 1.5 },
  { ...TOLLGATE, case: 'steady', measure: 'stall', against: 'direct', value: 20 },
  { ...TOLLGATE, case: 'burst', value: 1.35 },
  { ...TOLLGATE, case: 'paced', value: 1.35 },
  { ...TOLLGATE, case: 'agent', value: 1.5 },
  ...(['plain', 'burst', 'paced'] as const).flatMap((name): Target[] => [
    { ...TOLLGATE, case: name, subject: 'tollgate-c2m', against: 'tollgate', value: TRANSLATED_AT_MOST },
    { ...TOLLGATE, case: name, subject: 'tollgate-m2c', against: 'tollgate-m2m', value: TRANSLATED_AT_MOST },
  ]),
];

function measureTarget(measurements: readonly Measurement[], benchCase: BenchCase, target: Target): Spread | null {
  const { subject, against } = target;
  switch (target.measure) {
    case 'cpu':
      return ratioOf(measurements, benchCase, subject, against);
    case 'added':
      return addedMsOf(measurements, benchCase, subject, against, 'p50');
    case 'stall':
      return stallMsOf(measurements, benchCase, subject);
  }
}

/** The one number of a figure that is compared with the bound. */
function judgedValue(measure: Measure, { median, highest }: Spread): number {
  return measure === 'stall' ? highest : median;
}

function judge({ measure, bound, value }: Target, figure: Spread | null, failures: number): Verdict {
  if (figure === null) return 'not measured';
  if (failures > 0) return 'failed';
  const found = judgedValue(measure, figure);
  return (bound === 'at most' ? found <= value : found >= value) ? 'met' : 'missed';
}

/** Every target whose case is in `cases`, with its figure over the rounds and the verdict. */
export function judgeTargets(measurements: readonly Measurement[], cases: readonly BenchCase[]): JudgedTarget[] {
  return cases.flatMap((benchCase) =>
    TARGETS.filter((target) => target.case === benchCase.name).map((target) => {
      const { subject, against, measure } = target;
      const figure = measureTarget(measurements, benchCase, target);
      const control = measure === 'stall' ? stallMsOf(measurements, benchCase, against) : null;
      const failures = measurements
        .filter((one) => one.case === target.case && (one.subject === subject || one.subject === against))
        .reduce((sum, { load }) => sum + load.failures, 0);
      return { ...target, figure, control, verdict: judge(target, figure, failures) };
    }),
  );
}
