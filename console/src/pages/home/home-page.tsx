/** Renders the home page: an overview of the account. Before the first call it shows the setup steps instead. */
import { useState } from 'react';
import { seriesColors, useModelSlots } from '../../charts/series-colors.ts';
import { part } from '../../lib/part.ts';
import { useReply } from '../../lib/queries.ts';
import { type CurrentAccount, useAccount } from '../../lib/session.ts';
import { useFilters } from '../../route/route.ts';
import { PanelPart } from '../../shell/page-fault.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Segmented } from '../../ui/field.tsx';
import { Page, Panel, SkeletonPanel, SkeletonRows } from '../../ui/page.tsx';
import { FigureCards } from './figure-cards.tsx';
import { FirstRun } from './first-run.tsx';
import { type Metric, type Overview, RANGES, readMetric, readRange } from './overview.ts';
import { MoneyPanel, ProviderPanel, Ranking } from './panels.tsx';
import { TrendChart } from './trend-chart.tsx';

const PinnedView = part(() => import('./pinned-view.tsx'));

const REFRESH_MS = 30_000;

export default function HomePage() {
  const account = useAccount();
  const [filters, setFilters] = useFilters();
  const [started, setBegun] = useState(false);
  const range = readRange(filters.range);
  const home = useReply(
    'GET /accounts/{account}/home',
    { path: { account: account.account }, query: { range } },
    { everyMs: REFRESH_MS, keepsPrevious: true },
  );
  const overview = home.data;
  if (overview !== undefined && (!overview.has_calls || started)) {
    return (
      <Page title="No requests yet" lead="Spend, traffic, errors and latency appear here after the first request.">
        <FirstRun
          account={account}
          hasKeys={overview.has_keys}
          onStart={() => setBegun(true)}
          onDone={() => {
            setBegun(false);
            void home.refetch();
          }}
        />
      </Page>
    );
  }
  return (
    <Page
      title="Home"
      lead={`Spend, traffic and provider health for ${account.name}.`}
      hasTimes
      filters={
        <Segmented
          label="Time range"
          value={range}
          choices={RANGES}
          onChoose={(chosen) => setFilters({ range: chosen === '7d' ? undefined : chosen })}
        />
      }
    >
      {home.error !== null && <ErrorNote error={home.error} onRetry={() => void home.refetch()} />}
      {overview === undefined && home.error === null && <Waiting />}
      {overview !== undefined && (
        <Content
          overview={overview}
          account={account}
          metric={readMetric(filters.metric, overview.sums)}
          rangeLabel={RANGES.find(([one]) => one === range)?.[1] ?? range}
          onMetric={(metric) => setFilters({ metric })}
        />
      )}
    </Page>
  );
}

interface ContentProps {
  readonly overview: Overview;
  readonly account: CurrentAccount;
  readonly metric: Metric;
  readonly rangeLabel: string;
  readonly onMetric: (metric: Metric) => void;
}

function Content({ overview, account, metric, rangeLabel, onMetric }: ContentProps) {
  const { models, keys, sums, providers } = overview;
  const names = models.map(({ model }) => model);
  const colors = seriesColors(names, useModelSlots(names));
  const mayLogs = account.may('logs.read');
  return (
    <>
      <FigureCards overview={overview} chosen={metric} rangeLabel={rangeLabel} onChoose={onMetric} />
      <div className="grid min-w-0 gap-3 lg:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
        <Panel>
          <TrendChart
            overview={overview}
            metric={metric}
            rangeLabel={rangeLabel}
            opens={mayLogs ? '/app/logs' : '/app/usage'}
          />
        </Panel>
        <div className="flex min-w-0 flex-col gap-3">
          {account.workspaces === null && <MoneyPanel overview={overview} account={account} />}
          <ProviderPanel providers={providers} rule={overview.health_rule} isLinked={account.may('operator.read')} />
        </div>
      </div>
      {overview.pinned_view !== null && (
        <PanelPart fallback={<SkeletonRows rows={6} />}>
          <PinnedView key={overview.pinned_view.id} account={account.account} view={overview.pinned_view} />
        </PanelPart>
      )}
      <div className="grid min-w-0 items-start gap-3 lg:grid-cols-2">
        <Ranking
          title="Top models by spend"
          total={sums.cost_nano_usd}
          rows={models.map(({ model, requests, cost_nano_usd }) => ({
            id: model,
            name: model,
            requests,
            cost_nano_usd,
            to: mayLogs ? { path: '/app/logs', search: { model } } : null,
            color: colors.get(model) ?? 'var(--chart-rest)',
          }))}
        />
        <Ranking
          title="Top keys by spend"
          total={sums.cost_nano_usd}
          rows={keys.map(({ key, name, requests, cost_nano_usd }) => ({
            id: key,
            name,
            requests,
            cost_nano_usd,
            to: account.may('keys.read') ? { path: `/app/keys/${key}`, search: {} } : null,
            color: 'var(--accent)',
          }))}
        />
      </div>
    </>
  );
}

function Waiting() {
  return (
    <>
      <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
        {['spend', 'requests', 'errors', 'ttfb'].map((one) => (
          <SkeletonPanel key={one} heightPx={94} />
        ))}
      </div>
      <SkeletonPanel heightPx={266} />
      <SkeletonPanel heightPx={180} />
    </>
  );
}
