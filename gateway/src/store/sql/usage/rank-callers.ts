/**
 * Owns which end users or sessions come first. They are ranked by the numbers of their series: names are read only of those
 * that can be among them.
 */
import type { Database } from 'bun:sqlite';
import type { UsageDimension } from '../../usage-port.ts';
import { chooseGroups, GROUPS_MAX } from './gather-usage.ts';
import { GroupRanks } from './group-ranks.ts';
import { type RolledQuestion, readBlocks, readSeriesIds, type SeriesRow } from './read-blocks.ts';
import type { Rolling } from './rolling.ts';
import type { RankedSum } from './tally.ts';
import { firstOfCaller } from './usage-series.ts';

export interface RankedCallers {
  /** The names of the groups to show, the first first. */
  readonly shown: readonly string[];
  /** Of each series of these groups. */
  readonly names: ReadonlyMap<number, string>;
  readonly hasOthers: boolean;
}

type CallerKind = Exclude<RolledQuestion['kind'], 'call'>;

/** By blocks, and by what records say already. */
export function rankCallers(database: Database, rolling: Rolling, kind: CallerKind): RankedCallers {
  const { question, rolled, parts, deadline } = rolling;
  const ids = readSeriesIds(database, rolled);
  const isByWorkspace = question.by.includes('workspace');
  // The same caller in several workspaces is one group, named by its first series.
  const firsts = isByWorkspace ? new Map<number, number>() : readFirsts(database, rolled);
  const groupOf = (series: number) => (ids !== null && !ids.has(series) ? null : (firsts.get(series) ?? series));
  const ranks = new GroupRanks(question.rankedBy);
  for (const part of parts) {
    for (const block of readBlocks(database, rolled, part, 'sums')) {
      ranks.addBlock(block, groupOf);
      deadline.check();
    }
  }
  const onlyRecords = addRecords(database, rolling, kind, ranks);
  const candidates = new Map(ranks.first(GROUPS_MAX));
  const names = readNames(database, rolling, [...candidates.keys()]);
  const totals = new Map<string, RankedSum>(onlyRecords);
  for (const [group, name] of names) totals.set(name, candidates.get(group) ?? NOTHING);
  const shown = chooseGroups(totals);
  return {
    shown,
    names: namesOfSeries(names, new Set(shown), firsts, ids),
    hasOthers: ranks.size + onlyRecords.size > shown.length,
  };
}

const NOTHING: RankedSum = { units: 0, left: 0, requests: 0 };

/** Adds what records say to the groups that have series; answers that of the others by their names. */
function addRecords(
  database: Database,
  { question: { by }, rolled, gather }: Rolling,
  kind: CallerKind,
  ranks: GroupRanks,
): Map<string, RankedSum> {
  const others = new Map<string, RankedSum>();
  const isByWorkspace = by.includes('workspace');
  const find = database.prepare<{ id: number | null }, (string | null)[]>(
    `${firstOfCaller(kind)}${isByWorkspace ? ' AND workspace IS ?' : ''}`,
  );
  try {
    for (const [name, sum] of gather.ranked()) {
      const values: readonly (string | null)[] = JSON.parse(name);
      const valueIn = (dimension: UsageDimension) => values[by.indexOf(dimension)] ?? null;
      const group = find.get(
        rolled.tenant.account,
        valueIn(kind),
        ...(isByWorkspace ? [valueIn('workspace')] : []),
      )?.id;
      if (group === null || group === undefined) others.set(name, sum);
      else ranks.add(group, sum);
    }
    return others;
  } finally {
    find.finalize();
  }
}

/** Series → the first of the same caller, of those that are not the first. */
function readFirsts(database: Database, { tenant, kind }: RolledQuestion): Map<number, number> {
  const read = database.prepare<unknown, [string, string]>(
    `SELECT id, same_as FROM usage_series INDEXED BY usage_series_same
      WHERE account = ? AND kind = ? AND same_as IS NOT NULL`,
  );
  try {
    // The statement's columns are these two.
    return new Map(read.values(tenant.account, kind) as unknown as [number, number][]);
  } finally {
    read.finalize();
  }
}

function readNames(database: Database, { question, gather }: Rolling, groups: readonly number[]): Map<number, string> {
  const read = database.prepare<unknown, [string]>(
    `SELECT ${['id', ...question.by].join(', ')} FROM usage_series WHERE id IN (SELECT value FROM json_each(?))`,
  );
  try {
    // The statement's columns are those of the row's type.
    const rows = read.values(JSON.stringify(groups)) as unknown as SeriesRow[];
    return new Map(rows.map(([id, ...values]) => [id, gather.nameOfValues(values)]));
  } finally {
    read.finalize();
  }
}

function namesOfSeries(
  names: ReadonlyMap<number, string>,
  shown: ReadonlySet<string>,
  firsts: ReadonlyMap<number, number>,
  ids: ReadonlySet<number> | null,
): Map<number, string> {
  const all = new Map([...names].filter(([, name]) => shown.has(name)));
  for (const [series, first] of firsts) {
    const name = all.get(first);
    if (name !== undefined) all.set(series, name);
  }
  return ids === null ? all : new Map([...all].filter(([series]) => ids.has(series)));
}
