/** Tests the arithmetic of rows, ratios and targets on invented measurements. */
import { describe, expect, test } from 'bun:test';
import { CASES } from './cases.ts';
import type { Measurement } from './measure.ts';
import type { SubjectName } from './subjects/subject.ts';
import { ratioOf, summarize } from './summarize.ts';
import { judgeTargets } from './targets.ts';

const [PLAIN] = CASES.filter(({ name }) => name === 'plain');
if (PLAIN === undefined) throw new Error('the case plain is missing');

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
      callMs: { p50: round, p99: 9 },
      firstMs: { p50: 1, p99: 2 },
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
  measurement('bare', 1, 40),
  measurement('bare', 2, 400),
  measurement('tollgate', 2, 560),
  measurement('tollgate', 3, 50),
  measurement('bare', 3, 50),
];

describe('rows', () => {
  test('are medians over the rounds, in the order asked for, memory summed over processes', () => {
    const rows = summarize(ROUNDS, CASES, ['bare', 'tollgate', 'nginx']);
    expect(rows.map(({ subject }) => subject)).toEqual(['bare', 'tollgate']);
    expect(rows[0]).toMatchObject({ cpuMicros: 50, perSecondPerCore: 20_000, perSecond: 500, callP50Ms: 2 });
    expect(rows[0]).toMatchObject({ settledBytes: 11, peakBytes: 22, failures: 0, firstFailure: null });
  });

  test('without a completed unit have no cost', () => {
    const none = { ...measurement('bare', 1, 40), case: 'paced' } as const;
    expect(summarize([none], CASES, ['bare'])[0]).toMatchObject({ cpuMicros: null, perSecondPerCore: null });
  });
});

describe('ratios', () => {
  test('compare within a round, so that a noisy round does not count twice', () => {
    expect(ratioOf(ROUNDS, PLAIN, 'tollgate', 'bare')).toEqual({ median: 1.4, lowest: 1, highest: 1.5 });
  });

  test('are missing where no round measured both', () => {
    expect(ratioOf(ROUNDS, PLAIN, 'tollgate', 'nginx')).toBeNull();
    expect(ratioOf([measurement('bare', 1, 1), measurement('tollgate', 2, 1)], PLAIN, 'tollgate', 'bare')).toBeNull();
  });
});

describe('targets', () => {
  const verdicts = (measurements: readonly Measurement[]) =>
    judgeTargets(measurements, [PLAIN]).map(({ against, verdict }) => `${against}: ${verdict}`);

  test('are met up to the bound, missed beyond it, and open where a side is missing', () => {
    expect(verdicts(ROUNDS)).toEqual(['bare: met', 'tollgate: not measured']);
    const portkey = measurement('portkey', 1, 599);
    expect(verdicts([measurement('tollgate', 1, 64), measurement('bare', 1, 40), portkey])).toEqual([
      'bare: met',
      'tollgate: missed',
    ]);
    expect(verdicts([measurement('tollgate', 1, 65), measurement('bare', 1, 40)])[0]).toBe('bare: missed');
  });

  test('are not met by calls that failed', () => {
    expect(verdicts([...ROUNDS, measurement('tollgate', 4, 40, 1), measurement('bare', 4, 40)])[0]).toBe(
      'bare: failed',
    );
  });
});
