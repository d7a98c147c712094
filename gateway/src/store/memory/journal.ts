/** Keeps a journal in memory. It never fails; its frames last as long as the object that holds them. */
import { BlockWriter } from '../journal/block-writer.ts';
import { encodeFrame } from '../journal/encode-frame.ts';
import type { Frame, FrameWaiter, Journal } from '../ports/journal.ts';
import { StoreError, Unavailable } from '../ports/store-errors.ts';

/** What outlives a memory journal: the frames of all starts. */
export interface JournalMemory {
  readonly frames: Frame[];
  blocks: number;
  epoch: number;
}

export function createJournalMemory(): JournalMemory {
  return { frames: [], blocks: 0, epoch: 0 };
}

/** Opens the next epoch. Frames of one turn of the event loop are one block. */
export function openMemoryJournal(memory: JournalMemory): Journal {
  memory.epoch += 1;
  const { epoch } = memory;
  const writer = new BlockWriter();
  let forming: Frame[] = [];
  let waiters: FrameWaiter[] = [];
  let isClosed = false;

  function write(): void {
    if (forming.length === 0) return;
    const told = waiters;
    memory.frames.push(...forming);
    memory.blocks += 1;
    forming = [];
    waiters = [];
    for (const waiter of told) waiter.onDurable();
  }

  /** Refuses what no journal could store. */
  function check(frame: Frame): void {
    if (isClosed) throw new Unavailable('closed', 'The journal has been closed.');
    encodeFrame(writer, frame);
    writer.reset();
  }

  return {
    epoch,
    get durableSeq() {
      return memory.blocks;
    },
    append(frame, waiter) {
      try {
        check(frame);
      } catch (fault) {
        if (waiter === null || !(fault instanceof StoreError)) throw fault;
        waiter.onRefused(fault);
        return;
      }
      if (forming.length === 0) setImmediate(write);
      forming.push(frame);
      if (waiter !== null) waiters.push(waiter);
    },
    async flush() {
      write();
      return memory.blocks;
    },
    writable: () => !isClosed,
    provideFor: () => undefined,
    release: () => undefined,
    async close() {
      isClosed = true;
      write();
    },
  };
}
