/**
 * Implements the people port over the database: reads run on the read connection; changes are compiled here and run by
 * the writer, all or none.
 */
import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import type {
  PeopleChange,
  PeopleOperator,
  PeopleSelection,
  PeopleStore,
  PeopleTable,
  PeopleTables,
  PeopleValue,
} from '../../ports/people.ts';
import { ConstraintViolation } from '../../ports/store-errors.ts';
import type { Tables } from '../database/sqlite-dialect.ts';
import type { Writer } from '../writer/writer.ts';
import type { WriteStatement } from '../writer/writer-messages.ts';

export function createPeopleStore(queries: Kysely<Tables>, writer: Pick<Writer, 'write'>): PeopleStore {
  return {
    async find<Table extends PeopleTable>(table: Table, selection: PeopleSelection<Table>) {
      const { rows } = await selectRows(table, selection).execute(queries);
      return rows as PeopleTables[Table][];
    },
    async save(changes) {
      try {
        await writer.write(changes.map((change) => compileChange(queries, change)));
        return true;
      } catch (fault) {
        if (fault instanceof ConstraintViolation && fault.kind === 'conflict') return false;
        throw fault;
      }
    },
  };
}

function selectRows<Table extends PeopleTable>(
  table: Table,
  { where, limit, offset, orderBy }: PeopleSelection<Table>,
): RawBuilder<unknown> {
  const order =
    orderBy === undefined
      ? sql``
      : sql` order by ${sql.ref(orderBy[0])} ${orderBy[1] === 'desc' ? sql`desc` : sql`asc`}`;
  // A negative LIMIT means no limit: https://sqlite.org/lang_select.html#the_limit_clause (read 2026-11-21).
  return sql`select * from ${sql.table(table)}${conditions(where)}${order} limit ${limit ?? -1} offset ${offset ?? 0}`;
}

function compileChange(queries: Kysely<Tables>, change: PeopleChange): WriteStatement {
  const table = sql.table(change.of);
  if ('insert' in change) {
    const members = Object.entries(change.insert);
    const columns = sql.join(members.map(([column]) => sql.ref(column)));
    const values = sql.join(members.map(([, value]) => sql`${value}`));
    return statement(sql`insert into ${table} (${columns}) values (${values})`.compile(queries), 1);
  }
  if ('remove' in change) {
    return statement(sql`delete from ${table}${conditions(change.remove)}`.compile(queries), change.rows);
  }
  const sets = [
    ...Object.entries(change.update).map(([column, value]) => sql`${sql.ref(column)} = ${value}`),
    ...Object.entries(change.add ?? {}).map(
      ([column, amount]) => sql`${sql.ref(column)} = coalesce(${sql.ref(column)}, 0) + ${amount}`,
    ),
  ];
  return statement(sql`update ${table} set ${sql.join(sets)}${conditions(change.where)}`.compile(queries), change.rows);
}

/** A condition on any table. */
type AnyCondition = readonly [column: string, operator: PeopleOperator, value: PeopleValue | readonly PeopleValue[]];

function conditions(all: readonly AnyCondition[]): RawBuilder<unknown> {
  if (all.length === 0) return sql``;
  const parts = all.map(([column, operator, value]) =>
    operator === 'in'
      ? sql`${sql.ref(column)} in (select value from json_each(${JSON.stringify(value)}))`
      : sql`${sql.ref(column)} ${sql.raw(operator)} ${value}`,
  );
  return sql` where ${sql.join(parts, sql` and `)}`;
}

function statement({ sql: text, parameters }: CompiledQuery, changes: number | null): WriteStatement {
  return { sql: text, parameters: parameters as WriteStatement['parameters'], changes };
}
