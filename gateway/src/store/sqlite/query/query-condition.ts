/**
 * Builds the SQL condition for a query's terms over records. Only names of this file become text; all values are
 * parameters.
 */
import type { QueryField, QueryTerm, RangeTest, TextTest } from '../../../lib/query/call-query.ts';
import { OUTCOME_SQL } from '../rollup/tally.ts';

/** A value of a query, as SQLite takes it. */
export type QueryValue = string | number;

export interface QueryCondition {
  /** Empty: every record matches. Else starts with AND. */
  readonly sql: string;
  readonly parameters: readonly QueryValue[];
}

const INPUT = '(input + cache_read + cache_write_5m + cache_write_1h)';

/** Members and tags are resolved to keys before; flags are a list of their own. */
type ColumnField = Exclude<QueryField, 'member' | 'tag' | 'flag'>;

/** The expression of each field over `call_record`. */
export const EXPRESSIONS: Readonly<Record<ColumnField, string>> = {
  key: 'key_id',
  model: 'model',
  served: 'served_model',
  provider: 'provider',
  workspace: 'workspace',
  user: 'end_user',
  session: 'session',
  protocol: 'protocol',
  stream: "iif(stream, 'yes', 'no')",
  status: 'status',
  outcome: OUTCOME_SQL,
  reason: 'reason_kind',
  error: 'error',
  cost: 'cost_nano_usd',
  tokens: `(${INPUT} + output)`,
  input: INPUT,
  output: 'output',
  cache: 'cache_read',
  cached: "iif(cached_from IS NULL, 'no', 'yes')",
  ttft: 'ttfb_ms',
  duration: 'duration_ms',
  tps: 'iif(output > 0 AND duration_ms > 0, output * 1000.0 / duration_ms, NULL)',
  attempts: 'json_array_length(attempts)',
  trace: 'trace_id',
  id: 'request_id',
};

export function queryCondition(terms: readonly QueryTerm[]): QueryCondition {
  const parameters: QueryValue[] = [];
  const sql = terms.map((term) => ` AND ${termSql(term, parameters)}`).join('');
  return { sql, parameters };
}

/** A test of a value that a record lacks is unknown to SQLite; such a record does not match, and so matches `isNot`. */
function termSql({ field, isNot, texts, ranges }: QueryTerm, parameters: QueryValue[]): string {
  const tests =
    field === 'flag'
      ? texts.map((test) => flagSql(test, parameters))
      : [
          ...texts.map((test) => textSql(expressionOf(field), test, parameters)),
          ...ranges.map((test) => rangeSql(expressionOf(field), test, parameters)),
        ];
  const tested = `coalesce(${tests.length === 0 ? '0' : tests.map((test) => `(${test})`).join(' OR ')}, 0)`;
  return isNot ? `NOT ${tested}` : tested;
}

function expressionOf(field: Exclude<QueryField, 'flag'>): string {
  if (field === 'member' || field === 'tag') throw new Error(`a term with a ${field} was not resolved to keys`);
  return EXPRESSIONS[field];
}

function textSql(expression: string, test: TextTest, parameters: QueryValue[]): string {
  if (test === null) return `${expression} IS NULL`;
  parameters.push(test.text);
  if (!test.isPrefix) return `coalesce(${expression} = ?, 0)`;
  parameters.push(`${test.text}\u{10ffff}`);
  return `coalesce(${expression} >= ? AND ${expression} < ?, 0)`;
}

function flagSql(test: TextTest, parameters: QueryValue[]): string {
  if (test === null) return 'usage_flags IS NULL';
  return `EXISTS (SELECT 1 FROM json_each(usage_flags) WHERE ${textSql('value', test, parameters)})`;
}

function rangeSql(expression: string, { from, to, isOpen }: RangeTest, parameters: QueryValue[]): string {
  const tests: string[] = [];
  const addBound = (operator: string, bound: number | bigint | null): void => {
    if (bound === null) return;
    const isExact = typeof bound === 'bigint';
    tests.push(`${expression} ${operator}${isOpen ? '' : '='} ${isExact ? 'cast(? AS INTEGER)' : '?'}`);
    parameters.push(isExact ? bound.toString() : bound);
  };
  addBound('>', from);
  addBound('<', to);
  return `coalesce(${tests.join(' AND ')}, 0)`;
}
