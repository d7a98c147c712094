/**
 * Keeps files in memory for tests, as a disk does: written bytes and new names may be lost until they are synced. Each
 * call has a number, at which a fault can be set.
 */
import { basename } from 'node:path';
import type { FilePort } from '../file-port.ts';

const SECTOR_BYTES = 512;

/** Content as programs see it, and as the disk has it. */
interface MemoryFile {
  seen: Buffer;
  disk: Buffer;
  /** Sectors whose content differs, by number. */
  readonly unsynced: Set<number>;
  /** Whether the disk has its name. */
  isNamed: boolean;
}

/** Decides a call's fate, before it does anything: an Error to throw; null: it succeeds. */
export type FaultOf = (name: keyof FilePort, call: number) => Error | null;

export interface MemoryFiles extends FilePort {
  /** How many calls have changed or tried to change something. */
  readonly calls: number;
  faultOf: FaultOf;
  /** Bytes that fit; writes beyond fail with ENOSPC. */
  capacityBytes: number;
  /** A call of `write` takes no more. */
  writeBytesMax: number;
  /** Draws a number in [0, 1): whether a sector is on the disk after a failed sync. */
  random: () => number;
  /** Holds back the ends of syncs until it is false again. */
  isSlow: boolean;
  /**
   * The files after a power loss: of what was not synced, `survives` decides for each sector and each name. What open
   * calls do later does not reach them.
   */
  afterPowerLoss(survives: () => boolean): MemoryFiles;
  /** The files after the process was killed: all that was written is there. */
  afterKill(): MemoryFiles;
  /** The bytes of a file, to be changed by tests. */
  bytesOf(name: string): Buffer;
  put(name: string, bytes: Buffer): void;
  drop(name: string): void;
}

export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code });
}

export function createMemoryFiles(content: ReadonlyMap<string, MemoryFile> = new Map()): MemoryFiles {
  const files = new Map(content);
  /** Removed, while the disk may still have the name. */
  const removed = new Map<string, MemoryFile>();
  const open = new Map<number, MemoryFile>();
  let nextHandle = 3;
  let calls = 0;
  let held: (() => void)[] = [];
  let isSlow = false;

  function count(name: keyof FilePort): void {
    calls += 1;
    const fault = memory.faultOf(name, calls);
    if (fault !== null) throw fault;
  }

  function handle(number: number): MemoryFile {
    const file = open.get(number);
    if (file === undefined) throw systemError('EBADF');
    return file;
  }

  function put(file: MemoryFile, bytes: Uint8Array | null, length: number, position: number): void {
    const end = position + length;
    if (end > file.seen.length) {
      const used = [...files.values()].reduce((sum, { seen }) => sum + seen.length, 0);
      if (used + end - file.seen.length > memory.capacityBytes) throw systemError('ENOSPC');
      file.seen = Buffer.concat([file.seen, Buffer.alloc(end - file.seen.length)]);
    }
    if (bytes === null) file.seen.fill(0, position, end);
    else file.seen.set(bytes.subarray(0, length), position);
    for (let sector = Math.floor(position / SECTOR_BYTES); sector * SECTOR_BYTES < end; sector++) {
      file.unsynced.add(sector);
    }
  }

  function sync(file: MemoryFile, sectors: ReadonlySet<number> | readonly number[], content: Buffer): void {
    if (file.disk.length < content.length) {
      file.disk = Buffer.concat([file.disk, Buffer.alloc(content.length - file.disk.length)]);
    }
    for (const sector of sectors) {
      const from = sector * SECTOR_BYTES;
      content.copy(file.disk, from, from, Math.min(content.length, from + SECTOR_BYTES));
    }
  }

  /** Whatever ends later, as the runtime's pool does it. */
  function later(work: () => void): void {
    if (isSlow) held.push(work);
    else setImmediate(work);
  }

  const memory: MemoryFiles = {
    get calls() {
      return calls;
    },
    faultOf: () => null,
    capacityBytes: Number.POSITIVE_INFINITY,
    writeBytesMax: Number.POSITIVE_INFINITY,
    random: Math.random,
    get isSlow() {
      return isSlow;
    },
    set isSlow(slow) {
      isSlow = slow;
      if (slow) return;
      const ends = held;
      held = [];
      for (const end of ends) setImmediate(end);
    },
    makeFolder: () => undefined,
    list: () => [...files.keys()],
    open(path, use) {
      const name = basename(path);
      let file = files.get(name);
      if (file === undefined) {
        if (use !== 'create') throw systemError('ENOENT');
        count('open');
        file = { seen: Buffer.alloc(0), disk: Buffer.alloc(0), unsynced: new Set(), isNamed: false };
        files.set(name, file);
      }
      open.set(nextHandle, file);
      nextHandle += 1;
      return nextHandle - 1;
    },
    read(number, into, position) {
      const { seen } = handle(number);
      return position < seen.length ? seen.copy(into, 0, position, position + into.length) : 0;
    },
    write(number, bytes, position) {
      const file = handle(number);
      try {
        count('write');
      } catch (fault) {
        // A part may have been written.
        put(file, bytes, Math.floor(bytes.length / 2), position);
        throw fault;
      }
      const length = Math.min(bytes.length, memory.writeBytesMax);
      put(file, bytes, length, position);
      return length;
    },
    datasync(number, done) {
      const file = handle(number);
      const taken = new Set(file.unsynced);
      const content = Buffer.from(file.seen);
      let fault: unknown = null;
      try {
        count('datasync');
      } catch (thrown) {
        fault = thrown;
      }
      later(() => {
        sync(file, fault === null ? taken : [...taken].filter(() => memory.random() < 0.5), content);
        for (const sector of taken) {
          const from = sector * SECTOR_BYTES;
          const end = Math.min(file.seen.length, from + SECTOR_BYTES);
          // After a fault the system takes the bytes as written, though the disk does not have them.
          if (file.seen.compare(content, from, end, from, end) === 0) file.unsynced.delete(sector);
        }
        done(fault);
      });
    },
    datasyncNow(number) {
      const file = handle(number);
      count('datasyncNow');
      sync(file, file.unsynced, file.seen);
      file.unsynced.clear();
    },
    async fill(number, length, position) {
      const file = handle(number);
      count('fill');
      put(file, null, length, position);
    },
    async syncFolder() {
      count('syncFolder');
      for (const file of files.values()) file.isNamed = true;
      removed.clear();
    },
    async remove(path) {
      count('remove');
      const name = basename(path);
      const file = files.get(name);
      if (file === undefined) throw systemError('ENOENT');
      if (file.isNamed) removed.set(name, file);
      files.delete(name);
    },
    close(number) {
      handle(number);
      open.delete(number);
    },
    afterPowerLoss(survives) {
      const left = new Map<string, MemoryFile>();
      for (const [name, file] of [...removed, ...files]) {
        if ((removed.has(name) || !file.isNamed) && !survives()) continue;
        const disk = Buffer.alloc(file.seen.length);
        file.disk.copy(disk);
        for (const sector of file.unsynced) {
          const from = sector * SECTOR_BYTES;
          if (survives()) file.seen.copy(disk, from, from, Math.min(file.seen.length, from + SECTOR_BYTES));
        }
        left.set(name, { seen: disk, disk: Buffer.from(disk), unsynced: new Set(), isNamed: true });
      }
      return createMemoryFiles(left);
    },
    afterKill() {
      const left = new Map<string, MemoryFile>();
      for (const [name, { seen, disk, unsynced, isNamed }] of files) {
        left.set(name, { seen: Buffer.from(seen), disk: Buffer.from(disk), unsynced: new Set(unsynced), isNamed });
      }
      return createMemoryFiles(left);
    },
    bytesOf(name) {
      const file = files.get(name);
      if (file === undefined) throw systemError('ENOENT');
      return file.seen;
    },
    put(name, bytes) {
      files.set(name, { seen: bytes, disk: Buffer.from(bytes), unsynced: new Set(), isNamed: true });
    },
    drop(name) {
      files.delete(name);
    },
  };
  return memory;
}
