/** Tests when the tables are brought up to the journal, and who shares a turn. */
import { expect, test } from 'bun:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { startCatchingUp } from './catch-up.ts';

/** A journal and a writer that note what is asked of them; ingests wait for `finish`. */
function watched() {
  const asked: number[] = [];
  const released: number[] = [];
  const waiting: (() => void)[] = [];
  const state = { given: 0, fault: null as Error | null, failsOnce: false, isHeld: false, isWritable: true };
  const journal = {
    durableSeq: 0,
    async flush() {
      journal.durableSeq = state.given;
      return state.given;
    },
    release: (through: number) => void released.push(through),
  };
  const writer = {
    opened: { end: { epoch: 1, seq: 0, head: new Uint8Array(32) } },
    async ingest(through: number) {
      asked.push(through);
      if (state.isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
      const { fault } = state;
      if (state.failsOnce) state.fault = null;
      if (fault !== null) throw fault;
      return { through, released: through - 1 };
    },
    writable: () => state.isWritable,
  };
  const finish = () => waiting.shift()?.();
  const faults: unknown[] = [];
  const catchUp = startCatchingUp(journal, writer as never, (cause) => faults.push(cause));
  return { asked, released, state, journal, finish, faults, ...catchUp };
}

test('a reader waits until everything that was given before is in the tables, and asks nothing where it is', async () => {
  const { asked, released, state, caughtUp, stop } = watched();
  await caughtUp();
  state.given = 3;
  await caughtUp();
  await caughtUp();
  expect([asked, released]).toEqual([[3], [2]]);
  stop();
});

test('readers that come during a turn share the next one', async () => {
  const { asked, state, finish, caughtUp, stop } = watched();
  state.given = 1;
  state.isHeld = true;
  const first = caughtUp();
  await Bun.sleep(0);
  state.given = 5;
  const others = [caughtUp(), caughtUp()];
  expect(others[0]).toBe(others[1] as Promise<void>);
  finish();
  await first;
  await Bun.sleep(0);
  finish();
  await Promise.all(others);
  expect(asked).toEqual([1, 5]);
  stop();
});

test('a failed turn fails its readers, and not those of the next', async () => {
  const { state, caughtUp, stop } = watched();
  state.given = 1;
  state.fault = new Error('away');
  state.failsOnce = true;
  const failed = caughtUp();
  const next = caughtUp();
  await expect(failed).rejects.toThrow('away');
  await next;
  stop();
});

test('blocks that no one reads are applied soon, and a fault that is not the disk’s is reported once', async () => {
  const { asked, state, journal, faults, stop } = watched();
  state.fault = new Error('does not fit');
  journal.durableSeq = 2;
  await eventually('two tries', async () => (asked.length >= 2 ? true : null));
  expect(faults).toEqual([state.fault]);
  state.fault = null;
  await eventually('the third', async () => (asked.length >= 3 ? true : null));
  journal.durableSeq = 4;
  await eventually('the next', async () => (asked.at(-1) === 4 ? true : null));
  stop();
  expect(faults).toHaveLength(1);
});
