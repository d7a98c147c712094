/**
 * Owns answering what calls sum up to: rolled-up rows for what is rolled up, records for the rest, in one state of the
 * database, so that the sums are those of the records at every moment.
 */
import type { Database } from 'bun:sqlite';
import { type UsageAnswer, type UsageDimension, type UsageQuestion, UsageRefusal } from '../../usage-port.ts';
import { kindFor, recordCondition } from './conditions.ts';
import type { Deadline } from './deadline.ts';
import { GROUPS_MAX, UsageGather } from './gather-usage.ts';
import { bucketOf, bucketRuns, planSpans, type SpanPlan } from './plan-spans.ts';
import {
  countGroups,
  type GroupChoice,
  type RolledPart,
  type RolledQuestion,
  readGroupTotals,
  readSums,
} from './rolled-rows.ts';
import { idsOf, scanRecords, scanUnfolded } from './scan-records.ts';
import { readUsageAccount } from './usage-accounts.ts';
import type { SeriesKind } from './usage-series.ts';

/** Single calls are looked at over so long a time at most. */
const RECORDS_MS_MAX = 7 * 86_400_000;
/** Under which groups beyond the first hundred are taken. No group has this name: they are JSON lists. */
const REST = 'rest';

/** Within a transaction of the caller. @throws UsageRefusal */
export function readUsage(database: Database, question: UsageQuestion, deadline: Deadline): UsageAnswer {
  const { tenant, condition, by } = question;
  const kind = kindFor(condition, by.map(columnOf));
  const account = readUsageAccount(database, tenant.account);
  const plan = planSpans(question, kind, account ?? { timeZone: question.timeZone, sinceMs: 0 });
  checkRecords(plan, question);
  const gather = new UsageGather(question);
  gatherRecords(database, question, plan, deadline, gather);
  const parts = partsOf(plan, kind);
  if (kind === null || account === null || parts.length === 0) return gather.answer(choose(gather.totals()), REST);
  const rolled = { tenant, condition, account: account.id, kind, by };
  return gather.answer(gatherRolled(database, { question, rolled, parts, deadline, gather }), REST);
}

/** A record, a series and a filter know members by their keys. */
function columnOf(dimension: UsageDimension): string {
  return dimension === 'key' || dimension === 'member' ? 'keys' : dimension;
}

function checkRecords({ records }: SpanPlan, { fromMs, toMs }: UsageQuestion): void {
  const recordsMs = records.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
  if (recordsMs <= RECORDS_MS_MAX) return;
  const days = Math.round((toMs - fromMs) / 86_400_000);
  throw new UsageRefusal(
    'too_wide',
    `end users and sessions together with each other or with a model, provider, key or protocol are counted call by call, as are days before the account's time zone changed and steps of minutes: over 7 days at most, found ${days}. Choose a shorter range, or fewer filters and groups`,
  );
}

/** What no row has: the ends of the range, and what is not rolled up yet. */
function gatherRecords(
  database: Database,
  question: UsageQuestion,
  { days, quarters, records }: SpanPlan,
  deadline: Deadline,
  gather: UsageGather,
): void {
  const condition = recordCondition(question.tenant, question.condition);
  for (const span of records) {
    scanRecords(database, idsOf(span), condition, deadline, (record) => {
      if (record.at_ms >= span.startMs && record.at_ms < span.endMs) gather.takeRecord(record);
    });
    deadline.check();
  }
  const rolled = days === null ? quarters : [days, ...quarters];
  if (rolled.length === 0) return;
  const [, to] = idsOf({ startMs: 0, endMs: question.toMs });
  scanUnfolded(database, to, condition, deadline, (record) => {
    if (rolled.some(({ startMs, endMs }) => record.at_ms >= startMs && record.at_ms < endMs)) gather.takeRecord(record);
  });
}

function partsOf({ days, quarters }: SpanPlan, kind: SeriesKind | null): RolledPart[] {
  const ofQuarters = quarters.map((span): RolledPart => ({ table: 'usage_quarter', span }));
  if (days === null) return ofQuarters;
  return [{ table: kind === 'call' ? 'usage_day' : 'usage_caller_day', span: days }, ...ofQuarters];
}

interface Rolling {
  readonly question: UsageQuestion;
  readonly rolled: RolledQuestion;
  readonly parts: readonly RolledPart[];
  readonly deadline: Deadline;
  readonly gather: UsageGather;
}

/** Takes all rows of the parts; answers the names of the groups to show. */
function gatherRolled(database: Database, rolling: Rolling): readonly string[] {
  const { rolled, gather } = rolling;
  // Of calls, the series tell how many groups there can be; callers are many, and few of them lately.
  const few = rolled.kind === 'call' && countGroups(database, rolled) <= GROUPS_MAX;
  const { totals, rowGroups } = few
    ? { totals: gather.totals(), rowGroups: new Map<string, string[]>() }
    : rank(database, rolling);
  if (few || totals.size <= GROUPS_MAX) {
    gatherSums(database, rolling, null);
    return choose(gather.totals());
  }
  const shown = choose(totals);
  const groups = shown.flatMap((name) => rowGroups.get(name) ?? []);
  gatherSums(database, rolling, { groups, others: false });
  gatherSums(database, rolling, { groups, others: true });
  return shown;
}

/** What rows and records have of each group, and the groups of rows that it is made of: members have many keys. */
function rank(database: Database, { rolled, parts, deadline, gather }: Rolling) {
  const totals = gather.totals();
  const rowGroups = new Map<string, string[]>();
  // Of members, or of two tables, the dearest of each say nothing of the dearest of all.
  const isSingle = parts.length === 1 && !rolled.by.includes('member');
  const dearest = isSingle ? { count: GROUPS_MAX + 1, also: [...totals.keys()] } : null;
  for (const part of parts) {
    for (const [group, cost, requests] of readGroupTotals(database, rolled, part, dearest)) {
      const name = gather.nameOfRow(group);
      const total = totals.get(name) ?? { cost: 0n, requests: 0 };
      totals.set(name, { cost: total.cost + BigInt(cost), requests: total.requests + requests });
      rowGroups.set(name, [...(rowGroups.get(name) ?? []), group]);
    }
    deadline.check();
  }
  return { totals, rowGroups };
}

function choose(totals: ReadonlyMap<string, { readonly cost: bigint; readonly requests: number }>): readonly string[] {
  return [...totals]
    .sort(([oneName, one], [otherName, other]) => {
      if (one.cost !== other.cost) return one.cost > other.cost ? -1 : 1;
      return other.requests - one.requests || (oneName < otherName ? -1 : 1);
    })
    .slice(0, GROUPS_MAX)
    .map(([name]) => name);
}

function gatherSums(
  database: Database,
  { question, rolled, parts, deadline, gather }: Rolling,
  choice: GroupChoice | null,
): void {
  const { buckets } = question;
  const take = (part: RolledPart, bucketSql: string, bucketFor: (value: number) => number) => {
    for (const [group, bucket, ...sums] of readSums(database, rolled, part, bucketSql, choice)) {
      gather.takeValues(group === null ? REST : gather.nameOfRow(group), bucketFor(bucket), sums);
    }
    deadline.check();
  };
  for (const part of parts) {
    if (buckets.length === 1) take(part, '0', () => 0);
    else if (part.table !== 'usage_quarter') take(part, 'start_ms', (startMs) => bucketOf(buckets, startMs));
    else {
      for (const { first, originMs, stepMs, startMs, endMs } of bucketRuns(buckets, part.span)) {
        const run = { table: part.table, span: { startMs, endMs } };
        take(run, `(start_ms - ${originMs}) / ${stepMs}`, (nth) => first + nth);
      }
    }
  }
}
