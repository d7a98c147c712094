/** Tests that expensive work is limited, and that a failure frees its slot. */
import { expect, test } from 'bun:test';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { createTurns } from './passwords.ts';

test('a bounded number run and wait in order, the rest are refused; afterwards there is room again', async () => {
  const inTurn = createTurns(2, 3);
  let running = 0;
  let most = 0;
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const work = (nth: number) =>
    inTurn(async () => {
      begun.push(nth);
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => ends.push(resolve));
      running -= 1;
      if (nth === 1) throw new Error('its own fault');
      return nth;
    });
  for (const _round of [1, 2]) {
    const outcomes = Promise.allSettled([0, 1, 2, 3, 4, 5, 6].map(work));
    for (let ended = 0; ended < 5; ) {
      await Promise.resolve();
      const end = ends.shift();
      if (end === undefined) continue;
      end();
      ended += 1;
    }
    const settled = await outcomes;
    expect(settled.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.constructor))).toEqual([
      0,
      Error,
      2,
      3,
      4,
      ConsoleFailure,
      ConsoleFailure,
    ]);
    expect(begun.splice(0)).toEqual([0, 1, 2, 3, 4]);
  }
  expect(most).toBe(2);
});
