/** Columns of the limits CSV: each rule with its used and held amounts. */
import { type CsvColumns, usdText } from '../../csv/csv-table.ts';
import { capsColumns, type Gauge } from '../../policy/caps-text.ts';
import type { LimitNode } from './limit-tree.ts';

const gaugeOf = ({ gauges }: LimitNode, sort: Gauge['sort']) => gauges.find((one) => one.sort === sort);

const COLUMNS: CsvColumns<LimitNode> = [
  ['kind', ({ subject }) => subject.kind],
  ['id', ({ subject }) => subject.id],
  ['name', ({ name }) => name],
  ['parent', ({ parent }) => parent],
  ...capsColumns<LimitNode>(),
  ...(['rpm', 'tpm', 'concurrency', 'budget'] as const).flatMap((sort) =>
    (['used', 'held'] as const).map((amount): CsvColumns<LimitNode>[number] =>
      sort === 'budget'
        ? [`budget_${amount}_usd`, (node) => usdText(gaugeOf(node, sort)?.[amount] ?? null)]
        : [`${sort}_${amount}`, (node) => gaugeOf(node, sort)?.[amount] ?? null],
    ),
  ),
  ['budget_resets_at', (node) => gaugeOf(node, 'budget')?.resets_at ?? null],
];

export default COLUMNS;
