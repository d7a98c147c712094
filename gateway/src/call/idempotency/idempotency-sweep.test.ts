/** Tests when the sweep runs, and that a failure does not end it. */
import { expect, test } from 'bun:test';
import { startSweeping } from './idempotency.ts';

test('sweeps at the start and repeatedly, after a failed sweep too, until stopped', async () => {
  const faults: unknown[] = [];
  let sweeps = 0;
  let stop: () => void = () => undefined;
  await new Promise<void>((resolve) => {
    const sweep = async (nowMs: number) => {
      expect(Math.abs(nowMs - Date.now())).toBeLessThan(5_000);
      sweeps += 1;
      if (sweeps === 2) throw new Error('no disk');
      if (sweeps === 4) resolve();
      return 0;
    };
    stop = startSweeping([{ sweep }], (cause) => faults.push(cause), 1);
  });
  stop();
  const after = sweeps;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(sweeps).toBe(after);
  expect(faults).toEqual([new Error('no disk')]);
});
