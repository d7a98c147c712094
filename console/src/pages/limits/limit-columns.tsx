/** Defines the columns of the limit tables: each cap with its gauge. */
import { ChevronDown, ChevronRight } from 'lucide-react';
import type { CSSProperties } from 'react';
import { shortNumber } from '../../lib/format.ts';
import type { Gauge } from '../../policy/caps-text.ts';
import { subjectWord } from '../../policy/caps-text.ts';
import { GaugeBar } from '../../policy/gauge-bar.tsx';
import { lowerRates, tightestGauge } from '../../policy/layers.ts';
import { Badge } from '../../ui/badge.tsx';
import { IconButton } from '../../ui/button.tsx';
import type { Column } from '../../ui/column.ts';
import { type LimitNode, type LimitRow, subjectKey } from './limit-tree.ts';

const SORTS: readonly (readonly [Gauge['sort'], string])[] = [
  ['rpm', 'Requests/min'],
  ['tpm', 'Tokens/min'],
  ['concurrency', 'Concurrent requests'],
  ['budget', 'Budget (USD)'],
];

/** One column per sort of cap, for rows that have a node. */
function gaugeColumns<Row>(nodeOf: (row: Row) => LimitNode): readonly Column<Row>[] {
  return SORTS.map(([sort, head]) => ({
    id: sort,
    head,
    cell: (row) => {
      const node = nodeOf(row);
      const gauge = tightestGauge(node.gauges, sort);
      if (gauge !== undefined) return <GaugeBar gauge={gauge} />;
      return <span className="text-ink-3">{capWords(node, sort) ?? <NoLimit />}</span>;
    },
  }));
}

function NoLimit() {
  return (
    <>
      <span aria-hidden="true">–</span>
      <span className="sr-only">No limit</span>
    </>
  );
}

/** Formats a cap without a gauge: its subject was never called. */
function capWords(node: LimitNode, sort: Gauge['sort']): string | null {
  if (sort === 'budget') {
    const budget = node.caps.budget_usd ?? node.other_caps?.budget_usd ?? null;
    return budget === null ? null : `of $${budget}`;
  }
  const cap = lowerRates(node)[sort];
  return cap === null ? null : `of ${shortNumber(cap)}`;
}

export function treeColumns(
  closed: ReadonlySet<string>,
  onToggle: (subject: string) => void,
): readonly Column<LimitRow>[] {
  return [
    {
      id: 'subject',
      head: 'Applies to',
      cell: ({ node, depth, children }) => {
        const subject = subjectKey(node.subject);
        const isClosed = closed.has(subject);
        return (
          <span
            className="flex items-center gap-1 pl-[calc(var(--depth)*6px)] md:min-w-40 md:pl-[calc(var(--depth)*20px)]"
            style={{ '--depth': depth } as CSSProperties}
          >
            {children > 0 ? (
              <IconButton
                label={`${isClosed ? 'Expand' : 'Collapse'} ${node.name}`}
                aria-expanded={!isClosed}
                className="size-6"
                onClick={(event) => {
                  event.stopPropagation();
                  onToggle(subject);
                }}
              >
                {isClosed ? <ChevronRight size={14} /> : <ChevronDown size={14} />}
              </IconButton>
            ) : (
              <span className="w-6 shrink-0" />
            )}
            <span className="flex min-w-0 flex-col md:flex-row md:items-center md:gap-1">
              <span className="truncate font-medium" title={node.name}>
                {node.name}
              </span>
              <span className="truncate text-sm text-ink-3">
                {subjectWord(node.subject.kind)}
                {isClosed && children > 0 ? `, ${children} hidden` : ''}
              </span>
            </span>
          </span>
        );
      },
    },
    ...gaugeColumns<LimitRow>(({ node }) => node),
  ];
}

export const RULE_COLUMNS: readonly Column<LimitNode>[] = [
  {
    id: 'subject',
    head: 'Applies to',
    sortBy: ({ name }) => name,
    cell: ({ subject, binds }) => (
      <span className="flex flex-wrap items-center gap-2">
        <code className="font-medium">{subject.id}</code>
        {!binds && <Badge tone="attention">Unused: model not available</Badge>}
      </span>
    ),
  },
  ...gaugeColumns<LimitNode>((node) => node),
];
