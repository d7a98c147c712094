/** Tests what every journal must do: order, durability, waiters, refusals, and the frames of earlier starts. */
import { describe, expect, test } from 'bun:test';
import type { Frame, FrameWaiter, Journal } from '../ports/journal.ts';
import { ConstraintViolation, Unavailable } from '../ports/store-errors.ts';
import { sampleRecord } from '../testing/sample-record.ts';

/** A journal over new data. */
export interface JournalRig {
  journal: Journal;
  /** The durable frames, of all starts. */
  readFrames(): readonly Frame[];
  /** Closes the journal and opens the same data again, as the next start does. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

function frame(id: string, session: string | null = null): Frame {
  return { kind: 'refused', record: sampleRecord(id, { session }) };
}

/** Resolves with `durable`, or the kind of the refusal. */
function append(journal: Journal, given: Frame): Promise<string> {
  return new Promise((resolve) => {
    journal.append(given, { onDurable: () => resolve('durable'), onRefused: ({ kind }) => resolve(kind) });
  });
}

function idsOf(frames: readonly Frame[]): string[] {
  return frames.map((given) => (given.kind === 'refused' ? given.record.request_id : given.kind));
}

export function testJournal(name: string, openRig: () => Promise<JournalRig>): void {
  async function withRig(act: (rig: JournalRig) => Promise<void>): Promise<void> {
    const rig = await openRig();
    try {
      await act(rig);
    } finally {
      await rig.close();
    }
  }

  describe(`a journal: ${name}`, () => {
    test('frames keep their order; a waiter is told once its frame, and all before it, are durable', () =>
      withRig(async (rig) => {
        const told: string[] = [];
        const last = new Promise<void>((resolve) => {
          for (const id of ['a', 'b', 'c', 'd', 'e']) {
            const waiter: FrameWaiter = {
              onDurable() {
                told.push(id);
                expect(idsOf(rig.readFrames())).toContain(id);
                if (id === 'e') resolve();
              },
              onRefused: (failure) => told.push(failure.kind),
            };
            rig.journal.append(frame(id), id === 'b' || id === 'd' ? null : waiter);
          }
        });
        expect(told).toEqual([]);
        await last;
        expect(told).toEqual(['a', 'c', 'e']);
        expect(idsOf(rig.readFrames())).toEqual(['a', 'b', 'c', 'd', 'e']);
      }));

    test('frames are read back as they were given', () =>
      withRig(async (rig) => {
        const given: Frame[] = [
          frame('a', 'session é'),
          { kind: 'extend', call_id: 'a', nth: 1, amount: 5n, prepaid: true, at_ms: 12 },
        ];
        for (const one of given) expect(await append(rig.journal, one)).toBe('durable');
        expect(rig.readFrames()).toEqual(given);
      }));

    test('a frame without a waiter becomes durable by itself, or by a flush', () =>
      withRig(async (rig) => {
        const before = rig.journal.durableSeq;
        rig.journal.append(frame('lazy'), null);
        while (rig.journal.durableSeq === before) await Bun.sleep(5);
        expect(idsOf(rig.readFrames())).toEqual(['lazy']);
        rig.journal.append(frame('flushed'), null);
        const through = await rig.journal.flush();
        expect(through).toBeGreaterThan(before + 1);
        expect(through).toBe(rig.journal.durableSeq);
        expect(await rig.journal.flush()).toBe(through);
        expect(idsOf(rig.readFrames())).toEqual(['lazy', 'flushed']);
      }));

    test('a waiter may append', () =>
      withRig(async (rig) => {
        const second = await new Promise<string>((resolve) => {
          rig.journal.append(frame('a'), {
            onDurable: () => resolve(append(rig.journal, frame('b'))),
            onRefused: ({ kind }) => resolve(kind),
          });
        });
        expect(second).toBe('durable');
        expect(idsOf(rig.readFrames())).toEqual(['a', 'b']);
      }));

    test('a frame that cannot be stored is refused as invalid, and no other', () =>
      withRig(async (rig) => {
        const large = frame('large', 'x'.repeat(1024 * 1024));
        const outcomes = await Promise.all([frame('a'), large, frame('b')].map((given) => append(rig.journal, given)));
        expect(outcomes).toEqual(['durable', 'invalid', 'durable']);
        expect(() => rig.journal.append(large, null)).toThrow(ConstraintViolation);
        await rig.journal.flush();
        expect(idsOf(rig.readFrames())).toEqual(['a', 'b']);
      }));

    test('each start takes the next epoch and goes on after the frames of those before it', () =>
      withRig(async (rig) => {
        const { epoch } = rig.journal;
        await append(rig.journal, frame('a'));
        rig.journal.append(frame('left'), null);
        await rig.restart();
        expect(rig.journal.epoch).toBe(epoch + 1);
        const before = rig.journal.durableSeq;
        await append(rig.journal, frame('b'));
        expect(rig.journal.durableSeq).toBe(before + 1);
        expect(idsOf(rig.readFrames())).toEqual(['a', 'left', 'b']);
      }));

    test('closed, it refuses frames at once', () =>
      withRig(async (rig) => {
        const { journal } = rig;
        const open = append(journal, frame('a'));
        const closing = journal.close();
        let told = '';
        journal.append(frame('b'), {
          onDurable: () => {
            told = 'durable';
          },
          onRefused: ({ kind }) => {
            told = kind;
          },
        });
        expect(told).toBe('closed');
        expect(() => journal.append(frame('c'), null)).toThrow(Unavailable);
        expect(journal.writable()).toBe(false);
        await closing;
        expect(await open).toBe('durable');
      }));

    test('it is writable while it works', () =>
      withRig(async (rig) => {
        rig.journal.provideFor(3);
        expect(rig.journal.writable()).toBe(true);
        rig.journal.release(await rig.journal.flush());
        expect(await append(rig.journal, frame('a'))).toBe('durable');
      }));
  });
}
