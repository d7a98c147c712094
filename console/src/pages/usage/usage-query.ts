/** Reads the settings of the usage page from its address, applies defaults, and builds the API query. */

import type { Query } from '../../../../gateway/src/console-api/contract/contract.ts';
import { filterChange, withoutQuery } from '../../filters/filters.ts';
import { readRange, type TimeRange } from '../../filters/time-range.ts';
import { RECORDED_TITLES } from '../../lib/protocols.ts';
import { METRIC_NAMES, type MetricName, type Percentile, type UsageGroup, type UsageReply } from './metrics.ts';

export const DIMENSION_LABELS = {
  model: 'Model',
  provider: 'Provider',
  key: 'API key',
  member: 'Member',
  workspace: 'Workspace',
  end_user: 'End user',
  session: 'Session',
  protocol: 'Protocol',
} as const;
/** Label for calls without a value, for dimensions that can be empty. */
export const NONE_LABELS: Readonly<Partial<Record<keyof typeof DIMENSION_LABELS, string>>> = {
  model: 'None',
  provider: 'None',
  member: 'Command line',
  end_user: 'None',
  session: 'None',
};
export type Dimension = keyof typeof DIMENSION_LABELS;
/** `tag.team`: the values of a tag of the keys. */
export type GroupBy = Dimension | `tag.${string}`;
export const DIMENSION_NAMES = Object.keys(DIMENSION_LABELS) as readonly Dimension[];

export interface UsageView {
  readonly metric: MetricName;
  readonly percentile: Percentile;
  readonly by: readonly [GroupBy] | readonly [GroupBy, GroupBy];
  readonly range: TimeRange;
  readonly isCompared: boolean;
  readonly isLive: boolean;
  /** Tokens are split by kind instead of by group. */
  readonly isByKind: boolean;
  readonly table: 'groups' | 'times';
}

type Search = Readonly<Record<string, string>>;

/** Unknown values become the default. */
export function readUsageView(search: Search, nowMs: number, zone: string): UsageView {
  const first = readGroupBy(search.by) ?? 'model';
  const and = readGroupBy(search.and);
  const second = and === first ? undefined : and;
  return {
    metric: METRIC_NAMES.find((one) => one === search.metric) ?? 'cost',
    percentile: search.at === 'p95' ? 'p95' : 'p50',
    by: second === undefined ? [first] : [first, second],
    range: readRange(search, '7d', nowMs, zone),
    isCompared: search.compare === 'before',
    isLive: search.live === '1',
    isByKind: search.kinds === '1',
    table: search.table === 'times' ? 'times' : 'groups',
  };
}

function readGroupBy(text: string | undefined): GroupBy | undefined {
  if (text !== undefined && isTag(text) && TAG_NAME.test(text)) return text;
  return DIMENSION_NAMES.find((one) => one === text);
}

const TAG_NAME = /^tag\.[a-z0-9][a-z0-9_.-]{0,39}$/;

export function isTag(name: string): name is `tag.${string}` {
  return name.startsWith('tag.');
}

export function groupByLabel(name: GroupBy): string {
  return isTag(name) ? `Tag: ${name.slice('tag.'.length)}` : DIMENSION_LABELS[name];
}

/** The query that lists the requests of a group by a tag; null: the groups are filters of this page. */
export function tagQuery(by: UsageView['by'], { values }: Pick<UsageGroup, 'values'>): string | null {
  if (!by.some(isTag)) return null;
  const terms = by.map((name, at) => {
    const value = values[at] ?? null;
    return `${QUERY_NAMES[name] ?? name}:${value === null ? 'none' : quoted(value)}`;
  });
  return terms.join(' ');
}

/** Dimensions whose field of the query language has another name. */
const QUERY_NAMES: Readonly<Partial<Record<string, string>>> = { end_user: 'user' };

/** As the query language reads it. */
const quoted = (value: string) => `"${value.replaceAll(/["\\]/g, '\\$&')}"`;

/** The filters and the query of the address, without the range. */
export function filtersOf(search: Search): Readonly<Partial<Record<Dimension | 'without' | 'q', string>>> {
  const set = DIMENSION_NAMES.filter(
    (name) => search[name] !== undefined && (name !== 'protocol' || isProtocol(search[name])),
  );
  return {
    ...(search.q === undefined || search.q.trim() === '' ? {} : { q: search.q.trim() }),
    ...Object.fromEntries(set.map((name) => [name, search[name]])),
    ...withoutQuery(search, Object.keys(NONE_LABELS)),
  };
}

/** Address changes that filter to one group, including groups without a value. */
export function pickedFilters(
  search: Search,
  by: UsageView['by'],
  { values }: Pick<UsageGroup, 'values'>,
): Readonly<Record<string, string | undefined>> {
  let changes: Record<string, string | undefined> = {};
  for (const [at, name] of by.entries()) {
    if (isTag(name)) continue;
    changes = { ...changes, ...filterChange({ ...search, ...changes }, name, values[at] ?? null) };
  }
  return changes;
}

function isProtocol(text: string | undefined): boolean {
  return text !== undefined && Object.hasOwn(RECORDED_TITLES, text);
}

/** The API's metric; latencies over time are of one percentile. */
export function readMetric({ metric, percentile }: UsageView): UsageReply['metric'] {
  if (metric === 'latency') return `latency_${percentile}`;
  return metric === 'ttft' ? `ttfb_${percentile}` : metric;
}

/** The settings with the reply's metric: until the next reply arrives, the shown one has the previous metric. */
export function shownView(view: UsageView, { metric }: Pick<UsageReply, 'metric'>): UsageView {
  const [name, percentile] = METRIC_OF[metric] ?? [
    METRIC_NAMES.find((one) => one === metric) ?? 'cost',
    view.percentile,
  ];
  return { ...view, metric: name, percentile };
}

const METRIC_OF: Readonly<Partial<Record<UsageReply['metric'], readonly [MetricName, Percentile]>>> = {
  latency_p50: ['latency', 'p50'],
  latency_p95: ['latency', 'p95'],
  ttfb_p50: ['ttft', 'p50'],
  ttfb_p95: ['ttft', 'p95'],
};

/** The query for the API; the CSV export takes the same one without the comparison. */
export function usageQuery(view: UsageView, search: Search): Query<'GET /accounts/{account}/usage.csv'> {
  return {
    ...filtersOf(search),
    from: view.range.from,
    to: view.range.to,
    by: view.by.join(','),
  } as Query<'GET /accounts/{account}/usage.csv'>;
}
