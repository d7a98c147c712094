/** Renders the keys page: the table with two lines per row, its filters, and key creation. */
import { Plus } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import { Sparkline } from '../../charts/sparkline.tsx';
import { TableDownload } from '../../csv/table-download.tsx';
import { counted, sentenceCase } from '../../lib/format.ts';
import { exactUsd, sumNano } from '../../lib/money.ts';
import { useReply } from '../../lib/queries.ts';
import { useAccount, useSession } from '../../lib/session.ts';
import { lowerRates, ratesText } from '../../policy/caps-text.ts';
import { modelsText } from '../../policy/model-patterns.ts';
import { useFilters, useNavigate } from '../../route/route.ts';
import { BudgetBar, When } from '../../ui/amounts.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { classNames } from '../../ui/class-names.ts';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CONTROL } from '../../ui/field.tsx';
import { Empty, Page, SkeletonRows } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { BulkBar } from './bulk/bulk-bar.tsx';
import { enableLock, filterKeys, type Key, type KeyAction, mayChange, STATUS_CHOICES, STATUS_TONE } from './key.ts';
import { KeyDialog, KeyDialogs, KeyMenu } from './key-menu.tsx';
import { tagLines } from './tags/key-tags.ts';

/** Two lines per row, so that all of a key fits without horizontal scrolling. */
const ROW_PX = 43;
/** Value of `action` in the address: opens the dialog that creates a key. */
const CREATE = 'create';

export default function KeysPage() {
  const account = useAccount();
  const person = useSession().data?.person?.id ?? null;
  const navigate = useNavigate();
  const [filters, setFilters] = useFilters();
  const [action, setAction] = useState<KeyAction | null>(null);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const { data, error, refetch } = useReply('GET /accounts/{account}/keys', { path: { account: account.account } });
  const mayCreate = account.may('keys.write');
  const tags = [...new Set(data?.keys.flatMap((key) => tagLines(key.tags)))].sort();
  const hasTags = tags.length > 0;
  const columns = useMemo<readonly Column<Key>[]>(
    () => [
      ...KEY_COLUMNS.filter(({ id }) => id !== 'tags' || hasTags),
      {
        id: 'actions',
        head: 'Actions',
        width: 76,
        pinned: true,
        cell: (key) => (
          <KeyMenu
            account={account.account}
            apiKey={key}
            mayCreate={mayCreate}
            mayChange={mayChange(key, account, person)}
            lock={enableLock(key, account, person)}
            onAction={setAction}
          />
        ),
      },
    ],
    [account, mayCreate, person, hasTags],
  );
  const create = mayCreate && data !== undefined && data.workspaces.length > 0 && (
    <Button
      kind="primary"
      icon={<Plus size={15} />}
      onPointerEnter={KeyDialogs.prefetch}
      onFocus={KeyDialogs.prefetch}
      onClick={() => setAction({ kind: 'create', like: null })}
    >
      Create key
    </Button>
  );
  // The address that the palette opens.
  const asked: KeyAction | null = create !== false && filters.action === CREATE ? { kind: 'create', like: null } : null;
  const changeAction = (next: KeyAction | null) => {
    setAction(next);
    if (filters.action !== undefined) setFilters({ action: undefined });
  };
  const shown = data === undefined ? [] : filterKeys(data.keys, filters);
  const isEmpty = data?.keys.length === 0;
  const mayChoose = (key: Key) => key.status !== 'revoked' && mayChange(key, account, person);
  // Keys that the filters hide stay as they are.
  const chosenKeys = shown.filter((key) => chosen.has(key.id) && mayChoose(key));

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
              aria-label="Search by name, last 4 characters, owner, workspace or tag"
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
                className={`${CONTROL} w-auto! max-w-56`}
                value={filters.workspace ?? ''}
                onChange={({ target }) => setFilters({ workspace: target.value })}
              >
                <option value="">All workspaces</option>
                {data.workspaces.map((workspace) => (
                  <option key={workspace}>{workspace}</option>
                ))}
              </select>
            )}
            {hasTags && (
              <select
                aria-label="Tag"
                className={`${CONTROL} w-auto! max-w-56`}
                value={filters.tag ?? ''}
                onChange={({ target }) => setFilters({ tag: target.value })}
              >
                <option value="">All tags</option>
                {filters.tag !== undefined && !tags.includes(filters.tag) && <option>{filters.tag}</option>}
                {tags.map((tag) => (
                  <option key={tag}>{tag}</option>
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
            <Button
              onClick={() => setFilters({ q: undefined, status: undefined, workspace: undefined, tag: undefined })}
            >
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
          {...(shown.some(mayChoose) && {
            selection: { chosen, mayChoose, nameOf: ({ name }: Key) => name, onChange: setChosen },
          })}
        />
      )}
      {chosenKeys.length > 0 && (
        <BulkBar
          account={account.account}
          keys={chosenKeys}
          isLocked={chosenKeys.some((key) => key.status === 'disabled' && enableLock(key, account, person) !== null)}
          onClear={() => setChosen(new Set())}
        />
      )}
      <KeyDialog
        account={account.account}
        workspaces={data?.workspaces ?? []}
        action={action ?? asked}
        onAction={changeAction}
      />
    </Page>
  );
}

const NONE = <span className="text-ink-3">None</span>;

/** The second line is smaller; both are truncated, with the full text in the tooltip. */
function TwoLines({
  above,
  below,
  title,
  isSlim = false,
}: {
  readonly above: ReactNode;
  readonly below: ReactNode;
  readonly title?: string;
  /** On a phone, it leaves the names more room. */
  readonly isSlim?: boolean;
}) {
  return (
    <span
      title={title}
      className={classNames(
        'flex flex-col text-base/[18px] md:max-w-36 md:min-w-20',
        isSlim ? 'max-w-14' : 'max-w-24 min-w-16',
      )}
    >
      <span className="truncate">{above}</span>
      <span className="truncate text-sm text-ink-3">{below}</span>
    </span>
  );
}

const KEY_COLUMNS: readonly Column<Key>[] = [
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
    cell: ({ owner, workspace }) => (
      <TwoLines
        isSlim
        title={`${owner?.name ?? 'Command line'}\n${workspace}`}
        above={owner?.name ?? 'Command line'}
        below={workspace}
      />
    ),
  },
  {
    id: 'tags',
    head: 'Tags',
    wideOnly: true,
    sortBy: ({ tags }) => tagLines(tags).join(),
    cell: ({ tags }) => {
      const [first = '', second = '', ...others] = tagLines(tags);
      const more = others.length === 0 ? second : `${second} +${others.length}`;
      return <TwoLines title={tagLines(tags).join('\n')} above={first} below={more} />;
    },
  },
  {
    id: 'models',
    head: 'Models, limits',
    wideOnly: true,
    cell: ({ models, ...layered }) => {
      const rates = ratesText(lowerRates(layered)) ?? 'No rate limit';
      return (
        <TwoLines
          title={`${models?.join(', ') ?? 'All models'}\n${rates}`}
          above={models === null ? 'All' : <code>{modelsText(models)}</code>}
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
