/** Converts a usage reply to chart series: the drawn groups by name, the others combined. */

import { type Slots, seriesColors } from '../../charts/series-colors.ts';
import type { Series } from '../../charts/stack.ts';
import { wholeNumber } from '../../lib/format.ts';
import { heightIn, type Metric, NO_DATA, TOKEN_KINDS, type UsageGroup, type UsageReply } from './metrics.ts';

/** One segment of each column: exact sums for text, in addition to the approximate amounts. */
export interface UsageSeries extends Series {
  /** Null: the groups beyond the largest, or a kind of token. */
  readonly group: UsageGroup | null;
  /** Exact text for a column. */
  readonly text: (column: number) => string;
}

const REST = 'var(--chart-rest)';
const NONE = 'None';

/** `claude-x · Production`. */
export function groupName(group: UsageGroup): string {
  return group.values.map((value, at) => group.labels[at] ?? value ?? NONE).join(' · ');
}

/** Distinguishes groups; names may not, since two keys may have the same name. */
function groupId({ values }: UsageGroup): string {
  return values.map((value) => value ?? NONE).join(' · ');
}

/** The ids of the groups that a chart draws. */
export function drawnGroups({ groups }: UsageReply): readonly string[] {
  return groups.filter(({ amounts }) => amounts !== null).map(groupId);
}

/**
 * Largest first; for percentiles, the groups with the most calls. Groups whose amounts cannot be added are never
 * combined: those beyond the largest appear only in the table. `slots`: colors that groups have on other pages.
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
  const others = { name: 'Others', color: REST, group: null, ...columnsOf(reply.others, metric) };
  return others.values.some((value) => (value ?? 0) > 0) ? [...series, others] : series;
}

function columnsOf(amounts: UsageReply['totals'], metric: Metric): Pick<UsageSeries, 'values' | 'text'> {
  return { values: amounts.map(metric.height), text: (column) => metric.text(amounts[column] ?? null) };
}

/** One series per kind of token, over all calls. Disjoint: output excludes reasoning. */
export function tokenSeries({ totals, kinds }: UsageReply): readonly UsageSeries[] {
  if (kinds === null) return [];
  return TOKEN_KINDS.map(([kind, word], at) => {
    const tokens = kinds[kind].map((count, column) =>
      kind === 'output' ? count - (kinds.reasoning[column] ?? 0) : count,
    );
    return {
      name: kind === 'output' ? 'Output (without reasoning)' : word,
      color: `var(--chart-${at + 1})`,
      group: null,
      values: tokens.map((count, column) => ((totals[column] ?? null) === null ? null : count)),
      text: (column: number) => ((totals[column] ?? null) === null ? NO_DATA : wholeNumber(tokens[column] ?? 0)),
    };
  }).filter(({ values }) => values.some((value) => (value ?? 0) > 0));
}

/** The series of the chart and its table: kinds of tokens if requested, else groups. */
export function shownSeries(
  reply: UsageReply,
  metric: Metric,
  isByKind: boolean,
  slots?: Slots,
): readonly UsageSeries[] {
  return isByKind && reply.kinds !== null ? tokenSeries(reply) : usageSeries(reply, metric, slots);
}
