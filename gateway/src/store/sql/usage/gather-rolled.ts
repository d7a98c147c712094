/**
 * Owns adding up rolled-up rows by group and bucket. Rows are read as they stand and grouped here: over 90 days of a million
 * calls that takes half of what SQLite takes to sort them (2026-11-22). Of callers, who are many, only those to show are read.
 */
import type { Database } from 'bun:sqlite';
import type { UsageQuestion } from '../../usage-port.ts';
import type { Deadline } from './deadline.ts';
import { chooseGroups, GROUPS_MAX, REST, UsageGather } from './gather-usage.ts';
import { bucketOf } from './plan-spans.ts';
import {
  type RolledPart,
  type RolledQuestion,
  type RolledRow,
  readRowCosts,
  readRows,
  readRowTotals,
  readSeries,
} from './rolled-rows.ts';

export interface Rolling {
  readonly question: UsageQuestion;
  readonly rolled: RolledQuestion;
  readonly parts: readonly RolledPart[];
  readonly deadline: Deadline;
  /** Has what records say already, and takes what rows say. */
  readonly gather: UsageGather;
}

/** Takes all rows of the parts; answers the names of the groups to show, the dearest first. */
export function gatherRolled(database: Database, rolling: Rolling): readonly string[] {
  const { rolled, gather } = rolling;
  const { end_user, session } = rolled.condition;
  if (rolled.kind === 'call' || end_user !== null || session !== null) takeAll(database, rolling);
  else return takeDearest(database, rolling);
  return chooseGroups(gather.totals());
}

function takeAll(database: Database, { question, rolled, parts, deadline, gather }: Rolling): void {
  const withLatencies = question.latencies !== 'none';
  const take = takerOf(question, gather);
  if (question.by.length === 0 && !isNarrow(rolled)) {
    const whole = gather.nameOfValues([]);
    for (const part of parts) {
      for (const row of readRowTotals(database, rolled, part, withLatencies)) take(whole, row);
      deadline.check();
    }
    return;
  }
  const names = namesOf(database, { question, rolled, gather }, 0);
  const ids = isNarrow(rolled) ? names.keys().toArray() : null;
  for (const part of parts) {
    for (const row of readRows(database, rolled, part, ids, withLatencies)) take(names.get(row[1]), row);
    deadline.check();
  }
}

/** The others are all calls less those of the groups that are shown: every call has one end user and one session, or none. */
function takeDearest(database: Database, { question, rolled, parts, deadline, gather }: Rolling): readonly string[] {
  const withLatencies = question.latencies !== 'none';
  const { names, totals } = rank(database, { question, rolled, parts, deadline, gather });
  const shown = chooseGroups(totals);
  const isShown = new Set(shown);
  const ids = [...names].flatMap(([id, name]) => (isShown.has(name) ? [id] : []));
  const dearest = new UsageGather(question);
  const take = takerOf(question, dearest);
  for (const part of parts) {
    for (const row of readRows(database, rolled, part, ids, withLatencies)) take(names.get(row[1]), row);
    deadline.check();
  }
  if (totals.size > GROUPS_MAX) {
    const all = new UsageGather({ ...question, by: [] });
    const ofCalls = parts.map(({ span }) => ({ table: 'usage_day', span }) as const);
    takeAll(database, {
      question: { ...question, by: [] },
      rolled: { ...rolled, kind: 'call' },
      parts: ofCalls,
      deadline,
      gather: all,
    });
    all.subtract(dearest);
    gather.takeAs(REST, all);
  }
  gather.takeGroups(dearest);
  return shown;
}

/** The name of each series' group, and what rows and records have of each group. */
function rank(database: Database, { question, rolled, parts, deadline, gather }: Rolling) {
  const costs = new Map<number, { units: number; left: number; requests: number }>();
  let first = Number.POSITIVE_INFINITY;
  for (const part of parts) {
    for (const [id, units, left, requests] of readRowCosts(database, rolled, part, null)) {
      const cost = costs.get(id);
      if (cost === undefined) {
        costs.set(id, { units, left, requests });
        if (id < first) first = id;
        continue;
      }
      cost.units += units;
      cost.left += left;
      cost.requests += requests;
    }
    deadline.check();
  }
  const totals = gather.totals();
  const names = namesOf(database, { question, rolled, gather }, Number.isFinite(first) ? first : 0);
  for (const [id, name] of names) {
    const cost = costs.get(id);
    if (cost === undefined) continue;
    const total = totals.get(name) ?? { units: 0, left: 0, requests: 0 };
    totals.set(name, {
      units: total.units + cost.units,
      left: total.left + cost.left,
      requests: total.requests + cost.requests,
    });
  }
  deadline.check();
  return { names, totals };
}

function namesOf(
  database: Database,
  { question, rolled, gather }: Pick<Rolling, 'question' | 'rolled' | 'gather'>,
  fromId: number,
): Map<number, string> {
  const names = new Map<number, string>();
  for (const [id, ...values] of readSeries(database, rolled, question.by, fromId)) {
    names.set(id, gather.nameOfValues(values));
  }
  return names;
}

/** Adds a row to a group's bucket; a row of a series that has no name is none of those asked for. */
function takerOf({ buckets }: UsageQuestion, gather: UsageGather) {
  let lastMs = Number.NaN;
  let bucket = 0;
  return (name: string | undefined, row: RolledRow) => {
    if (name === undefined) return;
    if (row[0] !== lastMs) {
      lastMs = row[0];
      bucket = bucketOf(buckets, lastMs);
    }
    gather.takeRow(name, bucket, row);
  };
}

/** Whether some of the account's calls are not asked for. */
function isNarrow({ tenant, condition }: RolledQuestion): boolean {
  return tenant.workspaces !== null || Object.values(condition).some((value) => value !== null);
}
