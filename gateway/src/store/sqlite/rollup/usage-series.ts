/** Assigns records to the series of sums they belong to, and numbers the series. */
import type { Database } from 'bun:sqlite';
import type { SummedRecord } from './tally.ts';

/** `call`: all columns with few values. The others: the workspace and one column with many values. */
export type SeriesKind = 'call' | 'end_user' | 'session';

const CALL_COLUMNS = ['account', 'workspace', 'key_id', 'model', 'provider', 'protocol'] as const;

type CallerKind = Exclude<SeriesKind, 'call'>;
type Values = (string | number | null)[];

export interface SeriesBook {
  /** Creates new series. Inside a transaction; after a rollback, call `forget`. */
  idsOf(record: SummedRecord): Readonly<Record<SeriesKind, number>>;
  forget(): void;
  close(): void;
}

/** As many series as a busy day has; beyond it the numbers are read again. */
const KNOWN_MAX = 100_000;

/**
 * The known series of one workspace: numbers by their values, one level per column. Concatenated names as keys would
 * cost more than everything else.
 */
interface KnownSeries {
  readonly calls: Level<Level<Level<Map<string, number>>>>;
  readonly end_user: Level<number>;
  readonly session: Level<number>;
}

type Level<Below> = Map<string | null, Below>;

export function openSeriesBook(database: Database): SeriesBook {
  const findCall = database.prepare<{ id: number }, Values>(
    `SELECT id FROM usage_series WHERE kind = 'call' AND ${CALL_COLUMNS.map((column) => `${column} IS ?`).join(' AND ')}`,
  );
  const insertCall = database.prepare<{ id: number }, Values>(
    `INSERT INTO usage_series (kind, ${CALL_COLUMNS.join(', ')}) VALUES ('call', ?, ?, ?, ?, ?, ?) RETURNING id`,
  );
  const callers = { end_user: openCallers(database, 'end_user'), session: openCallers(database, 'session') };
  const known: Level<Level<KnownSeries>> = new Map();
  let count = 0;

  function idOfCall(record: SummedRecord): number {
    const values = CALL_COLUMNS.map((column) => record[column]);
    return (findCall.get(...values) ?? made(insertCall.get(...values))).id;
  }

  function idIn<Value extends string | null>(
    ids: Map<Value, number>,
    value: Value,
    kind: SeriesKind,
    record: SummedRecord,
  ): number {
    const before = ids.get(value);
    if (before !== undefined) return before;
    const id = kind === 'call' ? idOfCall(record) : callers[kind].idOf(record.account, record.workspace, record[kind]);
    ids.set(value, id);
    count += 1;
    return id;
  }

  return {
    idsOf(record) {
      if (count >= KNOWN_MAX) {
        known.clear();
        count = 0;
      }
      const workspaces = levelBelow(known, record.account, newLevel<KnownSeries>);
      const own = levelBelow(workspaces, record.workspace, newKnownSeries);
      const ofKey = levelBelow(own.calls, record.key_id, newLevel<Level<Map<string, number>>>);
      const ofModel = levelBelow(ofKey, record.model, newLevel<Map<string, number>>);
      const ofProvider = levelBelow(ofModel, record.provider, () => new Map<string, number>());
      return {
        call: idIn(ofProvider, record.protocol, 'call', record),
        end_user: idIn(own.end_user, record.end_user, 'end_user', record),
        session: idIn(own.session, record.session, 'session', record),
      };
    },
    forget() {
      known.clear();
      count = 0;
    },
    close() {
      for (const statement of [findCall, insertCall]) statement.finalize();
      for (const { close } of Object.values(callers)) close();
    },
  };
}

/** The first series of an end user or session, in any workspace. */
export function firstOfCaller(kind: CallerKind): string {
  return `SELECT min(id) AS id FROM usage_series WHERE account = ? AND kind = '${kind}' AND ${kind} IS ?`;
}

function openCallers(database: Database, kind: CallerKind) {
  const find = database.prepare<{ id: number; workspace: string }, Values>(
    `SELECT id, workspace FROM usage_series WHERE account = ? AND kind = '${kind}' AND ${kind} IS ?`,
  );
  const insert = database.prepare<{ id: number }, Values>(
    `INSERT INTO usage_series (kind, account, workspace, ${kind}, same_as) VALUES ('${kind}', ?, ?, ?, ?) RETURNING id`,
  );
  return {
    idOf(account: string, workspace: string, caller: string | null): number {
      const same = find.all(account, caller);
      const own = same.find((one) => one.workspace === workspace);
      if (own !== undefined) return own.id;
      const first = same.length === 0 ? null : Math.min(...same.map(({ id }) => id));
      return made(insert.get(account, workspace, caller, first)).id;
    },
    close() {
      find.finalize();
      insert.finalize();
    },
  };
}

function made<Row>(row: Row | null): Row {
  if (row === null) throw new Error('a series of usage was neither found nor made');
  return row;
}

function newKnownSeries(): KnownSeries {
  return { calls: new Map(), end_user: new Map(), session: new Map() };
}

function newLevel<Below>(): Level<Below> {
  return new Map();
}

function levelBelow<Below>(level: Level<Below>, value: string | null, create: () => Below): Below {
  let below = level.get(value);
  if (below === undefined) {
    below = create();
    level.set(value, below);
  }
  return below;
}
