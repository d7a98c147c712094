/** Renders the logs page: live calls, filters, search by id, and one call in detail at its own address. */

import { Radio } from 'lucide-react';
import { useState } from 'react';
import { FilterChips } from '../../filters/filter-chips.tsx';
import { clearFilters, type FilterKind } from '../../filters/filters.ts';
import { QueryBar } from '../../filters/query-bar.tsx';
import { RangeChoice } from '../../filters/range-choice.tsx';
import { PRESET_LABELS, readRange } from '../../filters/time-range.ts';
import { addressOf } from '../../lib/api.ts';
import { useAccount } from '../../lib/session.ts';
import { exactTime, useZone } from '../../lib/zone.ts';
import { useFilters, useNavigate, usePathNames, useReturnTo } from '../../route/route.ts';
import { Button, FileLink } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Segmented } from '../../ui/field.tsx';
import { Empty, Page, SkeletonPanel, SkeletonRows } from '../../ui/page.tsx';
import { CallSheet } from './call-sheet.tsx';
import { CallTable } from './call-table.tsx';
import { isFiltered, LOG_FILTERS, listQuery, logQuery, sortingOf, sortText } from './log-filters.ts';
import { LogHistogram } from './log-histogram.tsx';
import { ReasonTable } from './reason-table.tsx';
import { REASON_CHOICES, reasonLabel } from './reason-titles.ts';
import { useCallList } from './use-call-list.ts';

export default function LogsPage() {
  const [search, change] = useFilters();
  const { request } = usePathNames();
  const navigate = useNavigate();
  const returnTo = useReturnTo();
  const { account } = useAccount();
  // Fixed when the page opens: the start of the range must not move every minute while the list is paged.
  const [openedMs] = useState(() => Date.now());
  const [holds, setHolds] = useState(false);
  const isLive = search.live === '1';
  const byReason = search.view === 'reasons';
  const range = readRange(search, '24h', openedMs);
  const query = logQuery(search, range);
  const { list, histogram, filterLabels, error, isFetchingOlder, retry, fetchOlder, showNew } = useCallList(
    account,
    listQuery(search, query),
    isLive,
    holds,
  );
  const open = (id: string) => navigate({ to: '/app/logs/{-$request}', names: { request: id }, search });
  const close = () => returnTo({ to: '/app/logs/{-$request}', search });
  const csv = addressOf('GET /accounts/{account}/logs.csv', { path: { account }, query }).url;
  return (
    <Page
      title="Logs"
      lead="Every request with its response, attempts and cost."
      hasTimes
      action={
        <>
          <Button
            aria-pressed={isLive}
            icon={<Radio size={14} aria-hidden="true" />}
            className="aria-pressed:border-accent aria-pressed:text-accent-strong"
            onClick={() =>
              change({
                live: isLive ? undefined : '1',
                ...(range.preset === null ? { from: undefined, to: undefined } : {}),
              })
            }
          >
            Live tail
          </Button>
          <FileLink href={csv}>CSV</FileLink>
        </>
      }
      filters={
        <>
          <QueryBar range={range} onFind={open} />
          <RangeChoice range={range} />
          <Segmented
            label="Show"
            value={byReason ? 'reasons' : 'requests'}
            choices={VIEWS}
            onChoose={(view) => change({ view: view === 'reasons' ? view : undefined, live: undefined })}
          />
          <FilterChips kinds={withReason(search.reason)} labels={filterLabels} />
        </>
      }
    >
      {error !== null && <ErrorNote error={error} onRetry={retry} />}
      {byReason && (
        <ReasonTable
          account={account}
          query={query}
          onOpen={({ group }) => change({ reason: group, view: undefined })}
        />
      )}
      {!byReason && histogram !== null && histogram.bars.length > 0 && <LogHistogram histogram={histogram} />}
      {!byReason && list === null && error === null && <Waiting />}
      {!byReason && list !== null && list.calls.length === 0 && list.next !== null && (
        <SearchPaused next={list.next} isFetching={isFetchingOlder} onContinue={fetchOlder} />
      )}
      {!byReason && list !== null && list.calls.length === 0 && list.next === null && (
        <NoRequests
          span={range.preset === null ? 'this range' : `the ${PRESET_LABELS[range.preset]}`}
          isLive={isLive}
        />
      )}
      {!byReason && list !== null && list.calls.length > 0 && (
        <CallTable
          calls={list.calls}
          waiting={list.waiting.length}
          sorting={sortingOf(search.sort)}
          onSort={(sorting) => change({ sort: sortText(sorting), live: undefined })}
          openKey={request ?? null}
          onOpen={(call) => open(call.request_id)}
          onShowNew={showNew}
          onHold={setHolds}
          foot={
            list.next !== null ? (
              <div className="border-t border-line p-2 text-center">
                <Button kind="quiet" busy={isFetchingOlder} onClick={fetchOlder}>
                  Load older requests
                </Button>
              </div>
            ) : list.isCut ? (
              <p className="border-t border-line p-3 text-center text-ink-2">
                Older requests are hidden to keep the live view fast. Reload the page to see them.
              </p>
            ) : null
          }
        />
      )}
      {request !== undefined && <CallSheet key={request} request={request} onClose={close} />}
    </Page>
  );
}

const VIEWS = [
  ['requests', 'Requests'],
  ['reasons', 'Reasons'],
] as const;

/** The filters; a group of requests with the same reason has a label of its own. */
function withReason(value: string | undefined): readonly FilterKind[] {
  if (value === undefined) return LOG_FILTERS;
  const known = [...REASON_CHOICES, [value, reasonLabel(value)] as const];
  return LOG_FILTERS.map((kind) => (kind.name === 'reason' ? { ...kind, known } : kind));
}

function Waiting() {
  return (
    <>
      <SkeletonPanel heightPx={160} />
      <SkeletonRows rows={14} />
    </>
  );
}

interface SearchPausedProps {
  readonly next: string;
  readonly isFetching: boolean;
  readonly onContinue: () => void;
}

/** The search of a long range stops after some time; the position where it continues is the beginning of an id. */
function SearchPaused({ next, isFetching, onContinue }: SearchPausedProps) {
  const zone = useZone();
  const [, digits] = /^req_([0-9a-f]{12})/.exec(next) ?? [];
  return (
    <Empty
      title="No matching requests so far"
      action={
        <Button kind="primary" busy={isFetching} onClick={onContinue}>
          Continue
        </Button>
      }
    >
      {digits === undefined
        ? 'The range is searched in parts.'
        : `Searched back to ${exactTime(new Date(Number.parseInt(digits, 16)).toISOString(), zone)}.`}
    </Empty>
  );
}

function NoRequests({ span, isLive }: { readonly span: string; readonly isLive: boolean }) {
  const [search, change] = useFilters();
  if (isFiltered(search)) {
    return (
      <Empty
        title={`No matching requests in ${span}`}
        action={
          <Button
            kind="primary"
            onClick={() => change({ q: undefined, ...clearFilters(LOG_FILTERS.map(({ name }) => name)) })}
          >
            Clear filters
          </Button>
        }
      >
        No requests in this period match the filters. A complete request ID is found in any time range.
      </Empty>
    );
  }
  return (
    <Empty
      title={`No requests in ${span}`}
      action={
        <Button kind="primary" onClick={() => change({ range: '90d', from: undefined, to: undefined })}>
          Show the last 90 days
        </Button>
      }
    >
      {isLive
        ? 'New requests appear here within two seconds.'
        : 'All requests are listed here, including rejected ones.'}
    </Empty>
  );
}
