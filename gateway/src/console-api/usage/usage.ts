/** Serves the usage page: sums by up to two dimensions, their CSV export, and the reconciliation with the ledger. */
import { setImmediate } from 'node:timers/promises';
import { windowAt } from '../../admission/window.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { csvLine } from '../../lib/tables/csv-line.ts';
import type { UsageAnswer, UsageQuestion, UsageTenant } from '../../store/ports/usage.ts';
import type { ReadQuery, Reply } from '../contract/contract.ts';
import type { Tenancy } from '../kernel/actor.ts';
import type { Handlers } from '../kernel/handlers.ts';
import { conditionOf, EVERY_CALL } from '../logs/call-condition.ts';
import { refuseWords } from '../logs/search-content.ts';
import { readQuery, resolveQuery, withIdTerm } from '../query/resolve-query.ts';
import { type AccountBudget, orRefuse, PAGE_MS_MAX, type UsageLabels, type UsageParts } from './usage-parts.ts';
import { cutRange, parseRange } from './usage-range.ts';
import { labelOf, METRICS, renderAmounts, renderGroup, renderKinds, renderSums, SUMS_COLUMNS } from './usage-view.ts';

type UsageReply = Reply<'GET /accounts/{account}/usage'>;
type Asked = ReadQuery<'GET /accounts/{account}/usage.csv'>;
/** How the result is shown. */
type Shown = Pick<UsageQuestion, 'latencies' | 'rankedBy' | 'drawn'>;

/** The number of colors in a chart. */
const DRAWN = 8;
const IN_FILE: Shown = { latencies: 'buckets', rankedBy: 'cost', drawn: Number.POSITIVE_INFINITY };

/** A reconciliation reads everything it checks, and may take longer than a page. */
const PROOF_MS_MAX = 10_000;

/** The whole account, or the workspaces that the actor is restricted to. */
export function tenantOf({ account, workspaces }: Tenancy): UsageTenant {
  return { account, workspaces };
}

type Part = Pick<UsageQuestion, 'fromMs' | 'toMs' | 'by'> & Partial<Pick<UsageQuestion, 'buckets' | 'latencies'>>;

/** Completes questions about an account: without filters, without drawn groups. */
export function askerOf(parts: UsageParts, tenancy: Tenancy): (part: Part) => UsageQuestion {
  const common = {
    tenant: tenantOf(tenancy),
    condition: EVERY_CALL,
    timeZone: parts.timeZoneOf(tenancy.account),
    owners: null,
    rankedBy: 'cost',
    drawn: 0,
    timeMsMax: PAGE_MS_MAX,
  } as const;
  return ({ buckets, latencies = 'none', ...part }) => ({
    ...common,
    ...part,
    buckets: buckets ?? [part.fromMs],
    latencies,
  });
}

export function usageHandlers(parts: UsageParts) {
  return {
    'GET /accounts/{account}/usage': async ({ tenancy, query }) => {
      const { metric } = query;
      const { rankedBy, latencies } = METRICS[metric];
      const { step, labels, question } = await understand(parts, tenancy, query, { rankedBy, latencies, drawn: DRAWN });
      const month = thisMonth(parts, tenancy, query);
      const [{ answer, before, spent }, budget] = await Promise.all([
        orRefuse(
          parts.usage.readUsage({
            answer: question,
            before: query.compare === 'before' ? justBefore(question) : null,
            spent: month,
          }),
        ),
        month === null ? null : parts.readBudget(tenancy.account),
      ]);
      return {
        step,
        time_zone: question.timeZone,
        metric,
        buckets: question.buckets.map((at) => new Date(at).toISOString()),
        filter_labels: labels.namesOfIds(query, tenancy.workspaces),
        tags: [...labels.tagNames(tenancy.workspaces)],
        groups: answer.groups.map((group) => renderGroup(group, { by: question.by, metric, labels })),
        rest: answer.rest === null ? null : renderSums(answer.rest),
        others: answer.others === null || latencies === 'buckets' ? null : renderAmounts(answer.others, metric),
        total: renderSums(answer.total),
        totals: renderAmounts(answer.totals, metric),
        kinds: metric === 'tokens' ? renderKinds(answer.totals) : null,
        before: before === null ? null : renderSums(before.total),
        forecast: month === null || spent === null ? null : forecastOf(spent.total.cost, budget, month),
      };
    },
    'GET /accounts/{account}/usage.csv': async ({ tenancy, query }) => {
      const { labels, question } = await understand(parts, tenancy, query, IN_FILE);
      const { answer } = await orRefuse(parts.usage.readUsage({ answer: question }));
      return {
        name: `usage-${query.from.slice(0, 10)}-${query.to.slice(0, 10)}.csv`,
        lines: csvOf(query.by, question, answer, labels),
      };
    },
    'GET /attempt-costs': async ({ query }) => {
      const [fromMs, toMs] = parseRange(query.from, query.to);
      const costs = await orRefuse(parts.usage.readAttemptCosts({ fromMs, toMs, timeMsMax: PROOF_MS_MAX }));
      return { costs: costs.map(({ cost, ...rest }) => ({ ...rest, cost_nano_usd: cost.toString() })) };
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
  } satisfies Partial<Handlers>;
}

/** Converts a query to a usage question, with the display names for its result. */
async function understand(parts: UsageParts, tenancy: Tenancy, requested: Asked, shown: Shown) {
  const { account } = tenancy;
  const [first, second] = requested.by;
  if (first === second) {
    throw new ConsoleFailure('invalid', `by: found ${first} twice; expected two different values, or one`, {
      member: 'by',
    });
  }
  const timeZone = parts.timeZoneOf(account);
  const { step, ...range } = cutRange(requested, timeZone);
  const labels = await parts.labelsOf(account);
  const question: UsageQuestion = {
    tenant: tenantOf(tenancy),
    ...chooseQueried(requested, labels, tenancy),
    ...range,
    timeZone,
    by: requested.by.map((name) => (isTag(name) ? 'tag' : name)),
    owners: requested.by.includes('member') ? Object.fromEntries(labels.owners) : null,
    ...(requested.by.some(isTag) && {
      tagged: requested.by.map((name) =>
        isTag(name) ? Object.fromEntries(labels.tagged(name.slice('tag.'.length), tenancy.workspaces)) : null,
      ),
    }),
    ...shown,
    timeMsMax: PAGE_MS_MAX,
  };
  return { step, labels, question };
}

/** The calls that the filters and the query choose. @throws ConsoleFailure that names what is wrong in `q` */
function chooseQueried(requested: Asked, labels: UsageLabels, { workspaces }: Tenancy) {
  const { terms, words } = readQuery(requested.q);
  refuseWords(words, 'usage does not search text');
  const condition = conditionOf(requested, labels.owners);
  const { condition: narrowed, terms: left } = withIdTerm(resolveQuery(terms, condition, labels, workspaces));
  return { condition: narrowed, terms: left };
}

function isTag(name: Asked['by'][number]): name is `tag.${string}` {
  return name.startsWith('tag.');
}

/** The sums of the previous period of the same length. */
function justBefore(question: UsageQuestion): UsageQuestion {
  const { fromMs: toMs } = question;
  const fromMs = toMs - (question.toMs - toMs);
  return { ...question, fromMs, toMs, buckets: [fromMs], by: [], latencies: 'sums' };
}

const FILTERS = [
  'q',
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

/** The basis of the forecast. Only for the whole account, because its budget does not apply to a part. */
function thisMonth(parts: UsageParts, tenancy: Tenancy, requested: Asked): UsageQuestion | null {
  if (tenancy.workspaces !== null || FILTERS.some((filter) => requested[filter] !== undefined)) return null;
  const nowMs = parts.nowMs();
  const timeZone = parts.timeZoneOf(tenancy.account);
  const { startMs, endMs } = windowAt('month', timeZone, nowMs);
  if (endMs === null || nowMs <= startMs) return null;
  return askerOf(parts, tenancy)({ fromMs: startMs, toMs: nowMs, by: [] });
}

/** The forecast for the month at the present pace. */
function forecastOf(
  spent: bigint,
  budget: AccountBudget | null,
  { fromMs, toMs, timeZone }: Pick<UsageQuestion, 'fromMs' | 'toMs' | 'timeZone'>,
): UsageReply['forecast'] {
  const { endMs } = windowAt('month', timeZone, fromMs);
  const month = (spent * BigInt((endMs ?? toMs) - fromMs)) / BigInt(toMs - fromMs);
  return {
    month_nano_usd: month.toString(),
    spent_nano_usd: spent.toString(),
    budget_nano_usd: budget?.window === 'month' ? budget.limit.toString() : null,
  };
}

async function* csvOf(
  asked: Asked['by'],
  { by, buckets }: UsageQuestion,
  { groups, others }: UsageAnswer,
  labels: UsageLabels,
): AsyncGenerator<string> {
  yield csvLine(['bucket', ...asked.flatMap((name) => [name, `${name}_name`]), ...SUMS_COLUMNS]);
  const rows = groups.map(({ values, buckets: own }) => ({
    names: by.flatMap((dimension, index) => {
      const value = values[index] ?? null;
      return [value, labelOf(dimension, value, labels)];
    }),
    own,
  }));
  rows.push({ names: by.flatMap(() => ['(others)', null]), own: others });
  for (const { names, own } of rows) {
    const lines = (own ?? []).map((sums, index) => {
      if (sums === null) return '';
      const rendered = renderSums(sums);
      const cells = SUMS_COLUMNS.map((column) => rendered[column]);
      return csvLine([new Date(buckets[index] ?? 0).toISOString(), ...names, ...cells]);
    });
    yield lines.join('');
    // Lets calls run before the next group.
    await setImmediate();
  }
}
