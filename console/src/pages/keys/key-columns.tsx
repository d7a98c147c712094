/** Owns the columns of the table of keys. */
import { exactUsd, sumNano } from '../../lib/money.ts';
import { rateWords } from '../../policy/caps-words.ts';
import { modelsWords } from '../../policy/model-patterns.ts';
import { BudgetBar, When } from '../../ui/amounts.tsx';
import { Badge } from '../../ui/badge.tsx';
import type { Column } from '../../ui/column.ts';
import { Sparkline } from '../../ui/sparkline.tsx';
import { type Key, STATUS_TONE } from './key.ts';

const NONE = <span className="text-ink-3">none</span>;

export const KEY_COLUMNS: readonly Column<Key>[] = [
  {
    id: 'name',
    head: 'Name',
    sortBy: ({ name }) => name,
    cell: (key) => (
      <span className="flex min-w-32 items-baseline gap-2">
        <span className="truncate font-medium">{key.name}</span>
        <code className="text-ink-3">tg_…{key.last4}</code>
      </span>
    ),
  },
  {
    id: 'status',
    head: 'Status',
    sortBy: ({ status }) => status,
    cell: (key) => (
      <span className="flex gap-1">
        <Badge tone={STATUS_TONE[key.status]}>{key.status}</Badge>
        {key.rotation !== null && <Badge tone="accent">rotating</Badge>}
      </span>
    ),
  },
  {
    id: 'owner',
    head: 'Owner',
    wideOnly: true,
    sortBy: ({ owner }) => owner?.name ?? '',
    cell: ({ owner }) => owner?.name ?? <span className="text-ink-3">command line</span>,
  },
  { id: 'workspace', head: 'Workspace', sortBy: ({ workspace }) => workspace, cell: ({ workspace }) => workspace },
  {
    id: 'models',
    head: 'Models',
    wideOnly: true,
    cell: ({ models }) =>
      models === null ? (
        <span className="text-ink-3">all</span>
      ) : (
        <code title={models.join('\n')}>{modelsWords(models)}</code>
      ),
  },
  {
    id: 'budget',
    head: 'Budget, USD',
    sortBy: ({ budget }) => (budget === null ? -1n : BigInt(budget.used_nano_usd)),
    cell: ({ budget, name, caps }) =>
      budget === null ? (
        NONE
      ) : (
        <BudgetBar
          used={budget.used_nano_usd}
          held={budget.held_nano_usd}
          limit={budget.limit_nano_usd}
          label={`Budget of ${name}${caps.budget_window === null ? '' : `, ${caps.budget_window}`}`}
        />
      ),
  },
  {
    id: 'limits',
    head: 'Limits',
    wideOnly: true,
    cell: ({ caps }) => {
      const words = rateWords(caps);
      return words === null ? NONE : <span title={words}>{words}</span>;
    },
  },
  {
    id: 'used',
    head: 'Last used',
    sortBy: ({ last_used }) => last_used?.at ?? '',
    cell: ({ last_used }) => (
      <span className="flex gap-1.5">
        <When at={last_used?.at ?? null} />
        {last_used?.client && <span className="truncate text-ink-3">{last_used.client}</span>}
      </span>
    ),
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
    head: '7 days',
    wideOnly: true,
    sortBy: ({ week_nano_usd }) => BigInt(sumNano(week_nano_usd)),
    cell: ({ week_nano_usd, week_requests }) => (
      <Sparkline
        values={week_requests}
        label={`Calls of the last seven days: ${week_requests.join(', ')}; cost ${exactUsd(sumNano(week_nano_usd))}`}
      />
    ),
  },
];
