/**
 * Bounds what the database of content takes on the disk: its file and its write-ahead log together. What is kept goes into
 * the log first and from there into the file, so that for a moment it takes its room twice.
 */
import type { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { StoreFailure } from '../store-failure.ts';

export interface ContentSize {
  /** Folds the log into the file where that makes room for rows of so many bytes. Throws StoreFailure `full` where none is left. */
  makeRoom(rows: readonly number[], bytesMax: number): void;
  /** Folds the log into the file, and takes it off the disk. */
  foldLog(): void;
  /** Gives free pages of the file back to the disk; the log takes at most so many bytes meanwhile. */
  giveBack(logBytes: number): void;
}

const MIB = 1024 ** 2;
const LOG_BYTES_MAX = 16 * MIB;
/** What is kept of one call at most, four bodies of 1 MiB and what surrounds them, can be taken away again. */
const CALL_BYTES = 5 * MIB;
/** Of each page in the log. https://sqlite.org/fileformat2.html#the_write_ahead_log (read 2026-11-22). */
const FRAME_BYTES = 24;
/** Pages beside those of a row's bytes: of the table and its indexes, at most. */
const PAGES_PER_ROW = 4;
const PAGES_PER_WRITE = 16;
/** As many as give back what one step of a sweep took away. */
const VACUUM_ROUNDS = 3;

/** What of the bound is left to the log, so that something can be taken away when the file is full. */
export function logBytesOf(bytesMax: number): number {
  return Math.floor(Math.min(LOG_BYTES_MAX, Math.max(bytesMax / 8, Math.min(CALL_BYTES, bytesMax / 2))));
}

export function openContentSize(database: Database, path: string): ContentSize {
  const pageBytes = readPragma(database, 'page_size');

  function foldLog(): void {
    database.query('PRAGMA wal_checkpoint(TRUNCATE)').all();
  }

  return {
    foldLog,
    makeRoom(rows, bytesMax) {
      const rowPages = rows.map((bytes) => Math.ceil(bytes / (pageBytes - 4)) + PAGES_PER_ROW);
      const pages = rowPages.reduce((sum, count) => sum + count, PAGES_PER_WRITE);
      const [count, free] = [readPragma(database, 'page_count'), readPragma(database, 'freelist_count')];
      const fileBytes = Math.max(count, count - free + pages) * pageBytes;
      const newLogBytes = pages * (pageBytes + FRAME_BYTES);
      const fits = () => fileBytes + Math.max(newLogBytes + logBytes(path), logBytesOf(bytesMax)) <= bytesMax;
      if (fits()) return;
      foldLog();
      if (fits()) return;
      throw new StoreFailure(
        'full',
        `The file of content is full: with its log it would take more than limits.content_bytes_max, ${bytesMax} bytes. What is older than its workspace keeps it is taken away by itself.`,
      );
    },
    giveBack(logBytesMax) {
      // A page that moves takes one frame, and the page that names it another.
      const pages = Math.max(1, Math.floor(logBytesMax / (2 * (pageBytes + FRAME_BYTES))));
      for (let round = 0; round < VACUUM_ROUNDS && readPragma(database, 'freelist_count') > 0; round++) {
        // Each page given back is a row of its answer: a single step would give back one.
        database.query(`PRAGMA incremental_vacuum(${pages})`).all();
        foldLog();
      }
    },
  };
}

function logBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

function readPragma(database: Database, name: 'page_size' | 'page_count' | 'freelist_count'): number {
  return database.query<Record<string, number>, []>(`PRAGMA ${name}`).get()?.[name] ?? 0;
}
