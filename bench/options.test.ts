/** Tests that the command line means what it says, and that a wrong one is refused with words. */
import { describe, expect, test } from 'bun:test';
import { parseOptions } from './options.ts';

const names = (entries: readonly { readonly name: string }[] | undefined) => entries?.map(({ name }) => name);

describe('options', () => {
  test('by default are everything, three rounds', () => {
    const options = parseOptions([]);
    expect(names(options?.subjects)).toEqual(['bare', 'tollgate', 'nginx', 'portkey']);
    expect(names(options?.cases)).toEqual(['plain', 'burst', 'paced', 'agent']);
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

  test('keep a whole default run under four minutes and a quick one under 45 seconds', () => {
    for (const [args, secondsMax] of [
      [[], 240],
      [['--quick'], 45],
    ] as const) {
      const options = parseOptions(args);
      if (options === null) throw new Error('no options');
      const { timing, rounds, subjects, cases } = options;
      const stepMs = timing.warmupMs + timing.windowMs + timing.settleMs + 250;
      const rehearsalMs = 1050;
      const pacedDrainMs = 1000 / cases.length;
      const steps = subjects.length * cases.length;
      expect((steps * (rounds * (stepMs + pacedDrainMs) + rehearsalMs)) / 1000).toBeLessThan(secondsMax);
    }
  });

  test.each([
    [['--only', 'litellm'], '--only: found "litellm", expected some of bare, tollgate, nginx, portkey'],
    [['--seconds', '0'], '--seconds: found "0", expected a number from 0.2 to 60'],
    [['--rounds', '1.5'], '--rounds: found "1.5", expected a whole number'],
    [['--fast'], "'--fast'"],
    [['plain'], 'plain'],
  ])('%j is refused', (args, words) => {
    expect(() => parseOptions(args)).toThrow(words);
  });
});
