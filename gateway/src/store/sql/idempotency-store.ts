/** Owns runs under idempotency keys over the writer: what decides who runs is a key of the database, not this process. */
import type { Kysely } from 'kysely';
import {
  type BeginOutcome,
  IDEMPOTENCY_KEPT_MS,
  type IdempotencyStore,
  KEPT_BYTES_PER_KEY_MAX,
  type RunName,
  type UnkeptReason,
} from '../idempotency-port.ts';
import { createRunStatements, type RunRow, type RunStatements } from './idempotency-rows.ts';
import { StoreFailure } from './store-failure.ts';
import type { Tables } from './tables.ts';
import type { Writer } from './writer.ts';

/** So many runs go in one transaction of a sweep: it must not hold up the records of calls. */
const SWEEP_RUNS = 50;
/** A run that is met may be gone when it is looked at; so often in a row it is not chance. */
const BEGIN_TRIES_MAX = 10;

/** The port's implementation. `shareBytesMax` bounds the answers of one key together. */
export function createIdempotencyStore(
  queries: Kysely<Tables>,
  writer: Pick<Writer, 'write'>,
  shareBytesMax = KEPT_BYTES_PER_KEY_MAX,
): IdempotencyStore {
  const statements = createRunStatements(queries);
  /** Runs of this process that have not ended, by call: what is in the table without an end and not here was cut. */
  const running = new Set<string>();

  /** Whatever becomes of the write, the run is over. */
  async function endBy({ callId }: RunName, write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } finally {
      running.delete(callId);
    }
  }

  async function begin(run: RunName, nowMs: number): Promise<BeginOutcome> {
    for (let tried = 0; tried < BEGIN_TRIES_MAX; tried++) {
      if (await holds(writer.write(statements.insertRun(run, nowMs)))) return { kind: 'began' };
      const met = await statements.readRun(run);
      if (met === undefined) continue;
      if (met.begun_at_ms <= nowMs - IDEMPOTENCY_KEPT_MS) {
        await holds(writer.write(statements.deleteRun(met)));
        continue;
      }
      const outcome = await judge(met, run, running, statements);
      if (outcome !== null) return outcome;
    }
    throw new StoreFailure('conflict', 'The run of an idempotency key changes faster than it can be read. Try again.');
  }

  return {
    async begin(run, nowMs) {
      running.add(run.callId);
      let outcome: BeginOutcome | null = null;
      try {
        outcome = await begin(run, nowMs);
        return outcome;
      } finally {
        if (outcome?.kind !== 'began') running.delete(run.callId);
      }
    },
    async keep(run, sealed) {
      let kept = false;
      await endBy(run, async () => {
        kept =
          sealed.length <= shareBytesMax &&
          (await holds(writer.write(statements.keepAnswer(run, sealed, shareBytesMax))));
        if (!kept) await writer.write(statements.endRun(run, 'no_room'));
      });
      return kept ? 'kept' : 'no_room';
    },
    end: (run, reason: UnkeptReason) => endBy(run, () => writer.write(statements.endRun(run, reason))),
    forget: (run) => endBy(run, () => writer.write(statements.deleteRunning(run))),
    async sweep(nowMs) {
      for (let swept = 0; ; ) {
        const rows = await statements.readBegunBefore(nowMs - IDEMPOTENCY_KEPT_MS, SWEEP_RUNS);
        const deletions = rows.flatMap((row) => statements.deleteRun(row));
        // One that was taken anew meanwhile undoes the batch; the next sweep finds the rest.
        if (rows.length === 0 || !(await holds(writer.write(deletions)))) return swept;
        swept += rows.length;
      }
    },
  };
}

/** What an earlier run means for a call under its name; null: it went while it was looked at. */
async function judge(
  met: RunRow,
  run: RunName,
  running: ReadonlySet<string>,
  statements: RunStatements,
): Promise<BeginOutcome | null> {
  if (met.body_hash !== run.bodyHash) return { kind: 'other_body' };
  if (met.ended === null) return { kind: running.has(met.call_id) ? 'running' : 'cut' };
  if (met.ended !== 'kept') return { kind: 'unkept', reason: met.ended };
  const sealed = await statements.readSealed(met);
  return sealed === undefined ? null : { kind: 'replay', run: { ...run, callId: met.call_id }, sealed };
}

/** False: what it asks for is not so (any more), and nothing was written. */
async function holds(write: Promise<void>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (fault) {
    if (fault instanceof StoreFailure && fault.kind === 'conflict') return false;
    throw fault;
  }
}
