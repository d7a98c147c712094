/** Defines Tollgate's cost targets, and judges them. */
import type { BenchCase, CaseName } from './cases.ts';
import type { Measurement } from './measure.ts';
import type { SubjectName } from './subjects/subject.ts';
import { addedMsOf, type Interval, megabytesOf, p99Of, ratioOf } from './summarize.ts';

/**
 * `cpu`: CPU per unit of `subject` divided by that of `against`. `added p50` and `added p99`: milliseconds of a call
 * beyond that of `against`. `p99`: milliseconds. `memory`: resident MB of all processes, with the launcher.
 */
type Measure = 'cpu' | 'added p50' | 'added p99' | 'p99' | 'memory';

interface Target {
  readonly case: CaseName;
  readonly measure: Measure;
  readonly subject: SubjectName;
  /** Equals `subject` where the measure compares nothing. */
  readonly against: SubjectName;
  readonly bound: 'at most' | 'at least';
  readonly value: number;
  /** Better than the target; shown, not judged. */
  readonly aim?: number;
}

/** `failed`: measured with failed calls, so the figure proves nothing. */
export type Verdict = 'met' | 'missed' | 'not measurable' | 'failed' | 'not measured';

export interface JudgedTarget extends Target {
  readonly figure: Interval | null;
  readonly verdict: Verdict;
}

const TOLLGATE = { measure: 'cpu', subject: 'tollgate', against: 'bare', bound: 'at most' } as const;
const WAITS = { ...TOLLGATE, against: 'direct' } as const;

/**
 * Translated requests are judged against the keyed proxy. A translation may add what it was allowed to add when the
 * target was 1.6 times a request of the client's own format, which then cost 4.6, 5.9 and 1.7 times the proxy.
 */
const TRANSLATED: readonly Target[] = (['tollgate-c2m', 'tollgate-m2c'] as const).flatMap((subject): Target[] => [
  { ...TOLLGATE, case: 'plain', subject, against: 'bare-keyed', value: 4.6 },
  { ...TOLLGATE, case: 'burst', subject, against: 'bare-keyed', value: 5.2 },
  { ...TOLLGATE, case: 'paced', subject, against: 'bare-keyed', value: 2.4 },
]);

const TARGETS: readonly Target[] = [
  { ...TOLLGATE, case: 'plain', against: 'bare-keyed', value: 1.8, aim: 1.5 },
  { ...TOLLGATE, case: 'paced', value: 1.35 },
  { ...TOLLGATE, case: 'burst', value: 1.7, aim: 1.35 },
  { ...TOLLGATE, case: 'agent', value: 2.2 },
  { ...TOLLGATE, case: 'agent-32', value: 1.6 },
  { ...TOLLGATE, case: 'steady-200', against: 'bare-keyed', value: 2.2 },
  ...(['steady-200', 'steady-500'] as const).flatMap((name): Target[] => [
    { ...WAITS, case: name, measure: 'added p50', value: 0.5 },
    { ...WAITS, case: name, measure: 'added p99', value: 3 },
  ]),
  { ...TOLLGATE, case: 'start', measure: 'p99', against: 'tollgate', value: 10 },
  { ...TOLLGATE, case: 'memory', measure: 'memory', against: 'tollgate', value: 150 },
  { case: 'plain', measure: 'cpu', subject: 'portkey', against: 'tollgate', bound: 'at least', value: 10 },
  // A log line per request adds at most 3%.
  { case: 'plain', measure: 'cpu', subject: 'tollgate-silent', against: 'tollgate', bound: 'at least', value: 0.97 },
  // A second target that no request needs adds at most 3%.
  { case: 'plain', measure: 'cpu', subject: 'tollgate-two', against: 'tollgate', bound: 'at most', value: 1.03 },
  // Responses that pass through cost at most 5% more than chat completions.
  { case: 'plain', measure: 'cpu', subject: 'tollgate-r2r', against: 'tollgate', bound: 'at most', value: 1.05 },
  ...TRANSLATED,
];

function measureTarget(measurements: readonly Measurement[], benchCase: BenchCase, target: Target): Interval | null {
  const { subject, against } = target;
  switch (target.measure) {
    case 'cpu':
      return ratioOf(measurements, benchCase, subject, against);
    case 'added p50':
      return addedMsOf(measurements, benchCase, subject, against, 'p50');
    case 'added p99':
      return addedMsOf(measurements, benchCase, subject, against, 'p99');
    case 'p99':
      return p99Of(measurements, benchCase, subject);
    case 'memory':
      return megabytesOf(measurements, benchCase, subject);
  }
}

/** The extremes of fewer values do not enclose the median with 95 %. */
const COUNT_MIN = 6;
/** Above this ratio of its bounds, an interval that has the bound within it shows nothing. */
const WIDEST = 1.1;

/** Missed if the whole interval is beyond the bound. */
export function judgeInterval(
  { lower, upper, count }: Interval,
  bound: Target['bound'],
  value: number,
): 'met' | 'missed' | 'not measurable' {
  if (count < COUNT_MIN) return 'not measurable';
  const [best, worst] = bound === 'at most' ? [lower - value, upper - value] : [value - upper, value - lower];
  if (best > 0) return 'missed';
  return worst <= 0 || upper <= lower * WIDEST ? 'met' : 'not measurable';
}

/** Every target whose case is in `cases` and whose subject is in `subjects`, with its figure and the verdict. */
export function judgeTargets(
  measurements: readonly Measurement[],
  cases: readonly BenchCase[],
  subjects: readonly SubjectName[],
): JudgedTarget[] {
  return TARGETS.flatMap((target): JudgedTarget[] => {
    const { subject, against, bound, value } = target;
    const benchCase = cases.find(({ name }) => name === target.case);
    if (benchCase === undefined || !subjects.includes(subject)) return [];
    const figure = measureTarget(measurements, benchCase, target);
    const failures = measurements
      .filter((one) => one.case === target.case && (one.subject === subject || one.subject === against))
      .reduce((sum, { load }) => sum + load.failures, 0);
    const verdict = figure === null ? 'not measured' : failures > 0 ? 'failed' : judgeInterval(figure, bound, value);
    return [{ ...target, figure, verdict }];
  });
}
