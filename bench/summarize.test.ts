/** Tests the arithmetic of rows, ratios and targets on invented measurements. */
import { describe, expect, test } from 'bun:test';
import { CASES } from './cases.ts';
import type { Measurement } from './measure.ts';
import { renderTargets } from './render-report.ts';
import type { SubjectName } from './subjects/subject.ts';
import { addedMsOf, ratioOf, summarize } from './summarize.ts';
import { judgeTargets } from './targets.ts';

const [PLAIN] = CASES.filter(({ name }) => name === 'plain');
if (PLAIN === undefined) throw new Error('the case plain is missing');

function measurement(subject: SubjectName, round: number, cpuMs: number, failures = 0, stallMs = 4): Measurement {
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
      callMs: { p50: round, p99: 9 },
      firstMs: { p50: 1, p99: 2 },
      stall: { probes: 900, longestMs: stallMs, ownLateMs: 1 + round },
      cpuMs: { subject: cpuMs, load: 5 },
    },
    memory: [
      { pid: 1, name: 'a', residentBytes: 10, peakBytes: 20 },
      { pid: 2, name: 'b', residentBytes: 1, peakBytes: 2 },
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
    expect(rows[0]).toMatchObject({ settledBytes: 11, peakBytes: 22, stallMs: 4, ownLateMs: 4, failures: 0 });
  });

  test('without a completed unit have no cost', () => {
    const none = { ...measurement('bare-keyed', 1, 40), case: 'paced' } as const;
    expect(summarize([none], CASES, ['bare-keyed'])[0]).toMatchObject({ cpuMicros: null, perSecondPerCore: null });
  });
});

describe('ratios', () => {
  test('compare within a round, so that a noisy round does not count twice', () => {
    expect(ratioOf(ROUNDS, PLAIN, 'tollgate', 'bare-keyed')).toEqual({ median: 1.4, lowest: 1, highest: 1.5 });
  });

  test('are missing where no round measured both', () => {
    expect(ratioOf(ROUNDS, PLAIN, 'tollgate', 'nginx')).toBeNull();
    expect(
      ratioOf([measurement('bare-keyed', 1, 1), measurement('tollgate', 2, 1)], PLAIN, 'tollgate', 'bare-keyed'),
    ).toBeNull();
  });
});

describe('waits', () => {
  const [steady] = CASES.filter(({ name }) => name === 'steady');
  if (steady === undefined) throw new Error('the case steady is missing');
  const waiting = (subject: SubjectName, round: number, p50: number, stallMs: number): Measurement => {
    const one = measurement(subject, round, 40, 0, stallMs);
    return { ...one, case: 'steady', load: { ...one.load, callMs: { p50, p99: 3 * p50 } } };
  };
  const rounds = (tollgate: readonly [p50: number, stallMs: number][]) =>
    tollgate.flatMap(([p50, stallMs], round) => [
      waiting('direct', round, 0.5, 12),
      waiting('tollgate', round, p50, stallMs),
    ]);
  const judged = (measurements: readonly Measurement[]) =>
    judgeTargets(measurements, [steady]).map(({ measure, verdict }) => `${measure}: ${verdict}`);

  test('are told beyond those for the upstream of the same round', () => {
    const measurements = rounds([
      [1, 5],
      [3, 5],
      [2.5, 5],
    ]);
    expect(addedMsOf(measurements, steady, 'tollgate', 'direct', 'p50')).toEqual({
      median: 2,
      lowest: 0.5,
      highest: 2.5,
    });
    expect(addedMsOf(measurements, steady, 'tollgate', 'direct', 'p99')).toEqual({
      median: 6,
      lowest: 1.5,
      highest: 7.5,
    });
    expect(addedMsOf(measurements, steady, 'tollgate', 'bare', 'p50')).toBeNull();
  });

  test('are judged by the median, a stall by the longest of all rounds', () => {
    expect(
      judged(
        rounds([
          [2, 5],
          [2, 20],
          [9, 5],
        ]),
      ),
    ).toEqual(['added: met', 'stall: met']);
    expect(
      judged(
        rounds([
          [2.1, 5],
          [2.1, 5],
          [1, 20.1],
        ]),
      ),
    ).toEqual(['added: missed', 'stall: missed']);
    expect(judged([waiting('tollgate', 1, 1, 5)])).toEqual(['added: not measured', 'stall: met']);
  });

  test('are printed with what the machine did to a process without a gateway', () => {
    const lines = renderTargets(
      judgeTargets(
        rounds([
          [2, 5],
          [2.5, 21],
          [9, 5],
        ]),
        [steady],
      ),
      [steady],
    ).split('\n');
    expect(lines[1]).toMatch(
      /^✗ 500 plain requests per second +p50, tollgate − direct +at most 1.5 ms +2.00 \(1.50–8.50\) ms +missed$/,
    );
    expect(lines[2]).toMatch(
      /^✗ 500 plain requests per second +longest stall, tollgate +at most 20 ms +21.0 ms \(12.0\) +missed$/,
    );
  });
});

describe('targets', () => {
  const verdicts = (measurements: readonly Measurement[]) =>
    judgeTargets(measurements, [PLAIN]).map(({ subject, against, verdict }) => `${subject} / ${against}: ${verdict}`);
  const translated = (measurements: readonly Measurement[]) =>
    verdicts(measurements).filter((line) => line.includes('tollgate-'));

  test('are met up to the bound, missed beyond it, and open where a side is missing', () => {
    const open = ['tollgate-c2m / tollgate: not measured', 'tollgate-m2c / tollgate-m2m: not measured'];
    expect(verdicts(ROUNDS)).toEqual(['tollgate / bare-keyed: met', 'portkey / tollgate: not measured', ...open]);
    const portkey = measurement('portkey', 1, 599);
    expect(verdicts([measurement('tollgate', 1, 64), measurement('bare-keyed', 1, 40), portkey])).toEqual([
      'tollgate / bare-keyed: met',
      'portkey / tollgate: missed',
      ...open,
    ]);
    expect(verdicts([measurement('tollgate', 1, 65), measurement('bare-keyed', 1, 40)])[0]).toBe(
      'tollgate / bare-keyed: missed',
    );
  });

  test('of translation compare with the same client’s calls to an upstream of its own format', () => {
    const own = [measurement('tollgate', 1, 50), measurement('tollgate-m2m', 1, 100)];
    const both = (c2m: number, m2c: number) => [
      ...own,
      measurement('tollgate-c2m', 1, c2m),
      measurement('tollgate-m2c', 1, m2c),
    ];
    expect(translated(both(80, 161))).toEqual(['tollgate-c2m / tollgate: met', 'tollgate-m2c / tollgate-m2m: missed']);
    expect(translated(both(81, 160))).toEqual(['tollgate-c2m / tollgate: missed', 'tollgate-m2c / tollgate-m2m: met']);
  });

  test('of translation are set for plain calls and both kinds of streams', () => {
    const names = judgeTargets([], CASES).filter(({ subject }) => subject !== 'tollgate' && subject !== 'portkey');
    expect(names.map((target) => `${target.case}: ${target.subject} ${target.bound} ${target.value}`)).toEqual(
      ['plain', 'burst', 'paced'].flatMap((name) => [
        `${name}: tollgate-c2m at most 1.6`,
        `${name}: tollgate-m2c at most 1.6`,
      ]),
    );
  });

  test('are not met by calls that failed', () => {
    expect(verdicts([...ROUNDS, measurement('tollgate', 4, 40, 1), measurement('bare-keyed', 4, 40)])[0]).toBe(
      'tollgate / bare-keyed: failed',
    );
  });
});
