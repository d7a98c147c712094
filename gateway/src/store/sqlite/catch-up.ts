/**
 * Keeps the tables up with the journal: steadily in the background, and at once where a reader needs them exact.
 */
import type { Journal } from '../ports/journal.ts';
import type { Writer } from './writer/writer.ts';

export interface CatchUp {
  /**
   * Resolves once everything that the journal has been given so far is in the tables. Rejects as Unavailable where the
   * journal or the database takes no writes.
   */
  caughtUp(): Promise<void>;
  /** Blocks on the disk that the tables do not have, and for how many ms they have lacked some. */
  lag(): { readonly blocks: number; readonly ms: number };
  stop(): void;
}

/** How far the tables fall behind while no one reads them. Each ingest rewrites pages, however little it adds. */
const STEADY_MS = 500;

/** `onFault` receives a failure once until it has worked again; not the disk's, which the writer reports. */
export function startCatchingUp(
  journal: Pick<Journal, 'durableSeq' | 'flush' | 'release'>,
  writer: Pick<Writer, 'opened' | 'ingest' | 'writable'>,
  onFault: (cause: unknown) => void,
): CatchUp {
  let through = writer.opened.end.seq;
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  let hasFailed = false;
  /** When the tables had everything. */
  let completeMs = performance.now();

  async function ingest(durableSeq: number): Promise<void> {
    const startMs = performance.now();
    if (durableSeq > through) await ingestBlocks(durableSeq);
    completeMs = startMs;
  }

  async function ingestBlocks(durableSeq: number): Promise<void> {
    const ingested = await writer.ingest(durableSeq);
    through = ingested.through;
    hasFailed = false;
    journal.release(ingested.released);
  }

  function run(reach: () => Promise<void>): Promise<void> {
    running = reach().finally(() => {
      running = null;
    });
    return running;
  }

  /** What was given to the journal after a run began may not be part of it: such callers share the next one. */
  function caughtUp(): Promise<void> {
    if (running === null) return run(async () => ingest(await journal.flush()));
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null;
        return caughtUp();
      });
    return next;
  }

  const timer = setInterval(() => {
    if (running !== null) return;
    if (journal.durableSeq <= through) {
      completeMs = performance.now();
      return;
    }
    run(() => ingest(journal.durableSeq)).catch((cause: unknown) => {
      if (!hasFailed && writer.writable()) onFault(cause);
      hasFailed = true;
    });
  }, STEADY_MS);
  timer.unref();
  return {
    caughtUp,
    lag() {
      const blocks = journal.durableSeq - through;
      return { blocks, ms: blocks === 0 ? 0 : performance.now() - completeMs };
    },
    stop: () => clearInterval(timer),
  };
}

/** The same port, whose methods first wait until the tables have everything. All of them return promises. */
export function readCaughtUp<Port extends object>(port: Port, { caughtUp }: Pick<CatchUp, 'caughtUp'>): Port {
  const methods = Object.entries(port).map(([name, method]) => [
    name,
    async (...given: unknown[]) => {
      await caughtUp();
      return method(...given);
    },
  ]);
  return Object.fromEntries(methods);
}
