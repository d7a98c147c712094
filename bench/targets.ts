/** Owns what Tollgate promises about its cost, as a table, and the verdict on it. */
import type { BenchCase, CaseName } from './cases.ts';
import type { Measurement } from './measure.ts';
import type { SubjectName } from './subjects/subject.ts';
import { type Ratio, ratioOf } from './summarize.ts';

interface Target {
  readonly case: CaseName;
  /** CPU per unit of `subject` over that of `against`. */
  readonly subject: SubjectName;
  readonly against: SubjectName;
  readonly bound: 'at most' | 'at least';
  readonly value: number;
}

/** What translation may cost: against the same call, from the same client, with an upstream of the client's own format. */
const TRANSLATED_AT_MOST = 1.6;

/** `failed`: measured with failed calls, so that the ratio proves nothing. */
export type Verdict = 'met' | 'missed' | 'failed' | 'not measured';

export interface JudgedTarget extends Target {
  readonly ratio: Ratio | null;
  readonly verdict: Verdict;
}

const TARGETS: readonly Target[] = [
  { case: 'plain', subject: 'tollgate', against: 'bare', bound: 'at most', value: 1.6 },
  { case: 'plain', subject: 'portkey', against: 'tollgate', bound: 'at least', value: 10 },
  { case: 'burst', subject: 'tollgate', against: 'bare', bound: 'at most', value: 1.3 },
  { case: 'paced', subject: 'tollgate', against: 'bare', bound: 'at most', value: 1.3 },
  { case: 'agent', subject: 'tollgate', against: 'bare', bound: 'at most', value: 1.5 },
  ...(['plain', 'burst', 'paced'] as const).flatMap((name): Target[] => [
    { case: name, subject: 'tollgate-c2m', against: 'tollgate', bound: 'at most', value: TRANSLATED_AT_MOST },
    { case: name, subject: 'tollgate-m2c', against: 'tollgate-m2m', bound: 'at most', value: TRANSLATED_AT_MOST },
  ]),
];

function judge(target: Target, ratio: Ratio | null, failures: number): Verdict {
  if (ratio === null) return 'not measured';
  if (failures > 0) return 'failed';
  const holds = target.bound === 'at most' ? ratio.median <= target.value : ratio.median >= target.value;
  return holds ? 'met' : 'missed';
}

/** Every target whose case is among `cases`, with the median of the rounds' ratios and the verdict. */
export function judgeTargets(measurements: readonly Measurement[], cases: readonly BenchCase[]): JudgedTarget[] {
  return cases.flatMap((benchCase) =>
    TARGETS.filter((target) => target.case === benchCase.name).map((target) => {
      const ratio = ratioOf(measurements, benchCase, target.subject, target.against);
      const failures = measurements
        .filter((one) => one.case === target.case && (one.subject === target.subject || one.subject === target.against))
        .reduce((sum, { load }) => sum + load.failures, 0);
      return { ...target, ratio, verdict: judge(target, ratio, failures) };
    }),
  );
}
