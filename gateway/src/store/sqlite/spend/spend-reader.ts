/**
 * Sums from the records what subjects' calls were charged within a window, to initialize their budgets. Blocks its
 * thread while it reads; never called on the request thread.
 */
import type { Database } from 'bun:sqlite';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { SubjectKind } from '../../ports/limits.ts';

/** The column of each kind of subject. An end user's id begins with its account, whose id contains no `/`. */
const SUBJECTS = {
  key: 'key_id',
  workspace: 'workspace',
  account: 'call_record.account',
  model: 'model',
  end_user: "call_record.account || '/' || coalesce(end_user, '')",
} as const satisfies Record<SubjectKind, string>;

/** Unix ms; an end of null: everything since the start. `names`: a subject's id, or all public names of a model. */
export interface SpendQuestion {
  readonly kind: SubjectKind;
  readonly names: readonly string[];
  readonly startMs: number;
  readonly endMs: number | null;
  /** Calls to leave out. */
  readonly exceptCalls: readonly string[];
}

interface NamedSpend {
  readonly name: string;
  readonly spent: string;
}

/**
 * The charges of calls that arrived within the window, in nano-USD as decimal text: their cost minus the part written
 * off (paid by the operator). In the order of the questions; those with the same kind, window and left-out calls share
 * one pass over the records.
 */
export function readSpends(database: Database, questions: readonly SpendQuestion[]): string[] {
  const passes = Map.groupBy(questions, ({ kind, startMs, endMs, exceptCalls }) =>
    JSON.stringify([kind, startMs, endMs, exceptCalls]),
  );
  const answers = new Map<SpendQuestion, string>();
  for (const pass of passes.values()) {
    const spentBy = readPass(database, pass);
    for (const question of pass) {
      const spent = new Set(question.names).values().reduce((sum, name) => sum + (spentBy.get(name) ?? 0n), 0n);
      answers.set(question, spent.toString());
    }
  }
  return questions.map((question) => answers.get(question) ?? '0');
}

/** The spend of each name in the questions, which differ only in their names; names without calls are absent. */
function readPass(database: Database, pass: readonly SpendQuestion[]): ReadonlyMap<string, bigint> {
  const [first] = pass;
  if (first === undefined) return new Map();
  const { kind, startMs, endMs, exceptCalls } = first;
  const names = [...new Set(pass.flatMap((question) => question.names))];
  const inQuestion = `request_id >= ?1 AND call_record.at_ms >= ?2 AND (?3 IS NULL OR call_record.at_ms < ?3)
    AND ${SUBJECTS[kind]} IN (SELECT value FROM json_each(?4))
    AND request_id NOT IN (SELECT value FROM json_each(?5))`;
  // Names the index of written-off amounts: it is nearly empty, while other suitable indexes contain every entry.
  const statement = database.prepare<NamedSpend, [string, number, number | null, string, string]>(
    `SELECT name, cast(sum(charged) AS TEXT) AS spent FROM (
        SELECT ${SUBJECTS[kind]} AS name, sum(cost_nano_usd) AS charged FROM call_record
          WHERE cost_nano_usd <> 0 AND ${inQuestion} GROUP BY 1
        UNION ALL SELECT ${SUBJECTS[kind]} AS name, -sum(amount)
          FROM ledger_entry INDEXED BY ledger_absorbed CROSS JOIN call_record ON request_id = ref
          WHERE kind = 'absorb' AND ref >= ?1 AND ${inQuestion} GROUP BY 1
      ) GROUP BY 1`,
  );
  try {
    const rows = statement.all(
      requestIdFloor(Math.max(0, startMs)),
      startMs,
      endMs,
      JSON.stringify(names),
      JSON.stringify(exceptCalls),
    );
    return new Map(rows.map(({ name, spent }) => [name, BigInt(spent)]));
  } finally {
    statement.finalize();
  }
}
