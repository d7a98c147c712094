/** Owns how runs under an idempotency key lie in their tables, and the statements that read and change them. */
import { type CompiledQuery, type Kysely, sql } from 'kysely';
import type { RunName, UnkeptReason } from '../idempotency-port.ts';
import type { Tables } from './tables.ts';
import type { WriteStatement } from './writer-messages.ts';

export interface RunRow {
  readonly key_id: string;
  readonly name_hash: string;
  readonly body_hash: string;
  readonly call_id: string;
  readonly begun_at_ms: number;
  /** Null: no end was kept. */
  readonly ended: 'kept' | UnkeptReason | null;
}

type RunTables = {
  idempotent_run: RunRow;
  idempotent_answer: { readonly call_id: string; readonly sealed: Uint8Array };
  idempotent_share: { readonly key_id: string; readonly bytes: number };
};

/** What runs under idempotency keys need of the database. */
export interface RunStatements {
  readRun(run: RunName): Promise<RunRow | undefined>;
  readSealed(row: RunRow): Promise<Uint8Array | undefined>;
  /** The oldest runs begun at `timeMs` (unix ms) or before. */
  readBegunBefore(timeMs: number, limit: number): Promise<readonly RunRow[]>;
  insertRun(run: RunName, begunAtMs: number): WriteStatement[];
  /** Changes nothing where all answers of the key would be over `shareBytesMax` together. */
  keepAnswer(run: RunName, sealed: Uint8Array, shareBytesMax: number): WriteStatement[];
  endRun(run: RunName, ended: 'kept' | UnkeptReason): WriteStatement[];
  /** Of a run that has no end. */
  deleteRunning(run: RunName): WriteStatement[];
  /** With its answer. */
  deleteRun(row: RunRow): WriteStatement[];
}

/** The statements, each of which changes one row or undoes all that goes with it. */
export function createRunStatements(all: Kysely<Tables>): RunStatements {
  const queries = all.withTables<RunTables>();
  const runOf = ({ key_id, name_hash, call_id }: Pick<RunRow, 'key_id' | 'name_hash' | 'call_id'>) =>
    ({ key_id, name_hash, call_id }) as const;
  const rowOf = (run: RunName) => runOf({ key_id: run.keyId, name_hash: run.nameHash, call_id: run.callId });

  function endRun(run: RunName, ended: 'kept' | UnkeptReason): WriteStatement[] {
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
