/**
 * Answers usage questions: from rolled-up sums where they exist, from records for the rest, in one state of the
 * database, so that the sums always equal those of the records.
 */
import type { Database } from 'bun:sqlite';
import {
  followsKey,
  type UsageAnswer,
  type UsageDimension,
  type UsageQuestion,
  UsageRefusal,
} from '../../ports/usage.ts';
import { scanQueried } from '../query/read-queried-usage.ts';
import type { RankedSum } from '../rollup/tally.ts';
import { readUsageAccount } from '../rollup/usage-accounts.ts';
import { kindFor, recordCondition } from './conditions.ts';
import { chooseGroups, REST, UsageGather } from './gather-usage.ts';
import { bucketOf, planSpans, type SpanPlan } from './plan-spans.ts';
import { GroupRanks, type Rolling, rankCallers } from './rank-callers.ts';
import { partsOf, type ReadBlock, readBlocks, readSeries, readSeriesIds } from './read-blocks.ts';
import { type Deadline, idsOf, openUnfolded, scanRecords, scanRolled, type Unfolded } from './scan-records.ts';

/** Longest time for which single calls are read. */
const RECORDS_MS_MAX = 7 * 86_400_000;

/** Within the caller's transaction, in which `unfolded` was opened. @throws UsageRefusal */
export function readUsage(
  database: Database,
  question: UsageQuestion,
  deadline: Deadline,
  unfolded: Unfolded = openUnfolded(database),
): UsageAnswer {
  const { tenant, condition, by, terms = [] } = question;
  if (terms.length > 0) {
    const queried = new UsageGather(question);
    scanQueried(database, question, deadline, (record) => queried.takeRecord(record));
    return queried.answer(chooseGroups(queried.ranked()));
  }
  const kind = kindFor(condition, by.map(columnOf));
  const account = readUsageAccount(database, tenant.account);
  const kept = account ?? { timeZone: question.timeZone, sinceMs: 0 };
  const plan = planSpans(question, kind !== null, kept, unfolded.mark.atMs);
  checkRecords(plan, question);
  const gather = new UsageGather(question);
  gatherRecords(database, question, plan, { unfolded, deadline, gather });
  const parts = partsOf(plan);
  if (kind === null || account === null || parts.length === 0) return gather.answer(chooseGroups(gather.ranked()));
  const rolled = { tenant, condition, account: account.id, kind };
  return gather.answer(gatherRolled(database, { question, rolled, parts, deadline, gather }));
}

/** Records, series and filters identify members and tags by their keys. */
function columnOf(dimension: UsageDimension): string {
  return followsKey(dimension) ? 'keys' : dimension;
}

function checkRecords({ records }: SpanPlan, { fromMs, toMs }: UsageQuestion): void {
  const recordsMs = records.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
  if (recordsMs <= RECORDS_MS_MAX) return;
  const days = Math.round((toMs - fromMs) / 86_400_000);
  throw new UsageRefusal(
    'too_wide',
    `end users and sessions together with each other or with a model, provider, key or protocol are counted call by call, as are steps of minutes: over 7 days at most, found ${days}. Choose a shorter range, or fewer filters and groups`,
  );
}

/**
 * Adds what no row has (the ends of the range, and calls not rolled up yet), and subtracts what rows have beyond the
 * range.
 */
function gatherRecords(
  database: Database,
  question: UsageQuestion,
  { days, quarters, records, beyond }: SpanPlan,
  {
    unfolded,
    deadline,
    gather,
  }: { readonly unfolded: Unfolded; readonly deadline: Deadline; readonly gather: UsageGather },
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
  const { toMs } = question;
  unfolded.scan(condition, (record) => {
    const { at_ms: atMs } = record;
    if (atMs < toMs && rolled.some(({ startMs, endMs }) => atMs >= startMs && atMs < endMs)) gather.takeRecord(record);
  });
  if (beyond === null) return;
  scanRolled(database, unfolded, beyond, condition, deadline, (record) => gather.dropRecord(record));
}

/** Adds all blocks of the parts; returns the names of the groups to show, in order. */
function gatherRolled(database: Database, rolling: Rolling): readonly string[] {
  const { rolled, question, gather } = rolling;
  const { end_user, session } = rolled.condition;
  if (rolled.kind !== 'call' && end_user === null && session === null)
    return takeCallers(database, rolling, rolled.kind);
  if (question.by.length > 0) return takeGroups(database, rolling);
  takeWhole(database, rolling, gather.nameOfValues([]));
  return chooseGroups(gather.ranked());
}

/** Adds all matching series as one group that is not drawn. */
function takeWhole(database: Database, rolling: Rolling, name: string): void {
  const { rolled, gather } = rolling;
  const ids = readSeriesIds(database, rolled);
  eachBlock(database, rolling, (bucket, block) => {
    if (ids === null) return gather.takeBlock(name, bucket, block);
    for (let nth = 0; nth < block.series.length; nth++) {
      if (!ids.has(block.series[nth] ?? 0)) continue;
      gather.takeRow(name, false, bucket, block, nth);
      gather.takeOver(bucket, block, nth);
    }
  });
}

function takeGroups(database: Database, rolling: Rolling): readonly string[] {
  const { question, rolled, gather } = rolling;
  const names = new Map<number, string>();
  for (const [id, ...values] of readSeries(database, rolled, question.by)) names.set(id, gather.nameOfValues(values));
  const shown = chooseGroups(rankGroups(database, rolling, names));
  const drawn = new Set(shown.slice(0, question.drawn));
  const isShown = new Set(shown);
  for (const [series, name] of names) if (!isShown.has(name)) names.set(series, REST);
  eachBlock(database, rolling, (bucket, block) => {
    for (let nth = 0; nth < block.series.length; nth++) {
      const name = names.get(block.series[nth] ?? 0);
      if (name === undefined) continue;
      gather.takeRow(name, drawn.has(name), bucket, block, nth);
      gather.takeOver(bucket, block, nth);
    }
  });
  return shown;
}

/** Group → its amount, from blocks and from the records read so far. */
function rankGroups(
  database: Database,
  { question, rolled, parts, deadline, gather }: Rolling,
  names: ReadonlyMap<number, string>,
): Map<string, RankedSum> {
  const ranks = new GroupRanks(question.rankedBy);
  const groupOf = (series: number) => (names.has(series) ? series : null);
  for (const part of parts) {
    for (const block of readBlocks(database, rolled, part, 'sums')) ranks.addBlock(block, groupOf);
    deadline.check();
  }
  const ranked = gather.ranked();
  for (const [series, sum] of ranks.all()) {
    const name = names.get(series);
    if (name !== undefined) ranked.set(name, addRanked(ranked.get(name), sum));
  }
  return ranked;
}

/** Passes each block of the parts to `take`. */
function eachBlock(
  database: Database,
  { question, rolled, parts, deadline }: Rolling,
  take: (bucket: number, block: ReadBlock) => void,
): void {
  const wanted = question.latencies === 'none' ? 'sums' : 'latencies';
  for (const part of parts) {
    for (const block of readBlocks(database, rolled, part, wanted)) {
      take(bucketOf(question.buckets, block.startMs), block);
      deadline.check();
    }
  }
}

/** The rest is all calls minus those of the groups shown: every call has at most one end user and one session. */
function takeCallers(database: Database, rolling: Rolling, kind: 'end_user' | 'session'): readonly string[] {
  const { question, rolled, gather } = rolling;
  const { shown, names, hasOthers } = rankCallers(database, rolling, kind);
  const drawn = new Set(shown.slice(0, question.drawn));
  const first = new UsageGather(question);
  eachBlock(database, rolling, (bucket, block) => {
    for (let nth = 0; nth < block.series.length; nth++) {
      const name = names.get(block.series[nth] ?? 0);
      if (name === undefined) continue;
      first.takeRow(name, drawn.has(name), bucket, block, nth);
      if (!hasOthers) gather.takeOver(bucket, block, nth);
    }
  });
  if (hasOthers) {
    takeWhole(database, { ...rolling, rolled: { ...rolled, kind: 'call' } }, REST);
    gather.subtract(REST, first);
  }
  gather.takeGroups(first);
  return shown;
}

function addRanked(to: RankedSum | undefined, { units, left, requests }: RankedSum): RankedSum {
  return to === undefined
    ? { units, left, requests }
    : { units: to.units + units, left: to.left + left, requests: to.requests + requests };
}
