/**
 * Runs a journal on files in memory, remembers what became of every frame, and checks what a start finds after a kill or
 * a power loss.
 */
import type { Frame, Journal, JournalEnd } from '../../ports/journal.ts';
import { Unavailable } from '../../ports/store-errors.ts';
import { openBlockCursor, readBlocks } from '../block-cursor.ts';
import { decodeFrames } from '../decode-frames.ts';
import { openJournal } from '../journal.ts';
import { type RecoveredJournal, recoverJournal } from '../recover-journal.ts';
import { createMemoryFiles, type MemoryFiles } from './memory-files.ts';

export const FOLDER = '/journal';
/** Of segments; smaller than a product's, so that a schedule fills several. */
export const SEGMENT_BYTES = 16 * 1024;

/**
 * `open`: not settled; `acked`: confirmed; `lazy`: no one waits for it; `refused`: not in the journal; `unknown`: may be
 * there until the journal writes again; `found`: there after a start; `gone`: not there after a start.
 */
type Fate = 'open' | 'acked' | 'lazy' | 'refused' | 'unknown' | 'found' | 'gone';

/** A database that was filled from the journal. */
interface ReadModel {
  readonly mark: JournalEnd | null;
  readonly ids: readonly number[];
}

const EMPTY: ReadModel = { mark: null, ids: [] };

/** Before the first block. */
export const NO_MARK: JournalEnd = { epoch: 0, seq: 0, head: new Uint8Array(32) };

function frameOf(id: number, bytes: number): Frame {
  return {
    kind: 'movement',
    of: 'topup',
    movement: { id: `${id}`, account: 'default', amount: 1n, note: 'x'.repeat(bytes), at_ms: id },
    prepaid: false,
    audit: null,
  };
}

/** The ids of the frames in these blocks. */
export function idsOf(blocks: Iterable<{ body: Uint8Array; frames: number }>): number[] {
  return [...blocks]
    .flatMap(({ body, frames }) => decodeFrames(body, frames))
    .map((frame) => (frame.kind === 'movement' ? Number(frame.movement.id) : Number.NaN));
}

/** A turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export class JournalTrial {
  readonly #segmentBytes: number;
  files: MemoryFiles = createMemoryFiles();
  journal: Journal | null = null;
  stream: Uint8Array | null = null;
  /** By id, which counts frames in the order of their calls. */
  readonly fates: Fate[] = [];
  #database: ReadModel = EMPTY;
  /** The newest read model that survives a power loss. */
  #durableDatabase: ReadModel = EMPTY;
  /** The first check that failed inside a call. */
  violation: unknown = null;
  readonly problems: string[] = [];
  readonly changes: (string | null)[] = [];

  constructor(segmentBytes = SEGMENT_BYTES) {
    this.#segmentBytes = segmentBytes;
  }

  async open(): Promise<void> {
    const found = this.recover(this.files, this.#database);
    if (this.stream !== null) this.#settle(found.end);
    this.stream = found.stream;
    this.journal = await openJournal({
      folder: FOLDER,
      stream: found.stream,
      end: found.end,
      epoch: found.epoch + 1,
      file: this.files,
      segmentBytes: this.#segmentBytes,
      onChange: (failure) => {
        this.changes.push(failure?.kind ?? null);
        if (failure === null) this.#change('unknown', 'refused');
      },
      onProblem: (problem) => this.problems.push(problem),
    });
  }

  recover(files: MemoryFiles, { mark }: ReadModel): RecoveredJournal {
    return recoverJournal(FOLDER, mark, this.stream, files);
  }

  append(bytes: number, isLazy = false): number {
    const id = this.fates.length;
    this.fates.push(isLazy ? 'lazy' : 'open');
    const settle = (fate: Fate) => {
      if (this.fates[id] !== 'open') throw new Error(`frame ${id}, ${this.fates[id]}, became ${fate}`);
      this.fates[id] = fate;
    };
    this.journal?.append(
      frameOf(id, bytes),
      isLazy
        ? null
        : {
            onDurable: () => settle('acked'),
            onRefused: (failure) => settle(failure.kind === 'unknown' ? 'unknown' : 'refused'),
          },
    );
    return id;
  }

  async flush(): Promise<string> {
    const through = this.fates.length;
    try {
      await this.journal?.flush();
      for (let id = 0; id < through; id++) if (this.fates[id] === 'lazy') this.fates[id] = 'acked';
      return 'flushed';
    } catch (failure) {
      if (failure instanceof Unavailable) return failure.kind;
      throw failure;
    }
  }

  /** Fills the read model up to what is durable. */
  ingest(): void {
    const { mark, ids } = this.#database;
    const through = this.journal?.durableSeq ?? 0;
    if (through <= (mark?.seq ?? 0)) return;
    const cursor = openBlockCursor(FOLDER, mark ?? NO_MARK, this.files);
    const blocks = [...cursor.read(through)];
    cursor.close();
    const last = blocks.at(-1);
    if (last === undefined) return;
    this.#database = {
      mark: { epoch: last.epoch, seq: last.seq, head: Uint8Array.from(last.hash) },
      ids: [...ids, ...idsOf(blocks)],
    };
  }

  /** Makes the read model durable, and releases what it has. */
  release(): void {
    this.#durableDatabase = this.#database;
    this.journal?.release(this.#database.mark?.seq ?? 0);
  }

  /**
   * Checks what a start finds in these files. Throws where an acknowledged frame is lost, a refused one is there, frames
   * are out of order, or the start is refused.
   */
  check(files: MemoryFiles, isPowerLoss: boolean): void {
    const database = isPowerLoss ? this.#durableDatabase : this.#database;
    const found = this.recover(files, database);
    const ids = [...database.ids, ...idsOf(readBlocks(FOLDER, database.mark ?? NO_MARK, found.end.seq, files))];
    for (const [index, id] of ids.entries()) {
      const before = ids[index - 1] ?? -1;
      if (id <= before) throw new Error(`frame ${id} comes after ${before}`);
      const fate = this.fates[id];
      if (fate === undefined || fate === 'refused' || fate === 'gone')
        throw new Error(`frame ${id} is ${fate}, but there`);
    }
    const there = new Set(ids);
    const lastAcked = this.fates.lastIndexOf('acked');
    for (const [id, fate] of this.fates.entries()) {
      const must = fate === 'acked' || fate === 'found' || (fate === 'lazy' && id < lastAcked);
      if (must && !there.has(id)) throw new Error(`frame ${id} is lost, although it is ${fate}`);
    }
    // A start that is killed at once, and repeated, finds the same.
    const again = this.recover(files, database);
    if (again.end.seq !== found.end.seq) throw new Error(`found ${found.end.seq} blocks, then ${again.end.seq}`);
  }

  /** Takes these files, which a kill or a power loss left, for the next start. */
  leave(files: MemoryFiles, isPowerLoss: boolean): void {
    this.check(files.afterKill(), isPowerLoss);
    this.files = files;
    if (isPowerLoss) this.#database = this.#durableDatabase;
    this.journal = null;
  }

  /** What a start has found stays; all else is gone. */
  #settle(end: JournalEnd): void {
    const { mark, ids } = this.#database;
    const there = new Set([...ids, ...idsOf(readBlocks(FOLDER, mark ?? NO_MARK, end.seq, this.files))]);
    for (const id of this.fates.keys()) this.fates[id] = there.has(id) ? 'found' : 'gone';
  }

  #change(from: Fate, to: Fate): void {
    for (const [id, fate] of this.fates.entries()) if (fate === from) this.fates[id] = to;
  }
}
