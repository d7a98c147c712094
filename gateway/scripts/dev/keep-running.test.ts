/** Tests keep-running.ts: one child at a time, and none left behind. */
import { describe, expect, test } from 'bun:test';
import { type Child, keepRunning } from './keep-running.ts';

/** Children whose end the test decides. `obedient`: they end when told to. */
function nursery(obedient: boolean) {
  const signals: string[] = [];
  const ends: ((status: number) => void)[] = [];
  const startedWhileAlive: boolean[] = [];
  let alive = 0;
  const start = (): Child => {
    startedWhileAlive.push(alive > 0);
    alive += 1;
    const { promise, resolve } = Promise.withResolvers<number>();
    const finish = (status: number) => {
      alive -= 1;
      resolve(status);
    };
    ends.push(finish);
    return {
      exited: promise,
      kill(signal) {
        signals.push(signal);
        if (obedient || signal === 'SIGKILL') finish(0);
      },
    };
  };
  return { start, signals, ends, startedWhileAlive, alive: () => alive };
}

/** Runs all pending promise callbacks. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a child that is kept running', () => {
  test('is replaced by a restart, never two at once', async () => {
    const children = nursery(true);
    const kept = keepRunning(children.start, () => {});
    kept.restart();
    await turn();
    expect(children.startedWhileAlive).toEqual([false, false]);
    expect(children.alive()).toBe(1);
    await kept.stop();
    expect(children.alive()).toBe(0);
  });

  test('restarts once for all that is asked while the old one ends', async () => {
    const children = nursery(false);
    const kept = keepRunning(children.start, () => {}, 60_000);
    kept.restart();
    kept.restart();
    kept.restart();
    await turn();
    expect(children.startedWhileAlive).toHaveLength(1);
    children.ends[0]?.(0);
    await turn();
    expect(children.startedWhileAlive).toEqual([false, false]);
    expect(children.signals).toEqual(['SIGINT']);
  });

  test('is killed when it does not end in its time', async () => {
    const children = nursery(false);
    const kept = keepRunning(children.start, () => {}, 20);
    await kept.stop();
    expect(children.signals).toEqual(['SIGINT', 'SIGKILL']);
  });

  test('that ended by itself is reported, and starts again with the next restart', async () => {
    const children = nursery(true);
    const statuses: number[] = [];
    const kept = keepRunning(children.start, (status) => statuses.push(status));
    children.ends[0]?.(3);
    await turn();
    expect(statuses).toEqual([3]);
    expect(children.alive()).toBe(0);
    kept.restart();
    await turn();
    expect(children.alive()).toBe(1);
    await kept.stop();
    expect(statuses).toEqual([3]);
  });

  test('does not come back after a stop, though a restart was under way', async () => {
    const children = nursery(false);
    const kept = keepRunning(children.start, () => {}, 60_000);
    kept.restart();
    const stopped = kept.stop();
    children.ends[0]?.(0);
    await stopped;
    kept.restart();
    await turn();
    expect(children.alive()).toBe(0);
    expect(children.startedWhileAlive).toHaveLength(1);
  });
});
