/** Defines the columns of the keys table: two lines per row, so that all of them fit on a page. */

import type { ReactNode } from 'react';
import { exactUsd, sumNano } from '../../lib/money.ts';
import { sentenceCase } from '../../lib/format.ts';
import { rateWords } from '../../policy/caps-text.ts';
import { lowerRates } from '../../policy/layers.ts';
import { modelsWords } from '../../policy/model-patterns.ts';
import { BudgetBar, When } from '../../ui/amounts.tsx';
import { Badge } from '../../ui/badge.tsx';
import type { Column } from '../../ui/column.ts';
import { Sparkline } from '../../charts/sparkline.tsx';
import { type Key, STATUS_TONE } from './key.ts';

const NONE = <span className="text-ink-3">None</span>;

/** The second line is smaller; both are truncated, with the full text in the tooltip. */
function TwoLines({
  above,
  below,
  title,
}: {
  readonly above: ReactNode;
  readonly below: ReactNode;
  readonly title?: string;
}) {
  return (
    <span title={title} className="flex max-w-24 min-w-16 flex-col md:max-w-36 md:min-w-20 text-base/[18px]">
      <span className="truncate">{above}</span>
      <span className="truncate text-sm text-ink-3">{below}</span>
    </span>
  );
}

export const KEY_COLUMNS: readonly Column<Key>[] = [
  {
    id: 'name',
    head: 'Name',
    sortBy: ({ name }) => name,
    cell: ({ name, last4 }) => (
      <TwoLines
        title={name}
        above={<span className="font-medium">{name}</span>}
        below={<code className="text-xs/4">tg_…{last4}</code>}
      />
    ),
  },
  {
    id: 'status',
    head: 'Status',
    sortBy: ({ status }) => status,
    cell: (key) => (
      <span className="flex flex-wrap gap-1">
        <Badge tone={STATUS_TONE[key.status]}>{sentenceCase(key.status)}</Badge>
        {key.rotation !== null && <Badge tone="accent">Rotating</Badge>}
      </span>
    ),
  },
  {
    id: 'owner',
    head: 'Owner, workspace',
    sortBy: ({ owner, workspace }) => `${workspace} ${owner?.name ?? ''}`,
    cell: ({ owner, workspace }) => <TwoLines above={owner?.name ?? 'Command line'} below={workspace} />,
  },
  {
    id: 'models',
    head: 'Models, limits',
    wideOnly: true,
    cell: ({ models, ...layered }) => {
      const rates = rateWords(lowerRates(layered)) ?? 'No rate limit';
      return (
        <TwoLines
          title={`${models?.join(', ') ?? 'All models'}\n${rates}`}
          above={models === null ? 'All' : <code>{modelsWords(models)}</code>}
          below={rates}
        />
      );
    },
  },
  {
    id: 'budget',
    head: 'Budget (USD)',
    sortBy: ({ budget }) => (budget === null ? -1n : BigInt(budget.used_nano_usd)),
    cell: ({ budget, name }) =>
      budget === null ? (
        NONE
      ) : (
        <BudgetBar
          used={budget.used_nano_usd}
          held={budget.held_nano_usd}
          limit={budget.limit_nano_usd}
          label={`Budget, ${name}`}
        />
      ),
  },
  {
    id: 'used',
    head: 'Last used',
    sortBy: ({ last_used }) => last_used?.at ?? '',
    cell: ({ last_used }) => <TwoLines above={<When at={last_used?.at ?? null} />} below={last_used?.client ?? ''} />,
  },
  {
    id: 'expires',
    head: 'Expires',
    wideOnly: true,
    sortBy: ({ expires_at }) => expires_at ?? '~',
    cell: ({ expires_at }) => <When at={expires_at} />,
  },
  {
    id: 'week',
    head: 'Last 7 days',
    wideOnly: true,
    sortBy: ({ week_nano_usd }) => BigInt(sumNano(week_nano_usd)),
    cell: ({ week_nano_usd, week_requests }) => (
      <Sparkline
        values={week_requests}
        label={`Requests per day, last 7 days: ${week_requests.join(', ')}; cost ${exactUsd(sumNano(week_nano_usd))}`}
      />
    ),
  },
];
