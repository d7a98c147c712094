/**
 * Owns adding up blocks by group and bucket. Groups are ranked first, by what a ranking goes by: buckets are made of those
 * that are drawn, and of callers, who are many, the rest is read only of those to show.
 */
import type { Database } from 'bun:sqlite';
import { chooseGroups, REST, UsageGather } from './gather-usage.ts';
import { GroupRanks } from './group-ranks.ts';
import { bucketOf } from './plan-spans.ts';
import { rankCallers } from './rank-callers.ts';
import { type ReadBlock, readBlocks, readSeries, readSeriesIds } from './read-blocks.ts';
import type { Rolling } from './rolling.ts';
import type { RankedSum } from './tally.ts';

/** Takes all blocks of the parts; answers the names of the groups to show, the first first. */
export function gatherRolled(database: Database, rolling: Rolling): readonly string[] {
  const { rolled, question, gather } = rolling;
  const { end_user, session } = rolled.condition;
  if (rolled.kind !== 'call' && end_user === null && session === null)
    return takeCallers(database, rolling, rolled.kind);
  if (question.by.length > 0) return takeGroups(database, rolling);
  takeWhole(database, rolling, gather.nameOfValues([]));
  return chooseGroups(gather.ranked());
}

/** All series that are asked for, as one group that is not drawn. */
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

/** Group → how much it has, by blocks and by what records say already. */
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

/** Hands out each block of the parts. */
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

/** The others are all calls less those of the groups that are shown: every call has one end user and one session, or none. */
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
