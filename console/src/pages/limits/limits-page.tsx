/** Renders the limits page: every rule with its remaining amount, and a simulator. */
import { Plus } from 'lucide-react';
import { useMemo, useState } from 'react';
import { TableDownload } from '../../csv/table-download.tsx';
import { useReply } from '../../lib/queries.ts';
import { useFilters } from '../../lib/search.ts';
import { useAccount } from '../../lib/session.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CONTROL } from '../../ui/field.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { Table } from '../../ui/table.tsx';
import { CapsSheet } from './caps-sheet.tsx';
import { RULE_COLUMNS, treeColumns } from './limit-columns.tsx';
import { allShown, type LimitNode, maySet, rulesOf, subjectKey, treeRows } from './limit-tree.ts';
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
            act="Add end-user limit"
            rows={rulesOf(nodes, 'end_user')}
            mayWrite={maySet('end_user', account)}
            onOpen={openNode}
            onAdd={() => setFilters({ add: 'end_user' })}
          />
          <Rules
            title="Models"
            empty="Limit one model across all callers, for example to stay within its provider’s quota or to cap an expensive model."
            act="Add model limit"
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
  readonly act: string;
  readonly rows: readonly LimitNode[];
  readonly mayWrite: boolean;
  readonly onOpen: (node: LimitNode) => void;
  readonly onAdd: () => void;
}

function Rules({ title, empty, act, rows, mayWrite, onOpen, onAdd }: RulesProps) {
  return (
    <Section
      title={title}
      aside={
        mayWrite && (
          <Button icon={<Plus size={14} />} onClick={onAdd}>
            {act}
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
