/**
 * Adapts the sign-in library to our tables: translates its models and conditions to the store's rows. Hashes session
 * tokens before they are stored; only the library and the browser have them in plain text.
 */
import { type CleanedWhere, createAdapterFactory } from 'better-auth/adapters';
import type {
  PeopleChange,
  PeopleCondition,
  PeopleConditions,
  PeopleOperator,
  PeopleStore,
  PeopleTable,
  PeopleTables,
  PeopleValue,
} from '../../store/ports/people.ts';
import { emailColumns, personOfEmail, readEmail } from '../email-address.ts';
import { hashSessionToken } from './sessions.ts';

/** The library's tables. `auth-engine.ts` maps its names for models and fields to these. */
const TABLES = ['person', 'person_session', 'sign_in_method', 'sign_in_step', 'second_factor'] as const;
type AuthTable = (typeof TABLES)[number];

/** Values that the library would store and we do not: tokens of other services, and external pictures. */
const NOT_KEPT: ReadonlySet<string> = new Set([
  'image',
  'accessToken',
  'refreshToken',
  'idToken',
  'accessTokenExpiresAt',
  'refreshTokenExpiresAt',
]);

const OPERATORS: { readonly [operator: string]: PeopleOperator } = {
  eq: 'is',
  ne: 'is not',
  lt: '<',
  lte: '<=',
  gt: '>',
  gte: '>=',
  in: 'in',
};

type Row = { readonly [column: string]: PeopleValue };

/** The library's database adapter over our store. */
export function createAuthRows(people: PeopleStore) {
  async function find(model: string, where: readonly CleanedWhere[], limit?: number, offset?: number): Promise<Row[]> {
    const table = tableOf(model);
    const rows = await people.find(table, { where: conditionsOf(table, where), ...present({ limit, offset }) });
    return rows.map((row) => withToken(rowOf(row), where));
  }

  async function findFirst(model: string, where: readonly CleanedWhere[]): Promise<Row | null> {
    return (await find(model, where, 1))[0] ?? null;
  }

  /** Changes the first matching row if it still matches; null: no match. */
  async function updateFirst(
    model: string,
    where: readonly CleanedWhere[],
    set: Row,
    add: { [column: string]: number },
  ) {
    const row = await findFirst(model, where);
    if (row === null) return null;
    const guarded = [...conditionsOf(tableOf(model), where), idCondition(row)];
    const change = { of: tableOf(model), update: set, add, where: guarded, rows: 1 } as PeopleChange;
    if (!(await people.save([change]))) return null;
    const [after] = await people.find(tableOf(model), { where: [idCondition(row)] });
    return after === undefined ? null : withToken(rowOf(after), where);
  }

  async function removeAll(model: string, where: readonly CleanedWhere[], rows: number | null): Promise<boolean> {
    return people.save([{ of: tableOf(model), remove: conditionsOf(tableOf(model), where), rows } as PeopleChange]);
  }

  return createAdapterFactory({
    config: {
      adapterId: 'tollgate',
      supportsBooleans: false,
      supportsNumericIds: false,
      customTransformInput: ({ data, field, action }) => {
        if (NOT_KEPT.has(field)) return undefined;
        // Linking a service does not verify the user's address: other people may have sign-in methods of their own.
        if (field === 'email_verified' && action === 'update') return undefined;
        return data instanceof Date ? data.getTime() : data;
      },
      customTransformOutput: ({ data, fieldAttributes }) =>
        fieldAttributes.type === 'date' && typeof data === 'number' ? new Date(data) : data,
    },
    adapter: () => ({
      async create({ model, data }) {
        const insert = hashed(model, withUniqueEmail(model, data));
        if (!(await people.save([{ of: tableOf(model), insert } as unknown as PeopleChange]))) {
          throw new Error(`a new row of ${model} exists already`);
        }
        return data;
      },
      findOne: async <Found>({ model, where }: { model: string; where: CleanedWhere[] }) =>
        (await findFirst(model, where)) as Found | null,
      findMany: async <Found>(search: Search) => (await findSorted(search)) as Found[],
      count: async ({ model, where }) => (await find(model, where ?? [])).length,
      update: async <Found>({ model, where, update }: { model: string; where: CleanedWhere[]; update: Found }) =>
        (await updateFirst(model, where, update as Row, {})) as Found | null,
      async updateMany({ model, where, update }) {
        const count = (await find(model, where)).length;
        const change = {
          of: tableOf(model),
          update: update as Row,
          where: conditionsOf(tableOf(model), where),
          rows: null,
        };
        await people.save([change as PeopleChange]);
        return count;
      },
      async delete({ model, where }) {
        await removeAll(model, where, null);
      },
      async deleteMany({ model, where }) {
        const count = (await find(model, where)).length;
        await removeAll(model, where, null);
        return count;
      },
      async consumeOne<Found>({ model, where }: { model: string; where: CleanedWhere[] }) {
        const row = await findFirst(model, where);
        if (row === null) return null;
        const remove = [...conditionsOf(tableOf(model), where), idCondition(row)];
        const taken = await people.save([{ of: tableOf(model), remove, rows: 1 } as PeopleChange]);
        return taken ? (row as Found) : null;
      },
      incrementOne: async <Found>({ model, where, increment, set }: Increment) =>
        (await updateFirst(model, where, (set ?? {}) as Row, increment)) as Found | null,
    }),
  });

  async function findSorted({ model, where, limit, offset, sortBy }: Search): Promise<Row[]> {
    const table = tableOf(model);
    const orderBy = sortBy === undefined ? undefined : ([sortBy.field, sortBy.direction] as [never, 'asc' | 'desc']);
    const rows = await people.find(table, {
      where: conditionsOf(table, where ?? []),
      ...present({ limit, offset, orderBy }),
    });
    return rows.map((row) => withToken(rowOf(row), where ?? []));
  }
}

interface Search {
  readonly model: string;
  readonly where?: CleanedWhere[] | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly sortBy?: { readonly field: string; readonly direction: 'asc' | 'desc' } | undefined;
}

interface Increment {
  readonly model: string;
  readonly where: CleanedWhere[];
  readonly increment: Record<string, number>;
  readonly set?: Record<string, unknown> | undefined;
}

function tableOf(model: string): AuthTable {
  const table = TABLES.find((name) => name === model);
  if (table === undefined) throw new Error(`sign-in asked for the table ${model}, which is not one of its own`);
  return table;
}

function conditionsOf<Table extends AuthTable>(
  table: AuthTable,
  where: readonly CleanedWhere[],
): PeopleConditions<Table> {
  return where.map(({ field, operator, value, connector, mode }, nth) => {
    const known = OPERATORS[operator ?? 'eq'];
    if (known === undefined || (nth > 0 && connector === 'OR') || mode === 'insensitive') {
      throw new Error(`sign-in asks for rows in a way that it never did: ${connector} ${operator}, ${mode}`);
    }
    if (table === 'person' && field === 'email') return conditionOfEmail(value) as unknown as PeopleCondition<Table>;
    const plain = (one: unknown) => (one instanceof Date ? one.getTime() : one);
    const found = Array.isArray(value) ? value.map(plain) : plain(value);
    return [field, known, isToken(field) ? hashValue(found) : found] as unknown as PeopleCondition<Table>;
  });
}

/**
 * The user encoded by `emailOfPerson`, else the verified user of an address; unverified users are never found by
 * address.
 */
function conditionOfEmail(value: unknown): PeopleCondition<'person'> {
  const id = personOfEmail(String(value));
  return id === null ? ['unique_email', 'is', String(value)] : ['id', 'is', id];
}

/** The library creates users only for addresses that a service has verified. */
function withUniqueEmail(model: string, row: Row): Row {
  if (model !== 'person') return row;
  const email = readEmail(row.email);
  if (email === null || row.email_verified !== 1) throw new Error('sign-in makes a user whose address is not verified');
  return { ...row, ...emailColumns(email, null) };
}

/** Only sessions have this column. */
function isToken(column: string): boolean {
  return column === 'token';
}

function hashValue(value: unknown): unknown {
  return Array.isArray(value) ? value.map((one) => hashSessionToken(String(one))) : hashSessionToken(String(value));
}

function hashed(model: string, row: Row): Row {
  return model === 'person_session' ? { ...row, token: hashSessionToken(String(row.token)) } : row;
}

/** Adds the token back to a session that was looked up by it, as the library expects. */
function withToken(row: Row, where: readonly CleanedWhere[]): Row {
  const token = where.find(({ field }) => isToken(field))?.value;
  return typeof token === 'string' ? { ...row, token } : row;
}

function rowOf(row: PeopleTables[PeopleTable]): Row {
  return row as unknown as Row;
}

function idCondition(row: Row): PeopleCondition<AuthTable> {
  return ['id', 'is', row.id ?? null];
}

/** Omits undefined members. */
function present<Members extends object>(members: Members): { [Name in keyof Members]?: NonNullable<Members[Name]> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Members]?: NonNullable<Members[Name]>;
  };
}
