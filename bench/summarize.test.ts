/** Tests the arithmetic of rows, ratios, intervals and targets on invented measurements. */
import { describe, expect, test } from 'bun:test';
import { type BenchCase, CASES, type CaseName } from './cases.ts';
import type { Measurement } from './measure.ts';
import { renderCase, renderTargets } from './render-report.ts';
import type { SubjectName } from './subjects/subject.ts';
import { SUBJECTS } from './subjects/subjects.ts';
import { addedMsOf, intervalOf, ratioOf, summarize } from './summarize.ts';
import { judgeInterval, judgeTargets } from './targets.ts';

const ALL = SUBJECTS.map(({ name }) => name);
const MB = 1_048_576;

function caseNamed(name: CaseName): BenchCase {
  const found = CASES.find((one) => one.name === name);
  if (found === undefined) throw new Error(`the case ${name} is missing`);
  return found;
}

const PLAIN = caseNamed('plain');

function measurement(subject: SubjectName, round: number, cpuMs: number, failures = 0): Measurement {
  return {
    subject,
    case: 'plain',
    round,
    load: {
      windowMs: 2000,
      calls: 1000,
      events: 0,
      failures,
      firstFailure: failures > 0 ? 'cut' : null,
      reconnects: 0,
      callMs: { p50: round, p99: 9, longest: 10 * round },
      firstMs: { p50: 1, p99: 2, longest: 2 },
      cpuMs: { subject: cpuMs, load: 5 },
    },
    memory: [
      { pid: 1, name: 'a', residentBytes: 100 * MB, peakBytes: 20 },
      { pid: 2, name: 'b', residentBytes: 60 * MB, peakBytes: 2 },
    ],
    peakIsOwn: true,
  };
}

const ROUNDS = [
  measurement('tollgate', 1, 60),
  measurement('bare-keyed', 1, 40),
  measurement('bare-keyed', 2, 400),
  measurement('tollgate', 2, 560),
  measurement('tollgate', 3, 50),
  measurement('bare-keyed', 3, 50),
];

describe('rows', () => {
  test('are medians over the rounds, in the order asked for, memory summed over processes', () => {
    const rows = summarize(ROUNDS, CASES, ['bare-keyed', 'tollgate', 'nginx']);
    expect(rows.map(({ subject }) => subject)).toEqual(['bare-keyed', 'tollgate']);
    expect(rows[0]).toMatchObject({ cpuMicros: 50, perSecondPerCore: 20_000, perSecond: 500, callP50Ms: 2 });
    expect(rows[0]).toMatchObject({ residentBytes: 160 * MB, peakBytes: 22, longestMs: 30, failures: 0 });
  });

  test('without a completed unit have no cost', () => {
    const none = { ...measurement('bare-keyed', 1, 40), case: 'paced' } as const;
    expect(summarize([none], CASES, ['bare-keyed'])[0]).toMatchObject({ cpuMicros: null, perSecondPerCore: null });
  });
});

describe('ratios', () => {
  test('compare within a round, so that a noisy round does not count twice', () => {
    expect(ratioOf(ROUNDS, PLAIN, 'tollgate', 'bare-keyed')).toEqual({ median: 1.4, lower: 1, upper: 1.5, count: 3 });
  });

  test('are missing where no round measured both', () => {
    expect(ratioOf(ROUNDS, PLAIN, 'tollgate', 'nginx')).toBeNull();
    expect(
      ratioOf([measurement('bare-keyed', 1, 1), measurement('tollgate', 2, 1)], PLAIN, 'tollgate', 'bare-keyed'),
    ).toBeNull();
  });
});

describe('an interval', () => {
  test('of 40 values reaches from the 14th to the 27th', () => {
    const values = Array.from({ length: 40 }, (_, at) => 40 - at);
    expect(intervalOf([...values, null])).toEqual({ median: 20.5, lower: 14, upper: 27, count: 40 });
  });

  test('of few values has them all, of none is missing', () => {
    expect(intervalOf([3, 1, 2, 5, 4, 6])).toEqual({ median: 3.5, lower: 1, upper: 6, count: 6 });
    expect(intervalOf([null])).toBeNull();
  });

  test.each([
    ['wholly beyond the bound', 1.9, 3, 40, 'missed'],
    ['around it, but narrow', 1.75, 1.85, 40, 'met'],
    ['around it, and wide', 1.7, 1.9, 40, 'not measurable'],
    ['wholly within it, however wide', 0.5, 1.8, 40, 'met'],
    ['of too few rounds', 0.5, 0.6, 5, 'not measurable'],
  ] as const)('%s', (_, lower, upper, count, verdict) => {
    const mirrored = { median: 1.8, lower: 3.6 - upper, upper: 3.6 - lower, count };
    expect(judgeInterval({ median: 1.8, lower, upper, count }, 'at most', 1.8)).toBe(verdict);
    expect(judgeInterval(mirrored, 'at least', 1.8)).toBe(verdict);
  });
});

/** Six rounds of a subject in a case, with the given times of a call. */
function sixRounds(name: CaseName, subject: SubjectName, p50: number, p99: number): Measurement[] {
  return [1, 2, 3, 4, 5, 6].map((round) => {
    const one = measurement(subject, round, 40);
    return { ...one, case: name, load: { ...one.load, callMs: { p50, p99, longest: p99 } } };
  });
}

const verdictsOf = (measurements: readonly Measurement[], name: CaseName, subjects: readonly SubjectName[] = ALL) =>
  judgeTargets(measurements, [caseNamed(name)], subjects).map(
    ({ measure, subject, against, verdict }) => `${measure} ${subject} / ${against}: ${verdict}`,
  );

describe('waits', () => {
  test('are told beyond those for the upstream of the same round', () => {
    const steady = caseNamed('steady-200');
    const measurements = [
      ...sixRounds('steady-200', 'direct', 0.5, 1),
      ...sixRounds('steady-200', 'tollgate', 0.75, 5),
    ];
    const added = (rank: 'p50' | 'p99') => addedMsOf(measurements, steady, 'tollgate', 'direct', rank)?.median;
    expect([added('p50'), added('p99')]).toEqual([0.25, 4]);
    expect(addedMsOf(measurements, steady, 'tollgate', 'bare', 'p50')).toBeNull();
    expect(verdictsOf(measurements, 'steady-200')).toEqual([
      'cpu tollgate / bare-keyed: not measured',
      'added p50 tollgate / direct: met',
      'added p99 tollgate / direct: missed',
    ]);
  });

  test('after a start are judged as they are, and memory in MB', () => {
    expect(verdictsOf(sixRounds('start', 'tollgate', 1, 10), 'start')).toEqual(['p99 tollgate / tollgate: met']);
    expect(verdictsOf(sixRounds('start', 'tollgate', 1, 10.1), 'start')).toEqual(['p99 tollgate / tollgate: missed']);
    const memory = verdictsOf(sixRounds('memory', 'tollgate', 1, 1), 'memory');
    expect(memory).toEqual(['memory tollgate / tollgate: missed']);
  });
});

describe('targets', () => {
  const rounds = (subject: SubjectName, cpuMs: number, failures = 0) =>
    [1, 2, 3, 4, 5, 6].map((round) => measurement(subject, round, cpuMs, failures));

  test('are met up to the bound, missed beyond it, and open where a side is missing', () => {
    const keyed = rounds('bare-keyed', 10);
    const first = (measurements: readonly Measurement[]) => verdictsOf(measurements, 'plain', ['tollgate'])[0];
    expect(first([...rounds('tollgate', 18), ...keyed])).toBe('cpu tollgate / bare-keyed: met');
    expect(first([...rounds('tollgate', 18.1), ...keyed])).toBe('cpu tollgate / bare-keyed: missed');
    expect(first(rounds('tollgate', 18))).toBe('cpu tollgate / bare-keyed: not measured');
    expect(first([...rounds('tollgate', 10, 1), ...keyed])).toBe('cpu tollgate / bare-keyed: failed');
  });

  test('are those of the chosen subjects only', () => {
    const subjects = (chosen: readonly SubjectName[]) => [
      ...new Set(judgeTargets([], CASES, chosen).map(({ subject }) => subject)),
    ];
    expect(subjects(['bare', 'tollgate'])).toEqual(['tollgate']);
    expect(subjects(['tollgate', 'tollgate-c2m', 'portkey'])).toEqual(['tollgate', 'portkey', 'tollgate-c2m']);
  });
});

describe('the report', () => {
  test('says for each target what was measured, the target and the verdict', () => {
    const measurements = [
      ...sixRounds('steady-500', 'direct', 0.5, 1),
      ...sixRounds('steady-500', 'tollgate', 1.25, 3),
    ];
    const cases = [caseNamed('steady-500')];
    const lines = renderTargets(judgeTargets(measurements, cases, ALL), cases).split('\n');
    expect(lines[2]).toMatch(
      /^✗ 500 plain requests per second +added p50, tollgate +0\.75 \(0\.75–0\.75\) ms +at most 0\.5 ms +missed$/,
    );
    expect(lines[3]).toMatch(/^✓ .+ added p99, tollgate +2\.00 \(2\.00–2\.00\) ms +at most 3 ms +met$/);
    expect(renderTargets([], cases)).toBe('');
  });

  test('shows CPU and added time of calls at a fixed rate, and names a row that does not count', () => {
    const steady = caseNamed('steady-500');
    const measurements = [
      ...sixRounds('steady-500', 'direct', 0.5, 1),
      ...sixRounds('steady-500', 'tollgate', 1.25, 3),
      { ...measurement('tollgate', 7, 40, 2), case: 'steady-500' as const },
    ];
    const text = renderCase(steady, summarize(measurements, [steady], ALL), measurements, SUBJECTS);
    expect(text).toContain('CPU µs/call');
    expect(text).toContain('added p99 ms');
    expect(text).toContain('✗ tollgate: 2 failed requests');
  });
});
