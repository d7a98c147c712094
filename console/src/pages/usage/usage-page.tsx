/** Renders the usage page: one metric over time by one or two dimensions. The address holds all choices. */

import { focusManager } from '@tanstack/react-query';
import { Radio } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useSlots } from '../../charts/series-colors.ts';
import { FilterChips } from '../../filters/filter-chips.tsx';
import { clearFilters } from '../../filters/filters.ts';
import { QueryBar } from '../../filters/query-bar.tsx';
import { RangeChoice } from '../../filters/range-choice.tsx';
import { spanWords } from '../../filters/span-words.ts';
import { useChosenAt } from '../../filters/use-chosen-at.ts';
import { addressOf } from '../../lib/api.ts';
import { RECORDED_CHOICES } from '../../lib/protocols.ts';
import { useReply } from '../../lib/queries.ts';
import { useAccount } from '../../lib/session.ts';
import { useZone } from '../../lib/zone.ts';
import { Link } from '../../route/link.tsx';
import { useFilters, useNavigate } from '../../route/route.ts';
import { Button, FileLink } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { CONTROL, Segmented } from '../../ui/field.tsx';
import { Empty, Page, Section, SkeletonPanel, SkeletonRows } from '../../ui/page.tsx';
import { Forecast, MetricTiles } from './metric-tiles.tsx';
import type { UsageGroup, UsageReply } from './metrics.ts';
import { Reconcile } from './reconcile.tsx';
import { UsageChart } from './usage-chart.tsx';
import {
  DIMENSION_LABELS,
  DIMENSION_NAMES,
  type Dimension,
  filtersOf,
  type GroupBy,
  groupByLabel,
  isTag,
  NONE_LABELS,
  pickedFilters,
  readMetric,
  readUsageView,
  shownView,
  tagQuery,
  type UsageView,
  usageQuery,
} from './usage-query.ts';
import { drawnGroups } from './usage-series.ts';
import { GroupTable, TimeTable } from './usage-table.tsx';

const LIVE_MS = 5_000;

/**
 * Unix ms of when the page was opened, its range changed, or its window was shown again, as then every page refetches;
 * the current time while live.
 */
function useEnd(isLive: boolean, search: Readonly<Record<string, string>>): number {
  const [nowMs, setNowMs] = useState(0);
  useEffect(() => focusManager.subscribe((isShown) => isShown && setNowMs(Date.now())), []);
  useEffect(() => {
    if (!isLive) return;
    setNowMs(Date.now());
    const timer = setInterval(() => setNowMs(Date.now()), LIVE_MS);
    return () => clearInterval(timer);
  }, [isLive]);
  return Math.max(useChosenAt(search), nowMs);
}

export default function UsagePage() {
  const [search, change] = useFilters();
  const { account, may } = useAccount();
  const navigate = useNavigate();
  const isLive = search.live === '1';
  const view = readUsageView(search, useEnd(isLive, search), useZone());
  const query = usageQuery(view, search);
  const usage = useReply(
    'GET /accounts/{account}/usage',
    {
      path: { account },
      query: { ...query, metric: readMetric(view), compare: view.isCompared ? 'before' : 'none' },
    },
    { keepsPrevious: true, everyMs: isLive ? LIVE_MS : false },
  );
  const csv = addressOf('GET /accounts/{account}/usage.csv', { path: { account }, query }).url;
  const pick = (group: UsageGroup) => {
    const q = tagQuery(view.by, group);
    if (q === null) change(pickedFilters(search, view.by, group));
    else navigate({ to: '/app/logs', search: { ...filtersOf(search), from: view.range.from, to: view.range.to, q } });
  };
  return (
    <Page
      title="Usage"
      lead="Requests, tokens, cost and latency, from the same records as the ledger."
      hasTimes
      action={
        <>
          <Reconcile range={view.range} />
          <FileLink href={csv}>CSV</FileLink>
        </>
      }
      filters={
        <>
          <QueryBar
            placeholder="status:5xx duration>10s model:claude*"
            range={view.range}
            onFind={(id) => navigate({ to: '/app/logs/{-$request}', names: { request: id } })}
          />
          <RangeChoice range={view.range} />
          <FilterChips
            labels={usage.data?.filter_labels ?? []}
            kinds={DIMENSION_NAMES.map((name) => ({
              name,
              word: DIMENSION_LABELS[name],
              ...(NONE_LABELS[name] === undefined ? {} : { none: NONE_LABELS[name] }),
              ...(name === 'protocol' ? { only: RECORDED_CHOICES } : { known: knownValues(usage.data, view.by, name) }),
            }))}
          />
          <div className="flex flex-wrap items-center gap-2 sm:ml-auto">
            <Button
              aria-pressed={view.isCompared}
              className="aria-pressed:border-accent aria-pressed:text-accent-strong"
              onClick={() => change({ compare: view.isCompared ? undefined : 'before' })}
            >
              Compare to previous period
            </Button>
            <Button
              aria-pressed={isLive}
              icon={<Radio size={14} aria-hidden="true" />}
              className="aria-pressed:border-accent aria-pressed:text-accent-strong"
              onClick={() => change({ live: isLive ? undefined : '1' })}
            >
              Live
            </Button>
          </div>
        </>
      }
    >
      {usage.error !== null && <ErrorNote error={usage.error} onRetry={() => void usage.refetch()} />}
      {usage.error !== null && search.q !== undefined && may('logs.read') && (
        <p>
          <Link
            to="/app/logs"
            search={{ ...filtersOf(search), ...rangeSearch(search) }}
            className="font-medium text-accent underline underline-offset-2"
          >
            Show in Logs
          </Link>
        </p>
      )}
      <MetricTiles
        reply={usage.data ?? null}
        chosen={view.metric}
        percentile={view.percentile}
        onChoose={(metric) => change({ metric: metric === 'cost' ? undefined : metric })}
      />
      <ChartControls view={view} tags={usage.data?.tags ?? []} />
      {usage.data === undefined ? (
        usage.error === null && <Waiting />
      ) : usage.data.total.requests === 0 ? (
        <NoUsage view={view} isFiltered={Object.keys(filtersOf(search)).length > 0} />
      ) : (
        <Shown reply={usage.data} view={shownView(view, usage.data)} onPick={pick} />
      )}
    </Page>
  );
}

/** The range of the address, for a page whose usual range is another. */
function rangeSearch({ range = '7d', from, to }: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return from === undefined || to === undefined ? { range } : { from, to };
}

function knownValues(reply: UsageReply | undefined, by: UsageView['by'], name: Dimension) {
  const at = by.indexOf(name as never);
  if (reply === undefined || at === -1) return [];
  const known = reply.groups.map(({ values, labels }) => [values[at] ?? null, labels[at] ?? null] as const);
  return [...new Map(known).entries()].filter((one): one is [string, string | null] => one[0] !== null);
}

function ChartControls({ view, tags }: { readonly view: UsageView; readonly tags: readonly string[] }) {
  const [, change] = useFilters();
  const [first, second] = view.by;
  const isTimed = view.metric === 'latency' || view.metric === 'ttft';
  // Those of the address may be gone, or not loaded yet.
  const tagNames = [...new Set([...tags.map((tag) => `tag.${tag}` as const), ...view.by.filter(isTag)])].sort();
  const names: readonly GroupBy[] = [...DIMENSION_NAMES, ...tagNames];
  return (
    <div className="flex flex-wrap items-center gap-2">
      <label className="flex items-center gap-2">
        <span className="whitespace-nowrap text-ink-2">Group by</span>
        <select
          className={`${CONTROL} w-auto`}
          value={first}
          onChange={(event) =>
            change({ by: event.target.value, ...(event.target.value === second ? { and: undefined } : {}) })
          }
        >
          {names.map((name) => (
            <option key={name} value={name}>
              {groupByLabel(name)}
            </option>
          ))}
        </select>
      </label>
      <label className="flex items-center gap-2">
        <span className="text-ink-2">and</span>
        <select
          className={`${CONTROL} w-auto`}
          value={second ?? ''}
          onChange={(event) => change({ and: event.target.value })}
        >
          <option value="">None</option>
          {names
            .filter((name) => name !== first)
            .map((name) => (
              <option key={name} value={name}>
                {groupByLabel(name)}
              </option>
            ))}
        </select>
      </label>
      {isTimed && (
        <Segmented
          label="Percentile"
          value={view.percentile}
          choices={[
            ['p50', 'p50'],
            ['p95', 'p95'],
          ]}
          onChoose={(at) => change({ at: at === 'p50' ? undefined : at })}
        />
      )}
      {view.metric === 'tokens' && (
        <Segmented
          label="Split by"
          value={view.isByKind ? 'kinds' : 'groups'}
          choices={[
            ['groups', groupByLabel(first)],
            ['kinds', 'Token type'],
          ]}
          onChoose={(part) => change({ kinds: part === 'kinds' ? '1' : undefined })}
        />
      )}
    </div>
  );
}

interface ShownProps {
  readonly reply: UsageReply;
  readonly view: UsageView;
  readonly onPick: (group: UsageGroup) => void;
}

function Shown({ reply, view, onPick }: ShownProps) {
  const [, change] = useFilters();
  const slots = useSlots(view.by.join(','), drawnGroups(reply));
  return (
    <>
      <UsageChart reply={reply} view={view} slots={slots} onPick={onPick} />
      {reply.forecast !== null && <Forecast forecast={reply.forecast} />}
      <Section
        title="Breakdown"
        aside={
          <Segmented
            label="Rows"
            value={view.table}
            choices={[
              ['groups', 'By group'],
              ['times', 'Over time'],
            ]}
            onChoose={(table) => change({ table: table === 'groups' ? undefined : table })}
          />
        }
      >
        {view.table === 'groups' ? (
          <GroupTable reply={reply} view={view} slots={slots} onPick={onPick} />
        ) : (
          <TimeTable reply={reply} view={view} />
        )}
      </Section>
    </>
  );
}

function Waiting() {
  return (
    <>
      <SkeletonPanel heightPx={320} />
      <SkeletonRows />
    </>
  );
}

function NoUsage({ view, isFiltered }: { readonly view: UsageView; readonly isFiltered: boolean }) {
  const [, change] = useFilters();
  const span = spanWords(view.range);
  return (
    <Empty
      title={`No requests in ${span}`}
      action={
        isFiltered ? (
          <Button kind="primary" onClick={() => change({ q: undefined, ...clearFilters(DIMENSION_NAMES) })}>
            Clear filters
          </Button>
        ) : (
          <Button kind="primary" onClick={() => change({ range: '90d', from: undefined, to: undefined })}>
            Show the last 90 days
          </Button>
        )
      }
    >
      {isFiltered
        ? 'No requests in this period match the filters.'
        : 'Cost, tokens and latency by model, API key or member appear here after the first request.'}
    </Empty>
  );
}
