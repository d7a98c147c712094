/**
 * Stores runs under idempotency keys through the writer. A unique key in the database, not this process, decides which
 * call runs.
 */

import { type CompiledQuery, type Kysely, sql } from 'kysely';
import {
  type BeginOutcome,
  IDEMPOTENCY_KEPT_MS,
  type IdempotencyStore,
  KEPT_BYTES_PER_KEY_MAX,
  type NotStoredReason,
  type RunName,
} from '../../ports/idempotency.ts';
import { ConstraintViolation, Unavailable } from '../../ports/store-errors.ts';
import type { Tables } from '../database/sqlite-dialect.ts';
import type { Writer } from '../writer/writer.ts';
import type { WriteStatement } from '../writer/writer-messages.ts';

/** Runs per transaction of a sweep: it must not delay the records of calls. */
const SWEEP_RUNS = 50;
/** An existing run may be gone by the time it is read; this many times in a row is not chance. */
const BEGIN_TRIES_MAX = 10;

/** Implements the port. `shareBytesMax` limits the total size of the answers of one key. */
export function createIdempotencyStore(
  queries: Kysely<Tables>,
  writer: Pick<Writer, 'write'>,
  shareBytesMax = KEPT_BYTES_PER_KEY_MAX,
): IdempotencyStore {
  const statements = createRunStatements(queries);
  /** Running runs of this process, by call id: a run without an end in the table and not listed here was cut. */
  const running = new Set<string>();

  /** The run is over whether or not the write succeeds. */
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
    throw new Unavailable('failed', 'The run of an idempotency key changes faster than it can be read. Try again.');
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
    end: (run, reason: NotStoredReason) => endBy(run, () => writer.write(statements.endRun(run, reason))),
    forget: (run) => endBy(run, () => writer.write(statements.deleteRunning(run))),
    async sweep(nowMs) {
      for (let swept = 0; ; ) {
        const rows = await statements.readBegunBefore(nowMs - IDEMPOTENCY_KEPT_MS, SWEEP_RUNS);
        const deletions = rows.flatMap((row) => statements.deleteRun(row));
        // A run that was restarted meanwhile rolls back the batch; the next sweep deletes the rest.
        if (rows.length === 0 || !(await holds(writer.write(deletions)))) return swept;
        swept += rows.length;
      }
    },
  };
}

/** Returns the outcome of an earlier run for a call under the same key; null: the run disappeared while it was read. */
async function judge(
  met: RunRow,
  run: RunName,
  running: ReadonlySet<string>,
  statements: RunStatements,
): Promise<BeginOutcome | null> {
  if (met.body_hash !== run.bodyHash) return { kind: 'other_body' };
  if (met.ended === null) return { kind: running.has(met.call_id) ? 'running' : 'cut' };
  if (met.ended !== 'kept') return { kind: 'not_stored', reason: met.ended };
  const sealed = await statements.readSealed(met);
  return sealed === undefined ? null : { kind: 'replay', run: { ...run, callId: met.call_id }, sealed };
}

/** False: the write met a conflict, and nothing was written. */
async function holds(write: Promise<void>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (fault) {
    if (fault instanceof ConstraintViolation && fault.kind === 'conflict') return false;
    throw fault;
  }
}

interface RunRow {
  readonly key_id: string;
  readonly name_hash: string;
  readonly body_hash: string;
  readonly call_id: string;
  readonly begun_at_ms: number;
  /** Null: no end was stored. */
  readonly ended: 'kept' | NotStoredReason | null;
}

type RunTables = {
  idempotent_run: RunRow;
  idempotent_answer: { readonly call_id: string; readonly sealed: Uint8Array };
  idempotent_share: { readonly key_id: string; readonly bytes: number };
};

/** The database statements for runs under idempotency keys. */
interface RunStatements {
  readRun(run: RunName): Promise<RunRow | undefined>;
  readSealed(row: RunRow): Promise<Uint8Array | undefined>;
  /** The oldest runs that began at or before `timeMs` (unix ms). */
  readBegunBefore(timeMs: number, limit: number): Promise<readonly RunRow[]>;
  insertRun(run: RunName, begunAtMs: number): WriteStatement[];
  /** Changes nothing where the key's answers would exceed `shareBytesMax` in total. */
  keepAnswer(run: RunName, sealed: Uint8Array, shareBytesMax: number): WriteStatement[];
  endRun(run: RunName, ended: 'kept' | NotStoredReason): WriteStatement[];
  /** Deletes a run that has no end. */
  deleteRunning(run: RunName): WriteStatement[];
  /** Deletes a run and its answer. */
  deleteRun(row: RunRow): WriteStatement[];
}

/** Builds the statements. Each must change exactly one row; otherwise its whole write is rolled back. */
function createRunStatements(all: Kysely<Tables>): RunStatements {
  const queries = all.withTables<RunTables>();
  const runOf = ({ key_id, name_hash, call_id }: Pick<RunRow, 'key_id' | 'name_hash' | 'call_id'>) =>
    ({ key_id, name_hash, call_id }) as const;
  const rowOf = (run: RunName) => runOf({ key_id: run.keyId, name_hash: run.nameHash, call_id: run.callId });

  function endRun(run: RunName, ended: 'kept' | NotStoredReason): WriteStatement[] {
    const update = queries.updateTable('idempotent_run').set({ ended });
    return [one(update.where((row) => row.and({ ...rowOf(run), ended: null })).compile())];
  }

  return {
    readRun: ({ keyId, nameHash }) =>
      queries
        .selectFrom('idempotent_run')
        .selectAll()
        .where('key_id', '=', keyId)
        .where('name_hash', '=', nameHash)
        .executeTakeFirst(),
    async readSealed({ call_id }) {
      const found = queries.selectFrom('idempotent_answer').select('sealed').where('call_id', '=', call_id);
      return (await found.executeTakeFirst())?.sealed;
    },
    readBegunBefore: (timeMs, limit) =>
      queries
        .selectFrom('idempotent_run')
        .selectAll()
        .where('begun_at_ms', '<=', timeMs)
        .orderBy('begun_at_ms')
        .limit(limit)
        .execute(),
    insertRun(run, begun_at_ms) {
      const row = { ...rowOf(run), body_hash: run.bodyHash, begun_at_ms, ended: null };
      return [one(queries.insertInto('idempotent_run').values(row).compile())];
    },
    keepAnswer(run, sealed, shareBytesMax) {
      const grown = sql<number>`idempotent_share.bytes + excluded.bytes`;
      const share = queries
        .insertInto('idempotent_share')
        .values({ key_id: run.keyId, bytes: sealed.length })
        .onConflict((taken) => taken.column('key_id').doUpdateSet({ bytes: grown }).where(grown, '<=', shareBytesMax));
      const answer = queries.insertInto('idempotent_answer').values({ call_id: run.callId, sealed });
      return [one(share.compile()), one(answer.compile()), ...endRun(run, 'kept')];
    },
    endRun,
    deleteRunning(run) {
      const row = queries.deleteFrom('idempotent_run').where((each) => each.and({ ...rowOf(run), ended: null }));
      return [one(row.compile())];
    },
    deleteRun(row) {
      const run = one(
        queries
          .deleteFrom('idempotent_run')
          .where((each) => each.and(runOf(row)))
          .compile(),
      );
      if (row.ended !== 'kept') return [run];
      const kept = sql<number>`bytes - (select length(sealed) from idempotent_answer where call_id = ${row.call_id})`;
      const share = queries.updateTable('idempotent_share').set({ bytes: kept }).where('key_id', '=', row.key_id);
      const answer = queries.deleteFrom('idempotent_answer').where('call_id', '=', row.call_id);
      return [run, one(share.compile()), one(answer.compile())];
    },
  };
}

function one({ sql: text, parameters }: CompiledQuery): WriteStatement {
  return { sql: text, parameters: parameters as WriteStatement['parameters'], changes: 1 };
}
