/** Tests the command line's options, and that an invalid one is refused with an explanation. */
import { describe, expect, test } from 'bun:test';
import { parseOptions } from './options.ts';

const PACED_STREAM_MS = 1050;
const SUBJECT_START_MS = 1_000;
/** Plain requests of the slower subject. */
const CALLS_PER_MS = 4;
/** The overhead of a load's process, from its start to its end, without the load itself. */
const LOAD_PROCESS_MS = 100;

const names = (entries: readonly { readonly name: string }[] | undefined) => entries?.map(({ name }) => name);

const WHOLE = [
  'plain',
  'steady-40',
  'steady-200',
  'steady-500',
  'burst',
  'paced',
  'agent',
  'agent-32',
  'start',
  'memory',
];

describe('options', () => {
  test('by default measure all cases of Tollgate and the baselines in forty rounds, on a quiet machine', () => {
    const options = parseOptions([]);
    expect(names(options?.subjects)).toEqual(['direct', 'bare', 'bare-keyed', 'tollgate']);
    expect(names(options?.cases)).toEqual(WHOLE);
    expect(options).toMatchObject({ rounds: 40, isJudged: true, strict: false, jsonFile: null });
    expect(options?.tollgateCommand).toEndWith('/bin/tollgate');
  });

  test('choose subjects, cases and time', () => {
    const args = ['--only', 'tollgate, bare', '--case=agent,start', '--seconds', '0.5', '--rounds', '1'];
    const options = parseOptions(args);
    expect(names(options?.subjects)).toEqual(['bare', 'tollgate']);
    expect(options?.cases.map(({ name, windowMs }) => [name, windowMs])).toEqual([
      ['agent', 500],
      ['start', 10_000],
    ]);
    expect(options).toMatchObject({ rounds: 1 });
  });

  test('add other gateways and translation on request', () => {
    const names = (...args: string[]) =>
      parseOptions(args)
        ?.subjects.map(({ name }) => name)
        .slice(4);
    expect(names('--peers')).toEqual(['nginx', 'portkey', 'litellm']);
    expect(names('--translated')).toEqual(['tollgate-c2m', 'tollgate-m2m', 'tollgate-m2c']);
  });

  test('keep a whole default run within half an hour and a quick one under a minute', () => {
    for (const [args, secondsMax] of [
      [[], 1_800],
      [['--quick'], 60],
    ] as const) {
      const options = parseOptions(args);
      if (options === null) throw new Error('no options');
      const { warmupMs, rehearsal, rounds, subjects, cases } = options;
      // A paced stream that began within the window is awaited.
      const stepMs = (loadMs: number, paced: boolean) =>
        LOAD_PROCESS_MS + (paced ? Math.ceil(loadMs / PACED_STREAM_MS) * PACED_STREAM_MS : loadMs);
      const steps = cases.flatMap(({ name, subjects: taking, windowMs, fresh }) =>
        subjects
          .filter((subject) => taking.includes(subject.name))
          .map(() => {
            const isPaced = name === 'paced';
            if (fresh === null) {
              const rehearsalMs = stepMs(rehearsal.warmupMs + rehearsal.windowMs, isPaced);
              return rehearsalMs + rounds * stepMs(warmupMs + windowMs, isPaced);
            }
            const loadMs = Math.max(windowMs, fresh.calls / CALLS_PER_MS);
            return Math.min(fresh.rounds, rounds) * (SUBJECT_START_MS + stepMs(loadMs, false) + fresh.settleMs);
          }),
      );
      expect(steps).toHaveLength(30);
      expect(steps.reduce((sum, ms) => sum + ms, SUBJECT_START_MS * subjects.length) / 1000).toBeLessThan(secondsMax);
    }
  });

  test.each([
    [['--only', 'kong'], '--only: found "kong", expected some of direct, bare, bare-keyed, tollgate'],
    [['--seconds', '0'], '--seconds: found "0", expected a number from 0.2 to 60'],
    [['--rounds', '1.5'], '--rounds: found "1.5", expected a whole number'],
    [['--fast'], "'--fast'"],
    [['plain'], 'plain'],
  ])('%j is refused', (args, words) => {
    expect(() => parseOptions(args)).toThrow(words);
  });
});
