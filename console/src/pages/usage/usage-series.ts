/** Owns making a chart's series of a usage reply: the groups that are drawn by their names, the others together. */
import type { Series } from '../../charts/stack.ts';
import { wholeNumber } from '../../lib/numbers.ts';
import { type Slots, seriesColors } from '../../lib/series-color.ts';
import { heightIn, type Metric, TOKEN_KINDS, type UsageGroup, type UsageReply } from './metrics.ts';

/** One piece of each column: its sums, for exact words, beside the approximate amounts. */
export interface UsageSeries extends Series {
  /** Null: the groups beyond the greatest, or a kind of token. */
  readonly group: UsageGroup | null;
  /** Exact words of a column. */
  readonly text: (column: number) => string;
}

const REST = 'var(--chart-rest)';
const NONE = 'none';

/** `claude-x · Production`. */
export function groupName(group: UsageGroup): string {
  return group.values.map((value, at) => group.labels[at] ?? value ?? NONE).join(' · ');
}

/** Tells groups apart, which names may not: two keys may have one name. */
function groupId({ values }: UsageGroup): string {
  return values.map((value) => value ?? NONE).join(' · ');
}

/** The ids of the groups that a chart draws. */
export function drawnGroups({ groups }: UsageReply): readonly string[] {
  return groups.filter(({ amounts }) => amounts !== null).map(groupId);
}

/**
 * The greatest first; where amounts are percentiles, those with the most calls. Groups that cannot be added are never put
 * together: beyond the greatest they are left to the table. `slots`: colours that groups have elsewhere.
 */
export function usageSeries(reply: UsageReply, metric: Metric, slots?: Slots): readonly UsageSeries[] {
  const drawn = reply.groups.flatMap((group) => {
    const size = metric.adds ? heightIn(metric, group.sums) : group.sums.requests;
    return group.amounts === null || size === null || size <= 0 ? [] : [{ group, amounts: group.amounts }];
  });
  const colors = seriesColors(
    drawn.map(({ group }) => groupId(group)),
    slots,
  );
  const series = drawn.map(({ group, amounts }) => {
    return {
      name: groupName(group),
      color: colors.get(groupId(group)) ?? REST,
      group,
      ...columnsOf(amounts, metric),
    };
  });
  if (reply.others === null) return series;
  const others = { name: 'others', color: REST, group: null, ...columnsOf(reply.others, metric) };
  return others.values.some((value) => (value ?? 0) > 0) ? [...series, others] : series;
}

function columnsOf(amounts: UsageReply['totals'], metric: Metric): Pick<UsageSeries, 'values' | 'text'> {
  return { values: amounts.map(metric.height), text: (column) => metric.text(amounts[column] ?? null) };
}

/** Each kind of token as a series, over all calls. Disjoint: output is what is left without its reasoning. */
export function tokenSeries({ totals, kinds }: UsageReply): readonly UsageSeries[] {
  if (kinds === null) return [];
  return TOKEN_KINDS.map(([kind, word], at) => {
    const tokens = kinds[kind].map((count, column) =>
      kind === 'output' ? count - (kinds.reasoning[column] ?? 0) : count,
    );
    return {
      name: kind === 'output' ? 'Output, without reasoning' : word,
      color: `var(--chart-${at + 1})`,
      group: null,
      values: tokens.map((count, column) => ((totals[column] ?? null) === null ? null : count)),
      text: (column: number) => ((totals[column] ?? null) === null ? 'no call' : wholeNumber(tokens[column] ?? 0)),
    };
  }).filter(({ values }) => values.some((value) => (value ?? 0) > 0));
}

/** What the chart and its table show: kinds of tokens where they are asked for, else groups. */
export function shownSeries(
  reply: UsageReply,
  metric: Metric,
  isByKind: boolean,
  slots?: Slots,
): readonly UsageSeries[] {
  return isByKind && reply.kinds !== null ? tokenSeries(reply) : usageSeries(reply, metric, slots);
}
