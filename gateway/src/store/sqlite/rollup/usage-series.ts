/** Assigns records to the series of sums they belong to, and numbers the series. */
import type { Database } from 'bun:sqlite';
import type { SummedRecord } from './tally.ts';

/**
 * `call`: all columns with few values. `end_user`, `session`: the workspace and one column with many values. `charge`:
 * the workspace, the key and its name, and the model.
 */
export type SeriesKind = 'call' | 'end_user' | 'session' | 'charge';
/** The series of calls, whatever they charged. */
export type UsageKind = Exclude<SeriesKind, 'charge'>;

const CALL_COLUMNS = ['account', 'workspace', 'key_id', 'model', 'provider', 'protocol'] as const;
const CHARGE_COLUMNS = ['account', 'workspace', 'key_id', 'model', 'key_name'] as const;

type CallerKind = Exclude<UsageKind, 'call'>;
type Values = (string | number | null)[];

export interface SeriesBook {
  /** Creates new series. Inside a transaction; after a rollback, call `forget`. */
  idsOf(record: SummedRecord): Readonly<Record<UsageKind, number>>;
  /** As `idsOf`. */
  idOfCharge(record: SummedRecord, keyName: string): number;
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
  readonly charges: Level<Level<Map<string, number>>>;
  readonly end_user: Level<number>;
  readonly session: Level<number>;
}

type Level<Below> = Map<string | null, Below>;

export function openSeriesBook(database: Database): SeriesBook {
  const calls = openColumns(database, 'call', CALL_COLUMNS);
  const charges = openColumns(database, 'charge', CHARGE_COLUMNS);
  const callers = { end_user: openCallers(database, 'end_user'), session: openCallers(database, 'session') };
  const known: Level<Level<KnownSeries>> = new Map();
  let count = 0;

  function seriesOf({ account, workspace }: SummedRecord): KnownSeries {
    if (count >= KNOWN_MAX) {
      known.clear();
      count = 0;
    }
    return levelBelow(levelBelow(known, account, newLevel<KnownSeries>), workspace, newKnownSeries);
  }

  function idIn<Value extends string | null>(ids: Map<Value, number>, value: Value, findOrMake: () => number): number {
    const before = ids.get(value);
    if (before !== undefined) return before;
    const id = findOrMake();
    ids.set(value, id);
    count += 1;
    return id;
  }

  return {
    idsOf(record) {
      const { account, workspace, end_user, session } = record;
      const own = seriesOf(record);
      const ofKey = levelBelow(own.calls, record.key_id, newLevel<Level<Map<string, number>>>);
      const ofModel = levelBelow(ofKey, record.model, newLevel<Map<string, number>>);
      const ofProvider = levelBelow(ofModel, record.provider, () => new Map<string, number>());
      return {
        call: idIn(ofProvider, record.protocol, () => calls.idOf(CALL_COLUMNS.map((column) => record[column]))),
        end_user: idIn(own.end_user, end_user, () => callers.end_user.idOf(account, workspace, end_user)),
        session: idIn(own.session, session, () => callers.session.idOf(account, workspace, session)),
      };
    },
    idOfCharge(record, keyName) {
      const { account, workspace, key_id, model } = record;
      const ofKey = levelBelow(seriesOf(record).charges, key_id, newLevel<Map<string, number>>);
      const ofModel = levelBelow(ofKey, model, () => new Map<string, number>());
      return idIn(ofModel, keyName, () => charges.idOf([account, workspace, key_id, model, keyName]));
    },
    forget() {
      known.clear();
      count = 0;
    },
    close() {
      for (const { close } of [calls, charges, ...Object.values(callers)]) close();
    },
  };
}

/** The first series of an end user or session, in any workspace. */
export function firstOfCaller(kind: CallerKind): string {
  return `SELECT min(id) AS id FROM usage_series WHERE account = ? AND kind = '${kind}' AND ${kind} IS ?`;
}

/** Series that all their columns identify. */
function openColumns(database: Database, kind: SeriesKind, columns: readonly string[]) {
  const find = database.prepare<{ id: number }, Values>(
    `SELECT id FROM usage_series WHERE kind = '${kind}' AND ${columns.map((column) => `${column} IS ?`).join(' AND ')}`,
  );
  const insert = database.prepare<{ id: number }, Values>(
    `INSERT INTO usage_series (kind, ${columns.join(', ')}) VALUES ('${kind}', ${columns.map(() => '?').join(', ')}) RETURNING id`,
  );
  return {
    idOf: (values: Values): number => (find.get(...values) ?? made(insert.get(...values))).id,
    close() {
      find.finalize();
      insert.finalize();
    },
  };
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
  return { calls: new Map(), charges: new Map(), end_user: new Map(), session: new Map() };
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
