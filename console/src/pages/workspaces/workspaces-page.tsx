/** Renders the workspaces page: the table, and the sheet of one workspace. */

import { Plus } from 'lucide-react';
import { TableDownload } from '../../csv/table-download.tsx';
import { counted } from '../../lib/format.ts';
import { useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { layeredText } from '../../policy/caps-text.ts';
import { modelsText } from '../../policy/model-patterns.ts';
import { Link } from '../../route/link.tsx';
import { useFilters } from '../../route/route.ts';
import { Money, When } from '../../ui/amounts.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Page, SkeletonRows } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import type { Configured, Workspace } from './workspace.ts';
import { BODIES } from './workspace.ts';
import { WorkspaceSheet } from './workspace-sheet.tsx';

const columnsOf = (configured: Configured): readonly Column<Workspace>[] => [
  {
    id: 'id',
    head: 'Workspace',
    sortBy: ({ id }) => id,
    cell: ({ id }) => (
      <span className="font-medium" title={id}>
        {id}
      </span>
    ),
  },
  {
    id: 'keys',
    head: 'API keys',
    align: 'right',
    sortBy: ({ keys }) => keys,
    cell: ({ id, keys }) => (
      <Link
        to="/app/keys"
        search={{ workspace: id }}
        aria-label={`${counted(keys, 'API key')} in ${id}`}
        className="text-accent underline underline-offset-2"
      >
        {keys}
      </Link>
    ),
  },
  {
    id: 'month',
    head: 'This month (USD)',
    align: 'right',
    sortBy: ({ month_nano_usd }) => BigInt(month_nano_usd),
    cell: ({ month_nano_usd }) => <Money nanoUsd={month_nano_usd} />,
  },
  {
    id: 'models',
    head: 'Models',
    cell: ({ models }) =>
      models === null ? (
        <span className="text-ink-3">All</span>
      ) : (
        <code title={models.join('\n')}>{modelsText(models)}</code>
      ),
  },
  {
    id: 'limits',
    head: 'Limits',
    cell: (workspace) => layeredText(workspace) || <span className="text-ink-3">None</span>,
  },
  {
    id: 'bodies',
    head: 'Prompts & responses',
    sortBy: ({ bodies }) => bodies ?? configured.bodies,
    cell: ({ bodies, bodies_days }) => {
      const policy = bodies ?? configured.bodies;
      const words =
        policy === 'off'
          ? 'Not stored'
          : `${BODIES.find(([one]) => one === policy)?.[1]}, ${bodies_days ?? configured.bodies_days} days`;
      return (
        <span title={bodies === null ? 'Inherited' : undefined}>
          {policy === 'off' ? (
            <span className="text-ink-3">{words}</span>
          ) : (
            <Badge tone={policy === 'all' ? 'attention' : 'neutral'}>{words}</Badge>
          )}
        </span>
      );
    },
  },
  {
    id: 'created',
    head: 'Created',
    wideOnly: true,
    sortBy: ({ created_at }) => created_at,
    cell: ({ created_at }) => <When at={created_at} />,
  },
];

export default function WorkspacesPage() {
  const account = useAccount();
  const [filters, setFilters] = useFilters();
  const { data, error, refetch } = useReply('GET /accounts/{account}/workspaces', {
    path: { account: account.account },
  });
  const mayWrite = account.may('workspaces.write');
  const mayAdd = mayWrite && account.workspaces === null;
  const open = data?.workspaces.find(({ id }) => id === filters.open);
  const close = () => setFilters({ open: undefined, add: undefined });
  return (
    <Page
      title="Workspaces"
      lead="Group API keys by team, product or environment. A workspace’s settings apply to all its keys."
      action={
        <>
          {data !== undefined && (
            <TableDownload
              name={`tollgate-workspaces-${account.account}`}
              rows={data.workspaces}
              columns={() => import('./workspace-csv.ts')}
            />
          )}
          {mayAdd && (
            <Button kind="primary" icon={<Plus size={15} />} onClick={() => setFilters({ add: '1' })}>
              Create workspace
            </Button>
          )}
        </>
      }
    >
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows rows={3} />}
      {data !== undefined && filters.open !== undefined && open === undefined && (
        <p className="text-ink-2">There is no workspace {filters.open} that you have access to.</p>
      )}
      {data !== undefined && (
        <Table
          label="Workspaces"
          columns={columnsOf(data.configured)}
          rows={data.workspaces}
          rowKey={({ id }) => id}
          openKey={filters.open ?? null}
          {...(mayWrite ? { onOpen: ({ id }: Workspace) => setFilters({ open: id }) } : {})}
        />
      )}
      {mayWrite && data !== undefined && open !== undefined && (
        <WorkspaceSheet
          key={open.id}
          account={account.account}
          workspace={open}
          configured={data.configured}
          onClose={close}
        />
      )}
      {mayAdd && filters.add === '1' && data !== undefined && (
        <WorkspaceSheet account={account.account} workspace={null} configured={data.configured} onClose={close} />
      )}
    </Page>
  );
}
