/** Defines the work that the journal does on files, so that tests can inject faults, and implements it on the disk. */
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fsync,
  mkdirSync,
  constants as openFlags,
  openSync,
  readdirSync,
  readSync,
  unlink,
  write,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { withSpareDescriptor } from '../../lib/open-files.ts';

/** Every method throws or rejects with the system's error, whose `code` names it. An open file is a number. */
export interface FilePort {
  /** Creates the folder (mode 0700) unless it exists. */
  makeFolder(path: string): void;
  /** Names in the folder; none where it does not exist. */
  list(folder: string): readonly string[];
  /** `create` creates the file (mode 0600) unless it exists, and opens it for changes. */
  open(path: string, use: 'read' | 'change' | 'create'): number;
  /** Returns how many bytes were read: fewer than asked for only at the end of the file. */
  read(file: number, into: Uint8Array, position: number): number;
  /** Returns how many bytes were written: at least 1. */
  write(file: number, bytes: Uint8Array, position: number): number;
  /** Makes what was written before the call durable, through the runtime's pool; `fault` is null on success. */
  datasync(file: number, done: (fault: unknown) => void): void;
  /** As `datasync`, on this thread. */
  datasyncNow(file: number): void;
  /** Writes zeros, through the runtime's pool. */
  fill(file: number, length: number, position: number): Promise<void>;
  /** Makes the names in the folder durable. */
  syncFolder(path: string): Promise<void>;
  remove(path: string): Promise<void>;
  close(file: number): void;
}

const OPEN_FLAGS = {
  read: openFlags.O_RDONLY,
  change: openFlags.O_RDWR,
  create: openFlags.O_RDWR | openFlags.O_CREAT,
};

const ZEROS = new Uint8Array(1024 * 1024);

const writeLater = promisify(write) as unknown as (
  file: number,
  bytes: Uint8Array,
  offset: number,
  length: number,
  position: number,
) => Promise<{ readonly bytesWritten: number }>;
const syncLater = promisify(fsync);

export const DISK: FilePort = {
  makeFolder(path) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  },
  list(folder) {
    try {
      return withSpareDescriptor(() => readdirSync(folder));
    } catch (fault) {
      if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return [];
      throw fault;
    }
  },
  open: (path, use) => withSpareDescriptor(() => openSync(path, OPEN_FLAGS[use], 0o600)),
  read(file, into, position) {
    let done = 0;
    while (done < into.length) {
      const count = readSync(file, into, done, into.length - done, position + done);
      if (count === 0) break;
      done += count;
    }
    return done;
  },
  write: (file, bytes, position) => writeSync(file, bytes, 0, bytes.length, position),
  datasync: fdatasync,
  datasyncNow: fdatasyncSync,
  async fill(file, length, position) {
    for (let done = 0; done < length; ) {
      const { bytesWritten } = await writeLater(file, ZEROS, 0, Math.min(ZEROS.length, length - done), position + done);
      done += bytesWritten;
    }
  },
  async syncFolder(path) {
    const folder = DISK.open(path, 'read');
    try {
      await syncLater(folder);
    } finally {
      closeSync(folder);
    }
  },
  remove: promisify(unlink),
  close: closeSync,
};
