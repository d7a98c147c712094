/**
 * Owns adding up blocks by group and bucket. Of callers, who are many, only what a ranking goes by is read of all; the rest,
 * of those to show.
 */
import type { Database } from 'bun:sqlite';
import { chooseGroups, GROUPS_MAX, REST, UsageGather } from './gather-usage.ts';
import { GroupCosts } from './group-costs.ts';
import { bucketOf } from './plan-spans.ts';
import { rankCallers } from './rank-callers.ts';
import { readBlocks, readSeries, readSeriesIds } from './read-blocks.ts';
import type { Rolling } from './rolling.ts';
import type { RankedSum } from './tally.ts';

/** Takes all blocks of the parts; answers the names of the groups to show, the dearest first. */
export function gatherRolled(database: Database, rolling: Rolling): readonly string[] {
  const { rolled, question } = rolling;
  const { end_user, session } = rolled.condition;
  if (rolled.kind !== 'call' && end_user === null && session === null)
    return takeCallers(database, rolling, rolled.kind);
  if (question.by.length > 0) return takeGroups(database, rolling);
  takeWhole(database, rolling);
  return chooseGroups(rolling.gather.totals());
}

function takeWhole(database: Database, rolling: Rolling): void {
  const { rolled, gather } = rolling;
  const ids = readSeriesIds(database, rolled);
  const name = gather.nameOfValues([]);
  takeNamed(database, rolling, (series) => (ids === null || ids.has(series) ? name : undefined));
}

/** Where there are more than are shown, they are ranked first, so that the others are added up as one. */
function takeGroups(database: Database, rolling: Rolling): readonly string[] {
  const { question, rolled, parts, deadline, gather } = rolling;
  const names = new Map<number, string>();
  for (const [id, ...values] of readSeries(database, rolled, question.by)) names.set(id, gather.nameOfValues(values));
  if (new Set(names.values()).size <= GROUPS_MAX) {
    takeNamed(database, rolling, (series) => names.get(series));
    return chooseGroups(gather.totals());
  }
  const costs = new GroupCosts();
  const groupOf = (series: number) => (names.has(series) ? series : null);
  for (const part of parts) {
    for (const block of readBlocks(database, rolled, part, 'sums')) costs.addBlock(block, groupOf);
    deadline.check();
  }
  const totals = gather.totals();
  for (const [series, sum] of costs.all()) {
    const name = names.get(series);
    if (name !== undefined) totals.set(name, addRanked(totals.get(name), sum));
  }
  const shown = chooseGroups(totals);
  const isShown = new Set(shown);
  for (const [series, name] of names) if (!isShown.has(name)) names.set(series, REST);
  takeNamed(database, rolling, (series) => names.get(series));
  return shown;
}

/** Takes the series that have names. */
function takeNamed(
  database: Database,
  { question, rolled, parts, deadline, gather }: Rolling,
  nameOf: (series: number) => string | undefined,
): void {
  const wanted = question.latencies === 'none' ? 'sums' : 'latencies';
  for (const part of parts) {
    for (const block of readBlocks(database, rolled, part, wanted)) {
      const bucket = bucketOf(question.buckets, block.startMs);
      for (let nth = 0; nth < block.series.length; nth++) {
        const name = nameOf(block.series[nth] ?? 0);
        if (name !== undefined) gather.takeRow(name, bucket, block, nth);
      }
      deadline.check();
    }
  }
}

/** The others are all calls less those of the groups that are shown: every call has one end user and one session, or none. */
function takeCallers(database: Database, rolling: Rolling, kind: 'end_user' | 'session'): readonly string[] {
  const { question, rolled, gather } = rolling;
  const { shown, names, hasOthers } = rankCallers(database, rolling, kind);
  const dearest = new UsageGather(question);
  takeNamed(database, { ...rolling, gather: dearest }, (series) => names.get(series));
  if (hasOthers) {
    const whole = { ...question, by: [] };
    const all = new UsageGather(whole);
    takeWhole(database, {
      ...rolling,
      question: whole,
      rolled: { ...rolled, kind: 'call' },
      gather: all,
    });
    all.subtract(dearest);
    gather.takeAs(REST, all);
  }
  gather.takeGroups(dearest);
  return shown;
}

function addRanked(to: RankedSum | undefined, { units, left, requests }: RankedSum): RankedSum {
  return to === undefined
    ? { units, left, requests }
    : { units: to.units + units, left: to.left + left, requests: to.requests + requests };
}
