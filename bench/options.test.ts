/** Tests the command line's options, and that an invalid one is refused with an explanation. */
import { describe, expect, test } from 'bun:test';
import type { Timing } from './measure.ts';
import { parseOptions } from './options.ts';

const PACED_STREAM_MS = 1050;
const SUBJECT_START_MS = 600;
/** The overhead of a load's process, from its start to its end, without the load itself. */
const LOAD_PROCESS_MS = 100;

const names = (entries: readonly { readonly name: string }[] | undefined) => entries?.map(({ name }) => name);

describe('options', () => {
  test('by default are everything, three rounds', () => {
    const options = parseOptions([]);
    expect(names(options?.subjects)).toEqual([
      'direct',
      'bare',
      'bare-keyed',
      'tollgate',
      'tollgate-c2m',
      'tollgate-m2m',
      'tollgate-m2c',
      'nginx',
      'portkey',
    ]);
    expect(names(options?.cases)).toEqual(['plain', 'steady', 'burst', 'paced', 'agent']);
    expect(options).toMatchObject({ rounds: 3, strict: false, jsonFile: null });
    expect(options?.tollgateCommand).toEndWith('/bin/tollgate');
  });

  test('choose subjects, cases and time', () => {
    const options = parseOptions(['--only', 'tollgate, bare', '--case=agent', '--seconds', '0.5', '--rounds', '1']);
    expect(names(options?.subjects)).toEqual(['bare', 'tollgate']);
    expect(names(options?.cases)).toEqual(['agent']);
    expect(options).toMatchObject({ rounds: 1, timing: { windowMs: 500 } });
  });

  test('can leave Portkey out, and be quick', () => {
    const options = parseOptions(['--skip-portkey', '--quick']);
    expect(names(options?.subjects)).not.toContain('portkey');
    expect(options?.rounds).toBe(1);
  });

  test('keep a whole default run under four minutes and a quick one under a minute', () => {
    for (const [args, secondsMax] of [
      [[], 240],
      [['--quick'], 60],
    ] as const) {
      const options = parseOptions(args);
      if (options === null) throw new Error('no options');
      const { timing, rehearsal, rounds, subjects, cases } = options;
      // A paced stream that began within the window is awaited.
      const stepMs = ({ warmupMs, windowMs, settleMs }: Timing, paced: boolean) => {
        const loadMs = warmupMs + windowMs;
        return LOAD_PROCESS_MS + settleMs + (paced ? Math.ceil(loadMs / PACED_STREAM_MS) * PACED_STREAM_MS : loadMs);
      };
      const steps = cases.flatMap(({ name, calls, subjects: taking }) =>
        subjects
          .filter((subject) => taking.includes(subject.name) && calls[subject.protocol] !== undefined)
          .map(() => stepMs(rehearsal, name === 'paced') + rounds * stepMs(timing, name === 'paced')),
      );
      expect(steps).toHaveLength(31);
      expect(steps.reduce((sum, ms) => sum + ms, SUBJECT_START_MS * subjects.length) / 1000).toBeLessThan(secondsMax);
    }
  });

  test.each([
    [['--only', 'litellm'], '--only: found "litellm", expected some of direct, bare, bare-keyed, tollgate'],
    [['--seconds', '0'], '--seconds: found "0", expected a number from 0.2 to 60'],
    [['--rounds', '1.5'], '--rounds: found "1.5", expected a whole number'],
    [['--fast'], "'--fast'"],
    [['plain'], 'plain'],
  ])('%j is refused', (args, words) => {
    expect(() => parseOptions(args)).toThrow(words);
  });
});
