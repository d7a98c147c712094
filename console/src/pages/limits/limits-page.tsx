/** Renders the limits page: every limit with its current use, and a simulator. */
import { ChevronDown, ChevronRight, Plus } from 'lucide-react';
import { type CSSProperties, useMemo, useState } from 'react';
import { TableDownload } from '../../csv/table-download.tsx';
import { shortNumber } from '../../lib/format.ts';
import { useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { type Gauge, lowerRates, subjectKind, tightestGauge } from '../../policy/caps-text.ts';
import { GaugeBar } from '../../policy/gauge-bar.tsx';
import { useFilters } from '../../route/route.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CONTROL } from '../../ui/field.tsx';
import { Empty, Page, Section, SkeletonRows } from '../../ui/page.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { CapsSheet } from './caps-sheet.tsx';
import { allShown, type LimitNode, type LimitRow, maySet, rulesOf, subjectKey, treeRows } from './limit-tree.ts';
import { Simulator } from './simulator.tsx';

/** Polling interval of the gauges. */
const LIVE_MS = 2_000;

export default function LimitsPage() {
  const account = useAccount();
  const [filters, setFilters] = useFilters();
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const { data, error, refetch } = useReply(
    'GET /accounts/{account}/limits',
    { path: { account: account.account } },
    { everyMs: LIVE_MS },
  );
  const columns = useMemo(
    () =>
      treeColumns(closed, (subject) =>
        setClosed((known) =>
          known.has(subject) ? new Set([...known].filter((one) => one !== subject)) : new Set([...known, subject]),
        ),
      ),
    [closed],
  );
  const nodes = data?.nodes ?? [];
  const filter = { q: filters.q ?? '', ruledOnly: filters.only === 'ruled' };
  const rows = treeRows(nodes, { ...filter, closed });
  const keys = nodes.filter(({ subject }) => subject.kind === 'key');
  const open = nodes.find(({ subject }) => subjectKey(subject) === filters.open);
  const added = filters.add === 'end_user' || filters.add === 'model' ? filters.add : null;
  const openNode = (node: LimitNode) => setFilters({ open: subjectKey(node.subject) });

  return (
    <Page
      title="Limits"
      lead="Limits that apply to a request: those of its API key, its workspace and its account, with current use."
      action={
        data !== undefined && (
          <TableDownload
            name={`tollgate-limits-${account.account}`}
            rows={allShown(nodes, filter)}
            columns={() => import('./limit-csv.ts')}
          />
        )
      }
      filters={
        data !== undefined && (
          <>
            <input
              type="search"
              data-filter
              aria-label="Name or ID"
              placeholder="Name or ID"
              className={`${CONTROL} sm:w-64`}
              value={filters.q ?? ''}
              onChange={({ target }) => setFilters({ q: target.value })}
            />
            <select
              aria-label="Show"
              className={`${CONTROL} w-auto!`}
              value={filters.only ?? ''}
              onChange={({ target }) => setFilters({ only: target.value })}
            >
              <option value="">All</option>
              <option value="ruled">With limits only</option>
            </select>
          </>
        )
      }
    >
      {error !== null && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <SkeletonRows />}
      {data !== undefined && (
        <>
          {rows.length === 0 ? (
            <Empty
              title="No matching limits"
              action={<Button onClick={() => setFilters({ q: undefined, only: undefined })}>Clear filters</Button>}
            >
              All workspaces and API keys are listed here, with or without limits.
            </Empty>
          ) : (
            <Table
              label="Account, workspace and API key limits"
              columns={columns}
              rows={rows}
              rowKey={({ node }) => subjectKey(node.subject)}
              openKey={filters.open ?? null}
              onOpen={({ node }) => openNode(node)}
            />
          )}
          <Rules
            title="End users"
            empty="Limit a single end user of an application, identified by the user ID in requests, without affecting others."
            addLabel="Add end-user limit"
            rows={rulesOf(nodes, 'end_user')}
            mayWrite={maySet('end_user', account)}
            onOpen={openNode}
            onAdd={() => setFilters({ add: 'end_user' })}
          />
          <Rules
            title="Models"
            empty="Limit one model across all callers, for example to stay within its provider’s quota or to cap an expensive model."
            addLabel="Add model limit"
            rows={rulesOf(nodes, 'model')}
            mayWrite={maySet('model', account)}
            onOpen={openNode}
            onAdd={() => setFilters({ add: 'model' })}
          />
          {keys.length > 0 && (
            <Section title="Simulator">
              <Simulator account={account.account} keys={keys} />
            </Section>
          )}
        </>
      )}
      {data !== undefined && filters.open !== undefined && open === undefined && (
        <p className="text-ink-2">There are no limits any more for what this link names: {filters.open}.</p>
      )}
      {open !== undefined && (
        <CapsSheet
          key={subjectKey(open.subject)}
          account={account.account}
          kind={open.subject.kind}
          node={open}
          mayWrite={maySet(open.subject.kind, account)}
          onClose={() => setFilters({ open: undefined })}
        />
      )}
      {added !== null && data !== undefined && (
        <CapsSheet
          key={added}
          account={account.account}
          kind={added}
          node={null}
          mayWrite={maySet(added, account)}
          onClose={() => setFilters({ add: undefined })}
        />
      )}
    </Page>
  );
}

interface RulesProps {
  readonly title: string;
  readonly empty: string;
  readonly addLabel: string;
  readonly rows: readonly LimitNode[];
  readonly mayWrite: boolean;
  readonly onOpen: (node: LimitNode) => void;
  readonly onAdd: () => void;
}

function Rules({ title, empty, addLabel, rows, mayWrite, onOpen, onAdd }: RulesProps) {
  return (
    <Section
      title={title}
      aside={
        mayWrite && (
          <Button icon={<Plus size={14} />} onClick={onAdd}>
            {addLabel}
          </Button>
        )
      }
    >
      {rows.length === 0 ? (
        <p className="text-ink-2">{empty}</p>
      ) : (
        <Table
          label={`${title} limits`}
          columns={RULE_COLUMNS}
          rows={rows}
          rowKey={({ subject }) => subjectKey(subject)}
          onOpen={onOpen}
        />
      )}
    </Section>
  );
}

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
      if (gauge !== undefined) return <GaugeBar gauge={gauge} subject={node.name} />;
      return <span className="text-ink-3">{capText(node, sort) ?? <NoLimit />}</span>;
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
function capText(node: LimitNode, sort: Gauge['sort']): string | null {
  if (sort === 'budget') {
    const budget = node.caps.budget_usd ?? node.other_caps?.budget_usd ?? null;
    return budget === null ? null : `of $${budget}`;
  }
  const cap = lowerRates(node)[sort];
  return cap === null ? null : `of ${shortNumber(cap)}`;
}

function treeColumns(closed: ReadonlySet<string>, onToggle: (subject: string) => void): readonly Column<LimitRow>[] {
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
                onClick={() => onToggle(subject)}
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
                {subjectKind(node.subject.kind)}
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

const RULE_COLUMNS: readonly Column<LimitNode>[] = [
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
