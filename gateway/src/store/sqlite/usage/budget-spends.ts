/**
 * Sums up the spend of budgets, for pages and to seed limits: what calls were charged, by their records, and what
 * imported subjects had spent before.
 */
import { type Kysely, sql } from 'kysely';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { BindingCaps, BudgetSpends, NamesOfModel, SubjectKind } from '../../ports/limits.ts';
import type { Tables } from '../database/sqlite-dialect.ts';
import { ID_SLACK_MS } from './scan-records.ts';

/** The column of each kind of subject. An end user's id begins with its account, whose id contains no `/`. */
const SUBJECTS = {
  key: sql`key_id`,
  workspace: sql`workspace`,
  account: sql`call_record.account`,
  model: sql`model`,
  end_user: sql`call_record.account || '/' || coalesce(end_user, '')`,
} as const satisfies Record<SubjectKind, unknown>;

/** What one pass over the records sums up. Unix ms; an end of null: everything since the start. */
interface Pass {
  readonly kind: SubjectKind;
  readonly startMs: number;
  readonly endMs: number | null;
  /** Calls to leave out. */
  readonly exceptCalls: readonly string[];
}

interface Question {
  readonly pass: Pass;
  readonly names: readonly string[];
  readonly resolve: (spent: bigint) => void;
  readonly reject: (cause: unknown) => void;
}

interface SpendParts {
  /** For pages: queries that may take long. */
  readonly workerQueries: Kysely<Tables>;
  /** For seeds: the same on a thread of their own, because calls wait for them. */
  readonly seedQueries: Kysely<Tables>;
  prepare(): void;
}

export function createBudgetSpends({ workerQueries, seedQueries, prepare }: SpendParts): BudgetSpends {
  let waiting: Question[] = [];
  let isAsking = false;

  /** Questions that arrive during a pass share the next one, where only their names differ. */
  async function askWaiting(): Promise<void> {
    isAsking = true;
    while (waiting.length > 0) {
      const together = Map.groupBy(waiting, ({ pass }) => JSON.stringify(pass));
      waiting = [];
      for (const questions of together.values()) await answerTogether(questions);
    }
    isAsking = false;
  }

  async function answerTogether(questions: readonly Question[]): Promise<void> {
    const [first] = questions;
    if (first === undefined) return;
    try {
      const names = new Set(questions.flatMap((question) => question.names));
      const spent = await readPass(seedQueries, first.pass, names);
      for (const question of questions) question.resolve(sumOf(spent, question.names));
    } catch (cause) {
      for (const { reject } of questions) reject(cause);
    }
  }

  return {
    async readSpends(bindings, namesOfModel) {
      const [first] = bindings;
      if (first === undefined) return new Map();
      const named = bindings.map(({ subject }) => [subject.id, namesOf(subject, namesOfModel)] as const);
      const spent = await readPass(workerQueries, passOf(first, []), new Set(named.flatMap(([, names]) => names)));
      return new Map(named.map(([id, names]) => [id, sumOf(spent, names)]));
    },
    async readSettled(binding, namesOfModel, exceptCalls) {
      const { subject } = binding;
      return new Promise((resolve, reject) => {
        waiting.push({ pass: passOf(binding, exceptCalls), names: namesOf(subject, namesOfModel), resolve, reject });
        if (!isAsking) void askWaiting();
      });
    },
    prepare,
  };
}

function passOf({ subject, windowStartMs, windowEndMs }: BindingCaps, exceptCalls: readonly string[]): Pass {
  return { kind: subject.kind, startMs: windowStartMs, endMs: windowEndMs, exceptCalls };
}

/** A record keeps the name that the client requested: a model has several. */
function namesOf({ kind, id }: BindingCaps['subject'], namesOfModel: NamesOfModel): readonly string[] {
  return kind === 'model' ? namesOfModel(id) : [id];
}

function sumOf(spent: ReadonlyMap<string, bigint>, names: readonly string[]): bigint {
  return new Set(names).values().reduce((sum, name) => sum + (spent.get(name) ?? 0n), 0n);
}

/** The nano-USD charged under each name: cost minus the part written off. Names without calls are absent. */
async function readPass(
  queries: Kysely<Tables>,
  { kind, startMs, endMs, exceptCalls }: Pass,
  names: ReadonlySet<string>,
): Promise<ReadonlyMap<string, bigint>> {
  const floor = requestIdFloor(startMs - ID_SLACK_MS);
  const name = SUBJECTS[kind];
  const inPass = sql`request_id >= ${floor} AND call_record.at_ms >= ${startMs}
    AND (${endMs} IS NULL OR call_record.at_ms < ${endMs})
    AND ${name} IN (SELECT value FROM json_each(${JSON.stringify([...names])}))
    AND request_id NOT IN (SELECT value FROM json_each(${JSON.stringify(exceptCalls)}))`;
  // What calls from before the journal were not charged is in the old ledger. Names the index of these amounts: it is
  // nearly empty, while other suitable indexes contain every entry.
  const { rows } = await sql<{ readonly name: string; readonly spent: string }>`
    SELECT name, cast(sum(charged) AS TEXT) AS spent FROM (
      SELECT ${name} AS name, sum(cost_nano_usd - coalesce(written_off, 0)) AS charged FROM call_record
        WHERE cost_nano_usd <> 0 AND ${inPass} GROUP BY 1
      UNION ALL SELECT ${name} AS name, -sum(amount)
        FROM ledger_entry INDEXED BY ledger_absorbed CROSS JOIN call_record ON request_id = ref
        WHERE kind = 'absorb' AND ref >= ${floor} AND ${inPass} GROUP BY 1
      UNION ALL SELECT subject_id AS name, sum(spent) FROM imported_object
        WHERE spent <> 0 AND subject_kind = ${kind}
          AND subject_id IN (SELECT value FROM json_each(${JSON.stringify([...names])}))
          AND spent_at_ms >= ${startMs} AND (${endMs} IS NULL OR spent_at_ms < ${endMs}) GROUP BY 1
    ) GROUP BY 1`.execute(queries);
  return new Map(rows.map((row) => [row.name, BigInt(row.spent)]));
}
