/**
 * Sends administrative writes and the progress of the journal to the writer thread. Writes that come together share a
 * transaction.
 */

import { type StoreError, Unavailable } from '../../ports/store-errors.ts';
import type { Ingested } from '../ingest/ingest.ts';
import { errorOf, type Fault } from '../sqlite-fault.ts';
import { openWriterLink, type WriterPlace } from './writer-link.ts';
import {
  troubleOf,
  type WriterOpened,
  type WriterReply,
  type WriteStatement,
  wholeFailure,
} from './writer-messages.ts';

export interface Writer extends Readonly<WriterOpened> {
  /**
   * Applies statements together or not at all. Resolves once they are durable; rejects with a StoreError where they were
   * not stored. Writes apply in call order.
   */
  write(statements: readonly WriteStatement[]): Promise<void>;
  /**
   * Brings the tables up to a durable block of the journal, and resolves once readers see it. Rejects with a StoreError:
   * `incompatible`, naming the block, where one cannot be applied.
   */
  ingest(throughSeq: number): Promise<Ingested>;
  /** False from a failed write until a probe succeeds. */
  writable(): boolean;
  /** Waits for pending work, then closes the database. Later requests are rejected as `closed`. */
  close(): Promise<void>;
}

/** From new records to their chunks, and between two steps of building them: other requests come first. */
const CHUNK_DELAY_MS = 250;
const CHUNK_PAUSE_MS = 20;

interface Settler {
  readonly resolve: () => void;
  readonly reject: (failure: StoreError) => void;
}

/** Opens the database in a writer thread, and brings it up to date. @throws Unavailable */
export async function startWriter(place: WriterPlace): Promise<Writer> {
  const link = await openWriterLink(place);
  let forming: { readonly statements: readonly WriteStatement[]; readonly settler: Settler }[] = [];
  /** Writes are under way; those that form go together after them. */
  let isWriting = false;
  let closing: Promise<void> | null = null;
  let onIdle: () => void = () => undefined;
  let chunkTimer: Timer | null = null;

  /** Records are chunked, and an upgrade is completed, between other requests. A fault leaves them as they are: the next ingest tries again. */
  function chunkAfter(delayMs: number): void {
    chunkTimer ??= setTimeout(() => {
      link.request({ kind: 'chunk' }, (reply) => {
        chunkTimer = null;
        if (closing === null && reply !== true && 'chunked' in reply && reply.chunked) chunkAfter(CHUNK_PAUSE_MS);
      });
    }, delayMs).unref();
  }

  function send(): void {
    isWriting = forming.length > 0;
    if (!isWriting) {
      onIdle();
      return;
    }
    const batch = forming;
    forming = [];
    link.request({ kind: 'writes', writes: batch.map(({ statements }) => statements) }, (reply) => {
      for (const [index, { settler }] of batch.entries()) conclude(settler, outcomeOf(reply, index));
      send();
    });
  }

  function requestIngest(throughSeq: number): Promise<Ingested> {
    return new Promise((resolve, reject) => {
      link.request({ kind: 'ingest', throughSeq }, (reply) => {
        if (closing === null) chunkAfter(CHUNK_DELAY_MS);
        if (reply !== true && 'ingested' in reply) return resolve(reply.ingested);
        reject(wholeFailure(reply) ?? new Error('the writer did not say what it ingested'));
      });
    });
  }

  chunkAfter(CHUNK_DELAY_MS);
  return {
    opened: link.opened,
    write(statements) {
      return new Promise((resolve, reject) => {
        if (closing !== null) return reject(closedFailure());
        forming.push({ statements, settler: { resolve, reject } });
        if (isWriting) return;
        isWriting = true;
        // Writes of the same turn share a transaction.
        setImmediate(send);
      });
    },
    ingest(throughSeq) {
      return closing === null ? requestIngest(throughSeq) : Promise.reject(closedFailure());
    },
    writable: () => closing === null && link.writable(),
    close() {
      closing ??= drainAndClose();
      return closing;
    },
  };

  async function drainAndClose(): Promise<void> {
    if (chunkTimer !== null) clearTimeout(chunkTimer);
    if (isWriting) {
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
    }
    await link.close();
  }
}

/** A write without its own outcome shares that of the whole request. */
function outcomeOf(reply: WriterReply, index: number): Fault | null {
  const trouble = troubleOf(reply);
  if (trouble === null) return null;
  return index in trouble.writes ? (trouble.writes[index] ?? null) : trouble.failed;
}

function conclude({ resolve, reject }: Settler, fault: Fault | null): void {
  if (fault === null) resolve();
  else reject(errorOf(fault));
}

function closedFailure(): Unavailable {
  return new Unavailable('closed', 'The store has been closed.');
}
