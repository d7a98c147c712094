/**
 * Limits the disk space of the content database: its file and its write-ahead log together. New content is written to
 * the log first and then to the file, so that it takes its space twice for a moment.
 */
import type { Database } from 'bun:sqlite';
import { statSync } from 'node:fs';
import { Unavailable } from '../../ports/store-errors.ts';

export interface ContentSize {
  /**
   * Checkpoints the log into the file where that makes room for rows of these sizes, in bytes. Throws Unavailable
   * `full` where no room is left.
   */
  makeRoom(rows: readonly number[], bytesMax: number): void;
  /** Checkpoints the log into the file, and truncates the log. */
  foldLog(): void;
  /** Returns free pages of the file to the disk; the log takes at most `logBytes` meanwhile. */
  returnUnused(logBytes: number): void;
}

const MIB = 1024 ** 2;
const LOG_BYTES_MAX = 16 * MIB;
/**
 * Upper bound of one call's content, four bodies of 1 MiB and their metadata; there must always be room to delete it.
 */
const CALL_BYTES = 5 * MIB;
/** Per page in the log. https://sqlite.org/fileformat2.html#the_write_ahead_log (read 2026-11-22). */
const FRAME_BYTES = 24;
/** Upper bound of pages in addition to a row's bytes: those of the table and its indexes. */
const PAGES_PER_ROW = 4;
const PAGES_PER_WRITE = 16;
/** Enough to return what one step of a sweep deleted. */
const VACUUM_ROUNDS = 3;

/** The part of the limit reserved for the log, so that content can be deleted when the file is full. */
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
      throw new Unavailable(
        'full',
        `The file of content is full: with its log it would take more than limits.content_bytes_max, ${bytesMax} bytes. Content beyond its workspace's retention is deleted automatically.`,
      );
    },
    returnUnused(logBytesMax) {
      // A moved page takes one frame, and the page that refers to it another.
      const pages = Math.max(1, Math.floor(logBytesMax / (2 * (pageBytes + FRAME_BYTES))));
      for (let round = 0; round < VACUUM_ROUNDS && readPragma(database, 'freelist_count') > 0; round++) {
        // Each returned page is a result row: stepping only once would return one page.
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
