/** Renders the keys page: the table, its filters, and key creation. */

import { Plus } from 'lucide-react';
import { useMemo, useState } from 'react';
import { TableDownload } from '../../csv/table-download.tsx';
import { counted } from '../../lib/format.ts';
import { useReply } from '../../lib/queries.ts';
import { useFilters } from '../../lib/search.ts';
import { useAccount, useSession } from '../../lib/session.ts';
import { useNavigate } from '../../route/route.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/column.ts';
import { Empty } from '../../ui/empty.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CONTROL } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Table } from '../../ui/table.tsx';
import { filterKeys, STATUS_CHOICES } from './filter-keys.ts';
import { enableLock, type Key, type KeyAct, mayChange } from './key.ts';
import { KeyDialog, KeyDialogs, KeyMenu } from './key-menu.tsx';
import { KEY_COLUMNS } from './key-columns.tsx';

/** Two lines per row, so that all of a key fits without horizontal scrolling. */
const ROW_PX = 43;

export default function KeysPage() {
  const account = useAccount();
  const person = useSession().data?.person?.id ?? null;
  const navigate = useNavigate();
  const [filters, setFilters] = useFilters();
  const [act, setAct] = useState<KeyAct | null>(null);
  const { data, error, refetch } = useReply('GET /accounts/{account}/keys', { path: { account: account.account } });
  const mayCreate = account.may('keys.write');
  const columns = useMemo<readonly Column<Key>[]>(
    () => [
      ...KEY_COLUMNS,
      {
        id: 'acts',
        head: 'Actions',
        width: 76,
        pinned: true,
        cell: (key) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: it only keeps a press on the menu from opening the row
          <span onClick={(event) => event.stopPropagation()} onKeyDown={(event) => event.stopPropagation()}>
            <KeyMenu
              account={account.account}
              apiKey={key}
              mayCreate={mayCreate}
              mayChange={mayChange(key, account, person)}
              lock={enableLock(key, account, person)}
              onAct={setAct}
            />
          </span>
        ),
      },
    ],
    [account, mayCreate, person],
  );
  const create = mayCreate && data !== undefined && data.workspaces.length > 0 && (
    <Button
      kind="primary"
      icon={<Plus size={15} />}
      onPointerEnter={KeyDialogs.prefetch}
      onFocus={KeyDialogs.prefetch}
      onClick={() => setAct({ kind: 'create', like: null })}
    >
      Create key
    </Button>
  );
  const shown = data === undefined ? [] : filterKeys(data.keys, filters);
  const isEmpty = data?.keys.length === 0;

  return (
    <Page
      title="API keys"
      lead="Applications and agents use API keys to call the gateway. Each key has its own limits."
      action={
        !isEmpty && (
          <>
            {shown.length > 0 && (
              <TableDownload
                name={`tollgate-keys-${account.account}`}
                rows={shown}
                columns={() => import('./key-csv.ts')}
              />
            )}
            {create}
          </>
        )
      }
      filters={
        data !== undefined &&
        !isEmpty && (
          <>
            <input
              type="search"
              data-filter
              aria-label="Search by name, last 4 characters, owner or workspace"
              placeholder="Name, last 4, owner…"
              className={`${CONTROL} sm:w-64`}
              value={filters.q ?? ''}
              onChange={({ target }) => setFilters({ q: target.value })}
            />
            <select
              aria-label="Status"
              className={`${CONTROL} w-auto!`}
              value={filters.status ?? 'live'}
              onChange={({ target }) => setFilters({ status: target.value === 'live' ? undefined : target.value })}
            >
              {STATUS_CHOICES.map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </select>
            {data.workspaces.length > 1 && (
              <select
                aria-label="Workspace"
                className={`${CONTROL} w-auto!`}
                value={filters.workspace ?? ''}
                onChange={({ target }) => setFilters({ workspace: target.value })}
              >
                <option value="">All workspaces</option>
                {data.workspaces.map((workspace) => (
                  <option key={workspace}>{workspace}</option>
                ))}
              </select>
            )}
          </>
        )
      }
    >
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows />}
      {isEmpty && (
        <Empty title="No API keys yet" action={create}>
          An API key lets a program call the gateway. Create one for each application, agent and developer, with its own
          budget.
        </Empty>
      )}
      {data !== undefined && !isEmpty && shown.length === 0 && (
        <Empty
          title="No matching API keys"
          action={
            <Button onClick={() => setFilters({ q: undefined, status: undefined, workspace: undefined })}>
              Clear filters
            </Button>
          }
        >
          {counted(data.keys.length, 'key')} hidden by the filters.
        </Empty>
      )}
      {shown.length > 0 && (
        <Table
          label="API keys"
          columns={columns}
          rows={shown}
          rowPx={ROW_PX}
          rowKey={({ id }) => id}
          onOpen={({ id }) => navigate({ to: '/app/keys/$key', names: { key: id } })}
        />
      )}
      <KeyDialog account={account.account} workspaces={data?.workspaces ?? []} act={act} onAct={setAct} />
    </Page>
  );
}
