/** Owns the usage page: sums by up to two dimensions, the same as a file, and the proof that they equal the ledger. */
import { windowAt } from '../admission/window.ts';
import type { UsageAnswer, UsageQuestion, UsageTenant } from '../store/usage-port.ts';
import type { Tenancy } from './actor.ts';
import { conditionOf, EVERY_CALL } from './call-condition.ts';
import { ConsoleFailure } from './console-failure.ts';
import type { ReadQuery, Reply } from './contract.ts';
import { csvLine } from './csv.ts';
import type { Handlers } from './handlers.ts';
import { orRefuse } from './read-refusal.ts';
import { PAGE_MS_MAX, type UsageLabels, type UsageParts } from './usage-parts.ts';
import { cutRange, parseRange } from './usage-range.ts';
import { labelOf, renderBuckets, renderGroup, renderSums, SUMS_COLUMNS } from './usage-view.ts';

type UsageRoute =
  | 'GET /accounts/{account}/usage'
  | 'GET /accounts/{account}/usage.csv'
  | 'GET /accounts/{account}/usage/proof';
type UsageReply = Reply<'GET /accounts/{account}/usage'>;
type Asked = ReadQuery<'GET /accounts/{account}/usage.csv'> &
  Pick<ReadQuery<'GET /accounts/{account}/usage'>, 'metric'>;

/** A proof reads all that it proves, and may take longer than a page. */
const PROOF_MS_MAX = 10_000;

/** The whole account, or the workspaces that the actor is bound to. */
export function tenantOf({ account, workspaces }: Tenancy): UsageTenant {
  return { account, workspaces };
}

export function usageHandlers(parts: UsageParts): Handlers<UsageRoute> {
  return {
    'GET /accounts/{account}/usage': async ({ tenancy, query }) => {
      const { step, labels, question } = await understand(parts, tenancy, query);
      const [answer, before, forecast] = await Promise.all([
        orRefuse(parts.usage.readUsage(question)),
        query.compare === 'before' ? orRefuse(parts.usage.readUsage(justBefore(question))) : null,
        readForecast(parts, tenancy, query),
      ]);
      return {
        step,
        time_zone: question.timeZone,
        buckets: question.buckets.map((at) => new Date(at).toISOString()),
        filter_labels: labels.namesOfAsked(query, tenancy.workspaces),
        groups: answer.groups.map((group) => renderGroup(group, query.by, labels)),
        rest: answer.rest === null ? null : renderGroup(answer.rest, query.by, labels),
        total: renderSums(answer.total.sums),
        totals: renderBuckets(answer.total.buckets),
        before: before === null ? null : renderSums(before.total.sums),
        forecast,
      };
    },
    'GET /accounts/{account}/usage.csv': async ({ tenancy, query }) => {
      const { labels, question } = await understand(parts, tenancy, query);
      const answer = await orRefuse(parts.usage.readUsage(question));
      return {
        name: `usage-${query.from.slice(0, 10)}-${query.to.slice(0, 10)}.csv`,
        lines: csvOf(question, answer, labels),
      };
    },
    'GET /accounts/{account}/usage/proof': async ({ tenancy, query }) => {
      const [fromMs, toMs] = parseRange(query.from, query.to);
      const timeZone = parts.timeZoneOf(tenancy.account);
      const proof = await orRefuse(
        parts.usage.proveUsage({ tenant: tenantOf(tenancy), fromMs, toMs, timeZone, timeMsMax: PROOF_MS_MAX }),
      );
      const { usage, records, ledger, beforeLedger, chain } = proof;
      return {
        equal: usage === records && records === ledger + beforeLedger && chain.holds,
        checked_at: new Date(parts.nowMs()).toISOString(),
        usage_nano_usd: usage.toString(),
        records_nano_usd: records.toString(),
        ledger_nano_usd: ledger.toString(),
        before_ledger_nano_usd: beforeLedger.toString(),
        calls: proof.calls,
        entries: proof.entries,
        chain,
      };
    },
  };
}

/** What a query asks for, with the names that its answer is shown with. */
async function understand(parts: UsageParts, tenancy: Tenancy, asked: Asked) {
  const { account } = tenancy;
  const [first, second] = asked.by;
  if (first === second) {
    throw new ConsoleFailure('invalid', `by: found ${first} twice; expected two that differ, or one`, { member: 'by' });
  }
  const timeZone = parts.timeZoneOf(account);
  const { step, ...range } = cutRange(asked, timeZone);
  const labels = await parts.labelsOf(account);
  const question: UsageQuestion = {
    tenant: tenantOf(tenancy),
    condition: conditionOf(asked, labels.owners),
    ...range,
    timeZone,
    by: asked.by,
    owners: asked.by.includes('member') ? Object.fromEntries(labels.owners) : null,
    latencies: latenciesFor(asked.metric),
    timeMsMax: PAGE_MS_MAX,
  };
  return { step, labels, question };
}

/** Of the period of the same length just before: sums alone. */
function justBefore(question: UsageQuestion): UsageQuestion {
  const { fromMs: toMs } = question;
  const fromMs = toMs - (question.toMs - toMs);
  return { ...question, fromMs, toMs, buckets: [fromMs], by: [], latencies: 'sums' };
}

/** Percentiles of every bucket take longest: they are read where they are shown, or where nobody said what is. */
function latenciesFor(metric: Asked['metric']): UsageQuestion['latencies'] {
  return metric === undefined || metric === 'latency' || metric === 'ttfb' ? 'buckets' : 'sums';
}

const FILTERS = [
  'model',
  'provider',
  'key',
  'member',
  'workspace',
  'end_user',
  'session',
  'protocol',
  'without',
] as const;

/** Of the whole account only: its budget says nothing of a part of it. */
async function readForecast(parts: UsageParts, tenancy: Tenancy, asked: Asked): Promise<UsageReply['forecast']> {
  if (tenancy.workspaces !== null || FILTERS.some((filter) => asked[filter] !== undefined)) return null;
  const nowMs = parts.nowMs();
  const timeZone = parts.timeZoneOf(tenancy.account);
  const { startMs, endMs } = windowAt('month', timeZone, nowMs);
  if (endMs === null || nowMs <= startMs) return null;
  const [answer, budget] = await Promise.all([
    orRefuse(
      parts.usage.readUsage({
        tenant: tenantOf(tenancy),
        condition: EVERY_CALL,
        fromMs: startMs,
        toMs: nowMs,
        buckets: [startMs],
        timeZone,
        by: [],
        owners: null,
        latencies: 'none',
        timeMsMax: PAGE_MS_MAX,
      }),
    ),
    parts.readBudget(tenancy.account),
  ]);
  const spent = answer.total.sums.cost;
  const month = (spent * BigInt(endMs - startMs)) / BigInt(nowMs - startMs);
  return {
    month_nano_usd: month.toString(),
    spent_nano_usd: spent.toString(),
    budget_nano_usd: budget?.window === 'month' ? budget.limit.toString() : null,
  };
}

async function* csvOf(
  { by, buckets }: UsageQuestion,
  { groups, rest }: UsageAnswer,
  labels: UsageLabels,
): AsyncGenerator<string> {
  yield csvLine(['bucket', ...by.flatMap((name) => [name, `${name}_name`]), ...SUMS_COLUMNS]);
  for (const group of rest === null ? groups : [...groups, rest]) {
    const names = by.flatMap((dimension, index) => {
      const value = group === rest ? '(others)' : (group.values[index] ?? null);
      return [value, group === rest ? null : labelOf(dimension, value, labels)];
    });
    for (const [index, sums] of group.buckets.entries()) {
      if (sums === null) continue;
      const rendered = renderSums(sums);
      yield csvLine([
        new Date(buckets[index] ?? 0).toISOString(),
        ...names,
        ...SUMS_COLUMNS.map((column) => rendered[column]),
      ]);
    }
  }
}
