/** Maps stored objects to rows of their tables and back: the member `createdAtMs` is the column `created_at_ms`. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../database/sqlite-dialect.ts';
import type { WriteStatement } from '../writer/writer-messages.ts';

/**
 * How a member is stored. `json`: text; null stays null. `flag`: 0 or 1. `amount`: a bigint; null stays null.
 * `optional_…`: the member is omitted for NULL or 0.
 */
type Coding = 'plain' | 'json' | 'flag' | 'amount' | 'optional_json' | 'optional_flag';

export interface StoredTable<Item> {
  readonly name: string;
  /** The members that identify a row. */
  readonly key: readonly (keyof Item & string)[];
  /** Other members that a change leaves as they are. */
  readonly fixed: readonly (keyof Item & string)[];
  readonly members: { readonly [Member in keyof Required<Item> & string]: Coding };
}

type Value = WriteStatement['parameters'][number];

/** Fails as a conflict where the row exists. */
export function insertRow<Item extends object>(table: StoredTable<Item>, item: Item): WriteStatement {
  const columns = membersOf(table).map(columnOf);
  return {
    sql: `INSERT INTO ${table.name} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    parameters: membersOf(table).map((member) => encode(table, item, member)),
    changes: 1,
  };
}

/** Inserts the row, or replaces all of it but its fixed members. */
export function upsertRow<Item extends object>(table: StoredTable<Item>, item: Item): WriteStatement {
  const { sql: text, parameters, changes } = insertRow(table, item);
  const sets = changingOf(table).map((member) => `${columnOf(member)} = excluded.${columnOf(member)}`);
  const key = table.key.map(columnOf).join(', ');
  if (sets.length === 0) return { sql: `${text} ON CONFLICT (${key}) DO NOTHING`, parameters, changes: null };
  return { sql: `${text} ON CONFLICT (${key}) DO UPDATE SET ${sets.join(', ')}`, parameters, changes };
}

/** Replaces all of the row but its fixed members. Fails as a conflict where it does not exist. */
export function updateRow<Item extends object>(table: StoredTable<Item>, item: Item): WriteStatement {
  const changing = changingOf(table);
  return {
    sql: `UPDATE ${table.name} SET ${changing.map((member) => `${columnOf(member)} = ?`).join(', ')} ${whereKey(table)}`,
    parameters: [...changing, ...table.key].map((member) => encode(table, item, member)),
    changes: 1,
  };
}

/** Fails as a conflict where the row does not exist. */
export function deleteRow<Item extends object>(table: StoredTable<Item>, key: readonly Value[]): WriteStatement {
  return { sql: `DELETE FROM ${table.name} ${whereKey(table)}`, parameters: key, changes: 1 };
}

/** Reads all rows, or those of a condition, ordered by these columns. */
export async function readRows<Item extends object>(
  queries: Kysely<Tables>,
  table: StoredTable<Item>,
  order: string,
  condition: RawBuilder<unknown> = sql`true`,
): Promise<readonly Item[]> {
  const columns = membersOf(table).map((member) => {
    const column = columnOf(member);
    // As text: beyond 2^53 a number would silently lose its last digits.
    return table.members[member] === 'amount' ? `cast(${column} AS TEXT) AS ${column}` : column;
  });
  const selection = sql.raw(`SELECT ${columns.join(', ')} FROM ${table.name}`);
  const ordered = sql`${selection} WHERE ${condition} ORDER BY ${sql.raw(order)}`;
  const { rows } = await sql<Readonly<Record<string, Value>>>`${ordered}`.execute(queries);
  return rows.map((row) => {
    const members = membersOf(table).flatMap((member) => decode(table, member, row[columnOf(member)] ?? null));
    return Object.fromEntries(members) as Item;
  });
}

function membersOf<Item>({ members }: StoredTable<Item>): readonly (keyof Item & string)[] {
  return Object.keys(members) as (keyof Item & string)[];
}

function changingOf<Item>(table: StoredTable<Item>): readonly (keyof Item & string)[] {
  return membersOf(table).filter((member) => !table.key.includes(member) && !table.fixed.includes(member));
}

function whereKey<Item>({ key }: StoredTable<Item>): string {
  return `WHERE ${key.map((member) => `${columnOf(member)} = ?`).join(' AND ')}`;
}

function columnOf(member: string): string {
  return member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function encode<Item extends object>({ members }: StoredTable<Item>, item: Item, member: keyof Item & string): Value {
  const value: unknown = item[member];
  const coding = members[member];
  if (coding === 'flag' || coding === 'optional_flag') return value === true ? 1 : 0;
  if (value === null || value === undefined) return null;
  if (coding === 'amount') return String(value);
  return coding === 'plain' ? (value as Value) : JSON.stringify(value);
}

/** The member with its value; nothing where it is omitted. */
function decode<Item>({ members }: StoredTable<Item>, member: keyof Item & string, value: Value): [string, unknown][] {
  switch (members[member]) {
    case 'plain':
      return [[member, value]];
    case 'flag':
      return [[member, value === 1]];
    case 'optional_flag':
      return value === 1 ? [[member, true]] : [];
    case 'amount':
      return [[member, value === null ? null : BigInt(value)]];
    default: {
      const isOmitted = value === null && members[member] === 'optional_json';
      return isOmitted ? [] : [[member, value === null ? null : JSON.parse(String(value))]];
    }
  }
}
