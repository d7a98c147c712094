/**
 * Builds the SQL conditions for a tenant and filters of calls, over records and over series. Values are passed as
 * parameters, never as text.
 */
import { type CallCondition, type CallOutcome, NONE, type UsageTenant } from '../../ports/usage.ts';
import { OUTCOME_SQL } from '../rollup/tally.ts';
import type { UsageKind } from '../rollup/usage-series.ts';

export type Parameter = string | number | null;

export interface Condition {
  /** Starts with a condition, not with AND. */
  readonly sql: string;
  readonly parameters: readonly Parameter[];
}

const COLUMN_OF = {
  model: 'model',
  provider: 'provider',
  workspace: 'workspace',
  end_user: 'end_user',
  session: 'session',
  protocol: 'protocol',
} as const;

/** Over `call_record`. */
export function recordCondition(
  tenant: UsageTenant,
  condition: CallCondition,
  outcome: CallOutcome | null = null,
): Condition {
  const found = commonCondition('call_record.account', tenant, condition);
  if (outcome === null) return found;
  return { sql: `${found.sql} AND ${OUTCOME_SQL} = ?`, parameters: [...found.parameters, outcome] };
}

/** Over `usage_series`; `kindFor` chooses a kind that has all the requested columns. */
export function seriesCondition(kind: UsageKind, tenant: UsageTenant, condition: CallCondition): Condition {
  const found = commonCondition('usage_series.account', tenant, condition);
  // As a literal, so that the index of this kind is used.
  return { sql: `${found.sql} AND usage_series.kind = '${kind}'`, parameters: found.parameters };
}

function commonCondition(account: string, tenant: UsageTenant, condition: CallCondition): Condition {
  const sql = [`${account} = ?`];
  const parameters: Parameter[] = [tenant.account];
  const among = (column: string, values: CallCondition['keys']) => {
    if (values === null) return;
    const [word, list] = 'except' in values ? ['NOT IN', values.except] : ['IN', values];
    sql.push(`${column} ${word} (SELECT value FROM json_each(?))`);
    parameters.push(JSON.stringify(list));
  };
  among('workspace', tenant.workspaces);
  among('key_id', condition.keys);
  for (const [member, column] of Object.entries(COLUMN_OF)) {
    const value = condition[member as keyof typeof COLUMN_OF];
    if (value === NONE) sql.push(`${column} IS NULL`);
    else if (value !== null) {
      sql.push(`${column} = ?`);
      parameters.push(value);
    }
  }
  return { sql: sql.join(' AND '), parameters };
}

/** The kind of series that has all these columns; null: none, so calls must be counted one by one. */
export function kindFor(condition: CallCondition, by: readonly string[]): UsageKind | null {
  const asked = new Set(by);
  for (const [member, value] of Object.entries(condition)) if (value !== null) asked.add(member);
  const special = ['end_user', 'session'].filter((name) => asked.has(name));
  const [kind] = special;
  if (kind === undefined) return 'call';
  const others = [...asked].filter((name) => name !== kind && name !== 'workspace');
  return others.length === 0 ? (kind as UsageKind) : null;
}
