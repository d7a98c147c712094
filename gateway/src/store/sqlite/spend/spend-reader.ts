/**
 * Owns asking the records what subjects' calls have been charged within a window, before their budgets bind. Blocks its
 * thread for as long as it reads; who calls it is not the request thread.
 */
import type { Database } from 'bun:sqlite';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { SubjectKind } from '../../ports/limits.ts';

/** What a record has of each kind of subject. An end user's id begins with its account, whose id holds no `/`. */
const SUBJECTS = {
  key: 'key_id',
  workspace: 'workspace',
  account: 'call_record.account',
  model: 'model',
  end_user: "call_record.account || '/' || coalesce(end_user, '')",
} as const satisfies Record<SubjectKind, string>;

/** Unix ms; an end of null: all since the start. `names`: a subject's id, or of a model all its public names. */
export interface SpendQuestion {
  readonly kind: SubjectKind;
  readonly names: readonly string[];
  readonly startMs: number;
  readonly endMs: number | null;
  /** Calls that are left out. */
  readonly exceptCalls: readonly string[];
}

interface NamedSpend {
  readonly name: string;
  readonly spent: string;
}

/**
 * Nano-USD, as decimal text, that calls which arrived within the window were charged: what they cost, less what the
 * operator bore of it. In the order of the questions; those about one kind and one window that leave out the same calls share a pass over its records.
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

/** What each name of the questions, all alike but for their names, has spent; a name without calls is left out. */
function readPass(database: Database, pass: readonly SpendQuestion[]): ReadonlyMap<string, bigint> {
  const [first] = pass;
  if (first === undefined) return new Map();
  const { kind, startMs, endMs, exceptCalls } = first;
  const names = [...new Set(pass.flatMap((question) => question.names))];
  const inQuestion = `request_id >= ?1 AND call_record.at_ms >= ?2 AND (?3 IS NULL OR call_record.at_ms < ?3)
    AND ${SUBJECTS[kind]} IN (SELECT value FROM json_each(?4))
    AND request_id NOT IN (SELECT value FROM json_each(?5))`;
  // The index of what was absorbed is named: it is nearly empty, where others that would do have every entry.
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
