/**
 * Owns answering what calls sum up to: rolled-up sums for what is rolled up, records for the rest, in one state of the
 * database, so that the sums are those of the records at every moment.
 */
import type { Database } from 'bun:sqlite';
import { type UsageAnswer, type UsageDimension, type UsageQuestion, UsageRefusal } from '../../usage-port.ts';
import { kindFor, recordCondition } from './conditions.ts';
import type { Deadline } from './deadline.ts';
import { timeOf } from './find-ids.ts';
import { gatherRolled } from './gather-rolled.ts';
import { chooseGroups, UsageGather } from './gather-usage.ts';
import { planSpans, type SpanPlan } from './plan-spans.ts';
import type { RolledPart } from './read-blocks.ts';
import { idsOf, openUnfolded, scanRecords, scanRolled, type Unfolded } from './scan-records.ts';
import { readUsageAccount } from './usage-accounts.ts';

/** Single calls are looked at over so long a time at most. */
const RECORDS_MS_MAX = 7 * 86_400_000;

/** Within a transaction of the caller, which `unfolded` was opened in. @throws UsageRefusal */
export function readUsage(
  database: Database,
  question: UsageQuestion,
  deadline: Deadline,
  unfolded: Unfolded = openUnfolded(database),
): UsageAnswer {
  const { tenant, condition, by } = question;
  const kind = kindFor(condition, by.map(columnOf));
  const account = readUsageAccount(database, tenant.account);
  const kept = account ?? { timeZone: question.timeZone, sinceMs: 0 };
  const plan = planSpans(question, kind !== null, kept, timeOf(unfolded.through) ?? 0);
  checkRecords(plan, question);
  const gather = new UsageGather(question);
  gatherRecords(database, question, plan, { unfolded, deadline, gather });
  const parts = partsOf(plan);
  if (kind === null || account === null || parts.length === 0) return gather.answer(chooseGroups(gather.ranked()));
  const rolled = { tenant, condition, account: account.id, kind };
  return gather.answer(gatherRolled(database, { question, rolled, parts, deadline, gather }));
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
    `end users and sessions together with each other or with a model, provider, key or protocol are counted call by call, as are steps of minutes: over 7 days at most, found ${days}. Choose a shorter range, or fewer filters and groups`,
  );
}

/** What no row has: the ends of the range, and what is not rolled up yet; and what rows have beyond it. */
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
  const [, to] = idsOf({ startMs: 0, endMs: toMs });
  unfolded.scan(to, condition, deadline, (record) => {
    const { at_ms: atMs } = record;
    if (atMs < toMs && rolled.some(({ startMs, endMs }) => atMs >= startMs && atMs < endMs)) gather.takeRecord(record);
  });
  if (beyond === null) return;
  scanRolled(database, unfolded, beyond, condition, deadline, (record) => gather.dropRecord(record));
}

function partsOf({ days, quarters }: SpanPlan): RolledPart[] {
  const ofQuarters = quarters.map((span): RolledPart => ({ step: 'quarter', span }));
  return days === null ? ofQuarters : [{ step: 'day', span: days }, ...ofQuarters];
}
