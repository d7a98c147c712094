/** Owns which series of sums a record belongs to, and their numbers. */
import type { Database } from 'bun:sqlite';
import type { SummedRecord } from './tally.ts';

/** `call`: by everything of which there are few values. The others: by workspace and one thing of which there are many. */
export type SeriesKind = 'call' | 'end_user' | 'session';

const COLUMNS = 'account, kind, workspace, key_id, model, provider, protocol, end_user, session';

type SeriesValues = (string | null)[];

export interface SeriesBook {
  /** Makes the series where it is new. Inside a transaction; after one that was undone, `forget`. */
  idOf(kind: SeriesKind, record: SummedRecord): number;
  forget(): void;
  close(): void;
}

/** As many as a busy day has; beyond it the numbers are read anew. */
const KNOWN_MAX = 20_000;

export function openSeriesBook(database: Database): SeriesBook {
  const find = database.prepare<{ id: number }, SeriesValues>(
    `SELECT id FROM usage_series WHERE ${COLUMNS.split(', ')
      .map((column) => `${column} IS ?`)
      .join(' AND ')}`,
  );
  const insert = database.prepare<{ id: number }, SeriesValues>(
    `INSERT INTO usage_series (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
  );
  const known = new Map<string, number>();
  return {
    idOf(kind, record) {
      const name = nameOf(kind, record);
      const before = known.get(name);
      if (before !== undefined) return before;
      const values = valuesOf(kind, record);
      const row = find.get(...values) ?? insert.get(...values);
      if (row === null) throw new Error('a series of usage was neither found nor made');
      if (known.size >= KNOWN_MAX) known.clear();
      known.set(name, row.id);
      return row.id;
    },
    forget: () => known.clear(),
    close() {
      find.finalize();
      insert.finalize();
    },
  };
}

/** Apart from the name of every other series: only the last value can have the sign between them in it, and null is unlike every text. */
function nameOf(kind: SeriesKind, record: SummedRecord): string {
  const { account, workspace, key_id, model, provider, protocol } = record;
  const common = `${kind}\n${account}\n${workspace}\n`;
  if (kind === 'call') return `${common}${key_id}\n${protocol}\n${quote(provider)}\n${quote(model)}`;
  return common + quote(record[kind]);
}

function quote(value: string | null): string {
  return value === null ? '-' : `'${value}`;
}

function valuesOf(kind: SeriesKind, record: SummedRecord): SeriesValues {
  const { account, workspace, key_id, model, provider, protocol, end_user, session } = record;
  if (kind === 'call') return [account, kind, workspace, key_id, model, provider, protocol, null, null];
  const own = kind === 'end_user' ? [end_user, null] : [null, session];
  return [account, kind, workspace, null, null, null, null, ...own];
}
